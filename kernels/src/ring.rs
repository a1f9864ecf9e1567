//! A bounded ring between two blocks: one fills it with what it reads, the other empties it into what it writes. The
//! payload moves by plain accesses; two indices, each on a line of its own, say who may touch which slot.

use ptx_intrinsics::fence::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// What a slot holds: 128 bits.
pub type Slot = V2<u64>;

/// How many slots a thread fills or empties before the indices move.
pub const TURN: usize = 4;

/// Who has come how far: all zero before a run.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Index {
    count: u64,
}

/// Where the other is.
const INDEX: Ld<Global, Relaxed<Gpu>> = ld_global::<NoHint, NoPrefetch>().relaxed();

/// Where this block is; a fence comes before it.
const MOVE: St<Global, Relaxed<Gpu>> = st_global::<NoHint>().relaxed();

/// The input passes by once.
const INPUT: LdGlobalNc<NoAllocate, Prefetch128> = ld_global_nc();

kernel! {
    /// Moves `n` slots from `input` through a ring of `size` slots to `out`, in order, each with its number added to
    /// its first half as it leaves the ring. Block 0 fills, block 1 empties.
    ///
    /// # Safety
    /// `out` is valid for writes and `input` for reads of `n` slots, `ring` for both of `size`, and `indices` for two.
    /// The indices are zero, and nobody else touches any of them while the grid runs. The grid has two blocks, which
    /// run at the same time; `size` is a power of two, and a multiple of [`TURN`] slots for each thread of a block.
    pub unsafe fn ring(
        out: *mut Slot,
        input: *const Slot,
        n: usize,
        ring: *mut Slot,
        size: usize,
        indices: *mut Index,
    ) {
        let turn = TURN * block_dim_x() as usize;
        // SAFETY: as the kernel says.
        let (filled, emptied) = unsafe { (&raw mut (*indices).count, &raw mut (*indices.add(1)).count) };
        let mut done = 0;
        while done < n {
            let end = n.min(done + turn);
            let mine = |k: usize| done + k * block_dim_x() as usize + thread_idx_x() as usize;
            // SAFETY: numbers below n are touched; a slot is filled when what it held is out, and emptied when it is
            // filled, as the indices say.
            unsafe {
                if block_idx_x() == 0 {
                    let values: [Slot; TURN] = core::array::from_fn(|k| {
                        INPUT.read_if(mine(k) < end, input.wrapping_add(mine(k)), Slot::new([0; 2]))
                    });
                    wait_until(emptied, (done + turn).saturating_sub(size));
                    for k in 0..TURN {
                        st_global::<Cg>().write_if(mine(k) < end, ring.add(mine(k) & (size - 1)), values[k]);
                    }
                    publish(filled, end);
                } else {
                    wait_until(filled, end);
                    let values: [Slot; TURN] = core::array::from_fn(|k| {
                        ld_global::<Cg, NoPrefetch>().read_if(mine(k) < end, ring.add(mine(k) & (size - 1)), Slot::new([0; 2]))
                    });
                    publish(emptied, done + turn);
                    for k in 0..TURN {
                        let [first, second] = values[k].0;
                        let numbered = Slot::new([first.wrapping_add(mine(k) as u64), second]);
                        st_global::<Cs>().write_if(mine(k) < end, out.wrapping_add(mine(k)), numbered);
                    }
                }
            }
            done += turn;
        }
    }
}

/// Waits until the other block has come so far. What it did before is seen by all threads of this one.
///
/// # Safety
/// `index` is readable, and all threads of the block come here.
#[inline(always)]
unsafe fn wait_until(index: *const u64, count: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        if thread_idx_x() == 0 {
            while (INDEX.read(index) as usize) < count {
                pause();
            }
            fence_acq_rel::<Gpu>();
        }
        sync_threads();
    }
}

/// Says that this block has come so far. What its threads did before is seen by whoever waits for that.
///
/// # Safety
/// `index` is writable by this block alone, and all its threads come here.
#[inline(always)]
unsafe fn publish(index: *mut u64, count: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        sync_threads();
        if thread_idx_x() == 0 {
            fence_acq_rel::<Gpu>();
            MOVE.write(index, count as u64);
        }
    }
}
