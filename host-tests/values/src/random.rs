//! Numbers that a seed makes.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

pub(crate) struct Random(StdRng);

impl Random {
    /// Those of a kernel: another one's do not change them.
    pub(crate) fn of(seed: u64, name: &str) -> Random {
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Random(StdRng::seed_from_u64(name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, add)))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Less than `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1) as u64) as i64
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// At least 0 and less than 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}
