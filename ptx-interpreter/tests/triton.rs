//! Kernels of Triton, for three GPUs: they compute what they say, and what they lack is found. `triton/make.py` has their source.

use std::collections::BTreeMap;

use ptx_interpreter::{Program, Report, Trial};

/// Rows, columns and the numbers of a sum of a product.
const SIDE: usize = 128;
const SEEDS: u64 = 3;

struct Kernel {
    name: &'static str,
    entry: &'static str,
    text: &'static str,
}

macro_rules! kernels {
    ($($name:literal $entry:literal)*) => {
        [$(Kernel { name: $name, entry: $entry, text: include_str!(concat!("triton/", $name, ".ptx")) }),*]
    };
}

const KERNELS: [Kernel; 8] = kernels! {
    "softmax_80" "softmax"
    "histogram_80" "histogram"
    "scan_80" "scan"
    "matmul_80" "matmul"
    "matmul_90" "matmul"
    "matmul_100" "matmul"
    "matmul_tensor_90" "matmul_tensor"
    "matmul_tensor_100" "matmul_tensor"
};

fn number(at: usize) -> u32 {
    (at as u32).wrapping_mul(2_654_435_761) >> 20
}

/// A small number of a matrix.
fn element(at: usize) -> i32 {
    (number(at) % 9) as i32 - 4
}

/// An `f16` that is a whole number from -4 to 4.
fn half(number: i32) -> [u8; 2] {
    const BITS: [u16; 5] = [0, 0x3c00, 0x4000, 0x4200, 0x4400];
    let sign = if number < 0 { 0x8000 } else { 0 };
    (BITS[number.unsigned_abs() as usize] | sign).to_le_bytes()
}

