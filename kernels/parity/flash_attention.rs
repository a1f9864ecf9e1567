//! Attention of all queries to all keys, as a model reads a prompt, in `bf16`: `cp.async` brings tiles of keys and values into a ring
//! of two, a warp has 16 queries, and the softmax is made online in f32.

use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::prelude::*;
use ptx_kernel::matrix::*;
use ptx_kernel::*;

/// Numbers of a query, a key and a value: a row of 128 bytes.
pub const NUMBERS: u32 = 64;

/// Queries of a block, and keys of a tile.
pub const ROWS: u32 = 64;

/// Threads of a block: a warp for 16 queries.
pub const THREADS: u32 = ROWS / 16 * WARP_SIZE;

/// Eight numbers of a row.
pub type Chunk = V4<u32>;

/// Chunks of a tile.
const CHUNKS: u32 = ROWS * NUMBERS / 8;

/// Bytes of a tile.
const TILE: u32 = ROWS * NUMBERS * 2;

/// Bytes of 16 rows.
const SIXTEEN: u32 = 16 * NUMBERS * 2;

/// Rows of 128 bytes, whose chunks are permuted: eight rows of one column are in eight different columns.
#[repr(C, align(128))]
struct Tile([u16; (ROWS * NUMBERS) as usize]);

/// The way past L1: a block reads a tile once.
const BRING: CpAsyncCg = cp_async_cg();

shared! {
    fn flash_queries() -> Tile;
    fn flash_keys() -> [Tile; 2];
    fn flash_values() -> [Tile; 2];
}

/// Brings a tile, of which a thread reads its first chunk at `from`.
///
/// # Safety
/// All threads call it, nobody uses the tile, and it may be read there.
#[inline(always)]
unsafe fn bring(tile: SharedPtr<u8>, from: *const Chunk) {
    let to = tile.add(swizzle_128(16 * thread_idx_x()));
    unroll!(for part in 0..CHUNKS / THREADS {
        // SAFETY: the caller's promise.
        unsafe { BRING.copy(to.add(16 * THREADS * part).cast::<Chunk>(), from.add((THREADS * part) as usize)) };
    });
}

/// What a lane reads of a tile for `ldmatrix`: of row `row` the first column, or the second.
#[inline(always)]
fn row_of(row: u32, second: u32) -> u32 {
    swizzle_128(2 * NUMBERS * row + 16 * second)
}

/// Adds the products of the warp's queries and a tile's keys, of 16 numbers of each.
///
/// # Safety
/// All lanes of the warp come here, and the tile is there.
#[inline(always)]
unsafe fn multiply_keys(scores: &mut [[f32; 4]; 8], query: [Bf16x2; 4], row: SharedPtr<u8>) {
    unroll!(for n in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let key: [Bf16x2; 4] = ldmatrix_m8n8_x4(row.add(SIXTEEN * n as u32).cast());
            scores[2 * n] = mma_m16n8k16_f32_bf16(query, [key[0], key[1]], scores[2 * n]);
            scores[2 * n + 1] = mma_m16n8k16_f32_bf16(query, [key[2], key[3]], scores[2 * n + 1]);
        }
    });
}

/// Makes weights of scores, in one of the two rows that a lane has two columns of. The other three of its four lanes have the others.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
unsafe fn weigh<const HALF: usize>(
    scores: &mut [[f32; 4]; 8],
    held: &mut [[f32; 4]; 8],
    highest: &mut [f32; 2],
    sums: &mut [f32; 2],
    scale: f32,
) {
    let mut most = highest[HALF];
    unroll!(for n in 0..8 {
        most = max_f32(max_f32(most, scores[n][2 * HALF]), scores[n][2 * HALF + 1]);
    });
    // SAFETY: the caller's promise.
    unsafe {
        most = max_f32(most, shuffle_xor(most, 1));
        most = max_f32(most, shuffle_xor(most, 2));
    }
    let scaled = most * scale;
    let before = exp2_approx_ftz(mul_add(highest[HALF], scale, -scaled));
    unroll!(for n in 0..8 {
        let [left, right] = [scores[n][2 * HALF], scores[n][2 * HALF + 1]];
        scores[n][2 * HALF] = exp2_approx_ftz(mul_add(left, scale, -scaled));
        scores[n][2 * HALF + 1] = exp2_approx_ftz(mul_add(right, scale, -scaled));
        held[n][2 * HALF] *= before;
        held[n][2 * HALF + 1] *= before;
    });
    let mut sum = mul_add(sums[HALF], before, scores[0][2 * HALF]) + scores[0][2 * HALF + 1];
    unroll!(for n in 1..8 {
        sum = sum + scores[n][2 * HALF] + scores[n][2 * HALF + 1];
    });
    (highest[HALF], sums[HALF]) = (most, sum);
}

