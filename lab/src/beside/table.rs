//! How each pair is launched: sizes as users have them, beyond L2 where memory streams through the kernel; in a dry run tiny
//! ones, of which no loop has only whole turns.

use std::sync::Arc;

use kernels::{all_to_all, column_sums, gather, gemm, matmul, probe};
use parity::{flash_attention, ll128, paged};
use ptx_kernel::Swizzle;
use workloads::Matrix;

use super::case::{Case, Then};
use super::data::First::{self, Below, Bf16, Floats, Halves, Words, Zero};
use super::data::made;

/// Bytes of a piece of memory that streams through a kernel.
const STREAM: u64 = 256 << 20;

/// What may differ where sums run in another order, or where products are rounded before they are added, or not: of numbers around
/// one, of the parts of one, of averages, and of numbers that are rounded to `bf16`.
const ROUNDED: Then = Then::F32 { part: 1e-5, least: 1.0 };
const ROUNDED_PARTS: Then = Then::F32 { part: 1e-5, least: 1e-4 };
const ROUNDED_AVERAGES: Then = Then::F32 { part: 1e-4, least: 1e-2 };
const ROUNDED_BF16: Then = Then::Bf16 { part: 0.01, least: 0.01 };

/// The same of long sums, to which all blocks add in any order.
const IN_ANY_ORDER: Then = Then::F32 { part: 1e-3, least: 1.0 };

/// The machine that a pair is launched on, and whether it is a dry run.
#[derive(Clone, Copy, Debug)]
pub(super) struct On {
    pub(super) quick: bool,
    pub(super) processors: u64,
}

