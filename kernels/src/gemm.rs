//! A product of matrices of `bf16`: a warp brings tiles by tensor copies into a ring in shared memory, and eight warps multiply them.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

/// Rows and columns of a tile of the product.
pub const TILE: u32 = 128;

/// Numbers of a row of a tile of a factor: 128 bytes, as far as the swizzle goes.
pub const DEPTH: u32 = 64;

/// Pairs of tiles in the ring.
pub const STAGES: u32 = 4;

/// Rows and columns of the part of a tile that a warp makes.
pub const PART: [u32; 2] = [64, 32];

/// Warps that multiply.
const MAKERS: u32 = TILE / PART[0] * (TILE / PART[1]);

/// Threads of a block: one warp more, which brings the tiles.
pub const THREADS: u32 = (MAKERS + 1) * WARP_SIZE;

/// Shared memory that a launch has to give: tiles, parts, and what is before the first tile.
pub const SHARED: usize =
    2 * STAGES as usize * size_of::<Factor>() + MAKERS as usize * size_of::<Part>() + align_of::<Factor>() - 16;

/// A tile of a factor, in rows of 128 bytes whose 16 bytes are permuted. The pattern repeats after eight rows.
#[derive(Clone, Copy)]
#[repr(C, align(1024))]
struct Factor([u16; (TILE * DEPTH) as usize]);

/// A warp's part of the product, in rows of 64 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(512))]
struct Part([u16; (PART[0] * PART[1]) as usize]);

shared! {
    /// Each says that its two tiles are here.
    fn full() -> [Mbarrier; STAGES as usize];
    /// Each says that all warps are done with its two tiles.
    fn empty() -> [Mbarrier; STAGES as usize];
}

/// A place in the ring: which one, and the parity of its phase.
#[derive(Clone, Copy)]
struct Turn {
    stage: u32,
    parity: u32,
}

impl Turn {
    #[inline(always)]
    fn next(self) -> Turn {
        let stage = self.stage + 1;
        if stage == STAGES { Turn { stage: 0, parity: self.parity ^ 1 } } else { Turn { stage, ..self } }
    }
}

/// Waits for a phase of a barrier.
///
/// # Safety
/// As for [`mbarrier_try_wait_parity`].
#[inline(always)]
unsafe fn wait(barriers: SharedPtr<[Mbarrier; STAGES as usize]>, turn: Turn) {
    // SAFETY: the caller's promise.
    while !unsafe { mbarrier_try_wait_parity(barriers.cast::<Mbarrier>().add(turn.stage), turn.parity) } {
        pause();
    }
}

/// Brings the tiles of both factors for each tile of the product that is this block's.
///
/// # Safety
/// As for the kernel; one thread calls it, and the barriers are initialised.
#[inline(always)]
unsafe fn bring(a: &TensorMap, b: &TensorMap, tiles: u32, columns: u32, depth: u32) {
    let mut turn = Turn { stage: 0, parity: 1 };
    let mut tile = block_idx_x();
    while tile < tiles {
        let (row, column) = (tile / columns * TILE, tile % columns * TILE);
        let mut at = 0;
        while at < depth {
            let (a_tile, full) =
                (dynamic_shared::<Factor>().add(2 * turn.stage), full().cast::<Mbarrier>().add(turn.stage));
            let (a_tile, b_tile) = (SharedClusterPtr::of(a_tile), SharedClusterPtr::of(a_tile.add(1)));
            // SAFETY: the warps are done with what was in this place, and the barrier expects the bytes of both boxes.
            unsafe {
                wait(empty(), turn);
                // The copies write what the warps have read by `ldmatrix`.
                fence_proxy_async_shared_cta();
                mbarrier_arrive_expect_tx(full, 2 * size_of::<Factor>() as u32);
                let (full, at) = (SharedClusterPtr::of(full), (at * DEPTH) as i32);
                cp_async_bulk_tensor_shared_cluster_global_with(
                    a_tile,
                    a,
                    [at, row as i32],
                    full,
                    CachePolicy::EVICT_FIRST,
                );
                cp_async_bulk_tensor_shared_cluster_global_with(
                    b_tile,
                    b,
                    [at, column as i32],
                    full,
                    CachePolicy::EVICT_LAST,
                );
            }
            turn = turn.next();
            at += 1;
        }
        tile += grid_dim_x();
    }
}

/// The product of 16 of a tile's depth, added to the sums.
///
/// # Safety
/// All lanes of the warp come here, and the tiles are there.
#[inline(always)]
unsafe fn multiply(sums: &mut [[[f32; 4]; 4]; 4], a: SharedPtr<u8>, b: SharedPtr<u8>) {
    // SAFETY: the caller's promise; 16 rows have 2,048 bytes.
    unsafe {
        let left: [[Bf16x2; 4]; 4] = [0, 1, 2, 3].map(|m| ldmatrix_m8n8_x4(a.add(2048 * m).cast()));
        let right: [[Bf16x2; 4]; 2] = [0, 1].map(|n| ldmatrix_m8n8_x4(b.add(2048 * n).cast()));
        unroll!(for m in 0..4 {
            unroll!(for n in 0..4 {
                let [b0, b1] = [right[n / 2][n % 2 * 2], right[n / 2][n % 2 * 2 + 1]];
                sums[m][n] = mma_m16n8k16_f32_bf16(left[m], [b0, b1], sums[m][n]);
            });
        });
    }
}

