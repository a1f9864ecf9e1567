//! The machine beside what is measured: clocks, temperature, power, and why the clocks are not higher, by `nvidia-smi`, which
//! comes with the driver.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::line::State;
use launch::child;
use ptx_build::error::{Error, Result};

/// What is asked; the last is called so by drivers of today, and so by older ones.
const FIELDS: &str = "timestamp,clocks.sm,clocks.mem,temperature.gpu,power.draw";
const HELD_BACK: [&str; 2] = ["clocks_event_reasons.active", "clocks_throttle_reasons.active"];

/// Milliseconds from one answer to the next.
const EVERY: &str = "200";

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(20);

/// What each bit of [`State::held_back`] means, for those that slow something down: an idle GPU is not slowed down.
const REASONS: [(u64, &str); 7] = [
    (0x02, "clocks set by an application"),
    (0x04, "software power cap"),
    (0x08, "hardware slowdown"),
    (0x10, "sync boost"),
    (0x20, "software thermal slowdown"),
    (0x40, "hardware thermal slowdown"),
    (0x80, "hardware power brake"),
];

/// The reasons in some bits, in words.
pub fn reasons(bits: u64) -> Vec<&'static str> {
    REASONS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, says)| *says).collect()
}

/// Looks at a GPU again and again, until it is dropped.
pub struct Watch {
    child: Child,
    answers: File,
    rest: String,
}

impl Watch {
    /// Begins to look at the GPU in that place of the bus.
    pub fn begin(bus: &str) -> Result<Watch> {
        let smi = child::find("nvidia-smi")
            .ok_or_else(|| Error::new("there is no nvidia-smi here").fix("put the folder of nvidia-smi into PATH"))?;
        let asked = HELD_BACK.map(|held_back| query(&smi, bus, held_back));
        let [today, older] = asked;
        let answered = match answers(today) {
            Ok(today) => today,
            Err(_) => answers(older)?,
        };
        Watch::again_and_again(answered)
    }

    fn again_and_again(mut command: Command) -> Result<Watch> {
        let lost = |error: std::io::Error| Error::new(format_args!("could not run nvidia-smi: {error}"));
        let answers = tempfile::NamedTempFile::new().map_err(lost)?;
        command.args(["-lms", EVERY]).stdin(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.stdout(answers.reopen().map_err(lost)?);
        // SAFETY: the one call between fork and exec is a system call.
        unsafe { command.pre_exec(child::end_with_parent) };
        let child = command.spawn().map_err(lost)?;
        Ok(Watch { child, answers: answers.into_file(), rest: String::new() })
    }

    /// What it said since it was last asked.
    pub fn take(&mut self) -> Vec<State> {
        // What cannot be read now is read next time.
        let _ = self.answers.read_to_string(&mut self.rest);
        let Some(end) = self.rest.rfind('\n') else { return Vec::new() };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        whole.lines().filter_map(state).collect()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn query(smi: &Path, bus: &str, held_back: &str) -> Command {
    let mut command = Command::new(smi);
    command.args(["-i", bus, &format!("--query-gpu={FIELDS},{held_back}"), "--format=csv,noheader,nounits"]);
    command
}

/// The command, if it answers once.
fn answers(mut command: Command) -> Result<Command> {
    let ended = child::run(&mut command, LIMIT, true, || false)?;
    match (ended.code(), ended.stdout.lines().find_map(state)) {
        (Some(0), Some(_)) => {
            // A command of its own: the first one's output is captured.
            let mut again = Command::new(command.get_program());
            again.args(command.get_args());
            Ok(again)
        }
        _ => Err(Error::new(format_args!("nvidia-smi ended with {}", ended.in_words())).because(ended.stdout)),
    }
}

/// A line of answers: `2026/11/24 02:09:43.123, 1980, 2619, 34, 120.51, 0x0000000000000004`.
fn state(line: &str) -> Option<State> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let [at, clock, memory_clock, celsius, watts, held_back] = cells[..] else { return None };
    let number = |cell: &str| cell.parse().ok();
    let held_back = held_back.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let (clock, memory_clock) = (number(clock), number(memory_clock));
    Some(State { at: at.into(), clock, memory_clock, celsius: number(celsius), watts: number(watts), held_back })
}

/// Some states in short: the least and the most of each number, and every reason that held the clocks back.
pub fn in_short(states: &[State]) -> String {
    let range = |of: fn(&State) -> Option<f64>, unit: &str| {
        let all: Vec<f64> = states.iter().filter_map(of).collect();
        let (least, most) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
        Some(if least == most { format!("{least:.0} {unit}") } else { format!("{least:.0} to {most:.0} {unit}") })
    };
    let numbers = [
        range(|state| state.clock, "MHz"),
        range(|state| state.memory_clock, "MHz (memory)"),
        range(|state| state.celsius, "°C"),
        range(|state| state.watts, "W"),
    ];
    let held_back = reasons(states.iter().filter_map(|state| state.held_back).fold(0, |all, bits| all | bits));
    let held_back = (!held_back.is_empty()).then(|| format!("slowed down by: {}", held_back.join(", ")));
    let all: Vec<String> = numbers.into_iter().flatten().chain(held_back).collect();
    if all.is_empty() { "nothing is known of the clocks".into() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_told_in_short() {
        let lines = [
            "2026/11/24 02:09:43.123, 1980, 2619, 34, 120.51, 0x0000000000000001",
            "2026/11/24 02:09:43.323, 1755, 2619, [N/A], 690.20, 0x0000000000000024",
        ];
        let states: Vec<State> = lines.into_iter().filter_map(state).collect();
        assert_eq!(states[0].at, "2026/11/24 02:09:43.123");
        assert_eq!((states[1].clock, states[1].celsius, states[1].held_back), (Some(1755.0), None, Some(0x24)));
        let expected = "1755 to 1980 MHz, 2619 MHz (memory), 34 °C, 121 to 690 W, slowed down by: software power cap, \
                        software thermal slowdown";
        assert_eq!(in_short(&states), expected);
        assert_eq!(in_short(&states[..1]), "1980 MHz, 2619 MHz (memory), 34 °C, 121 W");
        assert_eq!(state("Field \"clocks_event_reasons.active\" is not a valid field to query."), None);
        assert_eq!(in_short(&[]), "nothing is known of the clocks");
    }
}
