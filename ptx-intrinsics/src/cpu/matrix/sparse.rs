//! `mma.sp`: of A only half of the elements along the depth are there, and metadata tell which ones.

use alloc::vec;
use alloc::vec::Vec;

use super::element::Element;
use super::product::{Matrices, Operand, Product};

/// An `mma.sp`, of which each row has its metadata in whole registers.
#[derive(Debug)]
pub struct Sparse {
    /// The product of what is there, and of all.
    stored: Product,
    whole: Product,
    depth: usize,
    /// Elements that are together, and how many of those are in a group of which half are there.
    together: usize,
    group: usize,
    ordered: bool,
}

/// Why metadata say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaningless {
    /// The four bits.
    pub bits: u32,
}

impl Sparse {
    /// The instruction of these words. That ptxas takes it is not all: the shapes whose rows share a register are not known here.
    pub fn parse(words: &[&str]) -> Option<Sparse> {
        let ["mma", sp @ ("sp" | "sp::ordered_metadata"), "sync", "aligned", rest @ ..] = words else { return None };
        let is_kind = |word: &&&str| **word == "kind::f8f6f4";
        let of_kind = rest.contains(&"kind::f8f6f4");
        let plain: Vec<&str> = rest.iter().filter(|word| !is_kind(word)).copied().collect();
        let saturates = plain.contains(&"satfinite");
        let plain: Vec<&str> = plain.into_iter().filter(|word| *word != "satfinite").collect();
        let &[shape, "row", "col", to, a, b, from] = &plain[..] else { return None };
        let [to, a, b, from] = [to, a, b, from].map(Element::parse);
        let (to, a, b, from) = (to?, a?, b?, from?);
        let (depth, together, group) = match (shape, a, b) {
            ("m16n8k32", Element::Float(16), Element::Float(16)) | ("m16n8k32", Element::Brain, Element::Brain) => {
                (32, 1, 4)
            }
            ("m16n8k16", Element::Tf32, Element::Tf32) => (16, 1, 2),
            ("m16n8k64", Element::Small(_), Element::Small(_)) if of_kind || a.is_fp8() && b.is_fp8() => (64, 1, 4),
            ("m16n8k64", Element::Signed(8) | Element::Unsigned(8), Element::Signed(8) | Element::Unsigned(8)) => {
                (64, 1, 4)
            }
            ("m16n8k128", Element::Signed(4) | Element::Unsigned(4), Element::Signed(4) | Element::Unsigned(4)) => {
                (128, 2, 4)
            }
            _ => return None,
        };
        let is_integer = matches!(a, Element::Signed(_) | Element::Unsigned(_));
        let sums = match a {
            Element::Float(16) | Element::Small(_) => matches!(to, Element::Float(16 | 32)),
            _ if is_integer => to == Element::Signed(32),
            _ => to == Element::Float(32),
        };
        if !sums
            || to != from
            || saturates && !is_integer
            || of_kind && (!matches!(a, Element::Small(_)) || *sp == "sp")
        {
            return None;
        }
        let [stored, whole] = [depth / 2, depth].map(|depth| Product::of_part(depth, [a, b, to]));
        let whole = if saturates { whole.saturating() } else { whole };
        let ordered = *sp == "sp::ordered_metadata";
        Some(Sparse { stored, whole, depth, together, group, ordered })
    }

    /// In how many registers an operand is.
    pub fn registers(&self, operand: Operand) -> usize {
        if operand == Operand::A { self.stored.registers(operand) } else { self.whole.registers(operand) }
    }

    /// A register of a factor, of the bits of its elements: see [`Product::register`]. Of A those that are there.
    pub fn register(&self, operand: Operand, lane: usize, number: usize, bits: impl Fn(usize, usize) -> u64) -> u64 {
        let product = if operand == Operand::A { &self.stored } else { &self.whole };
        product.register(operand, lane, number, bits)
    }

    /// The elements that a register of a lane has: see [`Product::places`]. Of A those that are there.
    pub fn places(&self, operand: Operand, lane: usize, number: usize) -> impl Iterator<Item = (usize, usize)> {
        let product = if operand == Operand::A { &self.stored } else { &self.whole };
        product.places(operand, lane, number)
    }

    /// Bits of metadata that a row has.
    fn bits(&self) -> usize {
        self.depth / (self.together * self.group) * 4
    }

    /// Whether those threads may have the metadata: two of four, or all.
    pub fn selects(&self, threads: usize) -> bool {
        threads < if self.bits() == 32 { 2 } else { 1 }
    }

    /// The two lanes whose registers have the metadata of a row, and the bits there, if those `threads` of four have it.
    pub fn metadata_of(&self, row: usize, threads: usize) -> [(usize, u32); 2] {
        let (lane, lower) = (row % 8 * 4, row / 8);
        [0, 1].map(|half| match self.bits() {
            // Two threads have halves of both rows.
            32 => (lane + 2 * threads + half, 0xffff << (16 * lower)),
            // The lower row is one thread further on, and the second half two threads.
            _ => (lane + lower + 2 * half, u32::MAX),
        })
    }

    /// The registers of D of each lane. `register` gives those of A, B and C by the lane and a number, `metadata` those by the lane.
    /// If metadata say nothing, their row has any values.
    pub fn result(
        &self,
        lanes: impl Iterator<Item = usize>,
        register: impl Fn(Operand, usize, usize) -> u64,
        metadata: impl Fn(usize) -> u32,
        threads: usize,
    ) -> (Vec<Vec<u64>>, Option<Meaningless>) {
        let stored = self.stored.matrices(Operand::A, &register);
        let [b, c] = [Operand::B, Operand::C].map(|operand| self.whole.matrices(operand, &register));
        let mut a: Matrices = vec![vec![vec![0.0; self.depth]; 16]];
        let mut found = None;
        for (row, whole) in a[0].iter_mut().enumerate() {
            let parts = self.metadata_of(row, threads).into_iter().enumerate();
            let bits = parts.fold(0, |all, (half, (lane, bits))| {
                let own = u64::from((metadata(lane) & bits) >> bits.trailing_zeros());
                all | own << (bits.count_ones() * half as u32)
            });
            found = found.or(self.spread(&stored[0][row], whole, bits));
        }
        (self.whole.results(lanes, [&a, &b, &c], |a, b, c| a * b + c), found)
    }

    /// Puts what is there of a row at its places. Returns what says nothing.
    fn spread(&self, stored: &[f64], whole: &mut [f64], bits: u64) -> Option<Meaningless> {
        let mut found = None;
        let of_group = self.group * self.together;
        for (number, group) in whole.chunks_mut(of_group).enumerate() {
            let four = (bits >> (4 * number)) as u32 & 0xf;
            let first = &stored[number * of_group / 2..][..of_group / 2];
            // Rows beyond the end of a matrix are zeros, and so are their metadata.
            if first.iter().all(|value| *value == 0.0) {
                continue;
            }
            let places = match (self.group, four) {
                (2, 0b0100) => vec![0],
                (2, 0b1110) => vec![1],
                (2, _) => Vec::new(),
                _ => vec![four as usize & 3, four as usize >> 2],
            };
            let have_no_order = |places: &[usize]| places[0] == places[1] || self.ordered && places[0] > places[1];
            if places.is_empty() || places.len() == 2 && have_no_order(&places) {
                found = found.or(Some(Meaningless { bits: four }));
            }
            for (at, place) in places.iter().enumerate() {
                for one in 0..self.together {
                    group[place * self.together + one] += first[at * self.together + one];
                }
            }
        }
        found
    }
}
