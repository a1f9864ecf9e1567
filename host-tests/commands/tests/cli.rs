//! The command as it is typed: what it prints where, and how it ends.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

fn xtask() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_commands"));
    command.env_remove("PTX_INTRINSICS_TOOLCHAIN").env("NO_COLOR", "1");
    command
}

fn run(arguments: &[&str]) -> Output {
    xtask().args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_failure_says_what_where_and_what_to_do_and_exits_with_1() {
    let failures: [(&[&str], &str); 3] = [
        (
            &["forms", "--instruction", "nope"],
            "error: there is no instruction `nope`\n  at --instruction\n  → use one of ld.global.nc ",
        ),
        (
            &["parity", "--kernel", "nope"],
            "error: there is no kernel `nope`\n  at --kernel\n  → use one of copy32 copy64 ",
        ),
        (
            &["parity", "--sm", "sm_75"],
            "error: the pairs are not compared on that GPU\n  at --sm\n  → use one of sm_80 sm_90 sm_100 sm_120\n",
        ),
    ];
    for (arguments, message) in failures {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert!(stderr(&output).starts_with(message), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_wrong_route_in_the_environment_is_named() {
    let output = xtask().arg("test").env("PTX_INTRINSICS_TOOLCHAIN", "nope").output().unwrap();
    let message = "error: `nope` is not a way to a toolchain\n  at the environment variable \
                   PTX_INTRINSICS_TOOLCHAIN\n  → set it to auto, active, installed, rustup or debian, or unset it\n";
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(1), message));
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [&[][..], &["nope"], &["forms", "--nope"], &["test", "nope"]] {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
        assert!(stderr(&output).contains("Usage: cargo xtask") || stderr(&output).contains("--help"), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = xtask()
        .args(["forms", "--json", "--instruction", "ld.global.nc"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"instruction\":"), "{first}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}