impl On {
    fn of<T>(self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// A grid of 256 threads for so many elements, as many as the GPU holds at once.
    fn stream(self, elements: u64) -> Case {
        Case::of(elements.div_ceil(256).clamp(1, 8 * self.processors), 256)
    }
}

/// A pair and its launch.
pub(super) type Pair = (&'static str, fn(On) -> Case);

/// Every pair that sm_90 has. Those whose blocks wait for each other come last: what may hang takes nothing with it.
pub(super) const PAIRS: [Pair; 39] = [
    ("copy32", |on| copy(on, 4)),
    ("copy64", |on| copy(on, 8)),
    ("copy128", |on| copy(on, 16)),
    ("triad", triad),
    ("gather", gather_of_rows),
    ("spmv", spmv),
    ("stencil", stencil),
    ("reduce", reduce),
    ("transpose", transpose),
    ("rms_norm", rms_norm),
    ("softmax", softmax),
    ("attention", attention),
    ("flash_attention", flash_attention_of_heads),
    ("prefix_sum", prefix_sum),
    ("probe", probe_of_keys),
    ("chase", chase),
    ("histogram", histogram),
    ("matmul", matmul_of_squares),
    ("warp_copy_first", warp_copy),
    ("warp_copy", warp_copy),
    ("q8_gemv_first", q8_gemv),
    ("q8_gemv", q8_gemv),
    ("q4_gemv_first", q4_gemv),
    ("q4_gemv", q4_gemv),
    ("layer_norm_first", |on| layer_norm(on, 1)),
    ("layer_norm", |on| layer_norm(on, 4)),
    ("layer_norm_back", layer_norm_back),
    ("add_rms_norm", add_rms_norm),
    ("compact_first", compact_first),
    ("compact", compact),
    ("paged_gather_first", paged_gather),
    ("paged_gather", paged_gather),
    ("stages", stages),
    ("gemm", gemm_of_squares),
    ("column_sums", sums_of_columns),
    ("all_to_all", all_to_all_of_squares),
    ("relay_first", relay_first),
    ("relay", relay),
    ("ll128", ll128_of_tiles),
];

fn copy(on: On, width: u64) -> Case {
    let n = on.of(STREAM, 20_000) / width;
    let case = on.stream(n).out(n * width).input(n * width, Floats).u32(n);
    case.moves(2 * n * width).like_the_drivers_copy()
}

fn triad(on: On) -> Case {
    let n = on.of(STREAM / 16, 700);
    on.stream(n).out(16 * n).input(16 * n, Floats).input(16 * n, Floats).f32(3.0).u64(n).moves(48 * n)
}

/// A table of as many rows as are looked up.
fn gather_of_rows(on: On) -> Case {
    let (rows, row) = (on.of(1 << 20, 100), 16 * gather::ROW as u64);
    let case = on.stream(rows * gather::ROW as u64).out(rows * row).input(rows * row, Floats);
    case.input(4 * rows, Below(rows as u32)).u64(rows).moves(rows * (2 * row + 4))
}

/// The five points of a grid whose sides are joined.
fn spmv(on: On) -> Case {
    let side: u64 = on.of(3072, 24);
    let rows = side * side;
    let beside = [rows - side, rows - 1, 0, 1, side];
    let columns = made(5 * rows, |at| ((at / 5 + beside[(at % 5) as usize]) % rows) as u32);
    let case = on.stream(rows).out(4 * rows).input(4 * (rows + 1), made(rows + 1, |row| 5 * row as u32));
    let case = case.input(20 * rows, columns).input(20 * rows, Floats).input(4 * rows, Floats).u64(rows);
    case.moves(4 * rows * (1 + 1 + 5 + 5 + 1))
}

fn stencil(on: On) -> Case {
    let [x, y, z]: [u64; 3] = on.of([512, 512, 256], [34, 10, 5]);
    let all = 4 * x * y * z;
    let case = Case::over([x.div_ceil(32), y.div_ceil(8)], [32, 8]).out(all).input(all, Floats);
    case.u32(x).u32(y).u32(z).f32(0.5).f32(0.25).moves(2 * all)
}

fn reduce(on: On) -> Case {
    let n = on.of(2 * STREAM / 16, 3000);
    let case = on.stream(n);
    let blocks = u64::from(case.shape.blocks[0]);
    case.out(4 * blocks).input(16 * n, Floats).u32(n).moves(16 * n)
}

fn transpose(on: On) -> Case {
    let side: u64 = on.of(8192, 64);
    let all = 4 * side * side;
    Case::over([side / 32; 2], [32, 8]).out(all).input(all, Floats).u32(side).u32(side).moves(2 * all)
}

/// Rows of 4,096 `bf16`.
fn rms_norm(on: On) -> Case {
    let (rows, vectors) = on.of((STREAM / 8192, 512), (3, 300));
    let all = 16 * rows * vectors;
    let case = Case::of(rows, 256).out_as(all, ROUNDED_BF16).input(all, Bf16).input(16 * vectors, Bf16);
    case.u32(vectors).f32(1e-5).moves(2 * all)
}

/// Rows of 4,096 floats.
fn softmax(on: On) -> Case {
    let (rows, vectors) = on.of((STREAM / 16384, 1024), (3, 300));
    let all = 16 * rows * vectors;
    Case::of(rows, 256).out_as(all, ROUNDED_PARTS).input(all, Floats).u32(vectors).moves(2 * all)
}

/// 32 sequences of 1,024 tokens, with 32 heads each.
fn attention(on: On) -> Case {
    let (heads, keys) = on.of((1024, 1024), (3, 21));
    let (query, row) = (512 * heads, 256 * heads * keys);
    let case =
        Case::of(heads, 128).out_as(query, ROUNDED_AVERAGES).input(query, Floats).input(row, Bf16).input(row, Bf16);
    case.u32(keys).f32(0.125).moves(2 * row + 2 * query)
}

/// 16 heads of 4,096 queries and keys, 64 numbers each.
fn flash_attention_of_heads(on: On) -> Case {
    let (tile, numbers) = (u64::from(flash_attention::ROWS), u64::from(flash_attention::NUMBERS));
    let (heads, tiles) = on.of((16, 4096 / tile), (2, 2));
    let (all, rows) = (2 * heads * tiles * tile * numbers, tiles * tile);
    let case = Case::over([tiles, heads], [flash_attention::THREADS, 1]).out_as(all, ROUNDED_BF16);
    let case = case.input(all, Bf16).input(all, Bf16).input(all, Bf16).u32(tiles).f32(0.18);
    case.computes(4 * heads * rows * rows * numbers, format!("{heads} heads × {rows} × {numbers}, bf16"))
}

/// Rows of 16,384 numbers.
fn prefix_sum(on: On) -> Case {
    let (rows, vectors) = on.of((STREAM / 65536, 4096), (2, 2048));
    let all = 16 * rows * vectors;
    Case::of(rows, 1024).out(all).input(all, Words).u32(vectors).moves(2 * all)
}

/// A table of 64 MiB that is half full, and keys of which a third is not in it.
fn probe_of_keys(on: On) -> Case {
    let (bits, keys): (u32, u64) = on.of((22, 16 << 20), (8, 700));
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 1
    };
    let present: Vec<u64> = (0..1 << (bits - 1)).map(|_| next()).collect();
    let mut table = vec![[probe::EMPTY, 0]; 1 << bits];
    for key in &present {
        let mut slot = probe::home(*key, bits);
        while table[slot][0] != probe::EMPTY {
            slot = (slot + 1) % table.len();
        }
        table[slot] = [*key, next()];
    }
    let wanted = |(at, key): (usize, &u64)| if at % 3 == 0 { key | 1 << 63 } else { *key };
    let wanted: Vec<u64> = present.iter().enumerate().map(wanted).collect();
    let these = |bytes: &[u8]| First::These(Arc::new(bytes.to_vec()));
    let case = on.stream(keys).out(8 * keys).input(16 << bits, these(bytemuck::cast_slice(&table))).u32(bits.into());
    case.input(8 * keys, these(bytemuck::cast_slice(&wanted))).u64(keys).moves(32 * keys)
}

/// One thread follows links that are in memory.
fn chase(on: On) -> Case {
    let steps = on.of(1024, 40);
    Case::of(1, 1).out(8).input(on.of(STREAM, 64 << 10), First::Ring(steps as u32)).u32(steps).moves(8 * steps)
}

fn histogram(on: On) -> Case {
    let bytes = on.of(2 * STREAM, 70_001);
    on.stream(bytes / 16).changed(1024, Zero, Then::Equal).input(bytes, Words).u64(bytes).moves(bytes)
}

fn matmul_of_squares(on: On) -> Case {
    let side: u64 = on.of(2048, 128);
    let (tiles, depth) = (side / matmul::TILE as u64, side / matmul::DEPTH as u64);
    let case = Case::of((tiles * tiles).min(8 * on.processors), matmul::THREADS as u32).out(4 * side * side);
    let case = case.input(4 * side * side, Floats).input(4 * side * side, Floats);
    case.u32(tiles).u32(depth).u32(tiles).computes(2 * side.pow(3), format!("{side} × {side} × {side}, f32"))
}

/// Rows of 4,096 `bf16`.
fn warp_copy(on: On) -> Case {
    let (rows, vectors) = on.of((STREAM / 8192, 512), (5, 700));
    let all = 16 * rows * vectors;
    let case = on.stream(32 * rows).out(all).input(all, Words).u32(rows).u32(vectors);
    case.moves(2 * all).like_the_drivers_copy()
}

/// A matrix of 16,384 rows and as many columns, of 8 bits.
fn q8_gemv(on: On) -> Case {
    let (rows, blocks) = on.of((16384, 512), (12, 130));
    let case = Case::of(rows / 4, 128).out_as(4 * rows, ROUNDED).input(32 * rows * blocks, Words);
    let case = case.input(2 * rows * blocks, Halves).input(32 * blocks, Words).input(4 * blocks, Floats);
    case.u32(blocks).moves(34 * rows * blocks)
}

/// A matrix of 16,384 rows and 32,768 columns, of 4 bits.
fn q4_gemv(on: On) -> Case {
    let (rows, blocks) = on.of((16384, 1024), (12, 130));
    let case = Case::of(rows / 4, 128).out_as(4 * rows, ROUNDED).input(16 * rows * blocks, Words);
    let case = case.input(2 * rows * blocks, Halves).input(32 * blocks, Words).input(8 * blocks, Floats);
    case.u32(blocks).moves(18 * rows * blocks)
}

/// Rows of 4,096 floats, which the kernel counts in vectors of so many.
fn layer_norm(on: On, vector: u64) -> Case {
    let (rows, n) = on.of((STREAM / 16384, 4096), (3, 1200));
    let all = 4 * rows * n;
    let case = Case::of(rows, 256).out_as(all, ROUNDED).input(all, Floats).input(4 * n, Floats).input(4 * n, Floats);
    case.u32(n / vector).f32(1e-5).moves(2 * all)
}

/// Rows of 1,024 floats. What the columns gather comes from all blocks in any order.
fn layer_norm_back(on: On) -> Case {
    let (rows, n) = on.of((32768, 1024), (40, 100));
    let all = 4 * rows * n;
    let columns = |case: Case| case.changed(4 * n, Zero, IN_ANY_ORDER);
    let case = Case::of(2 * on.processors, 512).changed(all, Zero, ROUNDED);
    let case = columns(columns(case)).input(all, Floats).input(all, Floats).input(4 * n, Floats);
    case.input(4 * rows, Floats).input(4 * rows, Floats).u32(rows).u32(n).moves(4 * all)
}

/// Rows of 8,192 `bf16`.
fn add_rms_norm(on: On) -> Case {
    let (rows, vectors) = on.of((STREAM / 2 / 16384, 1024), (3, 700));
    let all = 16 * rows * vectors;
    let case = Case::of(rows, 256).out_as(all, ROUNDED_BF16).changed(all, Bf16, Then::Equal);
    case.input(all, Bf16).input(16 * vectors, Bf16).u32(vectors).f32(1e-5).moves(4 * all)
}

/// Half of the words are selected.
fn compact_first(on: On) -> Case {
    let n = on.of(8 << 20, 2000);
    let case = on.stream(n).out_as(4 * n, Then::AnyOrder).counter(4).input(4 * n, Words);
    case.u32(n).u32(1 << 31).moves(6 * n)
}

fn compact(on: On) -> Case {
    let vectors = on.of(STREAM / 16, 700);
    let case = on.stream(vectors).out_as(16 * vectors, Then::AnyOrder).counter(4).input(16 * vectors, Words);
    case.u32(vectors).u32(1 << 31).moves(24 * vectors)
}

/// Every page once, in an order of its own.
fn paged_gather(on: On) -> Case {
    let (tokens, row): (u64, u64) = (on.of(1 << 20, 500), 16 * u64::from(paged::ROW));
    let pages = tokens.div_ceil(u64::from(paged::PAGE));
    let table = made(pages, |page| ((40_503 * page + 7) % pages) as u32);
    let case = on.stream(tokens * u64::from(paged::ROW)).out(tokens * row);
    let case = case.input(pages * u64::from(paged::PAGE) * row, Words).input(4 * pages, table);
    case.u32(tokens).moves(2 * tokens * row)
}

fn stages(on: On) -> Case {
    let n = on.of(STREAM / 4, 13 * 1024 - 12);
    on.stream(n / 4).out(4 * n).input(4 * n, Floats).u64(n).moves(8 * n)
}

fn gemm_of_squares(on: On) -> Case {
    let side: u64 = on.of(4096, 256);
    let tiles = side / u64::from(gemm::TILE);
    let factor = Matrix { sizes: [side as usize; 2], tile: [gemm::DEPTH, gemm::TILE], swizzle: Swizzle::Bytes128 };
    let product = Matrix { tile: [gemm::PART[1], gemm::PART[0]], swizzle: Swizzle::Bytes64, ..factor };
    let case = Case::of((tiles * tiles).min(on.processors), gemm::THREADS).shared(gemm::SHARED);
    let case = case.out(2 * side * side).mapped(product);
    let case = case.input(2 * side * side, Bf16).mapped(factor).input(2 * side * side, Bf16).mapped(factor);
    let case = case.u32(tiles * tiles).u32(tiles).u32(side / u64::from(gemm::DEPTH));
    case.computes(2 * side.pow(3), format!("{side} × {side} × {side}, bf16"))
}

fn sums_of_columns(on: On) -> Case {
    let (rows, strips) = on.of((2048, 128), (9, 2));
    let width = strips * u64::from(column_sums::THREADS);
    let case = Case::of(strips * u64::from(column_sums::CLUSTER), column_sums::THREADS).out(64 * width);
    case.input(16 * width * rows, Words).u32(rows).u32(width).moves(16 * width * (rows + 4))
}

fn all_to_all_of_squares(on: On) -> Case {
    let side: u64 = on.of(64, 2);
    let numbers = side * u64::from(all_to_all::SQUARE);
    let all = 4 * numbers * numbers;
    let case = Case::of(side * side * u64::from(all_to_all::CLUSTER), all_to_all::THREADS);
    case.out(all).input(all, Floats).u32(side).u32(side).moves(2 * all)
}

/// A block on each multiprocessor.
fn relay_first(on: On) -> Case {
    let (blocks, n) = (on.processors, on.of(1024, 300));
    let case = Case::of(blocks, 256).out(4 * n).input(4 * n * blocks, Floats).own(4 * n * blocks);
    case.counter(4 * blocks).u32(n).moves(4 * n * (3 * blocks - 1))
}

fn relay(on: On) -> Case {
    let (blocks, pairs) = (on.processors, on.of(32768, 2048));
    let case = Case::of(blocks, 256).out(8 * pairs).input(8 * pairs * blocks, Floats).own(16 * pairs * blocks);
    case.u32(pairs).turn32().moves(pairs * (8 * blocks + 8 + 32 * (blocks - 1)))
}

fn ll128_of_tiles(on: On) -> Case {
    let (blocks, tiles) = (on.processors, on.of(1024, 9));
    let (pieces, packets) = (16 * tiles * u64::from(ll128::PIECES), 16 * tiles * u64::from(ll128::PACKETS));
    let case = Case::of(blocks, 256).out(pieces * blocks).input(pieces, Words).own(packets * blocks);
    case.u32(tiles).turn64().moves(pieces * (blocks + 1) + 2 * packets * (blocks - 1))
}
