//! `cargo ptx check` refuses the launches that an H100 refuses, and tells the same numbers of blocks and clusters.

use std::fs;

use crate::program::{Program, source};
use tempfile::NamedTempFile;

/// The answers of the program, line by line, are those that an H100 gave.
#[test]
fn launches_have_the_answers_of_an_h100() {
    let answers = NamedTempFile::new().expect("a file");
    let program = Program::of_nvcc("launches.cu", &[]);
    let (code, printed, complaint) = program.check(&[answers.path().to_str().expect("the path is text")]);
    // What is refused is a finding.
    assert_eq!(code, Some(1), "{complaint}");
    let ours = fs::read_to_string(answers.path()).expect("the answers");
    let expected = fs::read_to_string(source("launches.txt")).expect("the answers of the H100");
    for (number, (ours, expected)) in ours.lines().zip(expected.lines()).enumerate() {
        assert_eq!(ours, expected, "line {} of launches.txt", number + 1);
    }
    assert_eq!((ours.lines().count(), expected.lines().count()), (3924, 3924));
    for words in [
        "bounded` is launched with blocks of 257 x 1 x 1 threads\n  |\n  = help: choose at least one thread, and at most 256 in all",
        "plain` is launched with a grid of 1 x 65536 x 1 blocks\n  |\n  = help: choose at least one block, and at most 2147483647 x 65535 x 65535",
        "clustered` is launched in clusters of 2 x 1 x 1 blocks, with a grid of 1 x 1 x 1\n  |\n  = help: the kernel says itself",
        "wide` is launched in clusters of 8 x 1 x 1 blocks, with a grid of 12 x 1 x 1\n  |\n  = help: choose sizes that divide the grid's, and at most 8 blocks",
        "wide` is launched cooperatively with 12 blocks\n  |\n  = help: no such block has room",
        "bounded` is launched with 16 bytes of dynamic shared memory, and at most 0 are allowed",
    ] {
        assert!(printed.contains(words), "{words}");
    }
}

#[test]
fn what_stands_in_brackets_has_an_error_of_its_own() {
    let program = Program::of_nvcc("launches.cu", &["-Xcompiler".into(), "-g".into()]);
    let (code, printed, complaint) = program.check(&["brackets"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    assert!(printed.starts_with("9 9 1\n"), "{printed}");
    let text = fs::read_to_string(source("launches.cu")).expect("the program");
    for launch in ["plain<<<1, 2048>>>", "plain<<<dim3(1, 65536), 32>>>", "plain<<<1, 32, 49153>>>", "launched(plain, "]
    {
        let line = 1 + text.lines().position(|line| line.contains(launch)).expect("the launch");
        assert!(printed.contains(&format!("launches.cu:{line}, by_brackets")), "{printed}");
    }
}
