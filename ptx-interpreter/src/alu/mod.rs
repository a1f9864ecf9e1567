//! Instructions that only compute: what they make of their operands.

mod compare;
mod convert;
mod faster;
mod float;
mod format;
mod host;
mod integer;
mod logic;
mod modifiers;
#[cfg(test)]
mod same;
mod short;
mod small;
mod undefined;
mod video;
mod words;

pub(crate) use format::{DOUBLE, SINGLE, float as converted, fused_of, round_of};
pub(crate) use undefined::{Sources, moves_bits};
pub(crate) use video::is_video;
pub(crate) use words::{Alu, CARRY, FEW, Kind, SOURCES, Type, low};

use words::Words;

/// The instruction of that opcode, if it is one that only computes.
pub(crate) fn alu(opcode: &str) -> Option<Alu> {
    let (name, words) = Words::of(opcode);
    let families = [integer::alu, logic::alu, compare::alu, convert::alu, float::alu, video::alu];
    families.into_iter().find_map(|family| family(name, words.clone()))
}

/// The instruction of that opcode with three sources, where the same words with two are another one.
pub(crate) fn alu_of_three(opcode: &str) -> Option<Alu> {
    let (name, words) = Words::of(opcode);
    float::of_three(name, words)
}
