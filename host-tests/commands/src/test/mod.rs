//! `cargo xtask test`.

mod processor;
mod programs;
mod queue;

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;
use console::style;
use host_tests::check::{forms_check, only, whole};
use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::progress::Progress;
use host_tests::tools::toolchain::{DeviceToolchain, ROUTE_VARIABLE, Route};

use self::programs::{Program, Selected};
use self::queue::{Part, Queue, cores};
use crate::cargo::{line_of, not_started, plain_cargo};

#[derive(clap::Args)]
pub(crate) struct Test {
    /// Run only these: programs of tests, or modules of theirs, such as `text` or `search`. host-tests/tests/README.md lists them
    #[arg(value_name = "NAME", conflicts_with_all = ["package", "arguments"])]
    names: Vec<String>,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
    /// Test also what stands on the instructions: the checker, the audit, the memory model and the laboratory; and test the release
    /// profile
    #[arg(long, conflicts_with_all = ["names", "package", "only"])]
    all: bool,
    /// Run only the tests of this package, in the dev profile
    #[arg(long, value_name = "NAME")]
    package: Vec<String>,
    /// Run only the tests that know forms, and look only at forms that begin so: `st.async`, or several separated by commas
    #[arg(long, value_name = "FORM", value_delimiter = ',', conflicts_with_all = ["package", "arguments"])]
    only: Vec<String>,
    /// Take everything of which tests draw samples otherwise. It takes hours. `cargo xtask forms --check` and `cargo xtask sass` do so for
    /// spellings and machine code
    #[arg(long, conflicts_with_all = ["package", "arguments"])]
    whole: bool,
    /// Arguments for `cargo test`
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// What is compiled: all tests in the dev profile, which optimises the kernels, `ptx-kernel` and the calls into the driver too.
const DEV: (&str, &[&str]) = ("dev profile", &["--workspace"]);

/// The release profile repeats what `ptx-intrinsics` means on a CPU, which the dev profile optimises little. What is not ours is not
/// optimised. The other tests read texts that other programs wrote, and they test device code of both profiles themselves.
const RELEASE: (&str, &[&str]) = (
    "release profile",
    &[
        "--release",
        "--config=profile.release.package.\"*\".opt-level=0",
        "--package=ptx-intrinsics",
        "--features=ptx-intrinsics/l2-combinations",
    ],
);

/// Its tests; and those of a whole run, which take a minute to compile.
const OF_RELEASE: [&[&str]; 2] = [&["--test=host", "--test=atomics"], &["--package=ptx-kernel", "--tests"]];

/// The tests that look at the forms that `--only` names.
const OF_FORMS: [&str; 6] = ["forms", "conformance", "effects", "bounds", "suite", "sass"];

impl Test {
    pub(crate) fn run(self) -> Result<()> {
        let began = Instant::now();
        let machine = Machine::current();
        only::check(&self.only)?;
        let chosen = self.chosen(&machine)?;
        let route = provide(self.toolchain)?;
        // All parts draw the same forms, so that the next one finds them compiled.
        let seed = forms_check::seed()?;
        let cargo = || {
            let mut command = cargo(&machine, route);
            command.env(forms_check::SEED_VARIABLE, seed.to_string());
            if !self.only.is_empty() {
                command.env(only::VARIABLE, self.only.join(","));
            }
            if self.whole {
                command.env(whole::VARIABLE, "1");
            }
            command
        };
        let release = [RELEASE.1, OF_RELEASE[usize::from(self.whole)]].concat();
        let seconds = began.elapsed().as_secs_f64();
        let mut parts =
            vec![Part { name: "toolchain and CUDA tools".to_owned(), seconds, processor: 0.0, failure: None }];
        if !self.arguments.is_empty() {
            for (name, selection) in [DEV, (RELEASE.0, &release)] {
                parts.push(on_this_terminal(name, cargo().arg("test").args(selection).args(&self.arguments))?);
            }
            return summary(parts, began.elapsed().as_secs_f64());
        }
        // What is compiled first runs while the rest is compiled.
        let queue = Queue::new(parts);
        std::thread::scope(|scope| {
            for _ in 0..=cores() {
                scope.spawn(|| queue.work());
            }
            let _closed = queue.closed_at_the_end();
            queue.compile(DEV.0, &chosen, &cargo)?;
            if !self.all {
                return Ok(());
            }
            queue.push(miri(&cargo));
            queue.compile(RELEASE.0, &Selected::all(&release), &cargo)
        })?;
        if self.is_plain() {
            eprintln!("\nThese were the tests of the instructions. `cargo xtask test --all` runs the others too.");
        }
        summary(queue.parts(), began.elapsed().as_secs_f64())
    }
}

impl Test {
    fn is_plain(&self) -> bool {
        !self.all && self.names.is_empty() && self.package.is_empty() && self.only.is_empty()
    }

