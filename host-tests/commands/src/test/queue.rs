//! Programs that wait to be run, and those that run side by side.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use console::style;
use host_tests::tools::error::Result;

use super::processor;
use super::programs::{Program, Selected, compile};
use crate::cargo::{line_of, not_started};

/// What takes long begins first.
const LONG: [&str; 19] = [
    ": suite",
    ": kernel_crate",
    ": build_script",
    ": gates",
    ": bounds",
    ": ui",
    ": lab",
    ": audit",
    ": orders",
    ": host_code",
    ": workloads",
    ": conformance",
    ": lab_kernels",
    ": measured",
    ": markers",
    ": parity",
    ": sass",
    ": effects",
    EXAMPLES,
];

const EXAMPLES: &str = "examples in the documentation";

/// A part of the tests, and how it went.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) seconds: f64,
    /// Seconds of processor time.
    pub(super) processor: f64,
    pub(super) failure: Option<String>,
}

/// Programs that wait to be run, and how those went that have ended. One more runs at a time than there are cores, since some
/// wait; what each prints is shown when it has ended.
pub(super) struct Queue {
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
pub(super) struct Closed<'a>(&'a Queue);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        locked(&self.0.waiting).closed = true;
        self.0.changed.notify_all();
    }
}

impl Queue {
    pub(super) fn new(parts: Vec<Part>) -> Queue {
        Queue { waiting: Mutex::default(), changed: Condvar::new(), parts: Mutex::new(parts) }
    }

    pub(super) fn closed_at_the_end(&self) -> Closed<'_> {
        Closed(self)
    }

    pub(super) fn push(&self, programs: impl IntoIterator<Item = Program>) {
        let place = |program: &Program| LONG.iter().position(|long| program.name.ends_with(long));
        let mut waiting = locked(&self.waiting);
        waiting.programs.extend(programs);
        waiting.programs.sort_by_key(|program| std::cmp::Reverse(place(program).unwrap_or(LONG.len())));
        self.changed.notify_all();
    }

    /// Compiles a part of the tests, and queues its programs.
    pub(super) fn compile(&self, name: &str, selected: &Selected, cargo: &impl Fn() -> Command) -> Result<()> {
        let began = Instant::now();
        let shown = style(format!("{name}:")).bold().for_stderr();
        eprintln!("\n{shown} cargo test --no-run {}", selected.cargo.join(" "));
        let (compiled, processor) = compile(selected, name, cargo)?;
        let (mut programs, failure) = match compiled {
            Ok(programs) => (programs, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        let seconds = began.elapsed().as_secs_f64();
        locked(&self.parts).push(Part { name: format!("{name}, compiling"), seconds, processor, failure });
        // Examples in the documentation are compiled as they run.
        if selected.cargo.iter().all(|word| !word.starts_with("--test")) {
            let mut command = cargo();
            command.args(["test", "--doc"]).args(&selected.cargo);
            programs.push(Program { name: format!("{name}, {EXAMPLES}"), command });
        }
        self.push(programs);
        Ok(())
    }

    /// Runs what waits, until nothing more comes.
    pub(super) fn work(&self) {
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

    pub(super) fn parts(self) -> Vec<Part> {
        self.parts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many programs run at a time, less one.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Runs a program, and shows what it printed.
fn run(mut program: Program) -> Part {
    let began = Instant::now();
    let ended = tempfile::tempfile().and_then(|mut complaints| {
        let command = program.command.stdin(Stdio::null()).stderr(complaints.try_clone()?);
        Ok((processor::run(command)?, processor::content(&mut complaints)?))
    });
    let seconds = began.elapsed().as_secs_f64();
    let mut shown = std::io::stderr().lock();
    let line = style(format!("{}:", program.name)).bold().for_stderr();
    let (text, processor, failure) = match ended {
        Err(error) => (Vec::new(), 0.0, Some(not_started(&program.command, &error).to_string())),
        Ok((ended, complaints)) => {
            let failed =
                (!ended.status.success()).then(|| format!("`{}`: {}", line_of(&program.command), ended.status));
            // trybuild writes every message of rustc's to stderr, also those that are right.
            let complaints = if failed.is_some() { complaints } else { Vec::new() };
            ([ended.stdout, complaints].concat(), ended.processor, failed)
        }
    };
    // Nobody reads what cannot be written.
    let _ = writeln!(shown, "\n{line} {seconds:.1} s\n{}", String::from_utf8_lossy(&text));
    Part { name: program.name, seconds, processor, failure }
}
