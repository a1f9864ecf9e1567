//! `cargo xtask gpu`, `cargo xtask bundle` and the program of a bundle as they are typed.

use std::path::Path;
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

#[test]
fn the_program_of_a_bundle_judges_files_and_says_that_there_is_no_gpu() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_gpu-suite"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus/tests/litmus");
    program.arg("--litmus").arg(folder.join("MP-weak.litmus")).arg(folder.join("MP-sys.litmus"));
    let output = program.env(ptx_driver::DRIVER_VARIABLE, "/nonexistent/libcuda.so.1").output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(3), "{stdout}{stderr}");
    let counts = "2 files: 2 judged, 0 of them with a published result, 0 agree, 0 disagree\n\
                  1 tests have a kernel in PTX\n1 have none: its threads are on several GPUs\n";
    assert!(stdout.ends_with(counts), "{stdout}");
    assert!(stderr.contains("no GPU: ") && stderr.ends_with("so the verdicts are the model's alone\n"), "{stderr}");
}
