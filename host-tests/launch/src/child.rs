//! Programs that may hang, and end with whoever started them.

use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use ptx_build::error::{Error, Result};

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Nothing if it was stopped.
    pub status: Option<ExitStatus>,
    /// What it printed, if it was captured.
    pub stdout: String,
}

impl Ended {
    /// The code that it ended with by itself.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// In words: "exit status: 1", "signal: 9 (SIGKILL)".
    pub fn in_words(&self) -> String {
        self.status.map_or("stopped: its time was over".into(), |status| status.to_string())
    }
}

/// How long a program that was killed may take to end: a driver may have to wait for the GPU first.
const GRACE: Duration = Duration::from_secs(10);

/// The file of this program.
pub fn itself() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| Error::new(format_args!("could not find this program: {error}")))
}

/// The file of a program that PATH leads to.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Runs a program to its end, or to the limit, or until it is to stop. Its output is captured or goes where this one's goes.
pub fn run(command: &mut Command, limit: Duration, captured: bool, stop: impl Fn() -> bool) -> Result<Ended> {
    let name = command.get_program().to_string_lossy().into_owned();
    let lost = |error: std::io::Error| Error::new(format_args!("could not run {name}: {error}"));
    // A file and not a pipe: nobody reads while it runs.
    let mut stdout = tempfile::tempfile().map_err(lost)?;
    if captured {
        command.stdout(stdout.try_clone().map_err(lost)?).stderr(stdout.try_clone().map_err(lost)?);
    }
    command.stdin(Stdio::null()).process_group(0);
    // SAFETY: the one call between fork and exec is a system call.
    unsafe { command.pre_exec(end_with_parent) };
    let began = Instant::now();
    let mut child = command.spawn().map_err(lost)?;
    let status = loop {
        match child.try_wait().map_err(lost)? {
            Some(status) => break Some(status),
            None if began.elapsed() > limit || stop() => {
                kill(&mut child);
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut printed = Vec::new();
    stdout.rewind().and_then(|()| stdout.read_to_end(&mut printed)).map_err(lost)?;
    Ok(Ended { status, stdout: String::from_utf8_lossy(&printed).into_owned() })
}

/// From here on, the end of its parent is the end of this process, also if it is another program that started it.
pub fn end_with_parent() -> std::io::Result<()> {
    // SAFETY: this only says which signal this process gets when its parent ends.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Kills a program and what it started. One that does not end even so is left alone.
fn kill(child: &mut Child) {
    // SAFETY: the group is the child's own, which has not been waited for.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    let began = Instant::now();
    while began.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends this process at once. What the driver does at a process's ordinary end may wait for a kernel, perhaps for ever.
pub fn leave(code: u8) -> ! {
    // SAFETY: nothing of this process is wanted any more.
    unsafe { libc::_exit(code.into()) }
}
