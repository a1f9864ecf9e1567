//! Copies of bytes that follow each other.

use crate::call::calls;
use crate::gpu::{Handle, live};
use crate::perform::{submit, submit_and_wait};
use crate::status::Result;
use crate::work::{Side, Transfer, Work};

/// Which sides of a copy have to be the GPU's.
#[derive(Clone, Copy)]
pub(crate) enum Sides {
    To,
    From,
    Both,
    /// Whatever the addresses say.
    Unknown,
}

impl Sides {
    /// Whether the sides to and from which it copies have to be the GPU's.
    pub(crate) fn are_device(self) -> [bool; 2] {
        [matches!(self, Sides::To | Sides::Both), matches!(self, Sides::From | Sides::Both)]
    }
}

/// A copy of bytes that follow each other.
pub(crate) fn bytes(to: u64, from: u64, bytes: usize, sides: Sides, call: &'static str) -> Work {
    let [to_device, from_device] = sides.are_device();
    Transfer::of_bytes(Side::of_bytes(to, to_device, bytes), Side::of_bytes(from, from_device, bytes), bytes, call)
}

/// Copies in a stream.
fn copy(to: u64, from: u64, count: usize, sides: Sides, stream: Handle, call: &'static str) -> Result {
    submit(stream, bytes(to, from, count, sides, call))
}

/// Copies and waits for it.
fn copied(to: u64, from: u64, count: usize, sides: Sides, call: &'static str) -> Result {
    submit_and_wait(&bytes(to, from, count, sides, call))
}

/// The addresses say by themselves which GPU's each side is.
fn are_contexts(all: [Handle; 2]) -> Result {
    let gpu = live()?;
    all.into_iter().try_for_each(|context| gpu.of_context(context).map(drop))
}

calls! {
    #[ptds]
    fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) {
        copied(to, from, bytes, Sides::To, "cuMemcpyHtoD_v2")
    }

    #[ptds]
    fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) {
        copied(to, from, bytes, Sides::From, "cuMemcpyDtoH_v2")
    }

    #[ptds]
    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        copied(to, from, bytes, Sides::Both, "cuMemcpyDtoD_v2")
    }

    #[ptds]
    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        copied(to, from, bytes, Sides::Unknown, "cuMemcpy")
    }

    #[ptsz]
    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, Sides::To, stream, "cuMemcpyHtoDAsync_v2")
    }

    #[ptsz]
    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, Sides::From, stream, "cuMemcpyDtoHAsync_v2")
    }

    #[ptsz]
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, Sides::Both, stream, "cuMemcpyDtoDAsync_v2")
    }

    #[ptsz]
    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, Sides::Unknown, stream, "cuMemcpyAsync")
    }

    #[ptds]
    fn cuMemcpyPeer(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize) {
        are_contexts([to_context, from_context])?;
        copied(to, from, bytes, Sides::Both, "cuMemcpyPeer")
    }

    #[ptsz]
    fn cuMemcpyPeerAsync(
        to: u64,
        to_context: Handle,
        from: u64,
        from_context: Handle,
        bytes: usize,
        stream: Handle,
    ) {
        are_contexts([to_context, from_context])?;
        copy(to, from, bytes, Sides::Both, stream, "cuMemcpyPeerAsync")
    }
}
