//! The pairs' Rust half on the CPU: every kernel here, as first written and as tuned, against a reference that knows nothing
//! of it.

mod attention;
mod flash_attention;
mod normal;

use parity::*;
use ptx_intrinsics::element::{V2, V4};
use ptx_kernel::cpu::Launch;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Threads of a block, and warps.
const THREADS: u32 = 64;
const WARPS: usize = THREADS as usize / 32;

fn random() -> StdRng {
    StdRng::seed_from_u64(17)
}

/// So many vectors of small numbers, of which every sum is exact.
fn vectors(count: usize) -> Vec<V4<u32>> {
    let mut random = random();
    (0..count).map(|_| V4::new(random.random())).collect()
}

fn small_floats(count: usize) -> Vec<f32> {
    let mut random = random();
    (0..count).map(|_| random.random_range(-8..=8) as f32 / 4.0).collect()
}

/// Four floats to a vector.
fn quads(floats: &[f32]) -> Vec<V4<f32>> {
    floats.as_chunks::<4>().0.iter().map(|quad| V4::new(*quad)).collect()
}

fn flat(quads: &[V4<f32>]) -> Vec<f32> {
    quads.iter().flat_map(|quad| quad.0).collect()
}

/// Runs it for each thread of so many blocks.
///
/// # Safety
/// As for the kernel.
unsafe fn run(blocks: u32, kernel: impl Fn()) {
    // SAFETY: by this function's contract.
    unsafe { Launch::new(blocks, THREADS).run(kernel) }
}

fn close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let near = (found - expected).abs() <= 1e-5 * expected.abs().max(1.0);
        assert!(near, "{what}: element {at} is {found}, expected {expected}");
    }
}

#[test]
fn rows_copied_by_a_warp() {
    for (rows, vectors_of_a_row) in [(0, 7), (1, 1), (3, 511), (5, 512), (4, 513), (9, 1500)] {
        let input = vectors(rows * vectors_of_a_row);
        for (name, kernel) in [
            ("first", warp_copy::warp_copy_first as unsafe fn(*mut V4<u32>, *const V4<u32>, u32, u32)),
            ("tuned", warp_copy::warp_copy),
        ] {
            let mut out = vec![V4::new([0; 4]); input.len()];
            let to = out.as_mut_ptr();
            // SAFETY: both have so many rows.
            unsafe { run(2, || kernel(to, input.as_ptr(), rows as u32, vectors_of_a_row as u32)) };
            assert_eq!(out, input, "{name}, {rows} rows of {vectors_of_a_row}");
        }
    }
}

/// The bits of an `f16` that is a power of two.
fn half(exponent: i32) -> u16 {
    ((exponent + 15) << 10) as u16
}

/// A matrix of bytes with a scale for each 32 of them.
struct Quantised {
    bytes: Vec<i8>,
    exponents: Vec<i32>,
}

impl Quantised {
    fn new(blocks: usize, range: std::ops::RangeInclusive<i8>, random: &mut StdRng) -> Quantised {
        Quantised {
            bytes: (0..32 * blocks).map(|_| random.random_range(range.clone())).collect(),
            exponents: (0..blocks).map(|_| random.random_range(-3..=0)).collect(),
        }
    }

    fn value(&self, at: usize) -> f32 {
        f32::from(self.bytes[at]) * f32::from(2i8).powi(self.exponents[at / 32])
    }

    fn words(&self) -> Vec<V4<u32>> {
        let word = |bytes: &[i8; 4]| u32::from_le_bytes(bytes.map(|byte| byte as u8));
        let words: Vec<u32> = self.bytes.as_chunks::<4>().0.iter().map(word).collect();
        words.as_chunks::<4>().0.iter().map(|words| V4::new(*words)).collect()
    }

    fn halves(&self) -> Vec<u16> {
        self.exponents.iter().map(|exponent| half(*exponent)).collect()
    }
}

/// The product of each row with the vector.
fn products(weights: &Quantised, vector: &Quantised, rows: usize) -> Vec<f32> {
    let columns = vector.bytes.len();
    let row = |row: usize| (0..columns).map(|k| weights.value(row * columns + k) * vector.value(k)).sum();
    (0..rows).map(row).collect()
}

