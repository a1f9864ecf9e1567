//! Every reader of text takes any text: it gives a value or an error, never a panic, and comes to an end.
//!
//! The inputs are real ones with pieces taken out, doubled, swapped and replaced, drawn by a seed that is printed.
//! `FUZZ_INPUTS=1000000 cargo test --release -p ptx-build --test fuzz` makes a larger run;
//! `PTX_INTRINSICS_SEED` names the seed of an earlier one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use ptx_build::explain;
use ptx_build::ptx;
use ptx_build::target::{PtxVersion, Sm};
use ptx_intrinsics::grammar::access::Spelling;
use ptx_intrinsics::grammar::atomic::judge_atomic;
use ptx_intrinsics::grammar::multimem::judge_multimem;
use ptx_sass::line_table::Located;
use ptx_sass::nvdisasm;
use ptx_sass::{debug_info, inlined_at};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// How many inputs each reader gets where nothing is said.
const INPUTS: usize = 400;
/// Names a seed.
const SEED: &str = "PTX_INTRINSICS_SEED";
/// No input is longer.
const LONGEST: usize = 20_000;
/// What one input may take. Generous: the machine may be slow and busy.
const PATIENCE: Duration = Duration::from_secs(300);

const PTX: &str = "//\n.version 8.6\n.target sm_90, debug\n.address_size 64\n.extern .func (.param .b32 func_retval0) memcmp\n(\n\t.param .b64 \
    memcmp_param_0\n)\n;\n.global .align 1 .b8 used[2] = {1, 2};\n.visible .entry k(\n\t.param .u64 .ptr .align 1 k_param_0\n)\n{\n\t\
    .reg .b32 \t%r<2>;\n\t.loc\t1 7 3, function_name $L__info_string0, inlined_at 1 4 5\n\t// begin inline asm\n\t{\n.reg .pred q;\n@q \
    ld.global.nc.f32 %r1, [%rd1];\n}\n\t// end inline asm\n\tmov.b64 \t%rd2, used;\n$begin:\n\tcall.uni (retval0), memcmp, (param0);\n\
    $end:\n\tret;\n\n}\n\t.file\t1 \"/a b/\\303\\244\\\"\\\\.rs\"\n\t.section\t.debug_abbrev\n\t{\n.b8 1\n.b8 17\n.b8 1\n.b8 0\n.b8 0\n.b8 2\n\
    .b8 29\n.b8 0\n.b8 17\n.b8 1\n.b8 18\n.b8 1\n.b8 88\n.b8 11\n.b8 89\n.b8 5\n.b8 87\n.b8 11\n.b8 0\n.b8 0\n.b8 0\n\t}\n\t.section\t\
    .debug_info\n\t{\n.b32 30\n.b8 2\n.b8 0\n.b32 .debug_abbrev\n.b8 8\n.b8 1\n.b8 2\n.b64 $begin\n.b64 $end\n.b8 3\n.b8 44\n.b8 1\n.b8 9\n\
    .b8 0\n\t}\n";

const SASS: &str = "        .type           k,@function\n        .size           k,(.L_x_2 - k)\nk:\n.text.k:\n\t//## File \".nv_debug_ptx_txt\", \
    line 4\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n        /*0010*/              @!P0 LDG.E.EL.CONSTANT R5, \
    desc[UR4][R4.64+0xc] ;\n.L_x_1:\n        /*0018*/               @P1 BRA `(.L_x_1) ;\n        { /*0020*/ EXIT ; }\n        /*0030*/   BRA \
    `(.L_x_1);\n        /*0040*/                   NOP;\n";

const SPELLINGS: [&str; 8] = [
    "ld.global.nc.L1::evict_last.L2::cache_hint.L2::256B.v4.f32",
    "atom.acq_rel.gpu.global.add.noftz.v2.f16x2",
    "red.relaxed.gpu.shared::cta.add.u32",
    "st.mmio.relaxed.sys.global.u8",
    "ld_global_nc::<(EvictFirst, L2EvictLast), NoPrefetch>().read_with(p as *const V8<f32>, policy)",
    "ptx!(@go ld.acquire.sys.global.u32 [p], else 0)",
    "LdGlobalNc<EvictLast, Prefetch256>",
    "cp.async.cg.shared.global.L2::cache_hint [%], [%], 16, %",
];

