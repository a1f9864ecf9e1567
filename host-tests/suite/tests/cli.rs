//! `cargo xtask gpu` and `cargo xtask bundle` as they are typed.

use std::process::{Command, Output};

fn suite() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suite"));
    command.env_remove("PTX_INTRINSICS_TOOLCHAIN").env("NO_COLOR", "1");
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A machine without a GPU is no failure of the suite's, and no success either.
#[test]
fn no_gpu_has_an_exit_code_of_its_own() {
    let output = suite().arg("gpu").env("PTX_INTRINSICS_DRIVER", "/nonexistent/libcuda.so.1").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
    assert!(stderr(&output).starts_with("no GPU: no CUDA driver could be opened"), "{}", stderr(&output));
}

#[test]
fn a_bundle_does_not_replace_what_is_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "").unwrap();
    let output = suite().arg("bundle").arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("error: this is something else than a bundle\n"), "{}", stderr(&output));
    assert!(folder.path().join("mine").is_file());
}
