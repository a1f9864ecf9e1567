//! The threads of a block as one: its shared memory, its barrier, and sums over all of them.

use core::arch::asm;
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _grid_dim_x, _syncthreads, _thread_idx_x};

pub(crate) use kernels::whole;
use ptx_intrinsics::*;

/// Threads in a warp.
pub(crate) const WARP: u32 = 32;

/// A variable in shared memory, which nothing is in at first, and the function of its name that gives its address.
macro_rules! shared {
    ($name:ident: $type:ty) => {
        core::arch::global_asm!(
            concat!(".shared .align 16 .b8 ", stringify!($name), "[{bytes}];"),
            bytes = const size_of::<$type>(),
        );

        #[inline(always)]
        fn $name() -> ptx_intrinsics::SharedPtr<$type> {
            let address;
            // SAFETY: this takes an address, and reads nothing.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {address}, ", stringify!($name), ";"),
                    address = out(reg32) address,
                    options(pure, nomem, nostack),
                );
            }
            ptx_intrinsics::SharedPtr::from_address(address)
        }
    };
}

/// The thread's number in its block.
#[inline(always)]
pub(crate) fn me() -> u32 {
    // SAFETY: this only reads a special register.
    unsafe { _thread_idx_x() as u32 }
}

/// How many threads the block has.
#[inline(always)]
pub(crate) fn threads() -> u32 {
    // SAFETY: this only reads a special register.
    unsafe { _block_dim_x() as u32 }
}

/// The thread's number in its grid.
#[inline(always)]
pub(crate) fn index() -> u32 {
    // SAFETY: this only reads a special register.
    whole(unsafe { _block_idx_x() as u32 } * threads() + me())
}

/// How many threads the grid has.
#[inline(always)]
pub(crate) fn count() -> u32 {
    // SAFETY: this only reads a special register.
    unsafe { _grid_dim_x() as u32 * threads() }
}

/// Waits for all threads of the block.
#[inline(always)]
pub(crate) fn sync() {
    // SAFETY: the kernels call it where all threads of a block come along.
    unsafe { _syncthreads() }
}

/// The value of the lane whose number differs in the bits of `mask`.
#[inline(always)]
pub(crate) fn shuffle_xor(value: f32, mask: u32) -> f32 {
    let other;
    // SAFETY: all lanes of the warp come along.
    unsafe {
        asm!("shfl.sync.bfly.b32 {other}, {value}, {mask}, 31, -1;",
            other = out(reg32) other, value = in(reg32) value, mask = in(reg32) mask, options(nomem, nostack));
    }
    other
}

/// `reduce`d over the warp, for every lane.
#[inline(always)]
pub(crate) fn over_warp(mut value: f32, reduce: impl Fn(f32, f32) -> f32) -> f32 {
    let mut mask = WARP / 2;
    while mask > 0 {
        value = reduce(value, shuffle_xor(value, mask));
        mask /= 2;
    }
    value
}

/// `reduce`d over the block, for every thread: by warps, then over the warps' values, which stand in shared memory.
///
/// # Safety
/// All threads of the block come here, at most 32 warps, and nobody else touches the 32 values at `warps`.
#[inline(always)]
pub(crate) unsafe fn over_block(value: f32, warps: SharedPtr<f32>, none: f32, reduce: impl Fn(f32, f32) -> f32) -> f32 {
    let (warp, lane) = (me() / WARP, me() % WARP);
    let value = over_warp(value, &reduce);
    sync();
    // SAFETY: a warp's place is its own, and a barrier stands between writing and reading.
    unsafe {
        if lane == 0 {
            warps.add(warp).write(value);
        }
        sync();
        let value = if lane < threads() / WARP { warps.add(lane).read() } else { none };
        over_warp(value, &reduce)
    }
}
