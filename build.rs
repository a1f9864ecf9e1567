//! Turns what can be known of the target GPU into `cfg`s: `ptx_sm="80"` for every gate that the SM reaches,
//! `ptx_isa="74"` for every gate that the PTX ISA version reaches.
//!
//! Off nvptx64 everything is open, unless `PTX_INTRINSICS_TARGET` states a target to check against.

use std::env;

/// The SMs at which something begins. The same numbers stand in `qualifier/target.rs`.
const SM_GATES: [u32; 9] = [20, 30, 32, 60, 70, 75, 80, 90, 100];
/// The PTX ISA versions at which something begins.
const PTX_GATES: [u32; 22] = [20, 31, 50, 60, 62, 63, 70, 71, 74, 75, 77, 78, 80, 81, 82, 83, 84, 86, 88, 91, 92, 94];

/// The newest of each, where nothing is out of reach.
const NEWEST: Target = Target { sm: u32::MAX, ptx: u32::MAX };

/// What rustc compiles for where nothing is said.
const RUSTC_DEFAULT: Target = Target { sm: 70, ptx: 60 };

#[derive(Clone, Copy)]
struct Target {
    sm: u32,
    ptx: u32,
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PTX_INTRINSICS_TARGET");
    let target = match target() {
        Ok(target) => target,
        Err(message) => {
            println!("cargo::error={message}");
            return;
        }
    };
    declare("ptx_sm", &SM_GATES, target.sm);
    declare("ptx_isa", &PTX_GATES, target.ptx);
}

fn declare(cfg: &str, gates: &[u32], reached: u32) {
    let values: Vec<String> = gates.iter().map(|gate| format!("\"{gate}\"")).collect();
    println!("cargo::rustc-check-cfg=cfg({cfg}, values({}))", values.join(", "));
    for gate in gates.iter().filter(|&&gate| gate <= reached) {
        println!("cargo::rustc-cfg={cfg}=\"{gate}\"");
    }
}

fn target() -> Result<Target, String> {
    let variable = env::var("PTX_INTRINSICS_TARGET").ok().filter(|text| !text.is_empty());
    let stated = variable.map(|text| stated(&text)).transpose()?;
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("nvptx64") {
        return Ok(stated.unwrap_or(NEWEST));
    }
    let compiled = compiled();
    match (stated, compiled) {
        (None, compiled) => Ok(compiled.unwrap_or(RUSTC_DEFAULT)),
        (Some(stated), None) => Ok(stated),
        (Some(stated), Some(compiled)) if stated.sm <= compiled.sm && stated.ptx <= compiled.ptx => Ok(stated),
        (Some(stated), Some(compiled)) => Err(format!(
            "PTX_INTRINSICS_TARGET states sm_{} and PTX ISA {}, and the build is for sm_{} and PTX ISA {}: \
             change RUSTFLAGS (-Ctarget-cpu=sm_{} -Ctarget-feature=+ptx{}) or unset the variable",
            stated.sm, stated.ptx, compiled.sm, compiled.ptx, stated.sm, stated.ptx
        )),
    }
}

/// `sm_90` or `sm_90,ptx80`; without a PTX ISA version, the one that rustc emits for that SM.
fn stated(text: &str) -> Result<Target, String> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let target = match words[..] {
        [gpu] => sm(gpu).map(|sm| Target { sm, ptx: emitted_for(gpu) }),
        [gpu, version] => sm(gpu).zip(ptx(version)).map(|(sm, ptx)| Target { sm, ptx }),
        _ => None,
    };
    target.ok_or(format!("PTX_INTRINSICS_TARGET is `{text}`; write it as sm_90 or as sm_90,ptx80"))
}

/// What rustc compiles for: its own `cfg`s, and the flags, since some targets and the newest versions set no `cfg`.
fn compiled() -> Option<Target> {
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    // As in rustc, the last one counts.
    let cpu = flag_values(&flags, "target-cpu=").last().filter(|cpu| sm(cpu).is_some());
    let gpu = cpu.or_else(|| features.split(',').filter(|word| sm(word).is_some()).max_by_key(|word| sm(word)))?;
    let asked = flag_values(&flags, "target-feature=").flat_map(|list| list.split(','));
    let versions = features.split(',').chain(asked.filter_map(|word| word.strip_prefix('+'))).filter_map(ptx);
    Some(Target { sm: sm(gpu)?, ptx: versions.fold(emitted_for(gpu), u32::max) })
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

/// 74 of `ptx74`.
fn ptx(word: &str) -> Option<u32> {
    number_of_digits(word.strip_prefix("ptx")?)
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
