//! The kernels against themselves and what an H100 gave, and the assemblers' word on each of them. A GPU runs them in the stage `values` of a bundle.

use std::collections::BTreeMap;

use ptx_build::assemblers;
use ptx_build::command::Machine;
use ptx_build::cuda_tools::{CudaTools, FIRST_13};
use ptx_build::progress::Progress;
use ptx_build::ptxas::Assembler;
use ptx_build::target::Sm;
use rayon::prelude::*;
use values::{BLOCK, Case, every, find, header, judge};

/// The results of the exact kernels of each instruction, in one number: as they were when an H100 gave the same, bit by bit
/// (`docs/measured/h100/report.json`).
const EXACT: &str = include_str!("exact.txt");

/// Every kernel runs in the interpreter, and its results pass beside themselves; if they do not, the exact result is another one.
#[test]
fn each_kernel_agrees_with_itself_and_with_an_h100() {
    let ran: Vec<Result<Option<u64>, String>> = every().par_iter().map(itself).collect();
    let wrong: Vec<&String> = ran.iter().filter_map(|ran| ran.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let (mut exact, mut kernels) = (BTreeMap::new(), 0);
    for (case, ran) in every().iter().zip(ran) {
        if let Ok(Some(results)) = ran {
            let all = exact.entry(case.name.split('_').next().unwrap_or_default()).or_insert(0);
            *all = digest(*all, &[results]);
            kernels += 1;
        }
    }
    let found: Vec<String> = exact.iter().map(|(instruction, all)| format!("{instruction} {all:016x}")).collect();
    let kept: Vec<&str> = EXACT.lines().filter(|line| !line.starts_with('#')).collect();
    let others: Vec<&String> = found.iter().filter(|line| !kept.contains(&line.as_str())).collect();
    assert!(others.is_empty(), "other results; if a GPU gives them too, write into exact.txt: {others:#?}");
    assert_eq!(kept.len(), found.len(), "exact.txt has a line too many");
    assert!(every().len() > 3_000 && kernels > 2_900, "only {} kernels, {kernels} of them exact", every().len());
}

/// Numbers in one number.
fn digest(before: u64, numbers: &[u64]) -> u64 {
    numbers.iter().fold(before, |all, number| (all ^ number).wrapping_mul(0x0100_0000_01b3).rotate_left(29))
}

/// A kernel's results in one number, if they have to be what they are to the bit.
fn itself(case: &Case) -> Result<Option<u64>, String> {
    let input = case.input(5, true);
    let found = case.interpret(&input).map_err(|why| format!("{}: {why}", case.name))?;
    let judged = judge(case, &input, &found, &found);
    // Lanes of the interpreter may come apart, so two runs need not agree on what the ISA leaves open.
    match judged.passed {
        true => Ok(case.is_exact().then(|| digest(1, &found))),
        false => Err(format!("{}: {}", case.name, judged.text)),
    }
}

/// Exact, in pairs, of 8 bits, a predicate; approximate; a sum of floats and of integers, by a warp and by four.
const SOME: [(&str, u32); 9] = [
    ("add_u64", 0),
    ("fma_rn_bf16x2", 16),
    ("cvt_sat_s8_s32", 7),
    ("setp_lt_f32", 0),
    ("rcp_approx_f32", 21),
    ("tanh_approx_f16x2", 30),
    ("mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32", 29),
    ("wgmma_mma_async_sync_aligned_m64n8k32_f32_e4m3_e4m3", 0),
    ("wgmma_mma_async_sync_aligned_m64n64k32_s32_s8_u8", 3),
];

/// A thread whose operands are drawn.
const THREAD: usize = 1001;

#[test]
fn one_wrong_bit_is_named() {
    for (name, bit) in SOME {
        let case = find(name).unwrap_or_else(|| panic!("no kernel {name}"));
        let input = case.input(5, true);
        let interpreted = case.interpret(&input).expect("it runs");
        let at = THREAD * case.writes();
        let mut found = interpreted.clone();
        found[at] ^= 1 << bit;
        let judged = judge(case, &input, &found, &interpreted);
        assert!(!judged.passed, "{name}: {}", judged.text);
        assert_eq!((&judged.data["different"], &judged.data["bits"]), (&1.into(), &1.into()), "{name}");
        let first = &judged.data["first"][0];
        let told = |numbers: &[u64]| numbers.iter().map(|number| format!("{number:x}")).collect::<Vec<_>>().join(" ");
        assert_eq!(first["operands"], told(&input[THREAD * case.reads()..][..case.reads()]), "{name}");
        assert_eq!(first["found"], told(&found[at..at + case.writes()]), "{name}");
    }
}

/// Operands and results of an H100.
const H100: &str = include_str!("h100.txt");
const H100_SUMS: &str = include_str!("h100_sums.txt");

#[test]
fn the_interpreter_gives_what_an_h100_gave() {
    let mut compared = 0;
    for part in H100.split("\n\n").skip(1).chain(H100_SUMS.split("\n\n").skip(1)) {
        let (body, rows) = part.split_once('\n').expect("a body or a name, and tuples");
        let body = body.replace("; ", ";\n");
        let is_wanted = |case: &&Case| case.name == body || body.contains(';') && case.text().contains(&body);
        let case = every().iter().find(is_wanted).unwrap_or_else(|| panic!("no kernel: {body}"));
        let numbers = |text: &str| -> Vec<u64> {
            text.split_whitespace().map(|number| u64::from_str_radix(number, 16).expect("a number")).collect()
        };
        let tuples: Vec<[Vec<u64>; 2]> = rows
            .lines()
            .map(|row| row.split_once(" = ").expect("operands and results"))
            .map(|(operands, results)| [operands, results].map(numbers))
            .collect();
        let input: Vec<u64> = tuples.iter().cycle().take(BLOCK).flat_map(|[operands, _]| operands.clone()).collect();
        let interpreted = case.interpret(&input).expect("it runs");
        for ([operands, results], interpreted) in tuples.iter().zip(interpreted.chunks(case.writes())) {
            assert_eq!(results, interpreted, "{body} of {operands:x?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 658);
}

#[test]
fn another_seed_draws_other_operands_and_the_same_seed_the_same() {
    let case = find("add_rn_f32").expect("a kernel");
    assert_eq!(case.input(1, false), case.input(1, false));
    assert_ne!(case.input(1, false), case.input(2, false));
    let all = find("tanh_approx_f16").expect("a kernel").input(1, false);
    assert!(all.iter().copied().eq(0..1 << 16), "all operands of 16 bits");
}

/// Today's, and the one for which every driver of a bundle was made.
#[test]
fn both_assemblers_take_every_kernel() {
    let progress = Progress::new();
    let tools = CudaTools::find(&progress).expect("the tools");
    let older = assemblers::of(FIRST_13, &Machine::current(), &progress).expect("the older assembler");
    for assembler in [Assembler::new(tools.ptxas), older] {
        let version = assembler.newest_version().expect("it says it").to_string();
        for (is_specific, target) in [(false, Sm::new(90)), (true, Sm { number: 90, suffix: Some('a') })] {
            let cases: Vec<&Case> = every().iter().filter(|case| case.is_specific == is_specific).collect();
            for cases in cases.chunks(200) {
                let texts = cases.iter().map(|case| case.text());
                let text: String = std::iter::once(header(&version, &target.to_string())).chain(texts).collect();
                let out = tempfile::tempdir().expect("a folder");
                let made = assembler.assemble_text(&text, target, &out.path().join("values.cubin"));
                made.expect("it runs").unwrap_or_else(|rejected| panic!("{version}: {rejected}"));
            }
        }
    }
}
