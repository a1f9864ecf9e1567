//! A process that launches kernels of the corpus. A wrong one may never end, or take the GPU away: so it says each thing at once, in
//! a line of JSON, and ends itself if nothing comes back.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::case::{Case, Given, pair_of};
use launch::child::leave;
use launch::gpu::{Argument, Buffer, Gpu, Launch, Waited};
use ptx_build::error::{Error, Result};

/// How a launch ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The kernel ended.
    #[default]
    Ended,
    /// With an error of the GPU.
    Failed,
    /// The driver did not launch it.
    Refused,
    /// It did not end within its limit.
    Hung,
    /// The process ended, or was ended, before it said anything of the kernel.
    Lost,
}

/// What came of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// The kernel.
    pub kernel: String,
    /// How it ended.
    pub end: End,
    /// The driver's code, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
    /// Why it was not launched or not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Bytes that were compared with those that the interpreter leaves after the right kernel.
    pub bytes: usize,
    /// Those that differ.
    pub differ: usize,
    /// The first of them, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

/// A line that the process prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// It has the GPU.
    Ready,
    /// What came of a launch.
    Launched(Launched),
}

impl Line {
    /// The lines among what a process printed.
    pub fn read(printed: &str) -> Vec<Line> {
        printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn say(&self) {
        let text = serde_json::to_string(self).unwrap_or_default() + "\n";
        let mut out = std::io::stdout().lock();
        // Whoever does not read it finds the kernel lost.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl Launched {
    fn of(kernel: &str, end: End) -> Launched {
        Launched { kernel: kernel.into(), end, ..Launched::default() }
    }

    /// Whether the process can launch no other kernel after it.
    pub fn is_last(&self) -> bool {
        matches!(self.end, End::Failed | End::Hung | End::Lost)
    }

    /// In a line.
    pub fn text(&self) -> String {
        let said = self.said.as_deref().unwrap_or_default();
        match self.end {
            End::Ended if !said.is_empty() => said.to_owned(),
            End::Ended if self.differ == 0 => format!("all {} bytes as the interpreter's", self.bytes),
            End::Ended => {
                let first = self.first.as_deref().unwrap_or_default();
                format!("{} of {} bytes differ: {first}", self.differ, self.bytes)
            }
            End::Failed => format!("error {}", self.code.unwrap_or_default()),
            End::Refused => format!("not launched: {said}"),
            End::Hung => "does not end".into(),
            End::Lost => format!("lost: {said}"),
        }
    }
}

/// The kernel that runs, and since when.
static RUNS: Mutex<Option<(Instant, String)>> = Mutex::new(None);

fn runs() -> MutexGuard<'static, Option<(Instant, String)>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Longer than the limit of a launch, which the process sees by itself if the launch has come back.
const MORE: Duration = Duration::from_secs(1);

/// How the process ends if its time is over.
const LATE: u8 = 12;

/// When the last kernel was done. After an error, what the driver does at an ordinary end may wait too.
static DONE: OnceLock<Instant> = OnceLock::new();

/// How long an ordinary end may take.
const TO_END: Duration = Duration::from_secs(3);

/// Ends the process if a launch does not come back, as under a tool that waits for the kernel, or if its time is over.
fn watch(of_launch: Duration, of_all: Duration) {
    let began = Instant::now();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            if let Some((since, kernel)) = &*runs()
                && since.elapsed() > of_launch + MORE
            {
                Line::Launched(Launched::of(kernel, End::Hung)).say();
                leave(0);
            }
            if DONE.get().is_some_and(|done| done.elapsed() > TO_END) {
                leave(0);
            }
            if began.elapsed() > of_all {
                leave(LATE);
            }
        }
    });
}

/// Launches these kernels, whose files lie in a folder. The process does not ask for the signal that its parent's end gives: a tool may
/// start it from a thread that ends.
pub fn launch_all(folder: &Path, kernels: &[String], of_launch: Duration, of_all: Duration) -> Result<ExitCode> {
    watch(of_launch, of_all);
    let gpu = Gpu::find().map_err(Error::new)?.with_limit(of_launch);
    Line::Ready.say();
    for kernel in kernels {
        let launched = match launched(&gpu, folder, kernel) {
            Ok(launched) => launched,
            Err(error) => Launched { said: Some(error.to_string()), ..Launched::of(kernel, End::Refused) },
        };
        *runs() = None;
        Line::Launched(launched.clone()).say();
        match launched.end {
            // What the driver does at an ordinary end would wait for the kernel.
            End::Hung => leave(0),
            _ if launched.is_last() => break,
            _ => {}
        }
    }
    DONE.get_or_init(Instant::now);
    Ok(ExitCode::SUCCESS)
}

fn launched(gpu: &Gpu, folder: &Path, kernel: &str) -> Result<Launched> {
    let read = |name: String| {
        let file = folder.join(name);
        std::fs::read(&file).map_err(|error| Error::io("read", &file, error))
    };
    let (_, pair) = pair_of(kernel);
    let case: Case = serde_json::from_slice(&read(format!("{pair}.json"))?).map_err(Error::new)?;
    let module = gpu.load(&read(format!("{kernel}.cubin"))?)?;
    let host = [7_u8; 256];
    let (mut arguments, mut buffers) = (Vec::new(), Vec::new());
    for given in &case.arguments {
        let mut held = |buffer: Buffer| {
            let address = Argument::U64(buffer.address());
            buffers.push((arguments.len(), buffer));
            address
        };
        let argument = match given {
            Given::Numbers(_) | Given::Zeros(_) => held(gpu.exact(&given.content().unwrap_or_default())?),
            Given::Unwritten(bytes) => held(gpu.unwritten(*bytes)?),
            Given::Same(at) => arguments.get(*at).cloned().unwrap_or(Argument::U64(0)),
            Given::Host => Argument::U64(host.as_ptr() as u64),
            Given::U32(value) => Argument::U32(*value),
            Given::U64(value) => Argument::U64(*value),
        };
        arguments.push(argument);
    }
    let Case { blocks, threads, shared, .. } = case;
    let launch = Launch { kernel: kernel.to_owned(), blocks, threads, shared, arguments };
    *runs() = Some((Instant::now(), kernel.to_owned()));
    // SAFETY: the arguments are of the row's types. What a wrong kernel does ends in this process, which is made for it.
    unsafe { gpu.launch(&module, &launch) }?;
    match gpu.waited() {
        Waited::Done => compared(gpu, &case, kernel, &buffers),
        Waited::Failed(code) => Ok(Launched { code: Some(code), ..Launched::of(kernel, End::Failed) }),
        Waited::Hung => Ok(Launched::of(kernel, End::Hung)),
    }
}

fn compared(gpu: &Gpu, case: &Case, kernel: &str, buffers: &[(usize, Buffer)]) -> Result<Launched> {
    let left = buffers.iter().map(|(at, buffer)| Ok((*at, gpu.download(buffer)?)));
    let compared = case.compare(&left.collect::<Result<Vec<_>>>()?);
    let (bytes, differ, first) = (compared.bytes, compared.wrong, compared.first);
    Ok(Launched { bytes, differ, first, ..Launched::of(kernel, End::Ended) })
}
