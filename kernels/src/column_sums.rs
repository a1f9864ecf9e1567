//! Sums of the columns of a matrix of signed bytes, which are the zero points of a product in 8 bits: each block of a cluster adds up
//! a quarter of the rows, and bulk copies add its sums to those of the block that writes them.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::*;

/// Blocks in a cluster.
pub const CLUSTER: u32 = 4;

/// Threads in a block.
pub const THREADS: u32 = 128;

/// Columns of a chunk: a thread adds up those of one.
pub const CHUNK: u32 = 16;

/// Columns that a cluster adds up.
pub const STRIP: u32 = CHUNK * THREADS;

/// Columns that a block writes, four for each thread.
const PART: u32 = STRIP / CLUSTER;

/// Bytes of their sums.
const BYTES: u32 = PART * size_of::<i32>() as u32;

/// Rows of a thread that are on their way at once.
const UNROLL: usize = 4;

shared! {
    /// The block's sums of the strip. The other blocks add theirs to the part that the block writes.
    fn sums() -> [i32; STRIP as usize];
    /// Says that they have.
    fn added() -> Mbarrier;
}

/// Adds the bytes of a chunk.
#[inline(always)]
fn add(totals: &mut [i32; CHUNK as usize], chunk: V4<u32>) {
    for k in 0..CHUNK as usize {
        totals[k] = dp4a(chunk.0[k / 4], 1 << (8 * (k % 4)), totals[k]);
    }
}

/// The sums of a chunk of columns, of every row of this block's.
///
/// # Safety
/// `column` is a chunk of a row, and the rest is as the kernel says.
#[inline(always)]
unsafe fn add_up(matrix: *const V4<u32>, rows: u32, width: u32, column: u32) -> [i32; CHUNK as usize] {
    let (mut totals, from) = ([0; CHUNK as usize], matrix.wrapping_add(column as usize));
    unrolled::<UNROLL>(cluster_rank()..rows, CLUSTER, |row| {
        // SAFETY: the row is the matrix's.
        add(&mut totals, unsafe { ldg(from.wrapping_add((row * width) as usize)) });
    });
    totals
}

kernel! {
    /// Writes the sums of the columns, a strip for each cluster.
    ///
    /// # Safety
    /// `matrix` is valid for reads of `rows` rows of `width` chunks of bytes, fewer than 2^31 chunks in all, and `out` for writes of a
    /// number for each column. Nobody else touches `out`, and nobody writes to `matrix` while it runs. A block has [`THREADS`]
    /// threads, a cluster [`CLUSTER`] blocks.
    #[cluster_size(CLUSTER)]
    #[launch_bounds(THREADS, 4)]
    pub unsafe fn column_sums(out: *mut V4<i32>, matrix: *const V4<u32>, rows: u32, width: u32) {
        let (me, rank, strip) = (thread_idx_x(), cluster_rank(), block_idx_x() / CLUSTER * THREADS);
        let sums = sums().cast::<i32>();
        // SAFETY: as the kernel says. A block's part of the sums is written before the blocks meet, and read when the barrier has
        // counted the bytes of the other blocks; the blocks meet again before one of them ends, whose sums are then copied.
        unsafe {
            let totals = if strip + me < width { add_up(matrix, rows, width, strip + me) } else { [0; CHUNK as usize] };
            let own = sums.add(CHUNK * me).cast::<V4<i32>>();
            unroll!(for k in 0..4 {
                own.add(k as u32).write(V4::new([totals[4 * k], totals[4 * k + 1], totals[4 * k + 2], totals[4 * k + 3]]));
            });
            if me == 0 {
                mbarrier_init(added(), 1);
                mbarrier_arrive_expect_tx(added(), (CLUSTER - 1) * BYTES);
            }
            // The copies read the sums, and change them.
            fence_proxy_async_shared_cta();
            sync_cluster();
            if me < CLUSTER && me != rank {
                let part = sums.add(me * PART);
                cp_reduce_async_bulk_shared_cluster_shared_add(shared_of(part, me), part, BYTES, shared_of(added(), me));
            }
            while !mbarrier_try_wait_parity(added(), 0) {
                pause();
            }
            let four = rank * (PART / 4) + me;
            if strip + four / 4 < width {
                stcs(out.add((4 * strip + four) as usize), sums.cast::<V4<i32>>().add(four).read());
            }
            sync_cluster();
        }
    }
}
