//! What memory has at first.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;

use crate::bench::Bench;
use crate::device::{Asked, Memory};

/// What the bytes of an output are before the kernel runs.
pub(super) const POISON: u8 = 0xa5;

/// Bytes that are drawn; a larger piece of memory has them over and over.
const DRAWN: usize = 16 << 20;

/// The same of a dry run.
const DRAWN_QUICKLY: usize = 64 << 10;

/// Words that one thread makes at a time.
const PART: usize = 64 << 10;

/// What a piece of memory has at first.
#[derive(Clone, Debug)]
pub(super) enum First {
    /// Bytes that no kernel writes.
    Poison,
    Zero,
    /// Any words.
    Words,
    /// Floats from -1 to 1.
    Floats,
    /// Pairs of `bf16` from -1 to 1.
    Bf16,
    /// Pairs of `f16` from 1/4 to 1.
    Halves,
    /// Numbers below this one.
    Below(u32),
    /// A ring of links through so many lines, of which the first is one.
    Ring(u32),
    /// These bytes, over and over.
    These(Arc<Vec<u8>>),
}

impl First {
    /// A word of it, of a word that is drawn.
    fn word(&self, drawn: u32) -> u32 {
        // A float from 1 to 2 less what puts it around zero: no number of this is subnormal.
        let float = |bits: u32| 2.0 * f32::from_bits(0x3f80_0000 | (bits & 0x7f_ffff)) - 3.0;
        match self {
            First::Floats => float(drawn).to_bits(),
            First::Bf16 => {
                let [low, high] = [drawn << 7, drawn >> 9].map(|bits| float(bits & 0x7f_0000).to_bits() >> 16);
                high << 16 | low
            }
            // An exponent of -2 or -1, and any fraction.
            First::Halves => (drawn & 0x07ff_07ff) + 0x3400_3400,
            First::Below(bound) => ((u64::from(drawn) * u64::from(*bound)) >> 32) as u32,
            _ => drawn,
        }
    }

    /// Its name among what was drawn before.
    fn key(&self) -> String {
        format!("{self:?}")
    }
}

/// Words that are made of their places, by all threads of the machine.
pub(super) fn made(count: u64, word: impl Fn(u64) -> u32 + Sync) -> First {
    let mut words = vec![0u32; count as usize];
    words.par_chunks_mut(PART).enumerate().for_each(|(part, words)| {
        let first = (part * PART) as u64;
        words.iter_mut().zip(first..).for_each(|(place, at)| *place = word(at));
    });
    First::These(Arc::new(bytemuck::cast_slice(&words).to_vec()))
}

/// What was drawn, so that it is drawn once.
#[derive(Default)]
pub(super) struct Drawer {
    drawn: RefCell<BTreeMap<String, Arc<Vec<u8>>>>,
}

impl Drawer {
    /// Fills the piece of memory of that number. Two pieces of one kernel are not alike.
    pub(super) fn put(&self, bench: &Bench<'_>, memory: &Memory, first: &First, number: usize) -> Asked<()> {
        match first {
            First::Poison => bench.device().fill(memory.address, POISON, memory.bytes),
            First::Zero => bench.device().fill(memory.address, 0, memory.bytes),
            First::These(bytes) => bench.repeat(memory, bytes),
            First::Ring(lines) => {
                let mut places = bench.spread(memory.bytes, *lines);
                if !places.contains(&0) {
                    places[0] = 0;
                }
                bench.ring(memory.address, &places).map(|_| ())
            }
            drawn => {
                let mut bytes = self.bytes(bench, drawn).to_vec();
                let turn = bytes.len() / 16 * (number % 16);
                bytes.rotate_left(turn);
                bench.repeat(memory, &bytes)
            }
        }
    }

    fn bytes(&self, bench: &Bench<'_>, first: &First) -> Arc<Vec<u8>> {
        let mut all = self.drawn.borrow_mut();
        let drawn = all.entry(first.key()).or_insert_with(|| {
            let mut bytes = vec![0; if bench.about().quick { DRAWN_QUICKLY } else { DRAWN }];
            let seed = bench.about().seed;
            bytes.par_chunks_mut(4 * PART).enumerate().for_each(|(number, part)| {
                StdRng::seed_from_u64(seed ^ number as u64).fill_bytes(part);
                for word in part.as_chunks_mut::<4>().0 {
                    *word = first.word(u32::from_le_bytes(*word)).to_le_bytes();
                }
            });
            Arc::new(bytes)
        });
        Arc::clone(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_in_its_range() {
        for drawn in [0, 1, 0x7fff_ffff, 0x8000_0000, 0xdead_beef, u32::MAX] {
            let float = f32::from_bits(First::Floats.word(drawn));
            assert!((-1.0..1.0).contains(&float), "{float} of {drawn:#x}");
            let pair = First::Bf16.word(drawn);
            for bits in [pair << 16, pair & 0xffff_0000] {
                assert!((-1.0..1.0).contains(&f32::from_bits(bits)), "{pair:#x} of {drawn:#x}");
            }
            let halves = First::Halves.word(drawn);
            // From 1/4 to the largest below 1.
            assert!([halves & 0xffff, halves >> 16].iter().all(|half| (0x3400..0x3c00).contains(half)), "{halves:#x}");
            assert!(First::Below(7).word(drawn) < 7);
        }
        assert_eq!(First::Below(7).word(u32::MAX), 6);
        let First::These(bytes) = made(5, |at| at as u32 * 3) else { panic!("it is made of bytes") };
        assert_eq!(bytemuck::cast_slice::<u8, u32>(&bytes), [0, 3, 6, 9, 12]);
    }
}
