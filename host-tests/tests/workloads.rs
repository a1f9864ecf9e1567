//! Every kernel on the CPU, against a reference that knows nothing of it.

use host_tests::workload::{self, ALL, Output};
use kernels::{Thread, executor};
use std::sync::Mutex;

/// Sizes around a vector, a warp, a block, a round of the unrolled loops, and all of a CPU's grid.
const SIZES: [usize; 13] = [0, 1, 2, 3, 5, 31, 32, 33, 255, 257, 1023, 20_000, 70_001];

fn check(name: &str, sizes: &[usize], elements: fn(usize) -> usize) {
    let workload = ALL.into_iter().find(|workload| workload.name() == name).expect("a workload's name");
    for size in sizes {
        let figures = workload::run_on_cpu(workload, *size);
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

/// A list of tests that forgets a workload is found out.
#[test]
fn all_are_checked() {
    assert_eq!(ALL.map(|workload| workload.name()), ["triad", "gather", "spmv", "probe"]);
    for workload in ALL {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/..").to_string() + "/" + workload.source();
        let text = std::fs::read_to_string(&source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let entry = format!("pub unsafe fn {}(", workload.name());
        assert!(text.contains(&entry), "{source} defines {entry}");
    }
}

#[test]
fn the_same_size_is_the_same_problem() {
    for workload in ALL {
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

#[test]
fn the_executor_runs_every_thread_once() {
    let seen = Mutex::new(Vec::new());
    executor::launch(3, 5, |thread| seen.lock().unwrap().push(thread));
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by_key(|thread| thread.index());
    let thread = |thread, block| Thread { thread, block, block_dim: 5, grid_dim: 3 };
    let all = (0..15).map(|index| thread(index % 5, index / 5)).collect::<Vec<_>>();
    assert_eq!(seen, all);
    assert!(all.iter().enumerate().all(|(index, thread)| thread.index() == index && thread.count() == 15));
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
    let y = Mutex::new([f32::NAN; 9]);
    executor::launch(1, 2, |thread| {
        let mut y = y.lock().unwrap();
        // SAFETY: the rows ascend, the columns are below 8, and y has nine elements.
        unsafe {
            let (row_start, columns, values) = (row_start.as_ptr(), columns.as_ptr(), values.as_ptr());
            kernels::spmv::spmv(thread, y.as_mut_ptr(), row_start, columns, values, x.as_ptr(), 9);
        }
    });
    assert_eq!(y.into_inner().unwrap().to_vec(), expected);
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
    let found = Mutex::new([0; 5]);
    executor::launch(1, 1, |thread| {
        let mut found = found.lock().unwrap();
        // SAFETY: the table has eight slots, four of them empty; there are five keys.
        unsafe { probe(thread, found.as_mut_ptr(), table.as_ptr(), 3, keys.as_ptr(), 5) }
    });
    assert_eq!(found.into_inner().unwrap(), [100, 101, 102, 103, MISSING]);
}