#[test]
fn eight_bits_times_a_vector() {
    let rows = 3 * WARPS;
    for blocks in [1, 16, 63, 64, 65, 130] {
        let mut random = random();
        let weights = Quantised::new(rows * blocks, -16..=16, &mut random);
        let vector = Quantised::new(blocks, -16..=16, &mut random);
        let scales: Vec<f32> = vector.exponents.iter().map(|exponent| 2f32.powi(*exponent)).collect();
        let (words, halves, vector_words) = (weights.words(), weights.halves(), vector.words());
        let expected = products(&weights, &vector, rows);
        let mut found = [vec![f32::NAN; rows], vec![f32::NAN; rows]];
        let [first, tuned] = found.each_mut().map(|found| found.as_mut_ptr());
        let (w, s, v, vs) = (words.as_ptr(), halves.as_ptr(), vector_words.as_ptr(), scales.as_ptr());
        // SAFETY: there is a row for each warp.
        unsafe {
            run(3, || q8_gemv::q8_gemv_first(first, w.cast(), s, v.cast(), vs, blocks as u32));
            run(3, || q8_gemv::q8_gemv(tuned, w, s, v, vs, blocks as u32));
        }
        assert_eq!(found, [expected.clone(), expected], "{blocks} blocks");
    }
}

#[test]
fn four_bits_times_a_vector() {
    let rows = 3 * WARPS;
    for blocks in [1, 31, 63, 64, 65, 130] {
        let mut random = random();
        let weights = Quantised::new(rows * blocks, -8..=7, &mut random);
        let vector = Quantised::new(blocks, -16..=16, &mut random);
        let pack = |bytes: &[i8; 32]| {
            let byte = |k: usize| (bytes[k] + 8) as u8 | ((bytes[k + 16] + 8) as u8) << 4;
            V4::new(std::array::from_fn(|word| u32::from_le_bytes(std::array::from_fn(|k| byte(4 * word + k)))))
        };
        let words: Vec<V4<u32>> = weights.bytes.as_chunks::<32>().0.iter().map(pack).collect();
        let scales = |block: usize| {
            let scale = 2f32.powi(vector.exponents[block]);
            let sum: f32 = vector.bytes[32 * block..][..32].iter().map(|byte| f32::from(*byte)).sum();
            V2::new([scale, scale * sum])
        };
        let scales: Vec<V2<f32>> = (0..blocks).map(scales).collect();
        let (halves, vector_words) = (weights.halves(), vector.words());
        let expected = products(&weights, &vector, rows);
        let mut found = [vec![f32::NAN; rows], vec![f32::NAN; rows]];
        let [first, tuned] = found.each_mut().map(|found| found.as_mut_ptr());
        let (w, s, v, vs) = (words.as_ptr(), halves.as_ptr(), vector_words.as_ptr(), scales.as_ptr());
        // SAFETY: there is a row for each warp.
        unsafe {
            run(3, || q4_gemv::q4_gemv_first(first, w.cast(), s, v.cast(), vs, blocks as u32));
            run(3, || q4_gemv::q4_gemv(tuned, w, s, v, vs, blocks as u32));
        }
        assert_eq!(found, [expected.clone(), expected], "{blocks} blocks");
    }
}

#[test]
fn sums_handed_on_from_block_to_block() {
    let (blocks, pairs) = (5, 3 * relay::UNROLL * THREADS as usize);
    let n = 2 * pairs;
    let input: Vec<V2<f32>> = small_floats(blocks * n).as_chunks::<2>().0.iter().map(|pair| V2::new(*pair)).collect();
    let each = |k: usize| (0..blocks).fold(0.0, |sum, block| sum + input[block * pairs + k / 2].0[k % 2]);
    let expected: Vec<f32> = (0..n).map(each).collect();
    let launch = Launch::new(blocks as u32, THREADS).resident(blocks as u32);

    let (mut out, mut inbox, mut flags) = (vec![f32::NAN; n], vec![f32::NAN; blocks * n], vec![0u32; blocks]);
    inbox[..n].fill(0.0);
    let (to, through, flags) = (out.as_mut_ptr(), inbox.as_mut_ptr(), flags.as_mut_ptr());
    // SAFETY: a part for each block, and all of them run at the same time.
    unsafe { launch.run(|| relay::relay_first(to, input.as_ptr().cast(), through, flags, n as u32)) };
    assert_eq!(out, expected);

    let (mut out, mut inbox) = (vec![V2::new([f32::NAN; 2]); pairs], vec![V2::new([0u64; 2]); blocks * pairs]);
    let (to, through) = (out.as_mut_ptr(), inbox.as_mut_ptr());
    for flag in 1..=3 {
        // SAFETY: as above; the packets of the run before have another flag.
        unsafe { launch.run(|| relay::relay(to, input.as_ptr(), through, pairs as u32, flag)) };
        assert_eq!(out.iter().flat_map(|pair| pair.0).collect::<Vec<_>>(), expected, "run {flag}");
        out.fill(V2::new([f32::NAN; 2]));
    }
}

