//! An access that was made, and tables of such things.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// An access that was made, of threads of one warp at the same place and epoch, or of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The warp in the grid, or the engine.
    pub(crate) who: u32,
    /// Its threads; of an engine, the thread that began it.
    pub(crate) lanes: u32,
    pub(crate) epoch: u32,
    pub(crate) site: u32,
    /// Which of the four bytes; none if there is no access.
    pub(crate) bytes: u8,
    /// Bytes of the whole access, of a strong one.
    pub(crate) size: u8,
    /// One more than the scope of a strong access.
    pub(crate) scope: u8,
    pub(crate) writes: bool,
    pub(crate) is_engine: bool,
}

#[derive(Default)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    /// Tables look at the lowest bits, and the highest ones are mixed best.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

pub(crate) type QuickMap<V> = HashMap<u64, V, BuildHasherDefault<Quick>>;
