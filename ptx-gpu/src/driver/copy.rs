//! Copies of bytes that follow each other.

use std::ffi::c_void;

use crate::call::calls;
use crate::gpu::{Gpu, Handle, live};
use crate::status::{INVALID_VALUE, Result};

/// Which sides of a copy have to be the GPU's.
#[derive(Clone, Copy)]
pub(crate) enum Sides {
    To,
    From,
    Both,
    /// Whatever the addresses say.
    Unknown,
}

/// Copies, when both sides are what the call says.
pub(crate) fn copy(to: u64, from: u64, bytes: usize, sides: Sides, stream: Handle, call: &str) -> Result {
    let mut gpu = live()?;
    gpu.stream(stream)?;
    copy_in(&mut gpu, to, from, bytes, sides, call)
}

pub(crate) fn copy_in(gpu: &mut Gpu, to: u64, from: u64, bytes: usize, sides: Sides, call: &str) -> Result {
    if bytes == 0 {
        return Ok(());
    }
    if to == 0 || from == 0 {
        return Err(INVALID_VALUE);
    }
    let known = |address: u64| gpu.memory.find(address).is_some();
    if matches!(sides, Sides::To | Sides::Both) || known(to) {
        gpu.memory.expect(to, bytes, call)?;
    }
    if matches!(sides, Sides::From | Sides::Both) || known(from) {
        gpu.memory.expect(from, bytes, call)?;
    }
    // SAFETY: what is the GPU's was looked at, and what is the host's the program answers for.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
    gpu.memory.write(to);
    Ok(())
}

const DEFAULT: Handle = 0;

calls! {
    #[ptds]
    fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) {
        copy(to, from, bytes, Sides::To, DEFAULT, "cuMemcpyHtoD_v2")
    }

    #[ptds]
    fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) {
        copy(to, from, bytes, Sides::From, DEFAULT, "cuMemcpyDtoH_v2")
    }

    #[ptds]
    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        copy(to, from, bytes, Sides::Both, DEFAULT, "cuMemcpyDtoD_v2")
    }

    #[ptds]
    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        copy(to, from, bytes, Sides::Unknown, DEFAULT, "cuMemcpy")
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
    fn cuMemcpyPeer(to: u64, _to_context: *mut c_void, from: u64, _from_context: *mut c_void, bytes: usize) {
        copy(to, from, bytes, Sides::Both, DEFAULT, "cuMemcpyPeer")
    }

    #[ptsz]
    fn cuMemcpyPeerAsync(
        to: u64,
        _to_context: *mut c_void,
        from: u64,
        _from_context: *mut c_void,
        bytes: usize,
        stream: Handle,
    ) {
        copy(to, from, bytes, Sides::Both, stream, "cuMemcpyPeerAsync")
    }
}
