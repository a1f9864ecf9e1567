//! External programs: the machine they run on, how they are run, and what their failures say.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How many of the last lines of a program's stderr an error quotes.
const TAIL: usize = 20;

/// What the harness needs to know of the machine it runs on. Tests make one of their own.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Environment variables that programs are given.
    pub vars: BTreeMap<OsString, OsString>,
    /// The user who runs the harness; 0 is root.
    pub uid: u32,
    /// The root of this repository's checkout.
    pub repository: PathBuf,
    /// Where Debian's packages put their files.
    pub usr: PathBuf,
}

impl Machine {
    /// The machine as it is.
    pub fn current() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Machine {
            vars: std::env::vars_os().collect(),
            uid: std::fs::metadata("/proc/self").map_or(u32::MAX, |me| me.uid()),
            repository: manifest.parent().unwrap_or(manifest).to_owned(),
            usr: PathBuf::from("/usr"),
        }
    }

    /// An environment variable; an empty one counts as not set.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The folders of `PATH`.
    pub fn path(&self) -> Vec<PathBuf> {
        self.var("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
    }

    /// The first executable file of that name in `PATH`.
    pub fn which(&self, name: impl AsRef<Path>) -> Option<PathBuf> {
        let executable =
            |file: &PathBuf| file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
        self.path().into_iter().map(|folder| folder.join(&name)).find(executable)
    }

    /// The folder that everything the harness downloads and builds goes into.
    pub fn target(&self) -> PathBuf {
        self.repository.join("target")
    }

    /// A program, to be run with this machine's environment.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.inner.env_clear().envs(&self.vars);
        command
    }
}

/// An external program, run to its end with its output captured.
#[derive(Debug)]
pub struct Command {
    inner: process::Command,
    limit: Option<Duration>,
}

/// Names the number of seconds after which a tool that has not ended is taken to hang.
pub const LIMIT_VARIABLE: &str = "PTX_INTRINSICS_TOOL_SECONDS";

/// That number where nothing is said: what a tool is asked takes seconds, on a slow and busy machine minutes.
const LIMIT: u64 = 1800;

/// How long a tool may take.
fn tool_limit() -> Result<Duration> {
    let seconds = match std::env::var(LIMIT_VARIABLE) {
        Err(_) => LIMIT,
        Ok(text) => text.parse().map_err(|_| {
            Error::new(format_args!("`{text}` is no number of seconds"))
                .at(LIMIT_VARIABLE)
                .fix("write one, or unset it")
        })?,
    };
    Ok(Duration::from_secs(seconds))
}

/// How a program ended and what it printed.
#[derive(Debug)]
pub struct Finished {
    /// The program and its arguments, as one would type them.
    pub line: String,
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

impl Command {
    /// A program by path, or by name to be looked up in `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Command { inner: process::Command::new(program), limit: None }
    }

    /// An assembler or disassembler: one that does not end is killed.
    pub fn tool(program: impl AsRef<OsStr>) -> Result<Self> {
        Command::new(program).limited()
    }

    /// The same program with a tool's limit of time.
    pub fn limited(self) -> Result<Self> {
        Ok(Command { limit: Some(tool_limit()?), ..self })
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.inner.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.inner.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(name, value);
        self
    }

    /// Removes every environment variable of which `unwanted` is true.
    pub fn env_without(mut self, unwanted: impl Fn(&str) -> bool) -> Self {
        let names: Vec<OsString> = self.inner.get_envs().map(|(name, _)| name.to_owned()).collect();
        for name in names.iter().filter(|name| name.to_str().is_some_and(&unwanted)) {
            self.inner.env_remove(name);
        }
        self
    }

    /// Sets the folder to run in.
    pub fn dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.inner.current_dir(folder);
        self
    }

    /// Runs it to its end, however it ends; fails only if it cannot be started or is interrupted.
    pub fn finish(mut self) -> Result<Finished> {
        let line = self.to_string();
        if let Some(folder) = self.inner.get_current_dir().filter(|folder| !folder.is_dir()) {
            let wrong = format!("there is no folder {}", folder.display());
            return Err(Error::new(wrong).at(line).fix("correct the path, or create the folder"));
        }
        let _running = Running::new();
        let lost = |error: io::Error| {
            let lost = Error::new(format_args!("lost sight of a program: {error}")).at(&line);
            let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
            if full { lost.fix("make room on the disk, or name another folder in TMPDIR") } else { lost }
        };
        let (stdout, stderr) = (Captured::new().map_err(lost)?, Captured::new().map_err(lost)?);
        self.inner.stdin(Stdio::null()).stdout(stdout.end().map_err(lost)?).stderr(stderr.end().map_err(lost)?);
        let child = start(&mut self.inner).map_err(|error| not_started(&line, &error))?;
        let Some(status) = wait(child, self.limit).map_err(lost)? else { return Err(hung(&line, self.limit)) };
        let (stdout, stderr) = (stdout.text().map_err(lost)?, stderr.text().map_err(lost)?);
        if interrupted() {
            return Err(Error::new("interrupted").at(line));
        }
        Ok(Finished { line, status, stdout, stderr })
    }

    /// Runs it to its end; any ending but success is an error.
    pub fn run(self) -> Result<Finished> {
        let finished = self.finish()?;
        if finished.status.success() { Ok(finished) } else { Err(finished.failed()) }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", quoted(self.inner.get_program()))?;
        self.inner.get_args().try_for_each(|arg| write!(out, " {}", quoted(arg)))
    }
}

