//! `redux.sync`: one number of the numbers of all.

use super::together::{Together, collective, values};
use crate::group::Thread;
use crate::machine::{Machine, Step};
use crate::operand::Operand;
use crate::stop::Result;

struct Redux {
    combine: fn(i64, i64) -> i64,
    is_signed: bool,
    to: Operand,
    value: Operand,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let ["redux", "sync", how, ty @ ("b32" | "u32" | "s32")] = words else { return None };
    let combine: fn(i64, i64) -> i64 = match *how {
        "add" => |a, b| a + b,
        "min" => i64::min,
        "max" => i64::max,
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        "xor" => |a, b| a ^ b,
        _ => return None,
    };
    let [to, value, mask] = operands.try_into().ok()?;
    collective(mask, Redux { combine, is_signed: *ty == "s32", to, value })
}

impl Together for Redux {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let values = values(machine, all, &self.value)?;
        let number = |thread: &Thread| {
            let value = values[thread.lane] as u32;
            if self.is_signed { i64::from(value as i32) } else { value.into() }
        };
        let result = all.iter().map(number).reduce(self.combine).unwrap_or_default() as u32;
        all.iter().try_for_each(|thread| machine.set(*thread, &self.to, result.into()))
    }
}
