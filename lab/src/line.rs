//! The raw results: JSON, a line for each thing that happened, written as soon as it did.

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Deserialize, Serialize};

use super::thresholds::Thresholds;
use ptx_build::error::{Error, Result};

/// What a case is: the value of each label.
pub type Labels = BTreeMap<String, String>;

/// One line of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// A run begins.
    Run(Run),
    /// The latencies of one probe that thresholds come from, in clocks: how often each was seen.
    Latencies {
        /// Where the links were.
        place: String,
        /// The multiprocessor that followed them.
        multiprocessor: u32,
        /// The bytes that they were spread over.
        bytes: u64,
        /// How often each latency was seen: the latency, and how often.
        clocks: Vec<(u32, u32)>,
    },
    /// The thresholds that came of it.
    Thresholds(Thresholds),
    /// A case is measured.
    Case(About),
    /// One measurement.
    Sample {
        /// The experiment.
        experiment: char,
        /// The case's name.
        case: String,
        /// Which repetition it was of.
        repetition: u32,
        /// What was measured: `seconds`, `hits`, `clocks`.
        metric: String,
        /// How much it was.
        value: f64,
    },
    /// A case that could not be measured.
    Failed {
        /// The experiment.
        experiment: char,
        /// The case's name.
        case: String,
        /// Why.
        why: String,
    },
    /// A kernel was launched under a profiler, in this order.
    Launched {
        /// The experiment.
        experiment: char,
        /// The case's name.
        case: String,
        /// The kernel.
        kernel: String,
    },
    /// A counter that a profiler read.
    Counter {
        /// The experiment.
        experiment: char,
        /// The case's name.
        case: String,
        /// The kernel.
        kernel: String,
        /// The profiler's name for it.
        metric: String,
        /// The profiler's unit.
        unit: String,
        /// How much it was.
        value: f64,
    },
    /// The machine while something was measured.
    Machine {
        /// The experiment; none while the thresholds are found.
        experiment: Option<char>,
        /// What it was.
        state: State,
    },
    /// Nobody looks at the machine's clocks.
    Unwatched {
        /// Why.
        why: String,
    },
    /// An experiment ended.
    Done {
        /// The experiment.
        experiment: char,
        /// Repetitions that every case of it has, but for those that failed.
        repetitions: u32,
        /// How long it took.
        seconds: f64,
        /// Why it was not done as planned, if so.
        why: Option<String>,
    },
}

impl Line {
    /// The experiment that it is of, if it is of one.
    pub fn experiment(&self) -> Option<char> {
        match self {
            Line::Run(_) | Line::Latencies { .. } | Line::Thresholds(_) | Line::Unwatched { .. } => None,
            Line::Machine { experiment, .. } => *experiment,
            Line::Case(about) => Some(about.experiment),
            Line::Sample { experiment, .. }
            | Line::Failed { experiment, .. }
            | Line::Launched { experiment, .. }
            | Line::Counter { experiment, .. }
            | Line::Done { experiment, .. } => Some(*experiment),
        }
    }
}

/// The machine and the plan of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The GPU's name.
    pub gpu: String,
    /// 90 for `sm_90`.
    pub sm: u32,
    /// The driver.
    pub driver: String,
    /// Multiprocessors.
    pub processors: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of L2.
    pub l2: u64,
    /// The most bytes of L2 that can be set aside.
    pub set_aside: u64,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// What orders and sizes come from.
    pub seed: u64,
    /// Planned repetitions.
    pub repetitions: u32,
    /// Whether it was a dry run, with too few repetitions and steps to say anything.
    pub quick: bool,
    /// What the kernels were made with.
    pub made_with: String,
    /// The part of L1 that is shared memory while a probe runs, in percent of the most that can be, by kernel, as the driver
    /// says; nothing if it did not take it.
    #[serde(default)]
    pub carve_out: BTreeMap<String, u32>,
}

/// The machine at one time, as `nvidia-smi` says. What it does not know is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// When.
    pub at: String,
    /// The clock of the multiprocessors, in MHz.
    pub clock: Option<f64>,
    /// The clock of the memory, in MHz.
    pub memory_clock: Option<f64>,
    /// The temperature, in degrees Celsius.
    pub celsius: Option<f64>,
    /// The power, in watts.
    pub watts: Option<f64>,
    /// Why the clocks are not higher, a bit for each reason, as NVML has them.
    pub held_back: Option<u64>,
}

/// A case before it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The experiment.
    pub experiment: char,
    /// Its name, of its labels.
    pub case: String,
    /// Its labels.
    pub labels: Labels,
    /// The case that it is the same as, if it is there to show the noise.
    pub twin_of: Option<String>,
}

/// Where lines go.
pub struct Lines<'w> {
    out: &'w mut dyn Write,
    failures: Vec<(char, String, String)>,
}

impl<'w> Lines<'w> {
    /// Lines that go there.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Lines { out, failures: Vec::new() }
    }

    /// What failed so far: experiment, case, why.
    pub fn failures(self) -> Vec<(char, String, String)> {
        self.failures
    }

    /// Writes a line, and sees to it that it is written.
    pub fn write(&mut self, line: &Line) -> Result<()> {
        if let Line::Failed { experiment, case, why } = line {
            self.failures.push((*experiment, case.clone(), why.clone()));
        }
        let mut text = serde_json::to_string(line).map_err(Error::new)?;
        text.push('\n');
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()).map_err(|error| {
            Error::new(format_args!("could not write a line of results: {error}")).fix("see whether the disk is full")
        })
    }
}

/// Reads lines. A last line without an end, of a run that was cut short, is left out.
pub fn read(text: &str) -> Result<Vec<Line>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parsed = whole.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(|(at, line)| {
        serde_json::from_str(line).map_err(|error| {
            Error::new("this is no line of the laboratory's results")
                .at(format_args!("line {}", at + 1))
                .because(error)
                .fix("name the file laboratory.jsonl that the program wrote")
        })
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were_and_a_cut_one_is_left_out() {
        let sample = Line::Sample {
            experiment: 'B',
            case: "hot=last".into(),
            repetition: 3,
            metric: "hits".into(),
            value: 0.25,
        };
        let latencies =
            Line::Latencies { place: "l2".into(), multiprocessor: 0, bytes: 4096, clocks: vec![(15, 2), (300, 1)] };
        let failed = Line::Failed { experiment: 'B', case: "hot=last".into(), why: "no \"L2\"\n".into() };
        let mut text = Vec::new();
        for line in [&sample, &latencies, &failed] {
            Lines::new(&mut text).write(line).expect("a vector takes all");
        }
        let mut text = String::from_utf8(text).expect("JSON is text");
        assert_eq!(text.lines().count(), 3);
        assert_eq!(read(&text).expect("they are lines"), [sample.clone(), latencies.clone(), failed]);
        text.truncate(text.len() - 3);
        assert_eq!(read(&text).expect("they are lines"), [sample, latencies]);
        let wrong = read("{}\n").expect_err("this is no line").to_string();
        assert!(wrong.starts_with("this is no line of the laboratory's results\n  at line 1\n"), "{wrong}");
    }
}