impl Finished {
    /// The ending in words: "exited with status 1", "was killed by signal 11".
    pub fn ending(&self) -> String {
        match (self.status.signal(), self.status.code()) {
            (Some(signal), _) => format!("was killed by signal {signal}"),
            (None, Some(code)) => format!("exited with status {code}"),
            (None, None) => "ended in an unknown way".to_owned(),
        }
    }

    /// Whether Ctrl-C ended it: a terminal's reaches every program of the build.
    pub fn was_interrupted(&self) -> bool {
        ended_by_interrupt(self.status)
    }

    /// The error that says how it ended, with the tail of what it complained about.
    pub fn failed(&self) -> Error {
        let program = self.line.split(' ').next().unwrap_or_default();
        let said = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        Error::new(format_args!("{program} {}", self.ending())).at(&self.line).because(tail(said))
    }
}

/// The last lines of a text.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@%*".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into_owned() } else { format!("'{word}'") }
}

/// Starts a program. A file that was just written may still be open for writing in a child that another
/// thread is about to start, hence the patience.
fn start(command: &mut process::Command) -> io::Result<Child> {
    for _ in 0..100 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(Duration::from_millis(10)),
            started => return started,
        }
    }
    command.spawn()
}

fn not_started(line: &str, error: &io::Error) -> Error {
    let program = line.split(' ').next().unwrap_or_default();
    let started = Error::new(format_args!("could not start {program}: {error}")).at(line);
    match error.kind() {
        io::ErrorKind::NotFound => started.fix(format_args!("install {program}, or put its folder into PATH")),
        io::ErrorKind::PermissionDenied => started.fix(format_args!("make it executable: chmod +x {program}")),
        _ => started,
    }
}

fn hung(line: &str, limit: Option<Duration>) -> Error {
    let program = line.split(' ').next().unwrap_or_default();
    let seconds = limit.unwrap_or_default().as_secs();
    Error::new(format_args!("{program} has not ended after {seconds} s and was stopped"))
        .at(line)
        .fix("type that line yourself: if it hangs, use another release of the tool")
        .fix(format_args!("if it is only slow here, set {LIMIT_VARIABLE} to more seconds"))
}

/// Waits for the end; none if that took too long.
fn wait(mut child: Child, limit: Option<Duration>) -> io::Result<Option<ExitStatus>> {
    let (begun, mut since) = (Instant::now(), None::<Instant>);
    loop {
        if let Some(status) = child.try_wait()? {
            wait_for_own_interrupt(status);
            return Ok(Some(status));
        }
        if interrupted() {
            ask_to_stop(&mut child, *since.get_or_insert_with(Instant::now))?;
        }
        if limit.is_some_and(|limit| begun.elapsed() > limit) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn ended_by_interrupt(status: ExitStatus) -> bool {
    const SIGINT: i32 = 2;
    status.signal() == Some(SIGINT) || status.code() == Some(128 + SIGINT)
}

/// A terminal's Ctrl-C reaches the program and this process, and the program may be dead before the thread that notes it
/// here has run. That thread must not find that nothing is running: it would end the process at once.
fn wait_for_own_interrupt(status: ExitStatus) {
    let begun = Instant::now();
    while ended_by_interrupt(status)
        && CAUGHT.load(Ordering::SeqCst)
        && !interrupted()
        && begun.elapsed() < Duration::from_secs(10)
    {
        thread::sleep(Duration::from_millis(1));
    }
}

/// A terminal's Ctrl-C reaches the child too, so it is left time to clean up after itself before it is killed.
fn ask_to_stop(child: &mut Child, since: Instant) -> io::Result<()> {
    if since.elapsed() > Duration::from_secs(5) { child.kill() } else { Ok(()) }
}

/// What a program prints, in a file without a name. In a pipe, each of the assembler's million complaints would wake
/// this program.
struct Captured(File);

impl Captured {
    fn new() -> io::Result<Self> {
        tempfile::tempfile().map(Captured)
    }

    fn end(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }

    fn text(mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.0.rewind()?;
        self.0.read_to_end(&mut bytes)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static CAUGHT: AtomicBool = AtomicBool::new(false);
static RUNNING: AtomicUsize = AtomicUsize::new(0);

struct Running;

impl Running {
    fn new() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// From now on the first Ctrl-C turns the program that is running into an "interrupted" error, so that
/// temporaries are removed on the way out; with none running, or at the second, the process ends at once.
pub fn catch_interrupts() {
    // Only the first handler of a process counts; a caller that has its own keeps it.
    let set = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) || RUNNING.load(Ordering::SeqCst) == 0 {
            process::exit(130);
        }
    });
    if set.is_ok() {
        CAUGHT.store(true, Ordering::SeqCst);
    }
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
