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
