//! Every kernel on the CPU, against a reference that knows nothing of it.

use host_tests::check::here::{toolchain, tools};
use host_tests::check::{forms_check, whole};
use host_tests::tools::disassembler::Disassembler;
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;
use ptx_kernel::cpu::Launch;
use ptx_sass::nvdisasm::SassFunction;
use rand::seq::IndexedRandom;
use workloads::{self, ALL, ORDERED, Output, Workload};

/// Sizes around a vector, a warp, a block, a round of the unrolled loops, and all of a CPU's grid.
const SIZES: [usize; 13] = [0, 1, 2, 3, 5, 31, 32, 33, 255, 257, 1023, 20_000, 70_001];

fn workloads() -> impl Iterator<Item = &'static dyn Workload> {
    ALL.into_iter().chain(ORDERED)
}

fn named(name: &str) -> &'static dyn Workload {
    workloads().find(|workload| workload.name() == name).expect("a workload's name")
}

fn check(name: &str, sizes: &[usize], elements: fn(usize) -> usize) {
    let workload = named(name);
    for size in sizes {
        let figures = workloads::run_on_cpu(workload, *size);
        figures.verify().unwrap_or_else(|error| panic!("size {size}: {error}"));
        assert_eq!((figures.workload, figures.elements, figures.mismatches), (name, elements(*size), 0));
    }
}

#[test]
fn triad() {
    check("triad", &SIZES, |size| 4 * size);
}

#[test]
fn gather() {
    check("gather", &SIZES[..11], |size| 64 * size);
}

#[test]
fn spmv() {
    check("spmv", &SIZES[..9], |size| size * size);
}

#[test]
fn probe() {
    check("probe", &SIZES, |size| size);
}

/// Sizes around a vector, a row of a tile, a tile, and a window of tiles.
#[test]
fn scan() {
    check("scan", &[0, 1, 3, 4, 5, 1023, 1024, 1025, 4095, 4096, 4097, 12_289, 131_072, 131_073, 270_335], |size| size);
}

/// Sizes around a turn of a block and around the ring.
#[test]
fn ring() {
    check("ring", &[0, 1, 63, 64, 255, 256, 257, 1023, 1024, 1025, 1281, 10_007], |size| 2 * size);
}

#[test]
fn polynomial() {
    check("polynomial", &SIZES, |size| size);
}

#[test]
fn convolve() {
    check("convolve", &SIZES, |size| size);
}

#[test]
fn rod() {
    check("rod", &[0, 1, 2, 5], |size| 256 * size);
}

/// Sizes around the tiles of the blocks that run.
#[test]
fn matmul() {
    check("matmul", &[0, 1, 2, 21, 22, 45], |size| 64 * 192 * size);
}

/// Sizes around a chunk, the rings of all blocks, and several turns of each.
#[test]
fn stages() {
    check("stages", &[0, 1, 255, 256, 257, 1535, 1536, 1537, 6143, 6144, 6145, 20_000, 70_001], |size| 4 * size);
}

/// Sizes around a quad, a block of them, and the rounds of all blocks that run.
#[test]
fn histogram() {
    let sizes = [0, 1, 15, 16, 17, 4095, 4096, 4097, 65_537, 262_143, 262_144, 524_287, 524_288, 524_289, 1_500_007];
    check("histogram", &sizes, |_| 256);
}

/// Sizes of which the last tiles are not whole, and of which a block has several tiles.
#[test]
fn gemm() {
    check("gemm", &[0, 1, 2, 5], |size| (128 * size).saturating_sub(3) * 136);
}

/// Sizes of which some blocks have no row, and sizes around the rounds of a block.
#[test]
fn column_sums() {
    check("column_sums", &[0, 1, 3, 4, 5, 15, 16, 17, 63, 130], |_| 16 * 297);
}

#[test]
fn all_to_all() {
    check("all_to_all", &[0, 1, 2, 3], |size| 128 * size * 384);
}

/// Sizes around a chunk, the rings of all blocks, and several turns of each.
#[test]
fn gather_rows() {
    check("gather_rows", &[0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 1000], |size| 4 * size * 128);
}

/// What goes wrong only now and then has these runs to do so, and more of them in a whole run. The kernels are optimised in every profile.
const RUNS: [u32; 2] = [5, 40];

fn again_and_again(name: &str, size: usize) {
    let workload = named(name);
    let problem = workload.problem(size);
    let reference = problem.reference();
    let (mut seconds, runs) = (0.0, RUNS[usize::from(whole::is_set())]);
    for run in 0..runs {
        let figures = workloads::run_problem_on_cpu(workload, &*problem, &reference);
        figures.verify().unwrap_or_else(|error| panic!("run {run} of {size}: {error}"));
        seconds += figures.seconds;
    }
    println!("{name}: {size} {}, {runs} runs in {seconds:.0} s", workload.facts().unit);
}

#[test]
fn scan_of_a_million_again_and_again() {
    again_and_again("scan", 1 << 20);
}

#[test]
fn scan_of_a_ragged_million_again_and_again() {
    again_and_again("scan", 1_234_567);
}

#[test]
fn ring_of_a_million_again_and_again() {
    again_and_again("ring", 1 << 19);
}

#[test]
fn ring_of_a_ragged_million_again_and_again() {
    again_and_again("ring", 500_009);
}

