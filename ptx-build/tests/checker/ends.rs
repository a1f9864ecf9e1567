//! How `cargo ptx check` ends, and which order of the threads a finding names.

use std::process::Command;

use crate::program::{Program, check};
use regex_lite::Regex;

fn run(program: &Program, options: &[&str], word: &str) -> (Option<i32>, String, String) {
    check(options, Command::new(program.path()).arg(word))
}

/// The seeds that findings name.
fn seeds(printed: &str) -> Vec<String> {
    let named = Regex::new(r"seed (\d+)\)").expect("it is valid");
    named.captures_iter(printed).map(|seed| seed[1].to_owned()).collect()
}

/// What goes wrong in every order is told of the first one. What goes wrong in another one is run again by its seed.
#[test]
fn a_named_seed_replays() {
    let program = Program::of_nvcc("ends.cu", &[]);
    let (code, printed, complaint) = run(&program, &["--seeds", "8"], "always");
    assert_eq!((code, seeds(&printed)), (Some(1), vec!["0".to_owned()]), "{printed}{complaint}");
    let (_, all, complaint) = run(&program, &["--seeds", "32"], "sometimes");
    let seeds_of_all = seeds(&all);
    let [seed] = &seeds_of_all[..] else { panic!("{all}{complaint}") };
    assert_ne!(seed, "0", "{all}");
    let (code, again, complaint) = run(&program, &["--seed", seed], "sometimes");
    assert_eq!((code, &seeds(&again)), (Some(1), &seeds_of_all), "{again}{complaint}");
    assert!(again.starts_with("cudaErrorIllegalAddress\nerror[bounds]: an access is outside"), "{again}");
    let before = (seed.parse::<u64>().expect("a number") - 1).to_string();
    assert_eq!(run(&program, &["--seed", &before], "sometimes").0, Some(0));
}

/// A signal that ends a program after a finding is named beside it.
#[test]
fn a_signal_is_named_beside_findings() {
    let (code, printed, complaint) = run(&Program::of_nvcc("ends.cu", &[]), &[], "crash");
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.contains("error[race]") && printed.contains("race: 1 finding"), "{printed}");
    assert!(complaint.contains("the program ended with signal: 6 (SIGABRT)"), "{complaint}");
}

/// A program that the deadline ends has a cause of its own: it did nothing wrong.
#[test]
fn a_program_that_the_deadline_ends_is_said_so() {
    let (code, printed, complaint) = check(&["--deadline", "0"], Command::new("sleep").arg("60"));
    let late = "\
        error: the program had not ended at the deadline, and was ended\n  at sleep\n  \
        → give it a later deadline, or let it do less\n";
    assert_eq!((code, &printed[..], &complaint[..]), (Some(2), "", late));
}

/// A thread that ends has no `std::thread::current` any more, and what a library keeps for it is freed then.
#[test]
fn a_thread_calls_at_its_end() {
    let (code, printed, complaint) = run(&Program::of_nvcc("ends.cu", &[]), &[], "thread");
    let expected = "cudaSuccess\ncudaSuccess\n1\nadd: no findings in 1 order of its threads";
    assert!(code == Some(0) && printed.starts_with(expected), "{code:?} {printed}{complaint}");
}
