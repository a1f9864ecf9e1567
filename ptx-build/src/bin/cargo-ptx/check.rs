//! `cargo ptx check`: runs a program on a machine without a GPU, and checks every kernel that it launches.

mod surroundings;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ptx_build::command::Machine;
use ptx_build::error::{Error, Result};
use ptx_interpreter::Record;

use self::surroundings::Surroundings;
use crate::allow::Allow;
use crate::counted::Counted;
use crate::ended::{NOT_RUN, ended};
use crate::names::readable;
use crate::{library, output};

/// Something is wrong with a kernel, or with a call.
const FOUND: u8 = 1;
/// What a program gets after the deadline, to end by itself.
const GRACE: Duration = Duration::from_secs(2);
const LATE: &str = "the program had not ended at the deadline, and was ended";

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The GPU that the program sees: 90 for sm_90
    #[arg(long, default_value_t = 90)]
    sm: u32,
    /// How many of them the program has. Then CUDA_VISIBLE_DEVICES counts
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=16))]
    gpus: Option<u8>,
    /// Check only kernels with this in their names, written as `name` or `space::name`; may be given several times. The others only run, several times as fast
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// Check only the first launches of each kernel, so many of each shape. Later ones only run
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    launches: Option<u64>,
    /// Run each launch in this number of orders of its threads
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Begin with this order: the program goes on with what it leaves
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Run each launch also in orders in which loads return older values, and later ones, where the memory model allows it. What it leaves
    /// then is compared with what eight orders leave without them
    #[arg(long)]
    weak: bool,
    /// Print one line of JSON for each finding
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    allow: Allow,
    #[command(flatten)]
    counted: Counted,
    /// End after this number of seconds
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const OF_A_PROGRAM: &str = "name a program after `--`: cargo ptx check -- ./program";

impl Check {
    pub(crate) fn run(self) -> ExitCode {
        ended(self.all())
    }

    fn all(&self) -> Result<u8> {
        let mut allowed = self.allow.read()?;
        self.program_is_there()?;
        let library = library::find()?;
        let folder = tempfile::tempdir()
            .map_err(|error| Error::new(error).at("the folder for temporary files").fix("make room in it"))?;
        let surroundings = Surroundings::write(&library, folder.path())?;
        let report = folder.path().join("report");
        let status = self.wait(self.start(&surroundings, &report)?)?;
        let mut records = read(&report)?;
        self.allow.silence(&mut allowed, &mut records);
        output::print_all(&records, None, self.json)?;
        output::uncompared(&records, self.json)?;
        output::unchecked(&records, self.json)?;
        self.allow.tell(&allowed, self.json)?;
        self.counted.tell(&records, self.json)?;
        self.judge(&records, status, report.exists())
    }

    /// Compiling the library takes a minute: a program that is not there is told before that.
    fn program_is_there(&self) -> Result<()> {
        let name = self.command.first().map(OsString::as_os_str).unwrap_or_default();
        let is_path = name.as_encoded_bytes().contains(&b'/');
        let is_there = if is_path { Path::new(name).is_file() } else { Machine::current().which(name).is_some() };
        if is_there {
            return Ok(());
        }
        Err(Error::new("there is no such program").at(name.display()).fix(OF_A_PROGRAM))
    }

    fn start(&self, surroundings: &Surroundings, report: &Path) -> Result<Child> {
        let name = self.command.first().map(OsString::as_os_str).unwrap_or(OsStr::new(""));
        let mut command = Command::new(name);
        command.args(self.command.iter().skip(1));
        surroundings.hand_to(&mut command);
        command.env("PTX_CHECK_REPORT", report).env("PTX_CHECK_SM", self.sm.to_string());
        if let Some(gpus) = self.gpus {
            command.env("PTX_CHECK_GPUS", gpus.to_string());
        }
        command.env("PTX_CHECK_SEED", self.seed.to_string());
        command.env("PTX_CHECK_SEEDS", self.seeds.to_string());
        command.env("PTX_CHECK_WEAK", u8::from(self.weak).to_string());
        command.env("PTX_CHECK_COUNTS", (self.counted.counting() as u8).to_string());
        command.env("PTX_CHECK_KERNELS", self.kernels.join("\n"));
        if let Some(launches) = self.launches {
            command.env("PTX_CHECK_LAUNCHES", launches.to_string());
        }
        if let Some(seconds) = self.deadline {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            command.env("PTX_CHECK_DEADLINE", (now + seconds).to_string());
        }
        command.spawn().map_err(|error| Error::new(error).at(name.display()).fix(OF_A_PROGRAM))
    }

    /// Waits until the program has ended. After the deadline it is ended, and None is given.
    fn wait(&self, mut child: Child) -> Result<Option<ExitStatus>> {
        let failed = |error: std::io::Error| Error::new(error).at("the program").fix("run it again");
        let Some(seconds) = self.deadline else { return child.wait().map(Some).map_err(failed) };
        let end = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)) + GRACE;
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(Some(status));
            }
            if Instant::now() > end {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn judge(&self, records: &[Record], status: Option<ExitStatus>, uses_driver: bool) -> Result<u8> {
        let program = self.command.first().map(|name| name.display().to_string()).unwrap_or_default();
        if let Some((record, stop)) = records.iter().find_map(|record| Some((record, record.stop.as_ref()?))) {
            return Err(Error::new(stop).at(&record.kernel).fix("let the program do without this kernel"));
        }
        if records.iter().any(|record| !record.findings.is_empty()) {
            match status {
                None => eprintln!("{program}: {LATE}"),
                Some(status) if !status.success() => eprintln!("{program}: the program ended with {status}"),
                Some(_) => (),
            }
            return Ok(FOUND);
        }
        let Some(status) = status else {
            return Err(Error::new(LATE).at(program).fix("give it a later deadline, or let it do less"));
        };
        if !status.success() {
            return Err(Error::new(format_args!("the program ended with {status}"))
                .at(program)
                .fix("see what it printed; `cargo ptx check` names what it lacks"));
        }
        let is_whole = records.iter().all(|record| !record.is_unrun);
        if is_whole && records.iter().any(Record::is_of_work) {
            return Ok(0);
        }
        if is_whole && records.iter().any(|record| record.is_unchecked) {
            let kernels: BTreeSet<String> = records.iter().map(|record| readable(&record.kernel)).collect();
            return Err(Error::new("the program launched no kernel of this name")
                .at(self.kernels.join(", "))
                .fix(format_args!("it launched {}", kernels.into_iter().collect::<Vec<_>>().join(", "))));
        }
        // What the library has said is why.
        if !records.is_empty() {
            return Ok(NOT_RUN);
        }
        let fix = if uses_driver {
            "it has used the driver: see whether it leaves out what it was to launch"
        } else {
            "see whether it opens libcuda.so.1: a program of another user does not"
        };
        Err(Error::new("the program launched no kernel").at(program).fix(fix))
    }
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
