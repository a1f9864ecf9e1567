//! What the names in a function mean: registers, variables, vectors and elements of these.

use std::collections::{HashMap, HashSet};

use crate::machine::lanes::LANES;
use crate::ptx::operand::{Array, Operand, Place, Register, number};
use crate::ptx::room::Room;
use crate::ptx::scoped::{Block, Scoped};
use crate::ptx::special::Special;
use crate::ptx::text::{self, Parameter, Statement, element_of};

/// The names of a function, and what they mean at the statement that is read.
pub(super) struct Names<'a> {
    pub(super) registers: Scoped<Register>,
    /// How many there are.
    pub(super) count: usize,
    /// The numbers of those that some instruction reads, once that is known.
    pub(super) read: Option<HashSet<usize>>,
    pub(super) places: Scoped<Array>,
    pub(super) module: &'a HashMap<String, Array>,
    /// The module's variables in shared memory that the kernel has because it names them.
    pub(super) of_kernel: HashMap<String, Array>,
    pub(super) labels: Scoped<usize>,
    pub(super) tables: HashMap<String, Vec<String>>,
    /// For each block the one around it, and the block of the statement that is read.
    pub(super) outer: &'a [Block],
    pub(super) block: Block,
}

/// A place for `bytes` bytes, after what is there already.
pub(super) fn reserve(length: &mut usize, parameter: &Parameter) -> u64 {
    let at = length.next_multiple_of(parameter.align.clamp(1, 128));
    *length = at + parameter.bytes;
    at as u64
}

impl Names<'_> {
    /// Registers, and variables within the function.
    pub(super) fn declare(&mut self, statement: &Statement, shared: &mut Room, frame: &mut usize) {
        let (registers, bits) = text::registers(&statement.text);
        for name in registers {
            let number = self.count;
            self.registers.declare(statement.block, &name, || {
                self.count += if bits > 64 { 2 } else { 1 };
                Register { number, at: 0, bits }
            });
        }
        let Some((space, variables)) = text::declaration(&statement.text) else { return };
        for variable in variables {
            let place = match space {
                "shared" => shared.take(&variable.name, variable.bytes, variable.align, variable.is_open),
                "local" => Place::Local(reserve(frame, &variable)),
                _ => Place::Frame(reserve(frame, &variable)),
            };
            self.declare_place(statement.block, &variable, place);
        }
    }

    pub(super) fn declare_place(&mut self, block: Block, variable: &Parameter, place: Place) {
        self.places.declare(block, &variable.name, || Array { place, element: variable.element as u64 });
    }

    pub(super) fn register(&self, name: &str) -> Option<&Register> {
        self.registers.get(self.outer, self.block, name)
    }

    pub(super) fn place(&self, name: &str) -> Option<&Array> {
        self.places.get(self.outer, self.block, name)
    }

    /// `name`, `name+8`, or `name[2]`, the address of that element.
    fn name(&self, text: &str) -> Option<Operand> {
        let number =
            |text: &str| if let Operand::Number(number) = number(text.trim())? { Some(number as u64) } else { None };
        let (name, add, index) = match (text.split_once('+'), text.strip_suffix(']')) {
            (Some((name, add)), _) => (name.trim(), number(add)?, 0),
            (_, Some(text)) => text.split_once('[').and_then(|(name, index)| Some((name.trim(), 0, number(index)?)))?,
            _ => (text, 0, 0),
        };
        let of_module = || self.of_kernel.get(name).or_else(|| self.module.get(name));
        let Array { place, element } = self.place(name).or_else(of_module)?;
        Some(Operand::Name(place.clone(), add.wrapping_add(index.wrapping_mul(*element))))
    }

    pub(super) fn operand(&self, text: &str) -> Option<Operand> {
        let inner = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close).map(str::trim);
        if let Some(register) = self.register(text) {
            return Some(Operand::Register(*register));
        }
        if let Some(vector) = self.vector(text) {
            return Some(vector);
        }
        if let Some(list) = inner('{', '}') {
            let all = list.split(',').map(|one| self.operand(one.trim())).collect::<Option<Vec<_>>>()?;
            return Some(Operand::Vector(all));
        }
        if let Some(place) = inner('[', ']') {
            return self.address(place);
        }
        if let Some((first, second)) = text.split_once('|') {
            let [first, second] = [first, second].map(|one| self.operand(one.trim()));
            return Some(Operand::Pair(Box::new(first?), Box::new(second?)));
        }
        if let Some(name) = text.strip_prefix('!') {
            return self.register(name.trim()).filter(|register| register.bits == 1).copied().map(Operand::Not);
        }
        match text.as_bytes().first()? {
            b'_' if text == "_" => Some(Operand::Sink),
            b'%' => Special::parse(&text[1..]).map(Operand::Special),
            b'0'..=b'9' | b'-' => number(text),
            b'W' if text == "WARP_SZ" => Some(Operand::Number(LANES as u128)),
            _ => self.name(text),
        }
    }

    /// A vector of registers that has a name, or one of its elements by another name.
    fn vector(&self, text: &str) -> Option<Operand> {
        if let Some((vector, element)) = text::element(text) {
            return self.register(&element_of(vector, element)).copied().map(Operand::Register);
        }
        let elements = (0..4).map_while(|at| self.register(&element_of(text, at)).copied().map(Operand::Register));
        Some(elements.collect::<Vec<_>>()).filter(|elements| !elements.is_empty()).map(Operand::Vector)
    }

    /// What is in brackets.
    fn address(&self, place: &str) -> Option<Operand> {
        let (place, coordinates) = place.split_once(',').unwrap_or((place, ""));
        let coordinates = match coordinates.trim() {
            "" => Vec::new(),
            some => self.operand(some)?.lanes(),
        };
        let (base, offset) = match place.rsplit_once(['+', '-']) {
            Some((base, offset)) => {
                let Operand::Number(offset) = number(offset.trim())? else { return None };
                let offset = offset as u64;
                let negative = place[base.len()..].starts_with('-')
                    || base.trim_end().ends_with(['+', '-']) && place.contains('-');
                (base.trim_end_matches(['+', '-', ' ']), if negative { offset.wrapping_neg() } else { offset })
            }
            None => (place, 0),
        };
        Some(Operand::Address(Box::new(self.operand(base.trim())?), offset, coordinates))
    }
}
