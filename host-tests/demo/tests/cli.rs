//! The demo as it is typed: how it ends when it cannot begin.

use std::process::{Command, Output};

fn demo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
    command.args(arguments).env_remove("PTX_INTRINSICS_TOOLCHAIN").env("NO_COLOR", "1").output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_failure_says_what_where_and_what_to_do_and_exits_with_1() {
    let failures: [(&[&str], &str); 3] = [
        (
            &["--kernel", "nope"],
            "error: there is no kernel `nope`\n  at --kernel\n  → use one of triad gather spmv probe\n",
        ),
        (
            &["--sm", "sm_90,sm_75"],
            "error: sm_75 is too old for the kernels: it lacks some of their hints\n  at --sm\n  → use sm_80 or later\n  \
             → `cargo xtask forms` lists what each hint needs\n",
        ),
        (&["--sm", "90"], "error: `90` is not a GPU architecture\n  at --sm\n  → use one of sm_50 "),
    ];
    for (arguments, message) in failures {
        let output = demo(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert!(stderr(&output).starts_with(message), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    let output = demo(&["--toolchain", "nope"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", stderr(&output));
}
