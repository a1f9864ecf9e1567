//! Turns what can be known of the target GPU into `cfg`s: `ptx_sm="80"` for every gate that the SM reaches,
//! `ptx_isa="74"` for every gate that the PTX ISA version reaches, `ptx_target="sm_90a"` for every target with a suffix whose
//! instructions the build's target has, and `ptx_isa_beyond="94"` for every one that no flag
//! makes this rustc reach.
//!
//! rustc is asked: it compiles nothing at all with the build's own flags, and the `.target` and `.version` that it writes
//! are the ones that count. Off nvptx64 everything is open, unless `PTX_INTRINSICS_TARGET` states a target to check
//! against.

use std::env;
use std::fmt::Display;
use std::io::Write;
use std::process::{Command, Stdio};

/// The SMs at which something begins. The same numbers are in `src/isa/target.rs`.
const SM_GATES: [u32; 11] = [20, 30, 32, 60, 61, 70, 75, 80, 89, 90, 100];
/// The PTX ISA versions at which something begins.
const PTX_GATES: [u32; 27] =
    [20, 31, 50, 60, 62, 63, 64, 65, 70, 71, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 86, 87, 88, 91, 92, 93, 94];

/// The targets with a suffix at which something begins. The same names are in `src/isa/specific.rs`.
const TARGET_GATES: [&str; 6] = ["sm_90a", "sm_100f", "sm_110f", "sm_120f", "sm_120a", "sm_121a"];

/// The newest of each, where nothing is out of reach.
const NEWEST: Target = Target { sm: u32::MAX, suffix: Suffix::Every, ptx: u32::MAX };

/// What rustc compiles for where nothing is said, and it cannot be asked.
const RUSTC_DEFAULT: Target = Target { sm: 70, suffix: Suffix::None, ptx: 60 };

/// The `.version` of CUDA 12.0's libnvvm, the oldest that rust-cuda takes.
const LIBNVVM: u32 = 80;

