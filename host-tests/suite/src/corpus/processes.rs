//! Processes side by side, each of which launches kernels of the corpus, and each with a limit.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::case::{self, CORPUS, Case, SIDES};
use super::launched::{End, Launched, Line};
use crate::journal::{Event, Found, Journal, Work};
use crate::kernels::Kernels;
use crate::stage::Bench;
use launch::child;
use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;

/// How long a launch may take, if its stage does not say otherwise: longer than racecheck needs to find a deadlock.
pub const LAUNCH: Duration = Duration::from_secs(4);

/// Processes at a time at most: each has a context on the GPU.
const MOST: usize = 14;

/// How often a process is started that does not come as far as its first kernel.
const TRIES: usize = 2;

/// The folder of unpacked files, which is taken away again. The results may go into the bundle's own folder, which has a `corpus`.
const SCRATCH: &str = "corpus-kernels";

/// Time that a stage needs to end.
const TO_END: Duration = Duration::from_secs(2);

/// What one process does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The tool that it runs under.
    pub tool: &'static str,
    /// The kernels, one after the other.
    pub kernels: Vec<String>,
    /// How long a launch may take.
    pub limit: Duration,
    /// How often it was tried before.
    pub tried: usize,
}

/// What became of a job.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// The kernels that were launched, and the one at which the process ended.
    pub launched: Vec<Launched>,
    /// Whether it came as far as the GPU.
    pub ready: bool,
    /// Those behind.
    pub rest: Vec<String>,
    /// How the process ended, in words.
    pub ended: String,
    /// How long it took.
    pub seconds: f64,
}

/// What the judge of a job says: results, and what is to be done again.
#[derive(Debug, Default)]
pub struct Judged {
    /// Results, by item.
    pub found: Vec<(String, Found)>,
    /// Jobs that come of it.
    pub again: Vec<Job>,
}

/// The pairs of a bundle, for a GPU.
pub struct Pairs {
    /// The pairs that this GPU has.
    pub cases: Vec<Case>,
    /// The names of those that it lacks.
    pub left_out: Vec<String>,
}

impl Pairs {
    /// Those of a bundle, if it has some for this GPU.
    pub fn of(bench: &Bench) -> Result<Option<Pairs>> {
        Ok(Pairs::read(bench)?.map(|(pairs, _)| pairs))
    }

    fn read(bench: &Bench) -> Result<Option<(Pairs, Kernels)>> {
        let Some(file) = bench.beside(CORPUS)? else { return Ok(None) };
        let packed = std::fs::read(&file).map_err(|error| Error::io("read", &file, error))?;
        let kernels = Kernels::unpack(&packed)?;
        let is_there = |case: &Case| SIDES.iter().all(|side| kernels.image_of(CORPUS, &case.kernel(side)).is_ok());
        let (cases, others): (Vec<Case>, Vec<Case>) = case::read(&bench.folder)?.into_iter().partition(is_there);
        Ok(Some((Pairs { cases, left_out: others.into_iter().map(|case| case.name).collect() }, kernels)))
    }

    /// The pair of a kernel.
    pub fn case(&self, kernel: &str) -> Result<&Case> {
        let (_, name) = case::pair_of(kernel);
        let found = self.cases.iter().find(|case| case.name == name);
        found.ok_or_else(|| Error::new(format_args!("the bundle has no pair of {kernel}")))
    }

    /// Writes the files that the processes read.
    fn write(&self, kernels: &Kernels, folder: &Path) -> Result<()> {
        for image in kernels.section(CORPUS) {
            for name in &image.kernels {
                write_whole(&folder.join(format!("{name}.cubin")), &image.cubin)?;
            }
        }
        self.cases.iter().try_for_each(|case| {
            let text = serde_json::to_vec(case).map_err(Error::new)?;
            write_whole(&folder.join(format!("{}.json", case.name)), text)
        })
    }
}

