//! Attention of a query to all keys, against the same in f64.

use parity::attention::{NUMBERS, WARPS, attention};
use ptx_intrinsics::prelude::*;
use ptx_kernel::cpu::{Launch, Order};

const HEADS: usize = 3;
const EACH: usize = NUMBERS as usize;

/// A `bf16`, by its bits.
fn bits(i: usize) -> u32 {
    let value = ((i as u32).wrapping_mul(2_654_435_761) >> 16) as f32 / 32768.0 - 1.0;
    value.to_bits() >> 16
}

fn number(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits << 16))
}

/// Numbers `from` and on, four in a vector.
fn row(from: usize, n: usize) -> Vec<V2<u32>> {
    let pair = |i: usize| bits(i) | bits(i + 1) << 16;
    (0..n / 4).map(|i| V2::new([pair(from + 4 * i), pair(from + 4 * i + 2)])).collect()
}

#[test]
fn attention_is_a_softmax_of_products() {
    for keys in [1, 3, 4, 70] {
        let n = HEADS * keys * EACH;
        let (key_row, value_row) = (row(0, n), row(n, n));
        let query: Vec<f32> = (0..HEADS * EACH).map(|i| number(bits(7 * i)) as f32).collect();
        let queries: Vec<V4<f32>> = query.chunks(4).map(|x| V4::new([x[0], x[1], x[2], x[3]])).collect();
        for order in [Order::Ascending, Order::Descending, Order::Seeded(3)] {
            let mut out = vec![f32::NAN; HEADS * EACH];
            let to = out.as_mut_ptr();
            // SAFETY: a query for each head, and its keys and values.
            unsafe {
                Launch::new(HEADS as u32, WARPS * 32).order(order).run(|| {
                    attention(to, queries.as_ptr(), key_row.as_ptr(), value_row.as_ptr(), keys as u32, 0.25);
                });
            }
            for head in 0..HEADS {
                let at = |key: usize, k: usize| (head * keys + key) * EACH + k;
                let score =
                    |key| (0..EACH).map(|k| f64::from(query[head * EACH + k]) * number(bits(at(key, k)))).sum::<f64>();
                let weights: Vec<f64> = (0..keys).map(|key| (score(key) * 0.25).exp2()).collect();
                for k in 0..EACH {
                    let sum: f64 = (0..keys).map(|key| weights[key] * number(bits(n + at(key, k)))).sum();
                    let (expected, found) = (sum / weights.iter().sum::<f64>(), f64::from(out[head * EACH + k]));
                    assert!((found - expected).abs() < 1e-5, "{keys} keys, {order:?}: {found} for {expected}");
                }
            }
        }
    }
}
