//! Launches whose buffers lie in one piece of memory.

use std::cell::UnsafeCell;
use std::time::Instant;

use ptx_interpreter::{Gaps, Launch, Outside, Parts, Piece, Program, Report, Used};

use super::kernels::Case;

/// The bytes of a launch.
pub(crate) struct Memory {
    room: Vec<UnsafeCell<u8>>,
    begin: usize,
    /// Where each buffer begins, and its bytes.
    buffers: [(usize, usize); 2],
}

const PAGE: usize = 4096;

impl Memory {
    pub(crate) fn of(case: &Case, blocks: u32) -> Memory {
        let bytes = (case.bytes)(blocks as usize * case.threads as usize);
        let begin = case.second.map_or(case.first + bytes, |second| second);
        let buffers = [(case.first, bytes), (begin, bytes)];
        let room: Vec<UnsafeCell<u8>> = (0..begin + bytes + 3 * PAGE).map(|_| UnsafeCell::new(0)).collect();
        let memory = Memory { begin: room.as_ptr().align_offset(PAGE), room, buffers };
        memory.reset();
        memory
    }

    fn place(&self, at: usize) -> *mut u8 {
        self.room[self.begin + at].get()
    }

    fn length(&self) -> usize {
        self.room.len() - self.begin
    }

    pub(crate) fn reset(&self) {
        // SAFETY: nothing else uses the bytes now.
        (0..self.length()).for_each(|at| unsafe { self.place(at).write((at % 253) as u8) });
    }

    pub(crate) fn content(&self) -> Vec<u8> {
        // SAFETY: the same.
        (0..self.length()).map(|at| unsafe { self.place(at).read() }).collect()
    }

    pub(crate) fn run(&self, program: &Program, case: &Case, blocks: u32, parts: Parts, seed: u64) -> Report {
        self.launch(program, case, |launch| Launch { blocks: [blocks, 1, 1], parts, seed, ..launch })
    }

    pub(crate) fn limited(
        &self,
        program: &Program,
        case: &Case,
        blocks: u32,
        (steps, deadline): (u64, Option<Instant>),
    ) -> Report {
        self.launch(program, case, |launch| Launch { blocks: [blocks, 1, 1], steps, deadline, ..launch })
    }

    fn launch(&self, program: &Program, case: &Case, change: impl for<'l> FnOnce(Launch<'l>) -> Launch<'l>) -> Report {
        let begins = self.buffers.map(|(at, _)| self.place(at).expose_provenance() as u64);
        let bytes = self.buffers.map(|(_, bytes)| bytes as u64);
        let holds = move |address: u64, count: usize| {
            let within = |(begin, bytes): (u64, u64)| begin <= address && address + count as u64 <= begin + bytes;
            begins.into_iter().zip(bytes).any(within)
        };
        let arguments = begins.each_ref().map(|begin| std::ptr::from_ref(begin).cast::<u8>());
        let piece = |number: usize| Piece {
            name: format!("argument {number}").into(),
            begin: begins[number],
            bytes: bytes[number],
            unwritten: match number {
                1.. if case.unwritten => Gaps::all(begins[number], begins[number] + bytes[number]),
                _ => Gaps::default(),
            },
            undefined: Gaps::default(),
            shared_with_grid_before: false,
        };
        let new = Launch::new("kernel", &arguments);
        let launch = change(Launch {
            threads: [case.threads, 1, 1],
            cluster: [case.cluster, 1, 1],
            tells_used: true,
            steps: u64::MAX,
            ..new
        });
        let outside = Outside { holds: &holds, variable: &|_| None };
        // SAFETY: both arguments are addresses, and the buffers are this launch's own.
        unsafe { program.check(&outside, &launch, vec![piece(0), piece(1)]) }
    }
}

/// The bytes that were used in each way, as ranges that do not touch.
pub(crate) fn told(used: &Used) -> Vec<(String, u64, u64)> {
    let mut all: Vec<(String, u64, u64)> = Vec::new();
    let mut ranges: Vec<_> =
        used.ranges.iter().map(|range| (format!("{:?}", range.how), range.begin, range.end)).collect();
    ranges.sort();
    for (how, begin, end) in ranges {
        match all.last_mut().filter(|last| last.0 == how && begin <= last.2) {
            Some(last) => last.2 = last.2.max(end),
            None => all.push((how, begin, end)),
        }
    }
    all
}