#[test]
fn what_is_large_enough_is_selected() {
    for (count, least) in [(0, 0), (1, 0), (1, u32::MAX), (33, 1 << 31), (1000, 1 << 30), (1000, u32::MAX), (2049, 0)] {
        let input = vectors(count);
        let all = || input.iter().flat_map(|vector| vector.0);
        let mut expected: Vec<u32> = all().filter(|value| *value >= least).collect();
        expected.sort_unstable();
        let check = |name: &str, kernel: &dyn Fn(*mut u32, *mut u32)| {
            let (mut out, mut found) = (vec![0; 4 * count], 0);
            let (to, counter) = (out.as_mut_ptr(), &raw mut found);
            // SAFETY: there is a place for each element.
            unsafe { run(3, || kernel(to, counter)) };
            assert_eq!(found as usize, expected.len(), "{name}, {count} vectors, {least}");
            out.truncate(expected.len());
            out.sort_unstable();
            assert_eq!(out, expected, "{name}, {count} vectors, {least}");
        };
        // SAFETY: as above.
        check("first", &|to, counter| unsafe {
            compact::compact_first(to, counter, input.as_ptr().cast(), 4 * count as u32, least);
        });
        // SAFETY: as above.
        check("tuned", &|to, counter| unsafe { compact::compact(to, counter, input.as_ptr(), count as u32, least) });
    }
}

#[test]
fn pages_are_found() {
    let (page, row) = (paged::PAGE as usize, paged::ROW as usize);
    let cache = vectors(12 * page * row);
    for tokens in [0usize, 1, 15, 16, 17, 100, 192] {
        // Every page once, in an order of its own.
        let table: Vec<u32> = (0..tokens.div_ceil(page)).map(|at| (at as u32 * 5 + 7) % 12).collect();
        let of = |token: usize| &cache[(table[token / page] as usize * page + token % page) * row..][..row];
        let expected: Vec<V4<u32>> = (0..tokens).flat_map(of).copied().collect();
        for (name, kernel) in [
            ("first", paged::paged_gather_first as unsafe fn(*mut V4<u32>, *const V4<u32>, *const u32, u32)),
            ("tuned", paged::paged_gather),
        ] {
            let mut out = vec![V4::new([0; 4]); tokens * row];
            let to = out.as_mut_ptr();
            // SAFETY: the table names pages of the cache.
            unsafe { run(2, || kernel(to, cache.as_ptr(), table.as_ptr(), tokens as u32)) };
            assert_eq!(out, expected, "{name}, {tokens} tokens");
        }
    }
}

#[test]
fn copies_of_every_width() {
    let input = small_floats(4 * 1001);
    for n in [0, 1, 511, 512, 513, 1001] {
        let mut out = vec![f32::NAN; input.len()];
        let to = out.as_mut_ptr();
        // SAFETY: both have more elements than that.
        unsafe {
            run(2, || copy::copy32(to, input.as_ptr(), n as u32));
            assert!(out[..n] == input[..n] && out[n..].iter().all(|x| x.is_nan()), "32 bits, {n}");
        }
        let quads = quads(&input);
        let mut out = vec![V4::new([f32::NAN; 4]); quads.len()];
        let to = out.as_mut_ptr();
        // SAFETY: both have more elements than that.
        unsafe {
            run(2, || copy::copy64(to.cast::<V2<f32>>(), quads.as_ptr().cast(), n as u32));
            assert!(flat(&out)[..2 * n] == input[..2 * n], "64 bits, {n}");
            run(2, || copy::copy128(to, quads.as_ptr(), n as u32));
            assert!(out[..n] == quads[..n], "128 bits, {n}");
        }
    }
}

