//! `cargo xtask test`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use clap::ValueEnum;
use console::style;
use host_tests::check::forms_check;
use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::progress::Progress;
use host_tests::tools::toolchain::{DeviceToolchain, ROUTE_VARIABLE, Route};
use serde_json::Value;

use crate::miri;

#[derive(clap::Args)]
pub(crate) struct Test {
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
    /// Run only the tests of this package, in the dev profile
    #[arg(long, value_name = "NAME")]
    package: Vec<String>,
    /// Arguments for `cargo test`
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// What is compiled: all tests in the dev profile, which optimises the kernels and the calls into the driver too. The release
/// profile repeats those of what the crates mean on a CPU. The others read texts that other programs wrote, and they test
/// device code of both profiles themselves. What is not ours is not optimised.
const PARTS: [(&str, &[&str]); 2] = [
    ("dev profile", &["--workspace"]),
    (
        "release profile",
        &[
            "--release",
            "--config=profile.release.package.\"*\".opt-level=0",
            "--package=ptx-intrinsics",
            "--package=ptx-kernel",
            "--tests",
        ],
    ),
];

/// What takes long begins first.
const LONG: [&str; 14] = [
    ": workloads",
    ": suite",
    ": conformance",
    EXAMPLES,
    ": ui",
    ": bounds",
    ": forms",
    ": gates",
    ": build_script",
    ": lab_kernels",
    ": explain",
    MUTANTS_PART,
    ": effects",
    ": orders",
];

const EXAMPLES: &str = "examples in the documentation";

/// How many mutants are drawn, and what the summary calls them.
const MUTANTS: &str = "100";
const MUTANTS_PART: &str = "a sample of mutants";

/// A part of the tests, and how it went.
struct Part {
    name: String,
    seconds: f64,
    failure: Option<String>,
}

/// A program, and what the summary calls it.
struct Program {
    name: String,
    command: Command,
}

impl Test {
    pub(crate) fn run(self) -> Result<()> {
        let began = Instant::now();
        let machine = Machine::current();
        let route = provide(self.toolchain)?;
        // All parts draw the same forms, so that the next one finds them compiled.
        let seed = forms_check::seed()?;
        let cargo = || {
            let mut command = cargo(&machine, route);
            command.env(forms_check::SEED_VARIABLE, seed.to_string());
            command
        };
        // cargo links this program anew when it compiles the tests: its path is asked for before.
        let this =
            std::env::current_exe().map_err(|error| Error::new(format_args!("where is this program? {error}")))?;
        let seconds = began.elapsed().as_secs_f64();
        let mut parts = vec![Part { name: "toolchain and CUDA tools".to_owned(), seconds, failure: None }];
        if !self.arguments.is_empty() {
            for (name, selection) in PARTS {
                parts.push(on_this_terminal(name, cargo().arg("test").args(selection).args(&self.arguments))?);
            }
            return summary(parts, began.elapsed().as_secs_f64());
        }
        let packages: Vec<String> = self.package.iter().map(|name| format!("--package={name}")).collect();
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        let chosen = [("dev profile", packages.as_slice())];
        let whole = packages.is_empty();
        let selections = if whole { PARTS.as_slice() } else { chosen.as_slice() };
        // What is compiled first runs while the rest is compiled.
        let queue = Queue::new(parts);
        std::thread::scope(|scope| {
            for _ in 0..=cores() {
                scope.spawn(|| queue.work());
            }
            let _closed = queue.closed_at_the_end();
            for &(name, selection) in selections {
                queue.compile(name, selection, &cargo)?;
                if whole && name == PARTS[0].0 {
                    queue.push(miri(&cargo));
                    queue.push([mutants(&this, &cargo, seed)]);
                }
            }
            Ok::<(), Error>(())
        })?;
        summary(queue.parts(), began.elapsed().as_secs_f64())
    }
}

/// A sample of mutants, drawn by the seed.
fn mutants(this: &Path, cargo: &impl Fn() -> Command, seed: u64) -> Program {
    let mut command = in_the_environment_of(&cargo(), this);
    command.args(["mutants", "--together", "--jobs=1", "--sample", MUTANTS, "--seed", &seed.to_string()]);
    Program { name: MUTANTS_PART.to_owned(), command }
}

/// Miri, where it is installed.
fn miri(cargo: &impl Fn() -> Command) -> Option<Program> {
    if !miri::is_installed(cargo()) {
        eprintln!("\nMiri is not installed with this toolchain, so undefined behaviour is not looked for");
        return None;
    }
    let mut command = cargo();
    command.args(["miri", "test"]).args(miri::SELECTION);
    Some(Program { name: "Miri".to_owned(), command })
}

/// Runs `cargo test`, or a subcommand like it, on this terminal.
fn on_this_terminal(name: &str, command: &mut Command) -> Result<Part> {
    let line = told(command);
    eprintln!("\n{} {line}", style(format!("{name}:")).bold().for_stderr());
    let began = Instant::now();
    let status = command.status().map_err(|error| not_started(command, &error))?;
    let failure = (!status.success()).then(|| format!("`{line}`: {status}"));
    Ok(Part { name: name.to_owned(), seconds: began.elapsed().as_secs_f64(), failure })
}

/// Compiles tests, and gives the programs, each in the environment that cargo would run it in.
fn compile(
    command: &mut Command,
    part: &str,
    cargo: impl Fn() -> Command,
) -> Result<std::result::Result<Vec<Program>, String>> {
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        return Ok(Err(format!("`{}`: {}", told(command), output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program = |message: Value| {
        let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let manifest = Path::new(message["manifest_path"].as_str()?);
        let package = manifest.parent()?;
        let mut command = in_the_environment_of(&cargo(), program);
        // What cargo would add to that.
        let name = package.file_name()?.to_string_lossy();
        command.env("CARGO_MANIFEST_DIR", package).env("CARGO_MANIFEST_PATH", manifest).env("CARGO_PKG_NAME", &*name);
        // What a test compiles is not compiled again after a change.
        command.env("CARGO_INCREMENTAL", "0").current_dir(package);
        Some(Program { name: format!("{part}, {name}: {}", message["target"]["name"].as_str()?), command })
    };
    Ok(Ok(messages.filter_map(program).collect()))
}

/// Programs that wait to be run, and how those went that have ended. One more runs at a time than there are cores, since some
/// wait; what each prints is shown when it has ended.
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    parts: Mutex<Vec<Part>>,
}

/// Those that take long are last, and taken first.
#[derive(Default)]
struct Waiting {
    programs: Vec<Program>,
    closed: bool,
}

/// Closes a queue when it is dropped: no more programs come.
struct Closed<'a>(&'a Queue);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        locked(&self.0.waiting).closed = true;
        self.0.changed.notify_all();
    }
}