#[derive(Clone, Copy)]
struct Target {
    sm: u32,
    suffix: Suffix,
    ptx: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Suffix {
    None,
    /// `a`: that GPU alone.
    Alone,
    /// `f`: its family.
    Family,
    /// All of them.
    Every,
}

/// What is known of the build.
struct Build {
    target: Target,
    /// The newest version that a flag can ask for; `None` where no flag decides.
    newest_flag: Option<u32>,
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PTX_INTRINSICS_TARGET");
    println!(
        "cargo::rustc-check-cfg=cfg(ptx_device, ptx_by_libnvvm, ptx_by_markers, ptx_by_build_script, cuda_oxide_internal_backend_identity, rust_analyzer)"
    );
    let build = match build() {
        Ok(build) => build,
        Err(message) => {
            println!("cargo::error={message}");
            return;
        }
    };
    declare("ptx_sm", &SM_GATES, |&gate| gate <= build.target.sm);
    declare("ptx_target", &TARGET_GATES, |gate| has(build.target, gate));
    declare("ptx_isa", &PTX_GATES, |&gate| gate <= build.target.ptx);
    let beyond = |&gate: &u32| gate > build.target.ptx && build.newest_flag.is_some_and(|newest| gate > newest);
    declare("ptx_isa_beyond", &PTX_GATES, beyond);
    if by_libnvvm() {
        println!("cargo::rustc-cfg=ptx_by_libnvvm");
    }
    if by_cuda_oxide() {
        println!("cargo::rustc-cfg=cuda_oxide_internal_backend_identity");
    }
    let by_markers = by_cuda_oxide() && env::var_os("CARGO_FEATURE_CUDA_OXIDE").is_some();
    if by_markers {
        println!("cargo::rustc-cfg=ptx_by_markers");
    }
    if by_markers || var("CARGO_CFG_TARGET_ARCH") == "nvptx64" {
        println!("cargo::rustc-cfg=ptx_device");
    }
}

fn declare<G: Display>(cfg: &str, gates: &[G], holds: impl Fn(&G) -> bool) {
    let values: Vec<String> = gates.iter().map(|gate| format!("\"{gate}\"")).collect();
    println!("cargo::rustc-check-cfg=cfg({cfg}, values({}))", values.join(", "));
    for gate in gates.iter().filter(|gate| holds(gate)) {
        println!("cargo::rustc-cfg={cfg}=\"{gate}\"");
    }
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Whether this is rust-cuda, whose code libnvvm turns into PTX.
fn by_libnvvm() -> bool {
    var("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature.starts_with("compute_"))
}

/// Whether this is cuda-oxide, which compiles device code for the host's target.
fn by_cuda_oxide() -> bool {
    // cargo-oxide gives it a value, a digest, and `cfg(name)` is false for a name with a value.
    env::var_os("CARGO_CFG_CUDA_OXIDE_INTERNAL_BACKEND_IDENTITY").is_some()
}

fn build() -> Result<Build, String> {
    let variable = var("PTX_INTRINSICS_TARGET");
    let stated = if variable.is_empty() { None } else { Some(stated(&variable)?) };
    if var("CARGO_CFG_TARGET_ARCH") != "nvptx64" {
        return Ok(Build { target: stated.unwrap_or(NEWEST), newest_flag: None });
    }
    if by_libnvvm() {
        // libnvvm writes its own version, whatever the flags say, and only the user knows which.
        let compiled = read_flags(&[]).unwrap_or(RUSTC_DEFAULT);
        let target = stated.unwrap_or(Target { ptx: compiled.ptx.max(LIBNVVM), ..compiled });
        reachable(target, Target { ptx: u32::MAX, ..compiled }, None)?;
        return Ok(Build { target, newest_flag: None });
    }
    let known = versions();
    refuse_older_than_the_gpu(&known)?;
    let newest_flag = known.iter().copied().max();
    let compiled = emitted().or_else(|| read_flags(&known));
    let target = stated.or(compiled).unwrap_or(RUSTC_DEFAULT);
    reachable(target, compiled.unwrap_or(target), newest_flag)?;
    Ok(Build { target, newest_flag })
}

fn reachable(stated: Target, compiled: Target, newest_flag: Option<u32>) -> Result<(), String> {
    let is_more = |gate: &&str| has(stated, gate) && !has(compiled, gate);
    if stated.sm <= compiled.sm && stated.ptx <= compiled.ptx && !TARGET_GATES.iter().any(is_more) {
        return Ok(());
    }
    let version = match compiled.ptx {
        u32::MAX => String::new(),
        ptx => format!(" and PTX ISA {}", dotted(ptx)),
    };
    let change = match newest_flag.filter(|&newest| newest < stated.ptx) {
        Some(newest) => format!("use a newer rustc, since this one ends with PTX ISA {},", dotted(newest)),
        None if by_libnvvm() => format!("build for compute_{}", &stated.name()[3..]),
        None => format!("change RUSTFLAGS (-Ctarget-cpu={} -Ctarget-feature=+ptx{})", stated.name(), stated.ptx),
    };
    let (name, ptx) = (stated.name(), dotted(stated.ptx));
    Err(format!(
        "PTX_INTRINSICS_TARGET states {name} and PTX ISA {ptx}, and the build is for {}{version}: {change} or unset \
         the variable",
        compiled.name()
    ))
}

impl Target {
    /// `sm_90a`.
    fn name(self) -> String {
        let suffix = match self.suffix {
            Suffix::Alone => "a",
            Suffix::Family => "f",
            Suffix::None | Suffix::Every => "",
        };
        format!("sm_{}{suffix}", self.sm)
    }
}

/// Whether a target has what one with a suffix has: it is the same, or a later one of its family, with a suffix.
fn has(target: Target, gate: &str) -> bool {
    let in_family = |first: u32| target.sm >= first && family(target.sm) == family(first);
    match (target.suffix, sm(gate).unwrap_or_default(), suffix(gate)) {
        (Suffix::Every, ..) => true,
        (Suffix::None, ..) => false,
        (_, first, Suffix::Family) => in_family(first),
        (own, number, suffix) => own == suffix && target.sm == number,
    }
}

/// The first GPU of a family: 100 of 103 and 107. CUDA 13 calls 110 what was 101.
fn family(sm: u32) -> u32 {
    match sm {
        101 | 110 => 110,
        _ => sm / 10 * 10,
    }
}

/// LLVM stops with a stack trace at a version that is older than the GPU.
fn refuse_older_than_the_gpu(known: &[u32]) -> Result<(), String> {
    let (flags, features) = (var("CARGO_ENCODED_RUSTFLAGS"), var("CARGO_CFG_TARGET_FEATURE"));
    let Some(gpu) = gpu(&flags, &features) else { return Ok(()) };
    let least = emitted_for(gpu);
    match asked(&flags, known).max() {
        Some(asked) if asked < least => Err(format!(
            "RUSTFLAGS ask for PTX ISA {} (-Ctarget-feature=+ptx{asked}), and {gpu} begins with {}: name ptx{least} or \
             newer, or leave the flag out",
            dotted(asked),
            dotted(least)
        )),
        _ => Ok(()),
    }
}

/// The compiler that cargo uses; where the variable is missing, as in a test, none.
fn rustc(arguments: &[&str]) -> Option<Command> {
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.args(["--target", &var("TARGET")]).args(arguments).stderr(Stdio::null());
    Some(rustc)
}

/// What rustc writes with the build's flags.
fn emitted() -> Option<Target> {
    let flags = var("CARGO_ENCODED_RUSTFLAGS");
    let mut rustc = rustc(&["--crate-type=lib", "--crate-name=empty", "--cap-lints=allow", "--emit=asm=-", "-"])?;
    // On its way to us the text is a file, and in the package's folder it would meet that of another build.
    rustc.arg("--out-dir").arg(env::var_os("OUT_DIR")?);
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty())).env("RUSTC_BOOTSTRAP", "1");
    let mut rustc = rustc.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    rustc.stdin.take()?.write_all(b"#![feature(no_core)]\n#![no_core]\n").ok()?;
    let module = String::from_utf8(rustc.wait_with_output().ok()?.stdout).ok()?;
    let said = |word| module.lines().find_map(|line| line.strip_prefix(word)).map(str::trim);
    let gpu = said(".target ")?;
    Some(Target { sm: sm(gpu)?, suffix: suffix(gpu), ptx: number_of_digits(&said(".version ")?.replace('.', ""))? })
}

/// The PTX ISA versions that a flag makes rustc emit; none where rustc does not say.
fn versions() -> Vec<u32> {
    let print = |arguments: &[&str]| {
        let output = rustc(arguments)?.output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).ok())?
    };
    let listed = print(&["--print", "target-features"]).unwrap_or_default();
    let named = |part: &str| part.lines().filter_map(|line| ptx(line.split_whitespace().next()?)).collect::<Vec<_>>();
    let (rustcs, llvms) = listed.split_once("supported by LLVM").unwrap_or((&listed, ""));
    let (mut known, llvms) = (named(rustcs), named(llvms));
    // What LLVM alone knows is to become an error.
    if let Some(newest) = llvms.iter().max()
        && print(&["--print", "cfg", &format!("-Ctarget-feature=+ptx{newest}")]).is_some()
    {
        known.extend(llvms);
    }
    known
}

