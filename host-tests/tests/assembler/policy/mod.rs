//! The policies that are encoded on the host are what the assembler makes of `createpolicy`.

mod cost;
mod evaluate;

use std::collections::HashMap;
use std::fmt::Write;

use host_tests::check::here::tools;
use host_tests::tools::disassembler::Disassembler;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::Sm;
use ptx_intrinsics::prelude::*;
use ptx_sass::nvdisasm::SassFunction;
use rand::{RngExt, SeedableRng};

type Fractional = fn(f32) -> CachePolicy;
type Range = fn(u64, u32, u32) -> CachePolicy;

macro_rules! priorities {
    ($($name:ty, $ptx:literal;)*) => {
        [$(($ptx, CachePolicy::encode_fractional::<$name> as Fractional, CachePolicy::encode_range::<$name> as Range)),*]
    };
}
/// Every choice of priorities, in PTX and in Rust.
const PRIORITIES: [(&str, Fractional, Range); 12] = priorities! {
    L2EvictLast, ".L2::evict_last";
    L2EvictNormal, ".L2::evict_normal";
    L2EvictFirst, ".L2::evict_first";
    L2EvictUnchanged, ".L2::evict_unchanged";
    (L2EvictLast, L2EvictFirst), ".L2::evict_last.L2::evict_first";
    (L2EvictNormal, L2EvictFirst), ".L2::evict_normal.L2::evict_first";
    (L2EvictFirst, L2EvictFirst), ".L2::evict_first.L2::evict_first";
    (L2EvictUnchanged, L2EvictFirst), ".L2::evict_unchanged.L2::evict_first";
    (L2EvictLast, L2EvictUnchanged), ".L2::evict_last.L2::evict_unchanged";
    (L2EvictNormal, L2EvictUnchanged), ".L2::evict_normal.L2::evict_unchanged";
    (L2EvictFirst, L2EvictUnchanged), ".L2::evict_first.L2::evict_unchanged";
    (L2EvictUnchanged, L2EvictUnchanged), ".L2::evict_unchanged.L2::evict_unchanged";
};

/// Kernels that make a policy each and store it, by name.
fn kernels(made: impl Iterator<Item = (String, String)>) -> HashMap<String, SassFunction> {
    let mut ptx = ".version 7.4\n.target sm_80\n.address_size 64\n".to_owned();
    for (name, createpolicy) in made {
        writeln!(
            ptx,
            ".visible .entry {name}(.param .u64 out, .param .u64 p, .param .u32 size, .param .f32 fraction) {{\n\
             .reg .b64 %out, %p, %policy; .reg .b32 %size; .reg .f32 %fraction;\n\
             ld.param.u64 %out, [out]; ld.param.u64 %p, [p]; ld.param.u32 %size, [size];\n\
             ld.param.f32 %fraction, [fraction];\n{createpolicy}\nst.global.u64 [%out], %policy;\nret;\n}}"
        )
        .expect("a string takes all");
    }
    assemble(&ptx, Sm::new(80))
}

/// The machine code of each kernel, by name.
fn assemble(ptx: &str, sm: Sm) -> HashMap<String, SassFunction> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cubin = folder.path().join("policy.cubin");
    let assembled = Assembler::new(&tools().ptxas).assemble_text(ptx, sm, &cubin);
    assembled.expect("ptxas runs").unwrap_or_else(|rejected| panic!("{rejected}"));
    let functions = Disassembler::new(&tools().nvdisasm).disassemble(&cubin).expect("nvdisasm reads it");
    functions.into_iter().map(|function| (function.name.clone(), function)).collect()
}

/// The parameters of a kernel: the address to store to is never used.
fn parameters(p: u64, size: u32, fraction: f32) -> [u32; 6] {
    [0, 0, p as u32, (p >> 32) as u32, size, fraction.to_bits()]
}

/// Every sixteenth, and what lies between them.
fn fractions() -> impl Iterator<Item = f32> {
    let sixteenths = (1..=16).map(|sixteenth| sixteenth as f32 / 16.0);
    sixteenths.chain([0.001, 0.06253, 0.06255, 0.1, 0.3, 0.4999, 0.5003, 0.50033, 0.95, 0.999])
}

