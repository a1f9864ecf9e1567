//! A stage of a run: one process after the other works at it until it is done.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::place::Place;
use crate::journal::{Event, Journal, Known};
use crate::stage::{IMAGES, Settings, Stage};
use crate::stages::ALWAYS;
use launch::child::{self, Ended, itself};
use ptx_build::error::Result;

/// How a process of a stage ends if the GPU serves it no more.
pub(super) const GPU_GONE: u8 = 10;

/// How many processes a stage may use up; each begins by asking for the GPU, which takes a second.
const PROCESSES: usize = 200;

/// How many in a row may end without having begun anything.
const BARREN: usize = 2;

static STOPPED: AtomicBool = AtomicBool::new(false);

pub(super) fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// From here on, no process is started, and the one that runs is stopped.
pub(super) fn stop() {
    STOPPED.store(true, Ordering::SeqCst);
}

/// A stage that this process leads others through.
pub(super) struct Leading<'a> {
    pub(super) stage: &'a dyn Stage,
    pub(super) journal: &'a Journal,
    pub(super) place: &'a Place,
    pub(super) settings: &'a Settings,
    pub(super) limit: Duration,
    pub(super) left: Option<Duration>,
}

impl Leading<'_> {
    /// Starts processes until all is done; else says why it is not.
    pub(super) fn lead(&self) -> Result<Option<String>> {
        let (began, name) = (Instant::now(), self.stage.name());
        let limit = self.left.map_or(self.limit, |left| left.min(self.limit));
        let mut barren = 0;
        for _ in 0..PROCESSES {
            let left = limit.saturating_sub(began.elapsed());
            if is_stopped() {
                return Ok(Some("interrupted".into()));
            }
            if left.is_zero() {
                return Ok(Some(self.over(limit)));
            }
            let settled = self.settled()?;
            let ended = child::run(&mut self.process(left)?, left, false, is_stopped)?;
            let known = Known::of(name, &self.journal.events()?);
            match (ended.code(), ended.status) {
                (Some(0), _) if known.is_done() => return Ok(None),
                (Some(code), _) if code == i32::from(GPU_GONE) => {}
                (_, Some(_)) => {
                    self.blame(&known, &format!("its process ended: {}", why(&known, &ended)))?;
                }
                (_, None) if is_stopped() => {
                    self.blame(&known, "interrupted")?;
                    return Ok(Some("interrupted".into()));
                }
                (_, None) => {
                    let over = self.over(limit);
                    self.blame(&known, &over)?;
                    return Ok(Some(over));
                }
            }
            barren = if self.settled()? > settled { 0 } else { barren + 1 };
            if barren >= BARREN {
                return Ok(Some(why(&known, &ended)));
            }
        }
        Ok(Some(format!("{PROCESSES} processes were used up")))
    }

    fn over(&self, limit: Duration) -> String {
        let of = if limit < self.limit { "the run" } else { "the stage" };
        format!("the time of {of} was over after {:.0} s", limit.as_secs_f64())
    }

    /// Items and parts that nothing more is to be done about.
    fn settled(&self) -> Result<usize> {
        let known = Known::of(self.stage.name(), &self.journal.events()?);
        Ok(known.found.len() + known.lost.len())
    }

    /// What was under way when a process ended is what ended it.
    fn blame(&self, known: &Known, why: &str) -> Result<()> {
        let Some((item, part)) = known.open.clone() else { return Ok(()) };
        self.journal.write(Event::Lost { stage: self.stage.name().into(), item, part, why: why.into() })
    }

    fn process(&self, left: Duration) -> Result<Command> {
        let images = Known::of(IMAGES, &self.journal.events()?).found;
        let loaded: Vec<String> = images.into_iter().map(|(set, _)| set).collect();
        let (name, settings) = (self.stage.name(), self.stage.settings(self.settings, &loaded));
        let mut command = Command::new(itself()?);
        command.args(["--work", name, "--seed", &settings.seed.to_string()]);
        command.args(["--sample", &settings.sample.to_string()]).arg("--out").arg(&self.place.out);
        // The items are those of the stages that were asked for.
        if !settings.items.is_empty() && !ALWAYS.contains(&name) {
            command.args(["--only", name, "--items", &settings.items.join(",")]);
        }
        command.arg(format!("--left={}", left.as_secs_f64())).args(settings.quick.then_some("--quick"));
        command.args(settings.set.iter().flat_map(|set| ["--set", set]));
        command.args(settings.launch_limit.iter().map(|limit| format!("--launch-limit={}", limit.as_secs())));
        Ok(command)
    }
}

/// Why a process ended before its stage was done.
fn why(known: &Known, ended: &Ended) -> String {
    known.trouble.clone().unwrap_or_else(|| format!("{} before the stage was done", ended.in_words()))
}
