//! The field's `.litmus` format for PTX, as herd and Dat3M write it.
//!
//! Beyond it this parser takes what newer PTX has: the scope `.cluster` (`P0@cta 0,cluster 0,gpu 0`), `.volatile`, loads through
//! the async proxy (`ald.weak r0, x`) and `fence.proxy.async`.

mod condition;
mod instruction;
mod locations;
mod unread;
mod words;

pub use unread::Unread;

use self::locations::Locations;
use self::unread::{Read, at, outside, wrong};
use self::words::{number, register_of, thread_number};
use super::condition::Condition;
use super::program::{Instruction, Placement, Program, Thread};
use super::value::Register;

/// Reads a file's text.
pub fn parse(text: &str) -> Read<Program> {
    let text = without_comments(text);
    let (head, rest) = text.split_at(after_head(&text)?);
    let mut words = head.split_whitespace();
    if !matches!(words.next(), Some("PTX" | "ptx")) {
        return wrong("the file does not begin with `PTX NAME`");
    }
    let name = words.next().unwrap_or_default().to_owned();
    let (initial, rest) = match rest[1..].split_once('}') {
        Some(halves) => halves,
        None => return wrong("the `{` of the initial state is not closed"),
    };
    let line_of = |tail: &str| 1 + text[..text.len() - tail.len()].matches('\n').count();
    let mut reader = Reader::default();
    at(1 + head.matches('\n').count(), reader.initial(initial))?;
    let mut rest = rest.trim_start().strip_prefix(';').unwrap_or(rest);
    while let Some(row) = next_row(rest) {
        at(line_of(rest.trim_start()), reader.row(row))?;
        rest = &rest[row.len() + 1..];
    }
    let line = line_of(rest.trim_start());
    let condition = at(line, condition::condition(rest, &reader.threads, &mut reader.locations))?;
    reader.finish(name, condition)
}

/// `(* … *)` becomes blank, so that lines keep their numbers.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("(*") {
        kept += before;
        let (inside, after) = comment.split_once("*)").unwrap_or((comment, ""));
        kept.extend(inside.chars().filter(|&char| char == '\n'));
        rest = after;
    }
    kept + rest
}

/// Where the `{` of the initial state is: the first outside of quotes.
fn after_head(text: &str) -> Read<usize> {
    let mut quoted = false;
    let brace = text.char_indices().find(|&(_, char)| {
        quoted ^= char == '"';
        char == '{' && !quoted
    });
    brace.map_or_else(|| wrong("there is no initial state, `{ … }`"), |(at, _)| Ok(at))
}

/// A row of the table: up to a `;`, unless the condition begins before that.
fn next_row(rest: &str) -> Option<&str> {
    let start = rest.trim_start();
    let is_condition =
        ["exists", "~", "not ", "forall", "filter", "final", "locations"].iter().any(|word| start.starts_with(word));
    (!is_condition).then(|| rest.split_once(';').map(|(row, _)| row)).flatten()
}

#[derive(Default)]
struct Reader {
    locations: Locations,
    /// Of registers: the thread's number, the register, the value.
    registers: Vec<(u32, Register, i64)>,
    threads: Vec<Thread>,
}

impl Reader {
    fn initial(&mut self, text: &str) -> Read<()> {
        text.split(';')
            .map(str::trim)
            .filter(|declared| !declared.is_empty())
            .try_for_each(|declared| self.declare(declared))
    }

    /// `x = 0`, `P0:r1 = 0` or `s @ surface aliases x`.
    fn declare(&mut self, declared: &str) -> Read<()> {
        if let Some((name, alias)) = declared.split_once('@') {
            let Some((proxy, of)) = alias.split_once("aliases") else {
                return wrong(format_args!("`{declared}` is not `NAME @ PROXY aliases NAME`"));
            };
            return self.locations.alias(name.trim(), proxy.trim(), of.trim());
        }
        let Some((name, value)) = declared.split_once('=') else {
            return wrong(format_args!("`{declared}` is not `NAME = NUMBER`"));
        };
        let (name, value) = (name.trim(), value.trim());
        let Ok(value) = number(value) else {
            return outside(format_args!("`{declared}`: pointers in memory or in registers"));
        };
        if let Some((thread, register)) = name.split_once(':') {
            self.registers.push((thread_number(thread)?, register_of(register)?, value));
            return Ok(());
        }
        let physical = self.locations.physical(name)?;
        self.locations.initial[physical] = value;
        Ok(())
    }

    fn row(&mut self, row: &str) -> Read<()> {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if self.threads.is_empty() {
            self.threads = cells.into_iter().map(thread).collect::<Read<_>>()?;
            return Ok(());
        }
        if cells.len() > self.threads.len() {
            return wrong(format_args!("{} cells for {} threads", cells.len(), self.threads.len()));
        }
        for (at, cell) in cells.into_iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let instruction = instruction::instruction(cell, &mut self.locations)
                .map_err(|unread| Unread { why: format!("`{cell}`: {}", unread.why), ..unread })?;
            self.threads[at].code.push(instruction);
        }
        Ok(())
    }

    fn finish(mut self, name: String, condition: Condition) -> Read<Program> {
        for (number, register, value) in self.registers {
            // The field's files give registers to threads that they have not.
            let own = self.threads.iter_mut().find(|thread| thread.number == number);
            own.into_iter().for_each(|thread| thread.initial.push((register, value)));
        }
        for thread in &self.threads {
            for instruction in &thread.code {
                let (Instruction::Branch(.., label) | Instruction::Jump(label)) = instruction else { continue };
                if Program::target(thread, label).is_none() {
                    return wrong(format_args!("P{} has no label {label}", thread.number));
                }
            }
        }
        let Locations { addresses, initial } = self.locations;
        Ok(Program { name, addresses, initial, threads: self.threads, condition })
    }
}

/// `P0@cta 0,gpu 0`
fn thread(cell: &str) -> Read<Thread> {
    let Some((number, place)) = cell.split_once('@') else {
        return wrong(format_args!("`{cell}` does not say where the thread runs: `P0@cta 0,gpu 0`"));
    };
    let mut placement = Placement { cta: 0, cluster: None, gpu: 0 };
    for part in place.split(',') {
        let id = |word| part.trim().strip_prefix(word).and_then(|id: &str| id.trim().parse().ok());
        match (id("cta"), id("cluster"), id("gpu")) {
            (Some(cta), ..) => placement.cta = cta,
            (_, Some(cluster), _) => placement.cluster = Some(cluster),
            (.., Some(gpu)) => placement.gpu = gpu,
            _ => return wrong(format_args!("`{part}` is no place")),
        }
    }
    Ok(Thread { number: thread_number(number)?, placement, initial: Vec::new(), code: Vec::new() })
}
