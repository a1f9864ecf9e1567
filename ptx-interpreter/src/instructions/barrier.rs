//! `bar` and `barrier`: the threads of a block meet.

use crate::alu::Type;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, lanes_of};
use crate::machine::meeting::Reduction;
use crate::machine::stop::{Result, Why, missing, stop};
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;

struct Barrier {
    waits: bool,
    result: Option<(Operand, Reduction)>,
    number: Operand,
    count: Option<Operand>,
    predicate: Option<Operand>,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let mut operands = operands.into_iter();
    let (waits, reduction) = match words {
        ["bar" | "barrier", "sync"] => (true, None),
        ["bar" | "barrier", "arrive"] => (false, None),
        ["bar" | "barrier", "red", "popc", _] => (true, Some(Reduction::Count)),
        ["bar" | "barrier", "red", "and", _] => (true, Some(Reduction::And)),
        ["bar" | "barrier", "red", "or", _] => (true, Some(Reduction::Or)),
        _ => return None,
    };
    let result = match reduction {
        Some(reduction) => Some((operands.next()?, reduction)),
        None => None,
    };
    let number = operands.next()?;
    let mut rest: Vec<Operand> = operands.collect();
    let predicate = if result.is_some() { Some(rest.pop()?.of_type(Type::PRED)) } else { None };
    Some(Box::new(Barrier { waits, result, number, count: rest.into_iter().next(), predicate }))
}

impl Step for Barrier {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let numbers = machine.lanes(group, &self.number)?;
        let holds = self.predicate.as_ref().map(|predicate| machine.lanes(group, predicate)).transpose()?;
        let mut rest = group.mask;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let number = numbers[first] as u32;
            if number >= 16 {
                return stop(Why::Wrong, format!("there is no barrier {number}"));
            }
            let mask =
                lanes_of(rest).filter(|lane| numbers[*lane] as u32 == number).fold(0, |mask, lane| mask | 1 << lane);
            rest &= !mask;
            let count = self.count.as_ref().map(|count| machine.get(group.thread(first), count)).transpose()?;
            // A block that is less than a warp is one of a litmus test, of which each thread stands for a warp.
            let whole = |count: u32| count != 0 && (count.is_multiple_of(32) || machine.threads < LANES);
            if let Some(count) = count.filter(|count| !whole(*count as u32)) {
                let text = format!(
                    "barrier {number} is for {count} threads, and the number has to be a multiple of 32 above 0"
                );
                return stop(Why::Wrong, text);
            }
            let holding = holds.map_or(0, |holds| lanes_of(mask).filter(|lane| holds[*lane] == 1).count());
            if self.result.is_some() && holds.is_none() {
                return Err(missing());
            }
            let waits = self.waits.then(|| self.result.clone());
            machine.arrive(Group { mask, ..group }, number, count.map(|count| count as usize), holding, waits)?;
        }
        Ok(())
    }
}
