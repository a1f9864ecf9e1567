//! What long work shows: a bar or a spinner on a terminal, one line per step in a pipe.

use std::borrow::Cow;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Where steps and bars are shown.
pub struct Progress {
    sink: Sink,
}

enum Sink {
    Terminal(MultiProgress),
    Pipe,
    Kept(Mutex<Vec<String>>),
}

/// Work under way; it ends when dropped.
#[must_use = "the step ends when this is dropped"]
pub struct Step {
    bar: Option<ProgressBar>,
}

/// Counted work under way; it ends when dropped.
#[must_use = "the bar ends when this is dropped"]
pub struct Bar<'a> {
    progress: &'a Progress,
    counter: ProgressBar,
    name: String,
}

impl Default for Progress {
    fn default() -> Self {
        Progress::new()
    }
}

impl Progress {
    /// Bars and spinners if stderr is a terminal, plain lines on stderr otherwise.
    pub fn new() -> Self {
        let terminal = console::user_attended_stderr();
        Progress { sink: if terminal { Sink::Terminal(MultiProgress::new()) } else { Sink::Pipe } }
    }

    /// Shows nothing and keeps every line for [`Progress::lines`].
    pub fn kept() -> Self {
        Progress { sink: Sink::Kept(Mutex::default()) }
    }

    /// The lines that [`Progress::kept`] kept.
    pub fn lines(&self) -> Vec<String> {
        match &self.sink {
            Sink::Kept(lines) => lines.lock().expect("no thread panics while it holds this").clone(),
            Sink::Terminal(_) | Sink::Pipe => Vec::new(),
        }
    }

    /// Begins a step whose length is unknown.
    pub fn step(&self, name: impl Into<Cow<'static, str>>) -> Step {
        let name = name.into();
        let Sink::Terminal(screen) = &self.sink else {
            self.note(&name);
            return Step { bar: None };
        };
        let bar = screen.add(ProgressBar::new_spinner().with_style(style("{spinner} {msg} ({elapsed})")));
        bar.set_message(name);
        bar.enable_steady_tick(Duration::from_millis(100));
        Step { bar: Some(bar) }
    }

    /// Begins work of `len` equal parts.
    pub fn bar(&self, len: u64, name: impl Into<Cow<'static, str>>) -> Bar<'_> {
        let name = name.into().into_owned();
        let counter = match &self.sink {
            Sink::Terminal(screen) => screen.add(ProgressBar::new(len)),
            Sink::Pipe | Sink::Kept(_) => {
                self.note(&name);
                ProgressBar::with_draw_target(Some(len), indicatif::ProgressDrawTarget::hidden())
            }
        };
        counter.set_style(style("{msg} {wide_bar} {pos}/{len} ({eta} left)"));
        counter.set_message(name.clone());
        Bar { progress: self, counter, name }
    }

    /// Says one thing and leaves it on the screen.
    pub fn note(&self, line: &str) {
        match &self.sink {
            Sink::Terminal(screen) => screen.suspend(|| eprintln!("{line}")),
            Sink::Pipe => eprintln!("{line}"),
            Sink::Kept(lines) => {
                lines.lock().expect("no thread panics while it holds this").push(line.to_owned());
            }
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Bar<'_> {
    /// Counts `parts` more as done.
    pub fn inc(&self, parts: u64) {
        self.counter.inc(parts);
    }

    /// How many parts are done.
    pub fn position(&self) -> u64 {
        self.counter.position()
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        // Finishing sets the position to the length.
        let (done, of) = (self.counter.position(), self.counter.length().unwrap_or_default());
        self.counter.finish_and_clear();
        if !matches!(self.progress.sink, Sink::Terminal(_)) {
            self.progress.note(&format!("{}: {done} of {of}", self.name));
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates in this file are valid")
}
