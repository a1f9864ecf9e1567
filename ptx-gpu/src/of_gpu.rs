//! What each GPU of a program has of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::handle::{Handle, next};

/// GPUs of a program, at most.
pub(crate) const MOST_GPUS: usize = 16;

pub(crate) struct OfGpu {
    /// Its number in the machine, of which the program may see a part.
    pub(crate) number: usize,
    /// Its primary context, how often that was retained, and its flags.
    pub(crate) primary: Handle,
    pub(crate) retained: usize,
    pub(crate) flags: u32,
    /// Its default stream.
    pub(crate) legacy: Handle,
    /// The GPUs whose memory its kernels may use too.
    pub(crate) peers: BTreeSet<usize>,
    /// The pool of which it allocates in streams, if the program has chosen one.
    pub(crate) pool: Option<Handle>,
}

/// A pool of memory.
pub(crate) struct Pool {
    pub(crate) gpu: usize,
    /// What other GPUs may do: `CU_MEM_ACCESS_FLAGS_PROT_…`.
    pub(crate) access: BTreeMap<usize, u32>,
}

impl Pool {
    pub(crate) fn new(gpu: usize) -> Pool {
        Pool { gpu, access: BTreeMap::new() }
    }
}

impl OfGpu {
    pub(crate) fn new(number: usize, legacy: Handle) -> OfGpu {
        OfGpu { number, primary: next(), retained: 0, flags: 0, legacy, peers: BTreeSet::new(), pool: None }
    }
}
