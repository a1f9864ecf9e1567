//! `cargo xtask test`.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;
use console::style;
use host_tests::command::Machine;
use host_tests::cuda_tools::CudaTools;
use host_tests::error::{Error, Result};
use host_tests::forms_check;
use host_tests::progress::Progress;
use host_tests::toolchain::{DeviceToolchain, ROUTE_VARIABLE, Route};

use crate::miri;

#[derive(clap::Args)]
pub(crate) struct Test {
    /// Where the toolchain comes from that compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
    /// Arguments for `cargo test`
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// The parts, each a run of `cargo test`. All tests run in the dev profile. The release profile repeats those whose code
/// the optimiser changes: what the crate means on a CPU, the kernels that run there, and calls into the driver. The
/// others read texts that other programs wrote, and they test device code of both profiles themselves.
const PARTS: [(&str, &[&str]); 3] = [
    ("dev profile", &["--workspace"]),
    ("release profile, crate and kernels", &["--release", "--package=ptx-intrinsics", "--package=kernels"]),
    (
        "release profile, launches",
        &["--release", "--package=host-tests", "--test=workloads", "--test=driver", "--test=gpu"],
    ),
];

/// A part of the tests, and how it went.
struct Part {
    name: &'static str,
    seconds: f64,
    failure: Option<String>,
}

impl Test {
    pub(crate) fn run(self) -> Result<()> {
        let began = Instant::now();
        let machine = Machine::current();
        let route = provide(self.toolchain)?;
        // All parts draw the same forms, so that the next one finds them compiled.
        let seed = forms_check::seed()?;
        let provided = Part { name: "toolchain and CUDA tools", seconds: began.elapsed().as_secs_f64(), failure: None };
        let mut parts = vec![provided];
        for (name, selection) in PARTS {
            parts.push(self.part(&machine, name, &["test"], selection, route, seed)?);
        }
        if miri::is_installed(cargo(&machine, route)) {
            parts.push(self.part(&machine, "Miri", &["miri", "test"], &miri::SELECTION, route, seed)?);
        } else {
            eprintln!("\nMiri is not installed with this toolchain, so undefined behaviour is not looked for");
        }
        summary(&parts, began.elapsed().as_secs_f64())
    }

    /// Runs `cargo test`, or a subcommand like it, on this terminal.
    fn part(
        &self,
        machine: &Machine,
        name: &'static str,
        subcommand: &[&str],
        selection: &[&str],
        route: Route,
        seed: u64,
    ) -> Result<Part> {
        let mut command = cargo(machine, route);
        command.env(forms_check::SEED_VARIABLE, seed.to_string());
        command.args(subcommand).args(selection).args(&self.arguments);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        let line = format!("cargo {}", words.join(" "));
        eprintln!("\n{} {line}", style(format!("{name}:")).bold().for_stderr());
        let began = Instant::now();
        let status = command.status().map_err(|error| {
            Error::new(format_args!("could not start cargo: {error}"))
                .at(command.get_program().display())
                .fix("put the folder of cargo into PATH")
        })?;
        let failure = (!status.success()).then(|| format!("`{line}`: {status}"));
        Ok(Part { name, seconds: began.elapsed().as_secs_f64(), failure })
    }
}

/// Finds or installs what the tests need, before they all ask for it at once.
fn provide(flag: Option<Route>) -> Result<Route> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(flag)?, &progress)?;
    progress.note(&format!("Device code: {} at {}", toolchain.version, toolchain.rustc.display()));
    let tools = CudaTools::find(&progress)?;
    let (major, minor) = tools.release;
    progress.note(&format!("CUDA tools: {major}.{minor} at {}", tools.ptxas.display()));
    Ok(toolchain.route)
}

/// The cargo that runs this command, without what it says of this package.
fn cargo(machine: &Machine, route: Route) -> Command {
    let mut command = Command::new(machine.var("CARGO").unwrap_or("cargo".as_ref()));
    for name in machine.vars.keys().filter(|name| name.to_str().is_some_and(of_this_package)) {
        command.env_remove(name);
    }
    if let Some(route) = route.to_possible_value() {
        command.env(ROUTE_VARIABLE, route.get_name());
    }
    command.current_dir(&machine.repository).stdin(Stdio::null());
    command
}

/// Whether cargo sets a variable for the program that it runs.
pub(crate) fn of_this_package(name: &str) -> bool {
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "OUT_DIR"
}

fn summary(parts: &[Part], seconds: f64) -> Result<()> {
    eprintln!();
    for Part { name, seconds, failure } in parts {
        let verdict = if failure.is_none() { style("ok").green() } else { style("FAILED").red().bold() };
        eprintln!("{:>7.1} s  {name}: {}", seconds, verdict.for_stderr());
    }
    eprintln!("{seconds:>7.1} s  in all");
    let failures: Vec<&str> = parts.iter().filter_map(|part| part.failure.as_deref()).collect();
    if failures.is_empty() {
        return Ok(());
    }
    Err(Error::new("not all tests passed")
        .because(failures.join("\n"))
        .fix("read the failures above; `cargo test` again runs one part alone"))
}