/// The pairs of a bundle, and the folder with their files, which is removed when this is dropped.
pub struct Unpacked {
    /// The pairs.
    pub pairs: Pairs,
    folder: PathBuf,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // What is left there is only large.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Unpacked {
    /// Unpacks them for processes that are to begin, if the bundle has some. This process has the GPU too: else the driver may let it go
    /// between two of them, and needs seconds to come back.
    pub fn of(bench: &Bench) -> Result<Option<Unpacked>> {
        if bench.left() <= TO_END {
            return Err(Error::new("the time of the stage was over before all was done"));
        }
        bench.gpu().map_err(Error::new)?;
        let Some((pairs, kernels)) = Pairs::read(bench)? else { return Ok(None) };
        let unpacked = Unpacked { pairs, folder: bench.out.join(SCRATCH) };
        unpacked.pairs.write(&kernels, &unpacked.folder)?;
        Ok(Some(unpacked))
    }
}

/// The work of a stage whose bundle has no kernels for this GPU.
pub fn nothing(bench: &Bench) -> Result<Work> {
    bench.nothing("kernel of the corpus")
}

/// The program that runs the process of a job in a place, if one does.
pub type Wrap<'w> = dyn Fn(&Job, usize) -> Option<Command> + Sync + 'w;

/// What the end of a job's process means; it ran in that place.
pub type Judge<'j> = dyn Fn(&Job, &Ran, usize) -> Result<Judged> + Sync + 'j;

/// A line of processes.
pub struct Processes<'a> {
    stage: &'static str,
    journal: &'a Journal,
    folder: &'a Path,
    program: PathBuf,
    until: Instant,
}

struct Queue {
    jobs: VecDeque<Job>,
    running: usize,
    error: Option<Error>,
}