impl Queue {
    fn new(parts: Vec<Part>) -> Queue {
        Queue { waiting: Mutex::default(), changed: Condvar::new(), parts: Mutex::new(parts) }
    }

    fn closed_at_the_end(&self) -> Closed<'_> {
        Closed(self)
    }

    fn push(&self, programs: impl IntoIterator<Item = Program>) {
        let place = |program: &Program| LONG.iter().position(|long| program.name.ends_with(long));
        let mut waiting = locked(&self.waiting);
        waiting.programs.extend(programs);
        waiting.programs.sort_by_key(|program| std::cmp::Reverse(place(program).unwrap_or(LONG.len())));
        self.changed.notify_all();
    }

    /// Compiles a part of the tests, and queues its programs.
    fn compile(&self, name: &str, selection: &[&str], cargo: &impl Fn() -> Command) -> Result<()> {
        let began = Instant::now();
        let shown = style(format!("{name}:")).bold().for_stderr();
        eprintln!("\n{shown} cargo test --no-run {}", selection.join(" "));
        let compiled = compile(cargo().args(["test", "--no-run"]).args(selection), name, cargo)?;
        let (mut programs, failure) = match compiled {
            Ok(programs) => (programs, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        let seconds = began.elapsed().as_secs_f64();
        locked(&self.parts).push(Part { name: format!("{name}, compiling"), seconds, failure });
        // Examples in the documentation are compiled as they run.
        if selection.iter().all(|word| !word.starts_with("--test")) {
            let mut command = cargo();
            command.args(["test", "--doc"]).args(selection);
            programs.push(Program { name: format!("{name}, {EXAMPLES}"), command });
        }
        self.push(programs);
        Ok(())
    }

    /// Runs what waits, until nothing more comes.
    fn work(&self) {
        while let Some(program) = self.next() {
            let part = run(program);
            locked(&self.parts).push(part);
        }
    }

    fn next(&self) -> Option<Program> {
        let mut waiting = locked(&self.waiting);
        loop {
            if let Some(program) = waiting.programs.pop() {
                return Some(program);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn parts(self) -> Vec<Part> {
        self.parts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Runs a program, and shows what it printed.
fn run(mut program: Program) -> Part {
    let began = Instant::now();
    let output = program.command.stdin(Stdio::null()).output();
    let seconds = began.elapsed().as_secs_f64();
    let mut shown = std::io::stderr().lock();
    let line = style(format!("{}:", program.name)).bold().for_stderr();
    let (text, failure) = match output {
        Err(error) => (Vec::new(), Some(not_started(&program.command, &error).to_string())),
        Ok(output) => {
            let failed = (!output.status.success()).then(|| format!("`{}`: {}", told(&program.command), output.status));
            // trybuild writes every message of rustc's to stderr, also those that are right.
            let complaints = if failed.is_some() { output.stderr } else { Vec::new() };
            ([output.stdout, complaints].concat(), failed)
        }
    };
    // Nobody reads what cannot be written.
    let _ = writeln!(shown, "\n{line} {seconds:.1} s\n{}", String::from_utf8_lossy(&text));
    Part { name: program.name, seconds, failure }
}

/// A program in the environment that `cargo` would have.
pub(crate) fn in_the_environment_of(cargo: &Command, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, value) in cargo.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

fn told(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words: Vec<_> = [program].into_iter().chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

fn not_started(command: &Command, error: &std::io::Error) -> Error {
    Error::new(format_args!("could not start {}: {error}", told(command)))
        .at(command.get_program().display())
        .fix("put the folder of cargo into PATH")
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

/// The cargo that runs this command, in a folder, without what it says of this package.
pub(crate) fn plain_cargo(machine: &Machine, folder: &Path) -> Command {
    let mut command = Command::new(machine.var("CARGO").unwrap_or("cargo".as_ref()));
    for name in machine.vars.keys().filter(|name| name.to_str().is_some_and(of_this_package)) {
        command.env_remove(name);
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// That cargo for the tests: with the route to the compiler for the GPU.
fn cargo(machine: &Machine, route: Route) -> Command {
    let mut command = plain_cargo(machine, &machine.repository);
    if let Some(route) = route.to_possible_value() {
        command.env(ROUTE_VARIABLE, route.get_name());
    }
    command
}

/// Whether cargo sets a variable for the program that it runs.
fn of_this_package(name: &str) -> bool {
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "OUT_DIR"
}

fn summary(parts: Vec<Part>, seconds: f64) -> Result<()> {
    eprintln!();
    for Part { name, seconds, failure } in &parts {
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