/// `sm_90` or `sm_90,ptx80`; without a PTX ISA version, the one that rustc emits for that SM.
fn stated(text: &str) -> Result<Target, String> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let target = match words[..] {
        [gpu] => sm(gpu).map(|sm| Target { sm, suffix: suffix(gpu), ptx: emitted_for(gpu) }),
        [gpu, version] => sm(gpu).zip(ptx(version)).map(|(sm, ptx)| Target { sm, suffix: suffix(gpu), ptx }),
        _ => None,
    };
    target.ok_or(format!("PTX_INTRINSICS_TARGET is `{text}`; write it as sm_90 or as sm_90,ptx80"))
}

/// What rustc compiles for, where it does not say: by its own `cfg`s, and by the flags, since some targets and the newest
/// versions set no `cfg`.
fn read_flags(known: &[u32]) -> Option<Target> {
    let (flags, features) = (var("CARGO_ENCODED_RUSTFLAGS"), var("CARGO_CFG_TARGET_FEATURE"));
    let gpu = gpu(&flags, &features)?;
    let versions = features.split(',').filter_map(ptx).chain(asked(&flags, known));
    Some(Target { sm: sm(gpu)?, suffix: suffix(gpu), ptx: versions.fold(emitted_for(gpu), u32::max) })
}

