//! `cargo xtask`: compiles the program of a command, and runs it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, IsTerminal, stderr};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The package of a command. Its program has the package's name.
fn package(task: Option<&OsStr>) -> &'static str {
    match task.and_then(OsStr::to_str) {
        Some("demo") => "demo",
        Some("lab") => "lab",
        Some("litmus") => "litmus",
        Some("measured") => "measured",
        Some("gpu" | "bundle" | "rehearse") => "suite",
        _ => "commands",
    }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let task = arguments.first().map(OsString::as_os_str);
    let package = package(task);
    // The program of one command does not need its name again.
    let arguments = &arguments[usize::from(task == Some(OsStr::new(package)))..];
    match compile(package, features(package)) {
        Ok(true) => {}
        Ok(false) => return ExitCode::FAILURE,
        Err(error) => return failed("could not start cargo", &error),
    }
    let program = match env::current_exe() {
        Ok(this) => this.parent().unwrap_or(Path::new(".")).join(package),
        Err(error) => return failed("where is this program?", &error),
    };
    let error = Command::new(&program).args(arguments).exec();
    failed(&format!("could not start {}", program.display()), &error)
}

/// What is compiled of a program beyond its plain self. The way to a GPU's driver is only for machines that have one: it takes as
/// long to compile as the rest of the demo. The laboratory is optimised where it measures, and not for tests.
fn features(package: &str) -> &'static [&'static str] {
    let is_there = || DEVICES.iter().any(|device| Path::new(device).exists()) || env::var_os(DRIVER_VARIABLE).is_some();
    match package {
        "demo" if is_there() => &["--features", "gpu"],
        "lab" => &["--config", "profile.dev.package.lab.opt-level=1"],
        _ => &[],
    }
}

/// What NVIDIA's driver makes on Linux, and in Windows' subsystem for it.
const DEVICES: [&str; 2] = ["/dev/nvidiactl", "/dev/dxg"];

/// Names a driver; see `ptx-driver`.
const DRIVER_VARIABLE: &str = "PTX_INTRINSICS_DRIVER";

fn failed(what: &str, error: &std::io::Error) -> ExitCode {
    eprintln!("error: {what}: {error}");
    ExitCode::FAILURE
}

/// Compiles a package and shows cargo's lines, except those that say that nothing was to do.
fn compile(package: &str, features: &[&str]) -> std::io::Result<bool> {
    let color = if stderr().is_terminal() { "always" } else { "auto" };
    // With the workspace's features, the tests find compiled what the program has. The demo compiles nothing for others.
    let selection: &[&str] = if package == "demo" { &["--package", package] } else { &["--workspace"] };
    let mut cargo = Command::new(env!("CARGO"))
        .args(["build", "--color", color, "--bin", package])
        .args(selection)
        .args(features)
        .stderr(Stdio::piped())
        .spawn()?;
    for line in BufReader::new(cargo.stderr.take().expect("it is piped")).lines().map_while(Result::ok) {
        if !line.contains("Finished") {
            eprintln!("{line}");
        }
    }
    Ok(cargo.wait()?.success())
}
