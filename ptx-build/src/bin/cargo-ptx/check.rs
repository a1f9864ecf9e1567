//! `cargo ptx check`: runs a program on a machine without a GPU, and checks every kernel that it launches.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ptx_build::error::{Error, Result};
use ptx_driver::DRIVER_VARIABLE;
use ptx_interpreter::Record;

use crate::allow::Allow;
use crate::ended::ended;
use crate::{library, linked, output};

/// Something is wrong with a kernel, or with a call.
const FOUND: u8 = 1;
/// What a program gets after the deadline, to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// The names under which programs look for the driver and the runtime.
const NAMES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "libcudart.so.13"];
/// The name of the runtime whose functions are others in part: a copy of the library, which hands its calls to the one above.
const COPY: &str = "libcudart.so.12";

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The GPU that the program sees: 90 for sm_90
    #[arg(long, default_value_t = 90)]
    sm: u32,
    /// Run each launch in this number of orders of its threads
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Print one line of JSON for each finding
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    allow: Allow,
    /// End after this number of seconds
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Check {
    pub(crate) fn run(self) -> ExitCode {
        ended(self.all())
    }

    fn all(&self) -> Result<u8> {
        let mut allowed = self.allow.read()?;
        let library = library::find()?;
        let folder = tempfile::tempdir()
            .map_err(|error| Error::new(error).at("the folder for temporary files").fix("make room in it"))?;
        for name in NAMES {
            let link = folder.path().join(name);
            symlink(&library, &link).map_err(|error| Error::io("make the link", &link, error))?;
        }
        let copy = folder.path().join(COPY);
        fs::copy(&library, &copy).map_err(|error| Error::io("write", &copy, error))?;
        let report = folder.path().join("report");
        let status = self.wait(self.start(folder.path(), &report)?)?;
        let mut records = read(&report)?;
        self.allow.silence(&mut allowed, &mut records);
        output::print_all(&records, None, self.json)?;
        self.allow.tell(&allowed, self.json)?;
        self.judge(&records, status)
    }

    fn start(&self, folder: &Path, report: &Path) -> Result<Child> {
        let name = self.command.first().map(OsString::as_os_str).unwrap_or(OsStr::new(""));
        let mut command = Command::new(name);
        command.args(self.command.iter().skip(1));
        command.env("LD_LIBRARY_PATH", before(folder, "LD_LIBRARY_PATH"));
        command.env(DRIVER_VARIABLE, folder.join(NAMES[0]));
        if linked::has_runtime(name) {
            // The library is there before the program begins, and takes the place of the runtime in it.
            command.env("LD_PRELOAD", before(&folder.join(NAMES[0]), "LD_PRELOAD")).env("PTX_CHECK_LINKED", "1");
        }
        command.env("PTX_CHECK_REPORT", report).env("PTX_CHECK_SM", self.sm.to_string());
        command.env("PTX_CHECK_SEEDS", self.seeds.to_string());
        if let Some(seconds) = self.deadline {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            command.env("PTX_CHECK_DEADLINE", (now + seconds).to_string());
        }
        command.spawn().map_err(|error| {
            Error::new(error).at(name.display()).fix("name a program after `--`: cargo ptx check -- ./program")
        })
    }

    /// Waits until the program has ended; after the deadline it is ended.
    fn wait(&self, mut child: Child) -> Result<ExitStatus> {
        let failed = |error: std::io::Error| Error::new(error).at("the program").fix("run it again");
        let Some(seconds) = self.deadline else { return child.wait().map_err(failed) };
        let end = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)) + GRACE;
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(status);
            }
            if Instant::now() > end {
                child.kill().map_err(failed)?;
                return child.wait().map_err(failed);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn judge(&self, records: &[Record], status: ExitStatus) -> Result<u8> {
        let program = self.command.first().map(|name| name.display().to_string()).unwrap_or_default();
        if let Some((record, stop)) = records.iter().find_map(|record| Some((record, record.stop.as_ref()?))) {
            return Err(Error::new(stop).at(&record.kernel).fix("let the program do without this kernel"));
        }
        if records.iter().any(|record| !record.findings.is_empty()) {
            return Ok(FOUND);
        }
        if !status.success() {
            return Err(Error::new(format_args!("the program ended with {status}"))
                .at(program)
                .fix("see what it printed; `cargo ptx check` names what it lacks"));
        }
        if records.is_empty() {
            return Err(Error::new("the program launched no kernel")
                .at(program)
                .fix("see whether it opens libcuda.so.1: a program of another user does not")
                .fix(
                    "name the program itself after `--`, if another starts it and nvcc has linked the runtime into it",
                ));
        }
        Ok(0)
    }
}

/// A list of paths in the environment, with one before it.
fn before(first: &Path, variable: &str) -> OsString {
    let mut list = first.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

/// What the library has told.
fn read(report: &Path) -> Result<Vec<Record>> {
    let text = match fs::read_to_string(report) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", report, error)),
    };
    // A program that was ended may leave half a line.
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
