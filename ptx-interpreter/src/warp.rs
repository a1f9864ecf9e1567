//! What the threads of a warp do together.

use crate::alu::{low, signed};
use crate::code::{Operand, Step};
use crate::machine::{Machine, State};
use crate::{Result, Why, stop, wrong};

const LANES: usize = 32;

impl Machine<'_> {
    /// Waits until all threads of the mask are here, and does it for all of them.
    pub(crate) fn in_warp(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let first = at - self.threads[at].number % LANES;
        let threads = self.launch.threads.iter().product::<u32>() as usize;
        let last = first + LANES.min(threads - (self.threads[at].number / LANES) * LANES);
        let live = |machine: &Self, thread: usize| machine.threads[thread].state != State::Ended;
        if words[0] == "activemask" {
            let mask =
                (first..last).filter(|thread| live(self, *thread)).fold(0, |mask, thread| mask | 1 << (thread - first));
            return self.set(at, &operands[0], mask);
        }
        let mask = self.get(at, operands.last().ok_or_else(|| wrong("a mask is missing"))?)? as u32;
        if mask >> (at - first) & 1 == 0 {
            return stop(Why::Wrong, "the mask lacks the thread itself");
        }
        let own: Vec<usize> =
            (first..last).filter(|thread| mask >> (thread - first) & 1 == 1 && live(self, *thread)).collect();
        // The instruction is done for all by the last that comes to it.
        let (code, next) = (self.threads[at].code, self.threads[at].next);
        let is_here = |thread: &usize| {
            let other = &self.threads[*thread];
            *thread == at || other.state == State::InWarp && std::ptr::eq(other.code, code) && other.next == next
        };
        if !own.iter().all(is_here) {
            self.threads[at].state = State::InWarp;
            return Ok(());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let results = self.together(&own, first, &words, operands, mask)?;
        for (thread, result) in own.iter().zip(results) {
            self.threads[*thread].state = State::Running;
            match (&operands[0], result) {
                (Operand::Pair(value, holds), [first, second]) => {
                    self.set(*thread, value, first)?;
                    self.set(*thread, holds, second)?;
                }
                (_, _) if words[0] == "bar" => {}
                (to, [value, _]) => self.set(*thread, to, value)?,
            }
        }
        Ok(())
    }

    /// Of the threads, in their order, what each gets: a value, and a predicate.
    fn together(
        &self,
        own: &[usize],
        first: usize,
        words: &[&str],
        operands: &[Operand],
        mask: u32,
    ) -> Result<Vec<[u128; 2]>> {
        let of = |thread: usize, operand: usize| self.get(thread, &operands[operand]);
        let values = || own.iter().map(|thread| of(*thread, 1)).collect::<Result<Vec<u128>>>();
        let all = |value: [u128; 2]| Ok(vec![value; own.len()]);
        let bits =
            |values: &[u128]| own.iter().zip(values).fold(0, |bits, (thread, value)| bits | value << (thread - first));
        match words {
            ["bar", ..] => all([0; 2]),
            ["elect", "sync"] => {
                let leader = mask.trailing_zeros() as usize;
                Ok(own.iter().map(|thread| [leader as u128, (thread - first == leader).into()]).collect())
            }
            ["vote", "sync", how, _] => {
                let values = values()?;
                let holding = values.iter().filter(|value| **value == 1).count();
                match *how {
                    "all" => all([(holding == own.len()).into(), 0]),
                    "any" => all([(holding > 0).into(), 0]),
                    "uni" => all([(holding == 0 || holding == own.len()).into(), 0]),
                    "ballot" => all([bits(&values), 0]),
                    _ => stop(Why::Gap, words.join(".")),
                }
            }
            ["match", how, "sync", ty] => {
                let width = if *ty == "b64" { 64 } else { 32 };
                let values: Vec<u128> = values()?.into_iter().map(|value| low(value, width)).collect();
                let equal = |one: &u128| bits(&values.iter().map(|other| u128::from(other == one)).collect::<Vec<_>>());
                match *how {
                    "any" => Ok(values.iter().map(|value| [equal(value), 0]).collect()),
                    "all" => {
                        let same = values.iter().all(|value| *value == values[0]);
                        all([if same { mask.into() } else { 0 }, same.into()])
                    }
                    _ => stop(Why::Gap, words.join(".")),
                }
            }
            ["redux", "sync", how, ty] => {
                let number = |value: &u128| if *ty == "s32" { signed(*value, 32) } else { low(*value, 32) as i128 };
                let numbers = values()?.iter().map(number).collect::<Vec<_>>();
                let numbers = numbers.into_iter();
                let result = match *how {
                    "add" => Some(numbers.sum()),
                    "min" => numbers.min(),
                    "max" => numbers.max(),
                    "and" => numbers.reduce(|a, b| a & b),
                    "or" => numbers.reduce(|a, b| a | b),
                    "xor" => numbers.reduce(|a, b| a ^ b),
                    _ => return stop(Why::Gap, words.join(".")),
                };
                all([low(result.unwrap_or_default() as u128, 32), 0])
            }
            ["shfl", "sync", how, "b32"] => {
                own.iter().map(|thread| self.shuffled(*thread, first, how, operands)).collect()
            }
            _ => stop(Why::Gap, words.join(".")),
        }
    }

    /// The value of another lane, and whether there is such a lane.
    fn shuffled(&self, thread: usize, first: usize, how: &str, operands: &[Operand]) -> Result<[u128; 2]> {
        let (lane, by) = ((thread - first) as i64, low(self.get(thread, &operands[2])?, 5) as i64);
        let control = self.get(thread, &operands[3])?;
        let (clamp, segment) = (low(control, 5) as i64, low(control >> 8, 5) as i64);
        let most = (lane & segment) | (clamp & !segment);
        let least = lane & segment;
        let (from, exists) = match how {
            "up" => (lane - by, lane - by >= most),
            "down" => (lane + by, lane + by <= most),
            "bfly" => (lane ^ by, (lane ^ by) <= most),
            "idx" => (least | by & !segment, (least | by & !segment) <= most),
            _ => return stop(Why::Gap, format!("shfl.sync.{how}")),
        };
        let from = if exists { from } else { lane };
        let source = first + from as usize;
        let known = self.threads.get(source).is_some_and(|other| other.state == State::InWarp || source == thread);
        let source = if known || self.is_here(source, thread) { source } else { thread };
        Ok([low(self.get(source, &operands[1])?, 32), exists.into()])
    }

    /// Whether a thread has come to the same instruction of the same function.
    fn is_here(&self, other: usize, thread: usize) -> bool {
        let (other, thread) = (&self.threads[other], &self.threads[thread]);
        std::ptr::eq(other.code, thread.code) && other.next == thread.next
    }

    /// After a thread's end its warp may be complete.
    pub(crate) fn meet_again(&mut self, ended: usize) -> Result<()> {
        let first = ended - self.threads[ended].number % LANES;
        let block = self.threads[ended].block;
        let waits =
            |thread: &&usize| self.threads[**thread].state == State::InWarp && self.threads[**thread].block == block;
        let near: Vec<usize> = (first..(first + LANES).min(self.threads.len())).collect();
        let Some(thread) = near.iter().find(waits).copied() else { return Ok(()) };
        self.threads[thread].state = State::Running;
        let line = &self.threads[thread].code.lines[self.threads[thread].next - 1];
        match &line.step {
            Step::Other { words, operands } => {
                let words: Vec<String> = words.clone();
                self.in_warp(thread, &words, &operands.clone())
            }
            _ => Ok(()),
        }
    }
}