#[test]
fn sums_and_their_rows() {
    let input = small_floats(4 * 1001);
    let quads = quads(&input);
    let mut out = [f32::NAN; 3];
    let to = out.as_mut_ptr();
    // SAFETY: a place for each block.
    unsafe { run(3, || reduce::reduce(to, quads.as_ptr(), 1001)) };
    assert_eq!(out.iter().sum::<f32>(), input.iter().sum::<f32>());

    let vectors = vectors(2 * 3072);
    let mut out = vec![V4::new([0; 4]); vectors.len()];
    let to = out.as_mut_ptr();
    // SAFETY: a row for each block of 32 warps.
    unsafe { Launch::new(2, 1024).run(|| prefix_sum::prefix_sum(to, vectors.as_ptr(), 3072)) };
    let sums = |row: &[V4<u32>]| {
        let add = |sum: &mut u32, value: u32| {
            *sum = sum.wrapping_add(value);
            Some(*sum)
        };
        row.iter().flat_map(|vector| vector.0).scan(0, add).collect::<Vec<u32>>()
    };
    let found: Vec<u32> = out.iter().flat_map(|vector| vector.0).collect();
    assert_eq!(found, vectors.chunks(3072).flat_map(sums).collect::<Vec<_>>());
}

#[test]
fn lines_passed_on_from_block_to_block() {
    for (blocks, tiles) in [(1, 1), (2, 2), (5, 3), (3, 8)] {
        let (pieces, packets) = (tiles * ll128::PIECES as usize, tiles * ll128::PACKETS as usize);
        let input: Vec<V2<u64>> = (0..pieces as u64).map(|at| V2::new([2 * at + 1, 2 * at + 2])).collect();
        let (mut out, mut inbox) = (vec![V2::new([0; 2]); blocks * pieces], vec![V2::new([0; 2]); blocks * packets]);
        let (to, through) = (out.as_mut_ptr(), inbox.as_mut_ptr());
        // One block after the other: on a CPU a line arrives packet by packet.
        let launch = Launch::new(blocks as u32, THREADS).resident(1);
        for flag in [u64::MAX, u64::MAX - 1] {
            // SAFETY: there are so many pieces and packets, and no data has the flag.
            unsafe { launch.run(|| ll128::ll128(to, input.as_ptr(), through, tiles as u32, flag)) };
            assert!(out.chunks(pieces).all(|part| part == input), "{tiles} tiles, {blocks} blocks");
            out.fill(V2::new([0; 2]));
        }
        let flags = inbox[packets..].chunks(8).filter(|line| line[7].0[1] == u64::MAX - 1).count();
        assert_eq!(flags, (blocks - 1) * packets / 8, "a flag in each line that was sent");
    }
}

#[test]
fn grids_of_two_dimensions() {
    let (width, height) = (96, 64);
    let input: Vec<f32> = (0..width * height).map(|at| at as f32).collect();
    let mut out = vec![f32::NAN; input.len()];
    let to = out.as_mut_ptr();
    let launch = Launch::new((width as u32 / 32, height as u32 / 32), (32, 8));
    // SAFETY: a block for each tile.
    unsafe { launch.run(|| transpose::transpose(to, input.as_ptr(), width as u32, height as u32)) };
    assert!((0..input.len()).all(|at| out[at % width * height + at / width] == input[at]));

    let (nx, ny, nz) = (34, 10, 5);
    let input = small_floats(nx * ny * nz);
    let mut out = vec![f32::NAN; input.len()];
    let to = out.as_mut_ptr();
    // SAFETY: the grid has so many points.
    unsafe {
        Launch::new((2, 2), (32, 8)).run(|| {
            stencil::stencil(to, input.as_ptr(), nx as u32, ny as u32, nz as u32, 0.5, 0.25);
        });
    }
    for at in 0..input.len() {
        let (x, y, z) = (at % nx, at / nx % ny, at / nx / ny);
        if x == 0 || y == 0 || z == 0 || x + 1 == nx || y + 1 == ny || z + 1 == nz {
            assert!(out[at].is_nan(), "an outer point, {x} {y} {z}");
        } else {
            let beside: f32 = [1, nx, nx * ny].iter().map(|by| input[at - by] + input[at + by]).sum();
            assert_eq!(out[at], 0.5 * input[at] + 0.25 * beside, "{x} {y} {z}");
        }
    }
}

#[test]
fn a_chase_ends_where_the_links_lead() {
    let mut links = vec![0u64; 100];
    let base = links.as_ptr() as u64;
    (0..100).for_each(|at| links[at] = base + 8 * ((at as u64 + 37) % 100));
    for steps in [0, 1, 8, 100, 101] {
        let mut out = 0;
        let to = &raw mut out;
        // SAFETY: every link is the address of a link.
        unsafe { Launch::new(1, 1).run(|| chase::chase(to, base, steps)) };
        assert_eq!((out - base) / 8, 37 * u64::from(steps) % 100, "{steps} steps");
    }
}
