//! Attention of all queries, against the same in f64.

use parity::flash_attention::{Chunk, NUMBERS, ROWS, THREADS, flash_attention};
use ptx_intrinsics::prelude::*;
use ptx_kernel::cpu::{Launch, Order};

const HEADS: usize = 2;
const EACH: usize = NUMBERS as usize;

/// A `bf16`, by its bits.
fn bits(i: usize) -> u32 {
    let value = ((i as u32).wrapping_mul(2_654_435_761) >> 16) as f32 / 32768.0 - 1.0;
    value.to_bits() >> 16
}

fn number(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits << 16))
}

/// Numbers `from` and on, eight in a chunk.
fn rows(from: usize, n: usize) -> Vec<Chunk> {
    let pair = |i: usize| bits(i) | bits(i + 1) << 16;
    (0..n / 8).map(|i| V4::new([0, 2, 4, 6].map(|k| pair(from + 8 * i + k)))).collect()
}

#[test]
fn attention_of_all_queries_is_a_softmax_of_products() {
    for (blocks, tiles) in [(1, 1), (2, 3)] {
        let (wide, deep) = (blocks * ROWS as usize, tiles * ROWS as usize);
        let (q, k) = (HEADS * wide * EACH, HEADS * deep * EACH);
        let (queries, keys, values) = (rows(0, q), rows(q, k), rows(q + k, k));
        for order in [Order::Descending, Order::Seeded(3)] {
            let mut out = vec![u32::MAX; q / 2];
            let to = out.as_mut_ptr();
            // SAFETY: tiles of queries for each block, and tiles of keys and values for each head.
            unsafe {
                Launch::new((blocks as u32, HEADS as u32), THREADS).order(order).run(|| {
                    flash_attention(to, queries.as_ptr(), keys.as_ptr(), values.as_ptr(), tiles as u32, 0.25);
                });
            }
            for query in 0..HEADS * wide {
                let head = query / wide;
                let at = |key: usize, i: usize| (head * deep + key) * EACH + i;
                let product = |key, i| number(bits(query * EACH + i)) * number(bits(q + at(key, i)));
                let score = |key| (0..EACH).map(|i| product(key, i)).sum::<f64>();
                let weights: Vec<f64> = (0..deep).map(|key| (score(key) * 0.25).exp2()).collect();
                for i in 0..EACH {
                    let sum: f64 = (0..deep).map(|key| weights[key] * number(bits(q + k + at(key, i)))).sum();
                    let pair = out[(query * EACH + i) / 2];
                    let found = number(if i % 2 == 0 { pair & 0xffff } else { pair >> 16 });
                    let expected = sum / weights.iter().sum::<f64>();
                    // A weight and a result have eight bits.
                    assert!((found - expected).abs() < 8e-3, "{tiles} tiles, {order:?}: {found} for {expected}");
                }
            }
        }
    }
}
