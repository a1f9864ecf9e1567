//! Turns what can be known of the target GPU into `cfg`s: `ptx_sm="80"` for every gate that the SM reaches,
//! `ptx_isa="74"` for every gate that the PTX ISA version reaches.
//!
//! Off nvptx64 everything is open, unless `PTX_INTRINSICS_TARGET` states a target to check against.

use std::env;

/// The SMs at which something begins. The same numbers stand in `qualifier/target.rs`.
const SM_GATES: [u32; 7] = [20, 32, 70, 75, 80, 90, 100];
/// The PTX ISA versions at which something begins.
const PTX_GATES: [u32; 6] = [20, 31, 74, 80, 83, 88];

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
    let stated = env::var("PTX_INTRINSICS_TARGET").ok().map(|text| stated(&text)).transpose()?;
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
    let how = format!("PTX_INTRINSICS_TARGET is `{text}`; write it as sm_90 or as sm_90,ptx80");
    let known = |word: &str| sm(word).is_some() || ptx(word).is_some();
    if !text.split(',').all(known) {
        return Err(how);
    }
    let sm = newest(text.split(',').filter_map(sm)).ok_or(how)?;
    let ptx = newest(text.split(',').filter_map(ptx));
    Ok(Target { sm, ptx: ptx.unwrap_or_else(|| emitted_for(text.split(','))) })
}

/// What rustc compiles for: its own `cfg`s, and the flags, since some targets and the newest versions set no `cfg`.
fn compiled() -> Option<Target> {
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let words = || features.split(',').chain(flag_words(&flags));
    let sm = newest(words().filter_map(sm))?;
    let ptx = newest(words().filter_map(ptx)).unwrap_or(0).max(emitted_for(words()));
    Some(Target { sm, ptx })
}

fn newest(numbers: impl Iterator<Item = u32>) -> Option<u32> {
    numbers.max()
}

/// The values of `-Ctarget-cpu=…` and the `+…` of `-Ctarget-feature=…`.
fn flag_words(flags: &str) -> impl Iterator<Item = &str> {
    flags
        .split('\x1f')
        .map(|flag| flag.strip_prefix("-C").unwrap_or(flag))
        .filter_map(|flag| flag.strip_prefix("target-cpu=").or_else(|| flag.strip_prefix("target-feature=")))
        .flat_map(|value| value.split(','))
        .filter(|word| !word.starts_with('-'))
        .map(|word| word.trim_start_matches('+'))
}

/// 90 of `sm_90`, `sm_90a`, `sm_90f`, and of rust-cuda's `compute_90`.
fn sm(word: &str) -> Option<u32> {
    let number = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"))?;
    number.trim_end_matches(['a', 'f']).parse().ok()
}

/// 74 of `ptx74`.
fn ptx(word: &str) -> Option<u32> {
    word.strip_prefix("ptx")?.parse().ok()
}

/// The `.version` that rustc emits for these targets where no feature raises it.
fn emitted_for<'a>(words: impl Iterator<Item = &'a str>) -> u32 {
    let version = |word| match (word, sm(word)?) {
        ("sm_90a", _) => Some(80),
        (family, 100..) if family.ends_with('f') => Some(88),
        (_, ..=74) => Some(60),
        (_, ..=79) => Some(63),
        (_, ..=85) => Some(70),
        (_, 86) => Some(71),
        (_, 87) => Some(74),
        (_, 88) => Some(90),
        (_, ..=99) => Some(78),
        (_, ..=102) => Some(86),
        (_, ..=109) => Some(88),
        (_, 110) => Some(90),
        (_, 120) => Some(87),
        _ => Some(88),
    };
    words.filter_map(version).max().unwrap_or(60)
}
