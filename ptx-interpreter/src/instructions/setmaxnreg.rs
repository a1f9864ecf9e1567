//! `setmaxnreg`: a warp gives registers of its threads to its block, or takes some that others gave.

use super::together::{Together, collective};
use crate::machine::group::Thread;
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;

struct SetMaxNReg {
    takes: bool,
    registers: u32,
}

pub(super) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let takes = match *words {
        ["setmaxnreg", "inc", "sync", "aligned", "u32"] => true,
        ["setmaxnreg", "dec", "sync", "aligned", "u32"] => false,
        _ => return None,
    };
    let [Operand::Number(registers)] = operands[..] else { return None };
    collective(Operand::Number(u32::MAX.into()), SetMaxNReg { takes, registers: registers as u32 })
}

impl Together for SetMaxNReg {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        machine.gives_way = true;
        let Some(at_entry) = machine.code.registers_at_entry else { return Ok(()) };
        let (block, warps) = (machine.block_of(all[0]), machine.warps_of_block);
        let pool = &mut machine.shared_of(block)?.pool;
        pool.begin(warps, at_entry);
        let warp = all[0].warp % warps;
        let is_done = match self.takes {
            true => pool.take(warp, self.registers),
            false => {
                pool.give(warp, self.registers);
                true
            }
        };
        machine.warp_mut(all[0].warp).is_blocked = !is_done;
        if is_done {
            machine.progress += 1;
            machine.wake_blocked(block);
        }
        Ok(())
    }
}
