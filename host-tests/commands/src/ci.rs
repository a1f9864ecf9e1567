//! `cargo xtask ci`.

mod call;
mod packages;

use std::collections::BTreeSet;
use std::time::Instant;

use console::style;
use host_tests::tools::command::Machine;
use host_tests::tools::error::{Error, Result};
use serde_json::Value;

use self::call::Cargo;
use self::packages::PUBLISHED;

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
                here("test --package ptx-intrinsics --features half,l2-combinations --test host --test atomics")
                    .run()?;
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