#[test]
fn constants_are_what_createpolicy_makes() {
    let constants = [
        (".L2::evict_normal", CachePolicy::EVICT_NORMAL),
        (".L2::evict_first", CachePolicy::EVICT_FIRST),
        (".L2::evict_last", CachePolicy::EVICT_LAST),
        (".L2::evict_unchanged", CachePolicy::EVICT_UNCHANGED),
    ];
    for (priorities, policy) in constants {
        let made = [format!("createpolicy.fractional{priorities}.b64 %policy;")];
        let functions = kernels(made.into_iter().map(|ptx| ("all".to_owned(), ptx)));
        assert_eq!(evaluate::stored(&functions["all"], &parameters(0, 0, 0.0)), policy.bits(), "{priorities}");
    }
}

/// Folded by the assembler, and as the machine code reckons.
#[test]
fn fractions_are_what_createpolicy_makes() {
    let folded = PRIORITIES.iter().enumerate().flat_map(|(number, (priorities, ..))| {
        fractions().enumerate().map(move |(at, fraction)| {
            let fraction = fraction.to_bits();
            let ptx = format!("createpolicy.fractional{priorities}.b64 %policy, 0f{fraction:08x};");
            (format!("folded_{number}_{at}"), ptx)
        })
    });
    let reckoned = PRIORITIES.iter().enumerate().map(|(number, (priorities, ..))| {
        (format!("reckoned_{number}"), format!("createpolicy.fractional{priorities}.b64 %policy, %fraction;"))
    });
    let functions = kernels(folded.chain(reckoned));
    let mut compared = 0;
    for (number, (priorities, encode, _)) in PRIORITIES.iter().enumerate() {
        for (at, fraction) in fractions().enumerate() {
            let expected = encode(fraction).bits();
            for name in [format!("folded_{number}_{at}"), format!("reckoned_{number}")] {
                let made = evaluate::stored(&functions[&name], &parameters(0, 0, fraction));
                assert_eq!(made, expected, "{priorities}, {fraction}: {made:#x}, not {expected:#x}");
                compared += 1;
            }
        }
    }
    println!("{compared} fractions");
    assert_eq!(compared, 2 * 12 * 26);
}

/// Sizes around every power of two, at addresses anywhere.
#[test]
fn ranges_are_what_createpolicy_makes() {
    let around = |power: u32| [-1i64, 0, 1, 2, 3, 5, 6, 7, 100].map(|more| (1i64 << power) + more);
    let totals: Vec<u32> = (12..=32)
        .flat_map(around)
        .chain([2, 100, 3 << 18, 5 << 20, 0x0765_4321, 0xcafe_f00d])
        .filter_map(|total| u32::try_from(total).ok())
        .collect();
    let made = totals.iter().enumerate().map(|(at, total)| {
        let (priorities, ..) = PRIORITIES[at % PRIORITIES.len()];
        (format!("range_{at}"), format!("createpolicy.range.global{priorities}.b64 %policy, [%p], %size, {total};"))
    });
    let functions = kernels(made);
    let mut random = rand::rngs::StdRng::seed_from_u64(12);
    let mut compared = 0;
    for (at, &total) in totals.iter().enumerate() {
        let (priorities, _, encode) = PRIORITIES[at % PRIORITIES.len()];
        for round in 0..50 {
            let primary = match round {
                0 => 0,
                1 => 1,
                2 => total,
                _ => random.random_range(0..=total),
            };
            let p = random.random_range(0..1 << 49) >> (round % 20);
            let made = evaluate::stored(&functions[&format!("range_{at}")], &parameters(p, primary, 0.0));
            let expected = encode(p, primary, by_the_assembler(total)).bits();
            assert_eq!(made, expected, "{priorities} at {p:#x}, {primary} of {total}: {made:#x}, not {expected:#x}");
            compared += 1;
        }
    }
    println!("{compared} ranges of {} sizes", totals.len());
    assert_eq!(compared, 50 * totals.len());
    assert!(totals.len() > 180, "{}", totals.len());
}

/// The size whose policy the assembler makes of a literal size. Its logarithm is exact, where the GPU takes that of a power of two and
/// 6 to 10 of its 2^23rds for that of the power.
fn by_the_assembler(total: u32) -> u32 {
    let bits = (total as f32).to_bits();
    if matches!(bits & 0x7f_ffff, 6..=10) { f32::from_bits(bits | 0x1f) as u32 } else { total }
}
