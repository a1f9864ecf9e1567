//! `cargo xtask ci`.

mod packages;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use console::style;
use host_tests::tools::command::Machine;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::program::print;
use serde_json::Value;

use crate::cargo::{in_the_environment_of, plain_cargo};

/// The crates that are published, each before those that depend on it.
const PUBLISHED: [&str; 8] = [
    "ptx-cuda-oxide",
    "ptx-intrinsics",
    "ptx-driver",
    "ptx-kernel",
    "ptx-interpreter",
    "ptx-sass",
    "ptx-audit",
    "ptx-build",
];

#[derive(clap::Args)]
pub(crate) struct Ci {
    /// Run only these steps
    #[arg(value_name = "STEP")]
    only: Vec<Step>,
}

/// What a change has to pass, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Step {
    /// The sources are formatted
    Fmt,
    /// `cargo xtask test`
    Test,
    /// The tests of what needs a cargo feature
    Features,
    /// The published crates compile for the host with the oldest Rust that they name, where rustup has it
    OldestRust,
    /// clippy gives no warning
    Clippy,
    /// The documentation of the published crates has no broken link
    Doc,
    /// The published crates are packaged, and the examples and a new project are built from the packages and run
    Packages,
}

impl Ci {
    /// Ends at the first step that fails.
    pub(crate) fn run(self) -> Result<()> {
        let machine = Machine::current();
        let all: &[Step] = clap::ValueEnum::value_variants();
        let mut seconds = Vec::new();
        for step in all.iter().filter(|step| self.only.is_empty() || self.only.contains(step)) {
            let began = Instant::now();
            step.run(&machine)?;
            seconds.push((step, began.elapsed().as_secs_f64()));
        }
        eprintln!();
        for (step, seconds) in seconds {
            eprintln!("{seconds:>7.1} s  {step:?}: {}", style("ok").green().for_stderr());
        }
        Ok(())
    }
}

impl Step {
    fn run(self, machine: &Machine) -> Result<()> {
        let here = |words: &str| Cargo::new(machine, &machine.repository).words(words);
        match self {
            Step::Fmt => here("fmt --all --check").run(),
            Step::Test => here("xtask test").run(),
            Step::Features => {
                here("test --package ptx-intrinsics --features half --test host --test atomics").run()?;
                here("check --package kernels --features rust-cuda --quiet").run()?;
                here("check --package demo --quiet").run()?;
                here("check --package ptx-build --no-default-features --quiet").run()
            }
            Step::OldestRust => oldest_rust(machine),
            Step::Clippy => here("clippy --workspace --all-targets --quiet -- -D warnings").run(),
            Step::Doc => {
                let doc =
                    here("doc --no-deps --quiet").words(&PUBLISHED.map(|name| format!("--package {name}")).join(" "));
                doc.env("RUSTDOCFLAGS", "-D warnings").run()
            }
            Step::Packages => packages::run(machine),
        }
    }
}

/// Checks the published crates, each with the Rust that its `rust-version` names.
fn oldest_rust(machine: &Machine) -> Result<()> {
    let described = Cargo::new(machine, &machine.repository).words("metadata --no-deps --format-version 1").output()?;
    let described: Value = serde_json::from_str(&described).map_err(Error::new)?;
    let packages = described["packages"].as_array().cloned().unwrap_or_default();
    for version in packages.iter().filter_map(|package| package["rust_version"].as_str()).collect::<BTreeSet<_>>() {
        let promised = |name: &&str| packages.iter().any(|one| one["name"] == **name && one["rust_version"] == version);
        let names: Vec<_> = PUBLISHED.into_iter().filter(promised).collect();
        // Its full name, as rustup has it.
        let toolchain = format!("{}.0", version.trim_end_matches(".0"));
        if machine.command("rustup").args(["run", &toolchain, "cargo", "--version"]).run().is_err() {
            eprintln!(
                "\nNot tried with Rust {version}, which is not here: {}. Type: rustup toolchain install {toolchain} --profile minimal",
                names.join(", ")
            );
            continue;
        }
        let check = Cargo::of(&toolchain, machine).words("check --all-features --quiet");
        let check = check.words(&names.iter().map(|name| format!("--package {name}")).collect::<Vec<_>>().join(" "));
        check.arg("--target-dir").arg(machine.target().join("oldest-rust")).run()?;
    }
    Ok(())
}

/// A call of cargo's in a folder, on this terminal, without what the cargo that runs this program says of its package.
struct Cargo {
    command: Command,
}

impl Cargo {
    fn new(machine: &Machine, folder: &Path) -> Cargo {
        Cargo { command: plain_cargo(machine, folder) }
    }

    /// The cargo of another of rustup's toolchains, in this repository.
    fn of(toolchain: &str, machine: &Machine) -> Cargo {
        let mut command = in_the_environment_of(&Cargo::new(machine, &machine.repository).command, "rustup");
        command.args(["run", toolchain, "cargo"]).current_dir(&machine.repository).stdin(Stdio::null());
        Cargo { command }
    }

    /// Adds arguments that have no blanks.
    fn words(mut self, words: &str) -> Cargo {
        self.command.args(words.split_whitespace());
        self
    }

    fn arg(mut self, arg: impl Into<OsString>) -> Cargo {
        self.command.arg(arg.into());
        self
    }

    fn env(mut self, name: &str, value: impl Into<OsString>) -> Cargo {
        self.command.env(name, value.into());
        self
    }

    fn line(&self) -> String {
        let program = Path::new(self.command.get_program()).file_name().unwrap_or_default().to_string_lossy();
        let words: Vec<_> = self.command.get_args().map(|word| word.to_string_lossy()).collect();
        format!("{program} {}", words.join(" "))
    }

    /// Runs it on this terminal.
    fn run(mut self) -> Result<()> {
        self.say();
        let status = self.command.status().map_err(|error| self.not_started(&error))?;
        self.judge(status)
    }

    /// Runs it, and gives what it prints on stdout, which is shown too.
    fn printed(mut self) -> Result<String> {
        self.say();
        let text = self.output()?;
        print(&text)?;
        Ok(text)
    }

    /// Runs it, and gives what it prints on stdout.
    fn output(&mut self) -> Result<String> {
        let output = self.command.stderr(Stdio::inherit()).output().map_err(|error| self.not_started(&error))?;
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn say(&self) {
        eprintln!("\n{}", style(self.line()).bold().for_stderr());
    }

    fn judge(&self, status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        Err(Error::new(format_args!("`{}`: {status}", self.line()))
            .at(self.command.get_current_dir().unwrap_or(Path::new(".")).display())
            .fix("read what it printed above; it can be typed again by itself"))
    }

    fn not_started(&self, error: &std::io::Error) -> Error {
        Error::new(format_args!("could not start `{}`: {error}", self.line()))
            .at(self.command.get_program().display())
            .fix("put the folder of cargo into PATH")
    }
}
