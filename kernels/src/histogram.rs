//! How often each byte occurs: counted in shared memory, then added to bins that stay in L2.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// What is counted: each value of a byte.
pub const BINS: usize = 256;

/// Threads in a block: one for each bin.
pub const THREADS: usize = BINS;

const WARPS: usize = THREADS / 32;

/// A warp's own bins: it waits for no other one's additions.
pub type Counts = [[u32; BINS]; WARPS];

/// Four words of four bytes.
pub type Quad = V4<u32>;

/// Each line is read once and whole: it need not enter L1, and L2 may fetch its neighbour.
const STREAM: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// A byte after the last whole quad.
const BYTE: LdGlobalNc<NoAllocate, NoPrefetch> = ld_global_nc();

/// How many loads of a thread are in flight.
const UNROLL: usize = 2;

shared! {
    fn counts() -> Counts;
}

kernel! {
    /// Adds to the bin of each value how often it occurs in `n` bytes.
    ///
    /// The bytes, which pass by, are the first to leave L2; the bins, which every block adds to, the last.
    ///
    /// # Safety
    /// `bins` is valid for reads and writes of [`BINS`] numbers, and others access them by atomics alone; `bytes` is valid
    /// for reads of `n` bytes, fewer than 2^32, is aligned to 16, and nobody writes to them while the grid runs. A block has
    /// [`THREADS`] threads.
    pub unsafe fn histogram(bins: *mut u32, bytes: *const u8, n: usize) {
        let me = thread_idx_x();
        let (quads, step) = ((n / 16) as u32, global_size());
        let counts = counts().cast::<u32>();
        // SAFETY: as the kernel says; a bin of a block is written by one thread, then added to until a barrier.
        unsafe {
            let mine = counts.add(me);
            for warp in 0..WARPS {
                mine.add((warp * BINS) as u32).write(0);
            }
            sync_threads();

            let own = counts.add(me / WARP_SIZE * BINS as u32);
            let count = |byte: u32| ptx!(red.relaxed.cta.shared.add.u32 [own.add(byte)], 1);
            let count_quad = |quad: Quad| {
                for word in 0..4 {
                    for byte in 0..4 {
                        count(whole(quad.0[word] >> (8 * byte) & 0xff));
                    }
                }
            };
            let passing = CachePolicy::all::<L2EvictFirst>();
            let read = |i: u32| STREAM.read_with(bytes.cast::<Quad>().add(i as usize), passing);
            let first = global_index();
            let mut i = first;
            while i + (UNROLL as u32 - 1) * step < quads {
                let values: [Quad; UNROLL] = core::array::from_fn(|k| read(i + k as u32 * step));
                for k in 0..UNROLL {
                    count_quad(values[k]);
                }
                i = whole(i + UNROLL as u32 * step);
            }
            while i < quads {
                count_quad(read(i));
                i += step;
            }
            if first < (n % 16) as u32 {
                count(BYTE.read(bytes.add(16 * quads as usize + first as usize)).into());
            }
            sync_threads();

            let sum = (0..WARPS).map(|warp| mine.add((warp * BINS) as u32).read()).sum::<u32>();
            let kept = CachePolicy::all::<L2EvictLast>();
            ptx!(red.relaxed.gpu.global.add.L2::cache_hint.u32 [bins.add(me as usize)], sum, kept);
        }
    }
}
