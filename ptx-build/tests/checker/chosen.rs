//! `cargo ptx check --kernel` and `--launches`: the other launches only run.

use std::fs;
use std::process::Command;

use crate::program::{Program, check, line_marked, source};

/// What the program prints while its kernels do what they do.
const PRINTED: [&str; 4] = ["filled with 1", "filled with 2", "filled with 3", "384"];

/// The program runs to its end in each case. Gives its exit code, the lines after its own, and what is complained of.
fn chosen(program: &Program, options: &[&str]) -> (Option<i32>, Vec<String>, String) {
    let (code, printed, complaint) = check(options, &Command::new(program.path()));
    // The numbers of instructions are the compiler's.
    let without_number = |line: &str| line.split(" of its threads, ").next().map(str::to_owned);
    let lines: Vec<String> = printed.lines().filter_map(without_number).collect();
    assert_eq!(lines[..4], PRINTED, "{options:?}: {complaint}");
    (code, lines[4..].to_vec(), complaint)
}

/// The last lines: one for each kernel.
fn last(lines: &[String], count: usize) -> Vec<&str> {
    lines[lines.len() - count..].iter().map(String::as_str).collect()
}

#[test]
fn launches_that_are_not_chosen_only_run() {
    let program = Program::of_nvcc("chosen.cu", &[]);
    let (code, lines, complaint) = chosen(&program, &["--kernel", "wrong::rotate"]);
    assert_eq!(code, Some(1), "{complaint}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("error[race]")).count(), 1, "{lines:?}");
    assert_eq!(
        last(&lines, 2),
        ["wrong::rotate: 1 finding in 4 launches, each in 1 order", "not checked: 6 launches of 2 kernels"]
    );
    // What kernels have written that are not checked has values.
    let (code, lines, complaint) = chosen(&program, &["--kernel", "sum", "--seeds", "2"]);
    assert_eq!(code, Some(0), "{complaint}");
    assert_eq!(lines, ["sum: no findings in 3 launches, each in 2 orders", "not checked: 7 launches of 2 kernels"]);
    // The first launch of each kernel in each shape.
    let (code, lines, complaint) = chosen(&program, &["--launches", "1"]);
    assert_eq!(code, Some(1), "{complaint}");
    assert_eq!(
        last(&lines, 4),
        [
            "fill: no findings in 1 order",
            "sum: no findings in 1 order",
            "wrong::rotate: 1 finding in 2 launches, each in 1 order",
            "not checked: 6 launches of 3 kernels"
        ]
    );
    let (code, lines, complaint) = chosen(&program, &["--kernel", "sum", "--kernel", "fill", "--launches", "3"]);
    assert_eq!(code, Some(0), "{complaint}");
    assert_eq!(last(&lines, 1), ["not checked: 4 launches of 1 kernel"]);
}

#[test]
fn no_such_kernel_is_an_error() {
    let program = Program::of_nvcc("chosen.cu", &[]);
    for name in ["rotation", "rotate::wrong", "wrong::rotate::rotate"] {
        let (code, lines, complaint) = chosen(&program, &["--kernel", name]);
        assert_eq!((code, lines), (Some(2), vec!["not checked: 10 launches of 3 kernels".to_owned()]));
        let told = "error: the program launched no kernel of this name";
        let told = format!("{told}\n  at {name}\n  → it launched fill, sum, wrong::rotate\n");
        assert!(complaint.ends_with(&told), "{complaint}");
    }
}

/// Memory is as it was before, and the launch is run again.
#[test]
fn what_goes_wrong_without_checks_is_checked() {
    let text = fs::read_to_string(source("chosen.cu")).expect("the program");
    let program = Program::of_nvcc("chosen.cu", &[]);
    let (code, printed, complaint) = check(&["--kernel", "sum"], Command::new(program.path()).arg("astray"));
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.starts_with("0 before\n") && printed.contains("error[bounds]"), "{printed}");
    let line = line_marked(&text, "astray").expect("a line");
    assert!(printed.contains(&format!("chosen.cu:{line},")), "{printed}");
}

/// A kernel that is not checked may have told others by a flag what came before it, or been told.
#[test]
fn a_flag_of_a_kernel_that_only_runs_orders_others() {
    let program = Program::of_nvcc("chosen.cu", &[]);
    for others in [&["--kernel", "raise"][..], &["--kernel", "await"], &[]] {
        let kernels = [&["--kernel", "make", "--kernel", "take"], others].concat();
        let (code, printed, complaint) = check(&kernels, Command::new(program.path()).arg("flag"));
        assert_eq!(code, Some(0), "{kernels:?}: {printed}{complaint}");
        assert!(printed.starts_with("7 taken\n"), "{printed}");
    }
    let (code, printed, complaint) = check(&[], Command::new(program.path()).arg("flag"));
    assert_eq!(code, Some(0), "{printed}{complaint}");
}