fn words(content: &[u8]) -> Vec<u32> {
    content.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// What a kernel leaves, and its report.
fn run(entry: &str, text: &str, seed: u64) -> (Vec<u32>, Report) {
    let program = Program::parse(text);
    let mut trial = Trial::new(&program, entry);
    trial.seed(seed).block([128, 1, 1]).limits(20_000_000, None);
    let input = |count: usize| (0..count).flat_map(|at| number(at).to_le_bytes()).collect::<Vec<u8>>();
    let out = match entry {
        "softmax" => {
            let rows: Vec<u8> = (0..8 * 250).flat_map(|at| (element(at) as f32).to_le_bytes()).collect();
            trial.grid([8, 1, 1]).shared(16).buffer(&rows).unwrap().unwritten(8000).unwrap();
            trial.value(&250u32.to_le_bytes());
            1
        }
        "histogram" => {
            trial.grid([8, 1, 1]).buffer(&input(4000)).unwrap().buffer(&[0; 256]).unwrap();
            trial.value(&4000u32.to_le_bytes());
            1
        }
        "scan" => {
            trial.shared(64).buffer(&input(512)).unwrap().unwritten(2048).unwrap();
            1
        }
        _ => {
            let matrix = |first: usize| (0..SIDE * SIDE).flat_map(move |at| half(element(first + at)));
            trial.grid([2, 2, 1]).shared(24624);
            trial.buffer(&matrix(0).collect::<Vec<u8>>()).unwrap();
            trial.buffer(&matrix(SIDE * SIDE).collect::<Vec<u8>>()).unwrap();
            trial.unwritten(4 * SIDE * SIDE).unwrap();
            for _ in 0..3 {
                trial.value(&(SIDE as u32).to_le_bytes());
            }
            2
        }
    };
    // Room for what a kernel keeps in global memory, and for a profile.
    trial.unwritten(4 * 256).unwrap().value(&[0; 8]);
    let report = trial.check();
    (words(trial.content(out)), report)
}

/// What it has to leave.
fn expected(entry: &str) -> Vec<u32> {
    match entry {
        "softmax" => {
            let row = |row: usize| {
                let powers: Vec<f64> = (0..250).map(|at| f64::from(element(row * 250 + at)).exp()).collect();
                let sum: f64 = powers.iter().sum();
                powers.into_iter().map(move |power| ((power / sum) as f32).to_bits())
            };
            (0..8).flat_map(row).collect()
        }
        "histogram" => {
            let counts = (0..4000).fold([0; 64], |mut counts: [u32; 64], at| {
                counts[number(at) as usize % 64] += 1;
                counts
            });
            counts.to_vec()
        }
        "scan" => (0..512)
            .scan(0u32, |sum, at| {
                *sum = sum.wrapping_add(number(at));
                Some(*sum)
            })
            .collect(),
        _ => {
            let product = |at: usize| -> i32 {
                let (row, column) = (at / SIDE, at % SIDE);
                (0..SIDE).map(|k| element(row * SIDE + k) * element(SIDE * SIDE + k * SIDE + column)).sum()
            };
            (0..SIDE * SIDE).map(|at| (product(at) as f32).to_bits()).collect()
        }
    }
}

fn is_right(entry: &str, found: &[u32]) -> bool {
    let near = |(one, other): (&u32, &u32)| {
        let [one, other] = [one, other].map(|bits| f32::from_bits(*bits));
        (one - other).abs() <= 1e-5 * other
    };
    let expected = expected(entry);
    match entry {
        "softmax" => found.len() == expected.len() && found.iter().zip(&expected).all(near),
        _ => found == expected,
    }
}

/// For sm_100 Triton puts no `tcgen05.fence` around its barriers, and PTX asks for them: two findings. All else is silent.
#[test]
fn kernels_compute_what_they_say() {
    for kernel in &KERNELS {
        for seed in 0..SEEDS {
            let (found, report) = run(kernel.entry, kernel.text, seed);
            assert!(report.stop.is_none(), "{}: {:?}", kernel.name, report.stop);
            assert!(is_right(kernel.entry, &found), "{} with seed {seed}", kernel.name);
            let texts: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            let fences = if kernel.name.ends_with("_100") { 2 } else { 0 };
            assert_eq!(texts.len(), fences, "{} with seed {seed}: {texts:?}", kernel.name);
            assert!(texts.iter().all(|text| text.contains("_thread_sync` is not between")), "{texts:?}");
        }
    }
}

/// What orders threads and copies, by the beginning of its line.
const ORDERS: [&str; 8] = [
    "bar.sync",
    "cp.async.wait_group",
    "wgmma.wait_group",
    "fence.proxy.async",
    "fence.proxy.tensormap",
    "tcgen05.wait",
    "mbarrier.init",
    "fence.mbarrier_init",
];

/// A kernel without one of its lines that order something. What is not found is a barrier beside others: between two of them are only
/// accesses of one thread, or each thread waits for an mbarrier or for `wgmma` itself.
#[test]
fn a_missing_line_is_found() {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut silent = Vec::new();
    for kernel in KERNELS.iter().filter(|kernel| !kernel.name.ends_with("_100")) {
        let lines: Vec<&str> = kernel.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let bare = line.trim_start();
            let bare = if bare.starts_with('@') { bare.split_once(' ').map_or("", |(_, rest)| rest) } else { bare };
            let Some(order) = ORDERS.into_iter().find(|order| bare.starts_with(order)) else { continue };
            let text = [&lines[..at], &lines[at + 1..]].concat().join("\n");
            let is_found = (0..SEEDS).any(|seed| !run(kernel.entry, &text, seed).1.findings.is_empty());
            let count = counts.entry(order).or_default();
            *count = (count.0 + 1, count.1 + usize::from(is_found));
            if !is_found {
                silent.push(format!("{}:{} {bare}", kernel.name, at + 1));
            }
        }
    }
    println!("lines left out, and how many were found: {counts:?}");
    assert!(silent.iter().all(|line| line.contains("bar.sync")), "{silent:?}");
    let expected = [
        ("bar.sync", (29, 12)),
        ("fence.proxy.async", (2, 2)),
        ("fence.proxy.tensormap", (2, 2)),
        ("mbarrier.init", (3, 3)),
        ("wgmma.wait_group", (3, 3)),
    ];
    assert_eq!(counts, BTreeMap::from(expected), "{silent:?}");
}
