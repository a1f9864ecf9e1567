//! Programs, with the processor time that they take: on a machine with other work the clock says little.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

/// How a program ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    /// Of it and all that it waited for, in seconds.
    pub(super) processor: f64,
}

/// Runs a program to its end. What it prints does not go through a pipe, which somebody would have to empty.
pub(super) fn run(command: &mut Command) -> io::Result<Ended> {
    let mut printed = tempfile::tempfile()?;
    let child = command.stdout(printed.try_clone()?).spawn()?;
    let (status, processor) = wait(child.id())?;
    Ok(Ended { status, stdout: content(&mut printed)?, processor })
}

/// What is in a file from its beginning on.
pub(super) fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut content)?;
    Ok(content)
}

fn wait(child: u32) -> io::Result<(ExitStatus, f64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: both are writable, and a `rusage` may be all zeros.
        let ended = unsafe { libc::wait4(child.cast_signed(), &mut status, 0, usage.as_mut_ptr()) };
        match ended {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ => break,
        }
    }
    // SAFETY: it was all zeros, and the system has filled it.
    let usage = unsafe { usage.assume_init() };
    let seconds = [usage.ru_utime, usage.ru_stime].map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6);
    Ok((ExitStatus::from_raw(status), seconds.iter().sum()))
}