/// Multiplies what was brought, and writes the warp's part of each tile.
///
/// # Safety
/// As for the kernel; all lanes of a warp call it, and the barriers are initialised.
#[inline(always)]
unsafe fn make(d: &TensorMap, tiles: u32, columns: u32, depth: u32) {
    let (warp, lane) = (thread_idx_x() / WARP_SIZE, thread_idx_x() % WARP_SIZE);
    let (down, across) = (warp / (TILE / PART[1]) * PART[0], warp % (TILE / PART[1]) * PART[1]);
    // What a lane reads of the first quarter of a tile's depth: 16 bytes of a row. The swizzle is an exclusive or, and so is the
    // way to the other quarters.
    let a_row = swizzle_128(128 * (down + lane % 16) + 16 * (lane / 16));
    let b_row = swizzle_128(128 * (across + lane / 16 * 8 + lane % 8) + 16 * (lane / 8 % 2));
    let part = dynamic_shared::<Factor>().add(2 * STAGES).cast::<Part>().add(warp);
    let mut turn = Turn { stage: 0, parity: 0 };
    let mut tile = block_idx_x();
    while tile < tiles {
        let mut sums = [[[0.0f32; 4]; 4]; 4];
        let mut at = 0;
        while at < depth {
            let pair = dynamic_shared::<Factor>().add(2 * turn.stage);
            let (a, b) = (pair.cast::<u8>(), pair.add(1).cast::<u8>());
            // SAFETY: both tiles are here until all warps have arrived.
            unsafe {
                wait(full(), turn);
                unroll!(for quarter in 0..4 {
                    multiply(&mut sums, a.add(a_row ^ (32 * quarter)), b.add(b_row ^ (32 * quarter)));
                });
                sync_warp();
                if lane == 0 {
                    mbarrier_arrive(empty().cast::<Mbarrier>().add(turn.stage));
                }
            }
            turn = turn.next();
            at += 1;
        }
        let place = [(tile % columns * TILE + across) as i32, (tile / columns * TILE + down) as i32];
        // SAFETY: the copy before has read the part, and barriers of the warp are between.
        unsafe { write(d, place, part, &sums) };
        tile += grid_dim_x();
    }
    // Shared memory has to be there until all of it is read.
    cp_async_bulk_wait_group_read::<0>();
}

/// Writes a warp's part of a tile, rounded to `bf16`.
///
/// # Safety
/// All lanes of the warp call it, and nobody else uses the part.
#[inline(always)]
unsafe fn write(d: &TensorMap, place: [i32; 2], part: SharedPtr<Part>, sums: &[[[f32; 4]; 4]; 4]) {
    let lane = thread_idx_x() % WARP_SIZE;
    // SAFETY: the caller's promise; each lane names a row of 16 bytes.
    unsafe {
        cp_async_bulk_wait_group_read::<0>();
        sync_warp();
        unroll!(for m in 0..4 {
            unroll!(for half in 0..2 {
                let [a, b] = [sums[m][2 * half], sums[m][2 * half + 1]];
                let packed =
                    [[a[0], a[1]], [a[2], a[3]], [b[0], b[1]], [b[2], b[3]]].map(|pair| Bf16x2(pack_bf16x2(pair)));
                let (row, chunk) = (16 * m as u32 + lane % 16, 2 * half as u32 + lane / 16);
                stmatrix_m8n8_x4(part.cast::<u8>().add(swizzle_64(64 * row + 16 * chunk)).cast(), packed);
            });
        });
        fence_proxy_async_shared_cta();
        sync_warp();
        if lane == 0 {
            cp_async_bulk_tensor_global_shared(d, place, part);
            cp_async_bulk_commit_group();
        }
    }
}

kernel! {
    /// Makes `d = a * b`, tile by tile, of matrices of `bf16`: `b` has its columns one after the other, as the weights of a layer
    /// have. A block makes each tile whose number is its own, modulo the blocks of the grid.
    ///
    /// # Safety
    /// `a` is a map of a matrix whose rows have as many numbers as those of `b`, both with boxes of [`DEPTH`] × [`TILE`] and a
    /// swizzle of 128 bytes; `d` is one of as many rows as `a` has and as many columns as `b` has rows, with boxes of [`PART`], the
    /// columns first, and a swizzle of 64 bytes. They have `columns` tiles beside each other, at least one, `tiles` in all, and the factors
    /// `depth`. Nobody else touches `d` and nobody writes to the others while it runs, but for a grid before this one, for
    /// which it waits. A block has [`THREADS`] threads and [`SHARED`] bytes of dynamic shared memory.
    #[launch_bounds(THREADS, 1)]
    pub unsafe fn gemm(d: &TensorMap, a: &TensorMap, b: &TensorMap, tiles: u32, columns: u32, depth: u32) {
        let me = thread_idx_x();
        // SAFETY: as the kernel says; one thread brings tiles, and the barriers count it and a lane of each other warp.
        unsafe {
            core::hint::assert_unchecked(columns > 0);
            if me == 0 {
                prefetch_tensormap(d);
                prefetch_tensormap(a);
                prefetch_tensormap(b);
                unroll!(for stage in 0..STAGES {
                    mbarrier_init(full().cast::<Mbarrier>().add(stage), 1);
                    mbarrier_init(empty().cast::<Mbarrier>().add(stage), MAKERS);
                });
            }
            sync_threads();
            griddepcontrol_wait();
            if me < MAKERS * WARP_SIZE {
                make(d, tiles, columns, depth);
            } else if me == MAKERS * WARP_SIZE {
                bring(a, b, tiles, columns, depth);
                griddepcontrol_launch_dependents();
            }
        }
    }
}