/// Adds the products of the weights and the values of 16 keys.
///
/// # Safety
/// All lanes of the warp come here, and the tile is there.
#[inline(always)]
unsafe fn multiply_values(held: &mut [[f32; 4]; 8], [a, b]: [[f32; 4]; 2], rows: [SharedPtr<u8>; 4], sixteen: u32) {
    let weights = [[a[0], a[1]], [a[2], a[3]], [b[0], b[1]], [b[2], b[3]]].map(|pair| Bf16x2(pack_bf16x2(pair)));
    unroll!(for n in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let value: [Bf16x2; 4] = ldmatrix_m8n8_x4_trans(rows[n].add(SIXTEEN * sixteen).cast());
            held[2 * n] = mma_m16n8k16_f32_bf16(weights, [value[0], value[1]], held[2 * n]);
            held[2 * n + 1] = mma_m16n8k16_f32_bf16(weights, [value[2], value[3]], held[2 * n + 1]);
        }
    });
}

/// Writes a lane's numbers of one of its rows.
///
/// # Safety
/// All lanes of the warp come here, and the row may be written.
#[inline(always)]
unsafe fn write(out: *mut u32, held: [[f32; 2]; 8], sum: f32) {
    // SAFETY: the caller's promise.
    unsafe {
        let sum = sum + shuffle_xor(sum, 1);
        let share = rcp_approx_ftz(sum + shuffle_xor(sum, 2));
        unroll!(for n in 0..8 {
            stcs(out.add(4 * n), pack_bf16x2(held[n].map(|value| value * share)));
        });
    }
}

kernel! {
    /// Writes the attention of each query to the keys of its head, a number of tiles. `scale` is that of a softmax to base 2. The
    /// grid has a block for each tile of queries, and in `y` each head.
    ///
    /// # Safety
    /// `out` is valid for writes and `queries` for reads of [`ROWS`] × [`NUMBERS`] numbers for each block, `keys` and `values` for reads
    /// of `tiles` times as many for each head, fewer than 2^31 chunks in all; nobody else touches `out`, and nobody writes to the
    /// others while the grid runs. `tiles` is not zero, and `scale` is positive.
    #[launch_bounds(THREADS, 3)]
    pub unsafe fn flash_attention(
        out: *mut u32,
        queries: *const Chunk,
        keys: *const Chunk,
        values: *const Chunk,
        tiles: u32,
        scale: f32,
    ) {
        let (warp, lane) = (thread_idx_x() / WARP_SIZE, thread_idx_x() % WARP_SIZE);
        let block = block_idx_y() * grid_dim_x() + block_idx_x();
        let first = (block_idx_y() * tiles * CHUNKS + thread_idx_x()) as usize;
        let (key_tiles, value_tiles) = (flash_keys().cast::<u8>(), flash_values().cast::<u8>());
        let (a_row, b_row) =
            (row_of(lane % 16, lane / 16), row_of(lane / 16 * 8 + lane % 8, lane / 8 % 2));
        // SAFETY: a tile is below `tiles`; a tile in shared memory is brought and read by turns, with barriers between.
        unsafe {
            let (mut keys, mut values) = (keys.add(first), values.add(first));
            let query_tile = flash_queries().cast::<u8>();
            bring(query_tile, queries.add((block * CHUNKS + thread_idx_x()) as usize));
            bring(key_tiles, keys);
            bring(value_tiles, values);
            cp_async_commit_group();
            cp_async_wait_group::<0>();
            sync_threads();
            let own = query_tile.add(SIXTEEN * warp);
            let query: [[Bf16x2; 4]; 4] = [0, 1, 2, 3].map(|k| ldmatrix_m8n8_x4(own.add(a_row ^ (32 * k)).cast()));

            let (mut highest, mut sums, mut held) = ([f32::NEG_INFINITY; 2], [0.0f32; 2], [[0.0f32; 4]; 8]);
            let (mut left, mut place) = (tiles, 0);
            while left > 0 {
                left -= 1;
                if left > 0 {
                    (keys, values) = (keys.add(CHUNKS as usize), values.add(CHUNKS as usize));
                    bring(key_tiles.add(place ^ TILE), keys);
                    bring(value_tiles.add(place ^ TILE), values);
                    cp_async_commit_group();
                }
                let (key_tile, value_tile) = (key_tiles.add(place), value_tiles.add(place));
                let mut scores = [[0.0f32; 4]; 8];
                unroll!(for k in 0..4 {
                    multiply_keys(&mut scores, query[k], key_tile.add(b_row ^ (32 * k as u32)));
                });
                weigh::<0>(&mut scores, &mut held, &mut highest, &mut sums, scale);
                weigh::<1>(&mut scores, &mut held, &mut highest, &mut sums, scale);
                let rows = [0, 1, 2, 3].map(|n| value_tile.add(a_row ^ (32 * n)));
                unroll!(for k in 0..4 {
                    multiply_values(&mut held, [scores[2 * k], scores[2 * k + 1]], rows, k as u32);
                });
                place ^= TILE;
                // The next tile is here, and this one's place is free, both for all threads.
                cp_async_wait_group::<0>();
                sync_threads();
            }
            let out = out.add((block * CHUNKS * 4 + (16 * warp + lane / 4) * (NUMBERS / 2) + lane % 4) as usize);
            write(out, held.map(|four| [four[0], four[1]]), sums[0]);
            write(out.add(4 * NUMBERS as usize), held.map(|four| [four[2], four[3]]), sums[1]);
        }
    }
}
