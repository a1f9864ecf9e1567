//! Sums that go from block to block: each waits for those of the block before it, adds its own part, and hands them on. With
//! a flag for all of them, or with one in each packet, as NCCL's protocol LL has it.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// What is read after it was written before the flag was.
const FLAG: Ld<Global, Acquire<Gpu>> = ld_global::<NoHint, NoPrefetch>().acquire();

/// What was written before it is read after it.
const RAISE: St<Global, Release<Gpu>> = st_global::<NoHint>().release();

/// A value and its flag are one number of 64 bits, which comes whole.
const PACKET: Ld<Global, Relaxed<Gpu>> = ld_global::<NoHint, NoPrefetch>().relaxed();
const SEND: St<Global, Relaxed<Gpu>> = st_global::<NoHint>().relaxed();

/// The parts pass by once.
const PART: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// Two values with their flags.
pub type Packet = V2<u64>;

/// Packets of a thread that are on their way at once.
pub const UNROLL: usize = 4;

/// Threads of a block.
pub const THREADS: u32 = 256;

kernel! {
    /// Adds up the parts of all blocks, `n` elements each, as one writes it first.
    ///
    /// # Safety
    /// `out` is valid for writes of `n` elements, `input` for reads of as many for each block, `inbox` for both, and `flags` for
    /// both of one for each block, all zero, as is the first block's inbox. Nobody else touches any of them while the grid runs. All blocks run at the same time.
    pub unsafe fn relay_first(out: *mut f32, input: *const f32, inbox: *mut f32, flags: *mut u32, n: u32) {
        let block = block_idx_x();
        let last = block + 1 == grid_dim_x();
        // SAFETY: a block touches its own part; the next one's inbox before its flag is up, its own after it.
        unsafe {
            if block > 0 {
                if thread_idx_x() == 0 {
                    while FLAG.read(flags.add(block as usize)) == 0 {
                        pause();
                    }
                }
                sync_threads();
            }
            let to = if last { out } else { inbox.add(((block + 1) * n) as usize) };
            let mut i = thread_idx_x();
            while i < n {
                let at = (block * n + i) as usize;
                *to.add(i as usize) = ldg(input.add(at)) + *inbox.add(at);
                i += block_dim_x();
            }
            if !last {
                sync_threads();
                if thread_idx_x() == 0 {
                    RAISE.write(flags.add((block + 1) as usize), 1);
                }
            }
        }
    }
}

kernel! {
    /// The same: each packet says itself that it is here, so nobody waits for a block, and four of a thread are on their way.
    ///
    /// # Safety
    /// `out` is valid for writes of `pairs` pairs, `input` for reads of as many for each block, `inbox` for both of as many packets, all
    /// zero. Nobody else touches any of them while the grid runs. There are fewer than 2^31 pairs in all, `pairs` is a multiple of
    /// four for each thread, and `flag` is not zero. All blocks run at the same time, with at most 256 threads.
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn relay(out: *mut V2<f32>, input: *const V2<f32>, inbox: *mut Packet, pairs: u32, flag: u32) {
        let (block, threads) = (block_idx_x(), block_dim_x());
        let (first, last) = (block == 0, block + 1 == grid_dim_x());
        let mut i = thread_idx_x();
        while i < pairs {
            let at: [u32; UNROLL] = core::array::from_fn(|k| whole(block * pairs + i + k as u32 * threads));
            // SAFETY: a block touches its own part, a thread its own packets.
            unsafe {
                let mut sums: [V2<f32>; UNROLL] = core::array::from_fn(|k| PART.read(input.add(at[k] as usize)));
                if !first {
                    let packets = loop {
                        let packets: [Packet; UNROLL] = core::array::from_fn(|k| PACKET.read(inbox.add(at[k] as usize)));
                        let mut here = true;
                        for k in 0..UNROLL {
                            // Each by itself: as arrays they are compared as one number, which has to be put together first.
                            let [a, b] = packets[k].0.map(|half| (half >> 32) as u32);
                            here = here && a == flag && b == flag;
                        }
                        if here {
                            break packets;
                        }
                        pause();
                    };
                    for k in 0..UNROLL {
                        let [a, b] = packets[k].0.map(|half| f32::from_bits(half as u32));
                        sums[k] = V2::new([sums[k].0[0] + a, sums[k].0[1] + b]);
                    }
                }
                for k in 0..UNROLL {
                    if last {
                        st_global::<Cs>().write(out.add((i + k as u32 * threads) as usize), sums[k]);
                    } else {
                        let packet = sums[k].0.map(|sum| u64::from(flag) << 32 | u64::from(sum.to_bits()));
                        SEND.write(inbox.add((at[k] + pairs) as usize), V2::new(packet));
                    }
                }
            }
            i += UNROLL as u32 * threads;
        }
    }
}