/// What a reader may trip over, each after a space.
const PIECES: &str = " \" { } ( ) [ ] \\ \\3 // /* */ . :: , ; : @ % < > ä \u{1f980} \0 \r\n -9223372036854775808 18446744073709551616 \
    .b64 .section\t.debug_info `(";

/// A text made of a real one.
fn mutated(real: &str, random: &mut StdRng) -> String {
    let mut text: Vec<char> = real.chars().collect();
    let pieces: Vec<&str> = PIECES.split(' ').collect();
    for _ in 0..random.random_range(1..12) {
        let from = random.random_range(0..=text.len());
        let to = (from + random.random_range(0..40)).min(text.len());
        match random.random_range(0..5) {
            0 => drop(text.drain(from..to)),
            1 => {
                let doubled: Vec<char> = text[from..to].repeat(random.random_range(1..20));
                text.splice(from..from, doubled);
            }
            2 => {
                let piece = pieces.choose(random).unwrap_or(&"");
                text.splice(from..to, piece.chars());
            }
            3 => text.truncate(from),
            _ => text[from..to].reverse(),
        }
    }
    text.truncate(LONGEST);
    text.into_iter().collect()
}

fn inputs() -> usize {
    let asked = std::env::var("FUZZ_INPUTS").ok();
    asked.map_or(INPUTS, |text| text.parse().expect("FUZZ_INPUTS is a number"))
}

/// Gives so many inputs, made of these, to a reader.
fn fuzz(name: &str, real: &[&str], count: usize, reader: impl Fn(&str)) {
    let seed = std::env::var(SEED).map_or_else(|_| rand::random(), |seed| seed.parse().expect("a seed is a number"));
    println!("{name}: {count} inputs drawn by {SEED}={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..count {
        let text = mutated(real.choose(&mut random).expect("there is one"), &mut random);
        let begun = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| reader(&text)));
        assert!(done.is_ok(), "{name} panics at {text:?}");
        assert!(begun.elapsed() < PATIENCE, "{name} took {:?} for {text:?}", begun.elapsed());
    }
}

#[test]
fn words_of_ptx() {
    fuzz("Spelling", &SPELLINGS, 20 * inputs(), |text| {
        let kept: &'static str = text.to_owned().leak();
        if let Ok(spelling) = Spelling::read(kept) {
            let _ = spelling.check();
        }
        let _ = (judge_atomic(text, false).is_ok(), judge_atomic(text, true).is_ok(), judge_multimem(text).is_ok());
        let _ = (text.parse::<Sm>(), text.parse::<PtxVersion>(), Sm::read(text));
    });
}

#[test]
fn explained() {
    // Each looks through all forms.
    fuzz("explain", &SPELLINGS, (inputs() / 200).max(1), |text| {
        let _ = explain::find(text);
    });
    let long = "ld.global.nc.f32 ".repeat(4000);
    let misspelt = explain::find(&long).unwrap_err().to_string();
    let expected = "`ld.global.nc.f32 ld.global.nc.f32 ld.glo…` is no form: it has 67999 bytes, and the longest form fewer than 200";
    assert_eq!(misspelt, expected);
}

#[test]
fn no_form_is_too_long_to_be_explained() {
    let longest = |form: &ptx_intrinsics::catalogue::Form| {
        let texts = [Some(form.full_ptx()), Some(form.rust().to_owned()), form.rust_if(), form.rust_ptx_if()];
        texts.into_iter().flatten().map(|text| text.len()).max().unwrap_or_default()
    };
    let longest = ptx_intrinsics::catalogue::forms().map(|form| longest(&form)).max().unwrap_or_default();
    println!("the longest form has {longest} bytes");
    assert!(longest < explain::LONGEST, "{longest}");
}

#[test]
fn ptx_and_its_debug_sections() {
    fuzz("PTX", &[PTX], inputs(), |text| {
        if let Ok(module) = ptx::Module::parse(text) {
            for function in &module.functions {
                let _ = (function.inline_asm(), function.demangled(), module.function_at(function.line));
            }
        }
        let _ = (ptx::reachable(text), ptx::with_memcmp(text), ptx::normalise(text), ptx::demangle(text));
        let _ = debug_info::scopes(text);
        let _ = inlined_at::with_inlined_at(text, |file| file.len() % 2 == 0);
        let located = Located::read(text);
        for line in 0..40 {
            let _ = located.sites(line, Path::new("/a b"));
        }
    });
}

#[test]
fn machine_code() {
    fuzz("SASS", &[SASS], inputs(), |text| drop(nvdisasm::parse(text)));
}
