//! `mma.sync` with `.block_scale`: some neighbours along the depth have a scale, which multiplies them.

use alloc::vec::Vec;

use super::element::Element;
use super::product::{Operand, Product};

/// An `mma.sync` with scales.
#[derive(Debug)]
pub struct Scaled {
    /// What it does without scales.
    pub product: Product,
    scale: Element,
    /// Elements along the depth that have one, and how many a row has.
    of_scale: usize,
    count: usize,
}

/// Which of the registers with scales count: by the lanes of four, and from which byte on.
pub type Selected = [usize; 2];

impl Scaled {
    /// The instruction of these words, if ptxas takes it.
    pub fn parse(words: &[&str]) -> Option<Scaled> {
        let ["mma", "sync", "aligned", rest @ ..] = words else { return None };
        let is_kind = |word: &&str| {
            word.starts_with("kind::")
                || word.starts_with("scale_vec::")
                || matches!(*word, "block_scale" | "block16" | "block32")
        };
        let kind: Vec<&str> = rest.iter().copied().filter(is_kind).collect();
        let plain: Vec<&str> = rest.iter().copied().filter(|word| !is_kind(word)).collect();
        let &[shape, "row", "col", "f32", a, b, "f32", scale] = &plain[..] else { return None };
        let (depth, of_scale) = match kind[..] {
            ["kind::mxf8f6f4", "block_scale"] | ["kind::mxf8f6f4", "block_scale", "scale_vec::1X" | "block32"] => {
                (32, 32)
            }
            ["kind::mxf4", "block_scale"]
            | ["kind::mxf4" | "kind::mxf4nvf4", "block_scale", "scale_vec::2X" | "block32"] => (64, 32),
            ["kind::mxf4nvf4", "block_scale", "scale_vec::4X" | "block16"] => (64, 16),
            _ => return None,
        };
        let [mut a, mut b, scale] = [a, b, scale].map(Element::parse);
        let is_small = |element: Option<Element>| matches!(element, Some(Element::Small(_)));
        let is_scale = match scale? {
            Element::Power => true,
            Element::Magnitude(_) => of_scale == 16,
            _ => false,
        };
        let is_four = |element: Option<Element>| element == Element::parse("e2m1");
        let fits = if depth == 64 { shape == "m16n8k64" && is_four(a) && is_four(b) } else { shape == "m16n8k32" };
        if !fits || !is_scale || !is_small(a) || !is_small(b) {
            return None;
        }
        if depth == 64 {
            [a, b] = [a, b].map(|element| element.map(Element::packed));
        }
        let product = Product::of_part(depth, [a?, b?, Element::Float(32)]);
        Some(Scaled { product, scale: scale?, of_scale, count: depth / of_scale })
    }

    /// Whether the first byte may be that one, and the thread of A, or of B, of four that one.
    pub fn selects(&self, [thread, byte]: Selected, operand: Operand) -> bool {
        let threads = if operand == Operand::A { 2 } else { 4 };
        thread < threads && byte < 4 && byte % self.count == 0
    }

    /// The lane whose register has the scale of an element of a row of A (of B: of a column), and the byte there.
    pub fn scale_of(&self, operand: Operand, row: usize, along: usize, [thread, byte]: Selected) -> (usize, usize) {
        let of_four = if operand == Operand::A { row / 8 + 2 * thread } else { thread };
        (row % 8 * 4 + of_four, byte + (along / self.of_scale).min(self.count - 1))
    }

    /// The registers of D of each lane. `register` gives those of A, B and C by the lane and a number, `scales` the register with those
    /// of A, or B, by the lane.
    pub fn result(
        &self,
        lanes: impl Iterator<Item = usize>,
        register: impl Fn(Operand, usize, usize) -> u64,
        scales: impl Fn(Operand, usize) -> u32,
        selected: [Selected; 2],
    ) -> Vec<Vec<u64>> {
        let scale = |operand: Operand, row: usize, along: usize| {
            let (lane, byte) = self.scale_of(operand, row, along, selected[usize::from(operand != Operand::A)]);
            self.scale.number((scales(operand, lane) >> (8 * byte) & 0xff).into())
        };
        self.product.result_with(lanes, register, |a, b, c| a * b + c, scale)
    }
}
