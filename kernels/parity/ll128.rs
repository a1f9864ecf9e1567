//! A copy that goes from block to block in lines of 128 bytes, 120 of them data and 8 a flag, as NCCL's protocol LL128 has them.
//! Eight threads store a line, 16 bytes each, and the flag is in the last packet of the line. So one word of sixteen is lost to
//! flags, and not one of two as with the protocol LL ([`relay`](crate::relay)).
//!
//! It needs what PTX does not promise: the 128 bytes that a warp stores to a line arrive together. NCCL says where they do.

use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// 16 bytes of a line: two words of data, or one and the flag.
pub type Packet = V2<u64>;

/// A packet comes from another block, and goes to one.
const PACKET: Ld<Global, Volatile> = ld_global::<NoHint, NoPrefetch>().volatile();
const SEND: St<Global, Volatile> = st_global::<NoHint>().volatile();

/// What is copied passes by once.
const PIECE: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();

/// Packets of a line.
const LINE: u32 = 8;

/// Packets of a thread that are on their way at once. Two of them hold three words of data in the thread that has the flag, and four in
/// the others.
const EACH: usize = 4;

/// Packets of a warp.
pub const PACKETS: u32 = EACH as u32 * WARP_SIZE;

/// What they carry: pieces of 16 bytes.
pub const PIECES: u32 = PACKETS / 16 * 15;

/// Threads of a block, at most.
pub const THREADS: u32 = 256;

kernel! {
    /// Writes `input`, as it comes from block to block, to a part of `out` for each block.
    ///
    /// # Safety
    /// `input` is valid for reads of `tiles` times `PIECES` pieces, `out` for writes of as many for each block, and `inbox` for reads and
    /// writes of `tiles` times `PACKETS` packets for each, in none of which is the flag. Nobody else touches any of them while
    /// the grid runs. There are fewer than 2^31 packets in all. All blocks run at the same time; a block is whole warps, at most
    /// 256 threads. A line that a warp stores arrives as a whole.
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn ll128(out: *mut Packet, input: *const Packet, inbox: *mut Packet, tiles: u32, flag: u64) {
        let (block, lane, warps) = (block_idx_x(), lane_id(), block_dim_x() / WARP_SIZE);
        let (first, last) = (block == 0, block + 1 == grid_dim_x());
        let has_flag = lane % LINE == LINE - 1;
        // Its piece of the second line of two: the threads with a flag have none there.
        let second = WARP_SIZE + lane - lane / LINE;
        let mut tile = thread_idx_x() / WARP_SIZE;
        while tile < tiles {
            let packets_at = whole((block * tiles + tile) * PACKETS + lane) as usize;
            // SAFETY: the tile is one of the block's; all threads of the warp come to the vote.
            unsafe {
                let packets: [Packet; EACH] = if first {
                    // One block of the grid is the first. Else its way comes between the loop that waits and what follows, and `ptxas` writes
                    // the loop's first turn out before the loop.
                    core::hint::cold_path();
                    packed(input.add((tile * PIECES) as usize), lane, second, flag)
                } else {
                    loop {
                        let packets: [Packet; EACH] =
                            core::array::from_fn(|k| PACKET.read(inbox.add(packets_at + k * WARP_SIZE as usize)));
                        let mut here = true;
                        unroll!(for k in 0..EACH {
                            here &= packets[k].0[1] == flag;
                        });
                        if all(here | !has_flag) {
                            break packets;
                        }
                        pause();
                    }
                };
                if !last {
                    let next = inbox.add(packets_at + (tiles * PACKETS) as usize);
                    unroll!(for k in 0..EACH {
                        SEND.write(next.add(k * WARP_SIZE as usize), packets[k]);
                    });
                }
                let out = out.add(((block * tiles + tile) * PIECES) as usize);
                unroll!(for k in 0..EACH / 2 {
                    let [even, odd] = [packets[2 * k], packets[2 * k + 1]];
                    let two = out.add(k * 60);
                    let last_word = if has_flag { odd.0[0] } else { even.0[1] };
                    st_global::<Cs>().write(two.add(lane as usize), V2::new([even.0[0], last_word]));
                    // Under a predicate: with a branch the compiler would write out both ways from here on.
                    st_global::<Cs>().write_if(!has_flag, two.wrapping_add(second as usize), odd);
                });
            }
            tile += warps;
        }
    }
}

/// The packets with what a thread reads of a tile, and with the flag.
///
/// # Safety
/// `input` is valid for reads of a tile.
#[inline(always)]
unsafe fn packed(input: *const Packet, lane: u32, second: u32, flag: u64) -> [Packet; EACH] {
    let has_flag = lane % LINE == LINE - 1;
    let mut packets = [V2::new([flag; 2]); EACH];
    unroll!(for k in 0..EACH / 2 {
        let two = input.wrapping_add(k * 60);
        // SAFETY: by this function's contract.
        let (even, odd) = unsafe {
            (
                PIECE.read(two.add(lane as usize)),
                PIECE.read_if(!has_flag, two.wrapping_add(second as usize), packets[2 * k + 1]),
            )
        };
        packets[2 * k] = V2::new([even.0[0], if has_flag { flag } else { even.0[1] }]);
        packets[2 * k + 1] = V2::new([if has_flag { even.0[1] } else { odd.0[0] }, odd.0[1]]);
    });
    packets
}