/// A list of tests that forgets a workload is found out.
#[test]
fn all_are_checked() {
    assert_eq!(ALL.map(|workload| workload.name()), ["triad", "gather", "spmv", "probe"]);
    let ordered = [
        "scan",
        "ring",
        "polynomial",
        "convolve",
        "rod",
        "matmul",
        "stages",
        "histogram",
        "gemm",
        "column_sums",
        "all_to_all",
        "gather_rows",
    ];
    assert_eq!(ORDERED.map(|workload| workload.name()), ordered);
    for workload in workloads() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/..").to_string() + "/" + &workload.source();
        let text = std::fs::read_to_string(&source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let entry = format!("pub unsafe fn {}(", workload.name());
        assert!(text.contains(&entry), "{source} defines {entry}");
    }
}

#[test]
fn the_same_size_is_the_same_problem() {
    for workload in workloads() {
        let [once, again] = [(); 2].map(|()| workload.problem(40).reference());
        assert_eq!(once, again, "{}", workload.name());
        assert_ne!(once, workload.problem(41).reference(), "{}", workload.name());
    }
}

#[test]
fn every_third_key_is_missing() {
    let Output::U64(found) = ALL[3].problem(300).reference() else { panic!("numbers") };
    let missing = found.iter().filter(|value| **value == kernels::probe::MISSING).count();
    assert_eq!((found.len(), missing), (300, 100));
}

/// The image that a GPU is given holds the kernels of all workloads that it can run; it is built without one too.
#[test]
fn the_image_of_a_gpu_has_every_kernel() {
    let mut random = forms_check::random("the GPUs are");
    // The kernels are compiled for sm_90 in any case.
    let drawn = [80, 100].sample(&mut random, whole::or(1)).copied();
    for sm in [90].into_iter().chain(drawn).map(Sm::new) {
        let functions = machine_code(sm);
        for workload in workloads() {
            let found = functions.iter().any(|function| function.name == workload.name());
            assert_eq!(found, workload.oldest() <= sm, "{} in the image for {sm}", workload.name());
        }
    }
}

fn machine_code(sm: Sm) -> Vec<SassFunction> {
    let progress = Progress::kept();
    let folder = tempfile::tempdir().unwrap();
    let cubin = folder.path().join("kernels.cubin");
    std::fs::write(&cubin, workloads::image(sm, &toolchain(), tools(), &progress).unwrap()).unwrap();
    Disassembler::new(&tools().nvdisasm).disassemble(&cubin).unwrap()
}

/// One wrong bit, anywhere, is one wrong element, named.
#[test]
fn a_fault_is_noticed() {
    let floats = Output::F32(vec![1.0, -0.5, 0.0]);
    let right: Vec<u8> = [1.0f32, -0.5, 0.0].map(f32::to_le_bytes).concat();
    let clean = floats.compare(&right);
    assert_eq!((clean.elements, clean.mismatches, clean.first), (3, 0, None));
    for byte in 0..right.len() {
        let mut wrong = right.clone();
        wrong[byte] ^= 1;
        let compared = floats.compare(&wrong);
        let begin = format!("element {} is ", byte / 4);
        assert_eq!((compared.elements, compared.mismatches), (3, 1));
        assert!(compared.first.is_some_and(|words| words.starts_with(&begin)), "byte {byte}");
    }
    let negative_zero: Vec<u8> = [1.0f32, -0.5, -0.0].map(f32::to_le_bytes).concat();
    assert_eq!(floats.compare(&negative_zero).first.as_deref(), Some("element 2 is -0.0, expected 0.0"));

    let all_wrong = Output::U64(vec![7, 8]).compare(&[0; 16]);
    assert_eq!((all_wrong.mismatches, all_wrong.first.as_deref()), (2, Some("element 0 is 0, expected 7")));
}

/// Rows without entries, and rows longer than what a thread reads at once; no Poisson matrix has those.
#[test]
fn spmv_of_ragged_rows() {
    let lengths = [0u32, 1, 4, 5, 6, 0, 10, 11, 37];
    let mut row_start = vec![0];
    row_start.extend(lengths.iter().scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    }));
    let entries: u32 = lengths.iter().sum();
    let columns: Vec<u32> = (0..entries).map(|entry| entry * 7 % 8).collect();
    let values: Vec<f32> = (0..entries).map(|entry| entry as f32).collect();
    let x = [1.0f32, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let row = |range: &[u32]| (range[0]..range[1]).map(|entry| entry as f32 * x[entry as usize * 7 % 8]).sum();
    let expected: Vec<f32> = row_start.windows(2).map(row).collect();
    let mut y = [f32::NAN; 9];
    let to = y.as_mut_ptr();
    let (row_start, columns, values) = (row_start.as_ptr(), columns.as_ptr(), values.as_ptr());
    // SAFETY: the rows ascend, the columns are below 8, and y has nine elements.
    unsafe { Launch::new(1, 2).run(|| kernels::spmv::spmv(to, row_start, columns, values, x.as_ptr(), 9)) };
    assert_eq!(y.to_vec(), expected);
}

/// Keys that all want the last slot: the search goes on at the first.
#[test]
fn probe_wraps_around() {
    use kernels::probe::{EMPTY, MISSING, Slot, home, probe};
    let wants_the_last = (1..).filter(|key| home(*key, 3) == 7);
    let keys: Vec<u64> = wants_the_last.take(5).collect();
    let mut table = [Slot::from([EMPTY, 0]); 8];
    for (slot, at) in [7, 0, 1, 2].into_iter().zip(0..) {
        table[slot] = Slot::from([keys[at], 100 + at as u64]);
    }
    let mut found = [0; 5];
    let to = found.as_mut_ptr();
    // SAFETY: the table has eight slots, four of them empty; there are five keys.
    unsafe { Launch::new(1, 1).run(|| probe(to, table.as_ptr(), 3, keys.as_ptr(), 5)) };
    assert_eq!(found, [100, 101, 102, 103, MISSING]);
}
