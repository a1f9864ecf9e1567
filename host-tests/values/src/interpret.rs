//! The interpreter's side.

use std::time::{Duration, Instant};

use ptx_interpreter::{Launch, Outside, Program};
use rayon::prelude::*;

use crate::case::{BLOCK, Case, header};

/// How long the interpreter may take for a kernel: a limit, no estimate.
const LIMIT: Duration = Duration::from_secs(10);

/// What the output holds before a launch.
pub(crate) const POISON: u64 = 0xa5a5_a5a5_a5a5_a5a5;

impl Case {
    /// The output of a launch, before it.
    pub fn poison(&self, from: &[u64]) -> Vec<u64> {
        vec![POISON; from.len() / self.reads() * self.writes()]
    }

    /// What the interpreter makes of these operands, on all processors. Errors: in words, why it stopped.
    pub fn interpret(&self, from: &[u64]) -> Result<Vec<u64>, String> {
        let target = if self.is_specific { "sm_90a" } else { "sm_90" };
        let program = Program::parse(&(header("9.0", target) + &self.text()));
        if let Some(gap) = program.gaps().first() {
            return Err(format!("the interpreter does not know {gap}"));
        }
        let mut to = self.poison(from);
        let blocks = from.len() / self.reads() / BLOCK;
        let share = blocks.div_ceil(2 * rayon::current_num_threads()).max(1) * BLOCK;
        let deadline = Instant::now() + LIMIT;
        let parts = from.par_chunks(share * self.reads()).zip(to.par_chunks_mut(share * self.writes()));
        parts.try_for_each(|(from, to)| self.interpret_part(&program, from, to, deadline))?;
        Ok(to)
    }

    fn interpret_part(&self, program: &Program, from: &[u64], to: &mut [u64], deadline: Instant) -> Result<(), String> {
        let addresses = [from.as_ptr() as u64, to.as_mut_ptr() as u64];
        let pieces = [(addresses[0], size_of_val(from) as u64), (addresses[1], size_of_val(to) as u64)];
        let holds = |start: u64, bytes: usize| {
            pieces.iter().any(|(at, size)| start >= *at && start - at + bytes as u64 <= *size)
        };
        let outside = Outside { holds: &holds, variable: &|_| None };
        let arguments = [(&raw const addresses[0]).cast(), (&raw const addresses[1]).cast()];
        let launch = Launch {
            blocks: [(from.len() / self.reads() / BLOCK) as u32, 1, 1],
            threads: [BLOCK as u32, 1, 1],
            deadline: Some(deadline),
            ..Launch::new(&self.name, &arguments)
        };
        // SAFETY: the kernel has two parameters of eight bytes, and what is held may be read; nothing but the kernel writes `to`,
        // and it writes only there.
        unsafe { program.run(&outside, &launch) }.map(drop).map_err(|stop| stop.text)
    }
}
