//! `redux.sync`: one number of the numbers of all.

use super::together::collective;
use crate::machine::Step;
use crate::machine::exchange::Exchange;
use crate::machine::lanes::{LANES, Lanes, lanes_of};
use crate::ptx::operand::Operand;

/// The smallest or the largest of floats.
struct Floats {
    is_greatest: bool,
    is_absolute: bool,
    /// NaN is the result if there is one.
    keeps_nan: bool,
    to: Operand,
    value: Operand,
}

struct Redux {
    combine: fn(i64, i64) -> i64,
    is_signed: bool,
    to: Operand,
    value: Operand,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    if words.last() == Some(&"f32") {
        return floats(words, operands);
    }
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

fn floats(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let (how, is_absolute, nan) = match words {
        ["redux", "sync", how @ ("min" | "max"), "f32"] => (how, false, false),
        ["redux", "sync", how @ ("min" | "max"), "abs", "f32"] => (how, true, false),
        ["redux", "sync", how @ ("min" | "max"), "NaN", "f32"] => (how, false, true),
        ["redux", "sync", how @ ("min" | "max"), "abs", "NaN", "f32"] => (how, true, true),
        _ => return None,
    };
    let [to, value, mask] = operands.try_into().ok()?;
    collective(mask, Floats { is_greatest: *how == "max", is_absolute, keeps_nan: nan, to, value })
}

impl Exchange for Floats {
    fn reads(&self) -> [Option<&Operand>; 3] {
        [Some(&self.value), None, None]
    }

    fn writes(&self) -> [Option<&Operand>; 2] {
        [Some(&self.to), None]
    }

    fn exchange(&self, [values, ..]: &[Lanes; 3], here: u32, _: u32) -> [Lanes; 2] {
        let sign = if self.is_absolute { 1 << 31 } else { 0 };
        let floats: Vec<f32> = lanes_of(here).map(|lane| f32::from_bits(values[lane] as u32 & !sign)).collect();
        let numbers = floats.iter().copied().filter(|float| !float.is_nan());
        // Of two zeros the negative one is less.
        let found = if self.is_greatest { numbers.max_by(f32::total_cmp) } else { numbers.min_by(f32::total_cmp) };
        let is_nan = self.keeps_nan && floats.iter().any(|float| float.is_nan());
        // There is one NaN.
        let bits = found.filter(|_| !is_nan).map_or(0x7fff_ffff, f32::to_bits);
        [[bits.into(); LANES]; 2]
    }
}

impl Exchange for Redux {
    fn reads(&self) -> [Option<&Operand>; 3] {
        [Some(&self.value), None, None]
    }

    fn writes(&self) -> [Option<&Operand>; 2] {
        [Some(&self.to), None]
    }

    fn exchange(&self, [values, ..]: &[Lanes; 3], here: u32, _: u32) -> [Lanes; 2] {
        let number = |lane: usize| {
            let value = values[lane] as u32;
            if self.is_signed { i64::from(value as i32) } else { value.into() }
        };
        let result = lanes_of(here).map(number).reduce(self.combine).unwrap_or_default() as u32;
        [[result.into(); LANES]; 2]
    }
}