    /// What is run of the dev profile.
    fn chosen(&self, machine: &Machine) -> Result<Selected> {
        let cargo = plain_cargo(machine, &machine.repository);
        if !self.only.is_empty() && self.names.is_empty() {
            return Selected::named(&OF_FORMS.map(str::to_owned), cargo);
        }
        match (&self.names[..], &self.package[..]) {
            _ if self.all => Ok(Selected::all(DEV.1)),
            ([], []) => Selected::instructions(cargo),
            ([], packages) => Ok(Selected::packages(packages)),
            (names, _) => Selected::named(names, cargo),
        }
    }
}

/// What Miri runs: tests whose sizes are cut for it. Kernels cannot run there: it does not know the stacks of the threads of a block.
const OF_MIRI: [&str; 4] = ["--package=ptx-intrinsics", "--features=l2-combinations", "--test=host", "--test=atomics"];

/// Miri, which finds undefined behaviour and data races, where it is installed.
fn miri(cargo: &impl Fn() -> Command) -> Option<Program> {
    let mut asked = cargo();
    // Else rustup begins to install what is missing.
    asked.env("RUSTUP_AUTO_INSTALL", "0").args(["miri", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !asked.status().is_ok_and(|status| status.success()) {
        eprintln!("\nMiri is not installed with this toolchain, so undefined behaviour is not looked for");
        return None;
    }
    let mut command = cargo();
    command.args(["miri", "test"]).args(OF_MIRI);
    Some(Program { name: "Miri".to_owned(), command })
}

/// Runs `cargo test`, or a subcommand like it, on this terminal.
fn on_this_terminal(name: &str, command: &mut Command) -> Result<Part> {
    let line = line_of(command);
    eprintln!("\n{} {line}", style(format!("{name}:")).bold().for_stderr());
    let began = Instant::now();
    let status = command.status().map_err(|error| not_started(command, &error))?;
    let failure = (!status.success()).then(|| format!("`{line}`: {status}"));
    Ok(Part { name: name.to_owned(), seconds: began.elapsed().as_secs_f64(), processor: 0.0, failure })
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

/// That cargo for the tests: with the route to the compiler for the GPU.
fn cargo(machine: &Machine, route: Route) -> Command {
    let mut command = plain_cargo(machine, &machine.repository);
    if let Some(route) = route.to_possible_value() {
        command.env(ROUTE_VARIABLE, route.get_name());
    }
    command
}

fn summary(parts: Vec<Part>, seconds: f64) -> Result<()> {
    eprintln!();
    eprintln!("  clock  processor");
    for Part { name, seconds, processor, failure } in &parts {
        let verdict = if failure.is_none() { style("ok").green() } else { style("FAILED").red().bold() };
        eprintln!("{seconds:>7.1} s {processor:>7.1} s  {name}: {}", verdict.for_stderr());
    }
    let processor: f64 = parts.iter().map(|part| part.processor).sum();
    eprintln!("{seconds:>7.1} s {processor:>7.1} s  in all");
    let failures: Vec<&str> = parts.iter().filter_map(|part| part.failure.as_deref()).collect();
    if failures.is_empty() {
        return Ok(());
    }
    Err(Error::new("not all tests passed")
        .because(failures.join("\n"))
        .fix("read the failures above; `cargo test` again runs one part alone"))
}
