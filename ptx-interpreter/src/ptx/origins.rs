//! Which variable in shared memory an address is computed from, as far as the instructions of a function say it.
//!
//! A register has an origin if all instructions that write it add numbers to the address of one and the same variable. Where
//! anything else is done to an address, its origin is not known, and an access through it is not compared.

use crate::ptx::operand::{Operand, Place};

/// What a register holds, by all instructions that write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Nothing so far.
    Unwritten,
    Number,
    /// An address that is computed from the variable that begins there.
    Variable(u64),
    Unknown,
}

impl Origin {
    /// It is one or the other.
    fn or(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Unwritten, one) | (one, Origin::Unwritten) => one,
            _ if self == other => self,
            _ => Origin::Unknown,
        }
    }

    fn plus(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Unwritten, _) | (_, Origin::Unwritten) => Origin::Unwritten,
            (Origin::Number, one) | (one, Origin::Number) => one,
            _ => Origin::Unknown,
        }
    }

    fn minus(self, other: Origin) -> Origin {
        if other == Origin::Number { self } else { self.computed().or(other.computed()) }
    }

    /// What is computed with it is a number, if it is one.
    fn computed(self) -> Origin {
        if let Origin::Variable(_) = self { Origin::Unknown } else { self }
    }
}

/// An instruction's words and operands.
pub(crate) type Read<'a> = (Vec<&'a str>, &'a [Operand]);

/// For each instruction of a function the variables in shared memory that its accesses to shared memory have to stay in, by their
/// beginnings: none, if it is not known of all of its addresses.
pub(crate) fn origins(instructions: &[Read<'_>], registers: usize) -> Vec<Vec<u64>> {
    let mut known = vec![Origin::Unwritten; registers];
    loop {
        let mut changed = false;
        for (words, operands) in instructions {
            let Some(to) = operands.first().filter(|to| !matches!(to, Operand::Address(..))) else { continue };
            let written = result(words, operands, &known);
            for register in to.registers() {
                let joined = known[register.number].or(written);
                changed |= joined != known[register.number];
                known[register.number] = joined;
            }
        }
        if !changed {
            break;
        }
    }
    instructions.iter().map(|(words, operands)| variables(words, operands, &known)).collect()
}

fn origin(operand: &Operand, known: &[Origin]) -> Origin {
    match operand {
        Operand::Register(register) => known[register.number],
        Operand::Name(Place::Shared(at), _) => Origin::Variable(*at),
        Operand::Name(..) => Origin::Unknown,
        Operand::Vector(lanes) => {
            lanes.iter().fold(Origin::Unwritten, |all, lane| all.or(origin(lane, known).computed()))
        }
        _ => Origin::Number,
    }
}

fn result(words: &[&str], operands: &[Operand], known: &[Origin]) -> Origin {
    let of = |at: usize| operands.get(at).map_or(Origin::Number, |operand| origin(operand, known));
    let is_whole = operands.first().is_some_and(|to| matches!(to, Operand::Register(_)));
    match words[0] {
        "mov" | "cvta" | "cvt" | "mapa" if is_whole => of(1),
        "add" | "or" => of(1).plus(of(2)),
        "sub" => of(1).minus(of(2)),
        "mad" => of(1).computed().plus(of(2).computed()).plus(of(3)),
        "selp" => of(1).or(of(2)),
        // What memory holds is an index, or an address of which nothing is known.
        "ld" | "ldu" | "atom" => Origin::Number,
        _ => operands.iter().skip(1).fold(Origin::Number, |all, operand| all.plus(origin(operand, known).computed())),
    }
}

fn variables(words: &[&str], operands: &[Operand], known: &[Origin]) -> Vec<u64> {
    let mut addresses: Vec<&Operand> = operands
        .iter()
        .filter_map(|operand| match operand {
            Operand::Address(base, _, coordinates) if coordinates.is_empty() => Some(&**base),
            _ => None,
        })
        .collect();
    let place = |word: &str| words.iter().position(|other| other.starts_with(word));
    if words[0] == "cp"
        && let (Some(global), Some(shared)) = (place("global"), place("shared"))
    {
        let outside = usize::from(global > shared);
        if outside < addresses.len() && !words.contains(&"tensor") {
            addresses.remove(outside);
        }
    }
    let variable = |base: &&Operand| match origin(base, known) {
        Origin::Variable(at) => Some(at),
        _ => None,
    };
    addresses.iter().map(variable).collect::<Option<Vec<u64>>>().unwrap_or_default()
}