fn gpu<'a>(flags: &'a str, features: &'a str) -> Option<&'a str> {
    // As in rustc, the last one counts.
    let cpu = flag_values(flags, "target-cpu=").last().filter(|cpu| sm(cpu).is_some());
    cpu.or_else(|| features.split(',').filter(|word| sm(word).is_some()).max_by_key(|word| sm(word)))
}

/// The PTX ISA versions that the flags ask for. What rustc does not know it ignores.
fn asked<'a>(flags: &'a str, known: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let asked = flag_values(flags, "target-feature=").flat_map(|list| list.split(','));
    let versions = asked.filter_map(|word| ptx(word.strip_prefix('+')?));
    versions.filter(|version| known.is_empty() || known.contains(version))
}

/// The values of `-C name=value`, however it is written.
fn flag_values<'a>(flags: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let plain = |flag: &'a str| ["-C", "--codegen="].iter().find_map(|dash| flag.strip_prefix(dash)).unwrap_or(flag);
    flags.split('\x1f').filter_map(move |flag| plain(flag).strip_prefix(name))
}

/// 90 of `sm_90`, `sm_90a`, `sm_90f`, and of rust-cuda's `compute_90`.
fn sm(word: &str) -> Option<u32> {
    let number = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"))?;
    number_of_digits(number.strip_suffix(['a', 'f']).unwrap_or(number))
}

fn suffix(gpu: &str) -> Suffix {
    match gpu.as_bytes().last() {
        Some(b'a') => Suffix::Alone,
        Some(b'f') => Suffix::Family,
        _ => Suffix::None,
    }
}

/// 74 of `ptx74`.
fn ptx(word: &str) -> Option<u32> {
    number_of_digits(word.strip_prefix("ptx")?)
}

/// 7.4 of 74.
fn dotted(ptx: u32) -> String {
    format!("{}.{}", ptx / 10, ptx % 10)
}

/// No SM and no PTX ISA version has a number of one digit.
fn number_of_digits(text: &str) -> Option<u32> {
    (text.len() >= 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// The `.version` that rustc emits for a GPU where no feature raises it. (Below sm_80 it is rustc 1.96's; newer ones
/// emit 7.0. What begins in between needs sm_80, but for atomics of 16-bit floats, and for those a flag says it.)
fn emitted_for(gpu: &str) -> u32 {
    match (gpu, sm(gpu).unwrap_or_default()) {
        ("sm_90a", _) => 80,
        (family, 100..110 | 120) if family.ends_with('f') => 88,
        (_, ..=59) => 32,
        (_, ..=69) => 50,
        (_, ..=74) => 60,
        (_, ..=79) => 63,
        (_, ..=85) => 70,
        (_, 86) => 71,
        (_, 87) => 74,
        (_, 88) => 90,
        (_, ..=99) => 78,
        (_, ..=102) => 86,
        (_, ..=109) => 88,
        (_, 110) => 90,
        (_, 120) => 87,
        _ => 88,
    }
}