impl<'a> Processes<'a> {
    /// Those of a stage.
    pub fn new(stage: &'static str, bench: &'a Bench, unpacked: &'a Unpacked) -> Result<Processes<'a>> {
        let program = child::itself()?;
        let until = Instant::now() + bench.left().saturating_sub(TO_END);
        Ok(Processes { stage, journal: &bench.journal, folder: &unpacked.folder, program, until })
    }

    /// Does jobs. `wrap` gives the program that runs a job's process, if one does, and has the number of the place that it runs in;
    /// `judge` says what its end means.
    pub fn run(&self, jobs: Vec<Job>, wrap: &Wrap<'_>, judge: &Judge<'_>) -> Result<()> {
        let all: usize = jobs.iter().map(|job| job.kernels.len()).sum();
        let queue = Mutex::new(Queue { jobs: jobs.into(), running: 0, error: None });
        let places = std::thread::available_parallelism().map_or(2, usize::from).saturating_sub(2).clamp(2, MOST);
        std::thread::scope(|scope| {
            for place in 0..places {
                let queue = &queue;
                scope.spawn(move || self.in_place(place, queue, wrap, judge));
            }
        });
        let Queue { jobs, error, .. } = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = error {
            return Err(error);
        }
        let missing: usize = jobs.iter().map(|job| job.kernels.len()).sum();
        match missing {
            0 => Ok(()),
            _ => {
                Err(Error::new(format_args!("the time of the stage was over: {missing} of {all} launches are missing")))
            }
        }
    }

    fn in_place(&self, place: usize, queue: &Mutex<Queue>, wrap: &Wrap<'_>, judge: &Judge<'_>) {
        while let Some(job) = self.next(queue) {
            let done = self.one(job, place, wrap, judge);
            let mut queue = locked(queue);
            queue.running -= 1;
            match done {
                Ok(again) => again.into_iter().rev().for_each(|job| queue.jobs.push_front(job)),
                Err(error) => {
                    queue.error.get_or_insert(error);
                }
            }
        }
    }

    /// The next job, if there is time for one. While others run, it waits for what they may leave.
    fn next(&self, queue: &Mutex<Queue>) -> Option<Job> {
        loop {
            {
                let mut queue = locked(queue);
                if Instant::now() >= self.until || queue.error.is_some() {
                    return None;
                }
                if let Some(job) = queue.jobs.pop_front() {
                    queue.running += 1;
                    return Some(job);
                }
                if queue.running == 0 {
                    return None;
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn one(&self, job: Job, place: usize, wrap: &Wrap<'_>, judge: &Judge<'_>) -> Result<Vec<Job>> {
        let left = self.until.saturating_duration_since(Instant::now());
        let limit = whole(&job);
        let mut command = match wrap(&job, place) {
            None => Command::new(&self.program),
            Some(mut tool) => {
                tool.arg(&self.program);
                tool
            }
        };
        command.arg("--corpus").arg(self.folder).args(["--kernels", &job.kernels.join(",")]);
        command.arg(format!("--launch-limit={}", job.limit.as_secs_f64().ceil()));
        command.arg(format!("--left={}", limit.saturating_sub(Duration::from_secs(1)).as_secs_f64()));
        let began = Instant::now();
        let ended = child::run(&mut command, limit.min(left), true, || false)?;
        if ended.status.is_none() && left < limit {
            // Not its own time was over.
            return Ok(vec![job]);
        }
        let ran = ran(&job.kernels, &ended.stdout, ended.in_words(), began.elapsed());
        if !ran.ready && job.tried + 1 < TRIES {
            return Ok(vec![Job { tried: job.tried + 1, ..job }]);
        }
        let judged = judge(&job, &ran, place)?;
        for (item, found) in judged.found {
            self.journal.write(Event::Found { stage: self.stage.into(), item, found })?;
        }
        let rest = Job { kernels: ran.rest, tried: 0, ..job };
        Ok(judged.again.into_iter().chain((!rest.kernels.is_empty()).then_some(rest)).collect())
    }
}

/// How long the process of a job may take.
fn whole(job: &Job) -> Duration {
    job.limit * 3 + Duration::from_secs(2 + job.kernels.len() as u64)
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a process said of its kernels. The one at which it ended without a word is lost.
fn ran(kernels: &[String], printed: &str, ended: String, took: Duration) -> Ran {
    let lines = Line::read(printed);
    let ready = lines.contains(&Line::Ready);
    let mut launched: Vec<Launched> = Vec::new();
    for line in lines {
        if let Line::Launched(one) = line {
            launched.push(one);
        }
    }
    if launched.len() < kernels.len() && !launched.last().is_some_and(Launched::is_last) {
        let said = Some(if ready { ended.clone() } else { format!("no GPU: {ended}: {}", beginning(printed)) });
        let kernel = kernels[launched.len()].clone();
        launched.push(Launched { kernel, end: End::Lost, said, ..Launched::default() });
    }
    let rest = kernels.get(launched.len()..).unwrap_or_default().to_vec();
    Ran { launched, ready, rest, ended, seconds: took.as_secs_f64() }
}

/// Characters of what a process printed that are kept.
const KEPT: usize = 300;

fn beginning(text: &str) -> String {
    text.chars().take(KEPT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ends_without_a_word_loses_one_kernel() {
        let kernels = ["right_a", "right_b", "right_c"].map(String::from);
        let one = |kernel: &str, end| Line::Launched(Launched { kernel: kernel.into(), end, ..Launched::default() });
        let said = |lines: &[Line]| {
            let lines: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).expect("text")).collect();
            ran(&kernels, &format!("noise\n{}\n", lines.join("\nmore\n")), "signal: 9".into(), Duration::ZERO)
        };
        let ends = |ran: &Ran| ran.launched.iter().map(|one| one.end).collect::<Vec<_>>();
        let silent = said(&[Line::Ready, one("right_a", End::Ended)]);
        assert_eq!((ends(&silent), silent.rest.len(), silent.ready), (vec![End::Ended, End::Lost], 1, true));
        let failed = said(&[Line::Ready, one("right_a", End::Failed)]);
        assert_eq!((ends(&failed), failed.rest.len()), (vec![End::Failed], 2));
        let nothing = said(&[]);
        assert_eq!((ends(&nothing), nothing.rest.len(), nothing.ready), (vec![End::Lost], 2, false));
    }
}
