//! `docs/parity.md` says what the compilers make: one GPU's rows are measured anew.

use host_tests::check::here::{or_panic, toolchain, tools};
use std::path::Path;

use host_tests::check::parity::{self, KERNELS, PREFACE, Report, TARGETS, markdown_line};
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;

/// The GPU that is measured anew.
const SM: Sm = Sm::new(90);

/// The rows of that GPU: all kernels but those of 256 bits and of four rows.
const ROWS_OF_SM: usize = 39;

/// How many rows the page has: 35 kernels on the first GPU, those of bulk copies too on the next, and on two more those of
/// 256 bits and of four rows.
const ROWS: usize = 35 + ROWS_OF_SM + 2 * 41;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/parity.md");
    std::fs::read_to_string(path).expect("the page is in the repository")
}

/// The cells of each row of the page.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter(|line| line.contains(" | sm_"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn ratio(row: &[&str]) -> f64 {
    row[5].parse().expect("the sixth column is the ratio")
}

/// The numbers of a column: of Rust, and of CUDA C++.
fn both(row: &[&str], column: usize) -> (usize, usize) {
    let (rust, cuda) = row[column].split_once(" / ").expect("the column has both");
    (rust.parse().expect("a number"), cuda.parse().expect("a number"))
}

/// How many loads are on their way at once.
fn in_flight(row: &[&str]) -> (usize, usize) {
    both(row, 6)
}

/// Bytes of local memory.
fn stack(row: &[&str]) -> (usize, usize) {
    both(row, 10)
}

fn measured() -> Report {
    let progress = Progress::kept();
    let target: Vec<_> = TARGETS.into_iter().filter(|(sm, _)| *sm == SM).collect();
    let all: Vec<_> = KERNELS.iter().collect();
    or_panic(parity::measure(&toolchain(), tools(), &target, &all, &progress))
}

#[test]
fn no_kernel_on_the_page_needs_more_than_cuda() {
    let page = page();
    assert!(page.starts_with(PREFACE), "`cargo xtask parity --write` writes the page anew");
    let rows = rows(&page);
    assert_eq!(rows.len(), ROWS);
    for pair in &KERNELS {
        let on = rows.iter().filter(|row| row[0] == pair.kernel).count();
        assert_eq!(on, TARGETS.iter().filter(|(sm, _)| *sm >= pair.first).count(), "{}", pair.kernel);
    }
    for row in rows {
        let ((rust, cuda), pair) = (in_flight(&row), KERNELS.iter().find(|pair| pair.kernel == row[0]));
        let more_local = stack(&row).0 > stack(&row).1;
        let is_behind = ratio(&row) > 1.0 || more_local || rust < cuda;
        assert!(!is_behind || pair.is_some_and(|pair| pair.why.is_some()), "nothing says why: {row:?}");
        let (rust, cuda) = row[9].split_once(" / ").expect("the tenth column has both");
        assert_eq!(rust, cuda, "the bounds of a launch differ: {row:?}");
    }
    for pair in KERNELS.iter().filter(|pair| pair.why.is_some()) {
        assert!(page.contains(&format!("\n- `{}` on sm_", pair.kernel)), "{} is behind nowhere", pair.kernel);
    }
}

#[test]
fn the_page_says_what_comes_out() {
    let (page, report) = (page(), measured());
    let committed: Vec<&str> = page.lines().filter(|line| line.contains(&format!(" | {SM} |"))).collect();
    assert_eq!((committed.len(), report.rows.len()), (ROWS_OF_SM, ROWS_OF_SM));
    for (row, line) in report.rows.iter().zip(committed) {
        // Another compiler may do better than the one that the page was made with; no compiler may do worse.
        if page.contains(&report.made_with()) {
            assert_eq!(markdown_line(row), line, "`cargo xtask parity --write` writes the page anew");
        } else {
            assert_eq!(row.kernel, rows(line)[0][0]);
            let (found, written) = (row.ratio(), ratio(&rows(line)[0]));
            assert!(found < written + 0.005, "{}: {found:.2}, and {written:.2} on the page", row.kernel);
            let written = in_flight(&rows(line)[0]).0;
            assert!(row.rust.in_flight >= written, "{}: fewer loads are on their way than on the page", row.kernel);
            let written = stack(&rows(line)[0]).0;
            assert!(row.rust.needs.stack as usize <= written, "{}: more local memory than on the page", row.kernel);
        }
    }
}
