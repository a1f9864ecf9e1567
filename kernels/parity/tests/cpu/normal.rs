//! Rows that are normalised, and the way back.

use parity::add_rms_norm::add_rms_norm;
use parity::layer_norm_back::layer_norm_back;

use super::*;

#[test]
fn layers_normalised() {
    const EPSILON: f32 = 1e-3;
    for vectors in [1, 63, 64, 65, 255, 256] {
        let (rows, n) = (3, 4 * vectors);
        let input = small_floats(rows * n);
        let [gamma, beta] = [3, 5].map(|by| (0..n).map(|k| (k % by) as f32 - 1.0).collect::<Vec<_>>());
        let normal = |row: &[f32]| {
            let mean = row.iter().sum::<f32>() / n as f32;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / n as f32;
            let scale = 1.0 / (variance + EPSILON).sqrt();
            row.iter()
                .zip(&gamma)
                .zip(&beta)
                .map(|((x, gamma), beta)| (x - mean) * scale * gamma + beta)
                .collect::<Vec<_>>()
        };
        let expected: Vec<f32> = input.chunks(n).flat_map(normal).collect();
        let quads = [&input, &gamma, &beta].map(|floats| quads(floats));
        let [mut first, mut tuned] = [(); 2].map(|()| vec![V4::new([f32::NAN; 4]); rows * vectors]);
        let (to_first, to_tuned) = (first.as_mut_ptr(), tuned.as_mut_ptr());
        let [input, gamma, beta] = quads.each_ref().map(|quads| quads.as_ptr());
        // SAFETY: there is a block for each row.
        unsafe {
            run(rows as u32, || {
                layer_norm::layer_norm_first(
                    to_first.cast(),
                    input.cast(),
                    gamma.cast(),
                    beta.cast(),
                    n as u32,
                    EPSILON,
                );
            });
            run(rows as u32, || layer_norm::layer_norm(to_tuned, input, gamma, beta, vectors as u32, EPSILON));
        }
        close(&flat(&first), &expected, "first");
        close(&flat(&tuned), &expected, "tuned");
    }
}

/// As bf16, to which each is rounded.
fn packed(floats: &[f32]) -> Vec<V4<u32>> {
    let bits = |x: f32| u32::from(half::bf16::from_f32(x).to_bits());
    let word = |pair: &[f32]| bits(pair[1]) << 16 | bits(pair[0]);
    let vectors = floats.as_chunks::<8>().0.iter();
    vectors.map(|eight| V4::new(std::array::from_fn(|k| word(&eight[2 * k..])))).collect()
}

/// A row by the root of its mean square, and by the weights.
fn scaled(row: &[f32], weights: &[f32]) -> Vec<f32> {
    let scale = 1.0 / (row.iter().map(|x| x * x).sum::<f32>() / row.len() as f32 + 1e-5).sqrt();
    row.iter().zip(weights).map(|(x, weight)| x * scale * weight).collect()
}

/// Whether these bf16 are near what is expected.
fn near(found: &[V4<u32>], expected: &[f32]) {
    let halves = found.iter().flat_map(|vector| vector.0).flat_map(|pair| [pair as u16, (pair >> 16) as u16]);
    let found: Vec<f32> = halves.map(|bits| half::bf16::from_bits(bits).to_f32()).collect();
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= expected.abs() / 128.0, "element {at} is {found}, expected {expected}");
    }
}

#[test]
fn sums_normalised() {
    for vectors in [1, 63, 64, 65, 255, 256] {
        let (rows, n) = (3, 8 * vectors);
        let floats = small_floats(2 * rows * n);
        let (input, residual) = floats.split_at(rows * n);
        let weights: Vec<f32> = (0..n).map(|k| (k % 4) as f32 + 0.5).collect();
        // Quarters up to 4: their sums are exact in bf16.
        let sums: Vec<f32> = input.iter().zip(residual).map(|(a, b)| a + b).collect();
        let (input, mut residual, packed_weights) = (packed(input), packed(residual), packed(&weights));
        let mut out = vec![V4::new([0; 4]); rows * vectors];
        let (to, through) = (out.as_mut_ptr(), residual.as_mut_ptr());
        // SAFETY: a row for each block.
        unsafe {
            let (input, weights) = (input.as_ptr(), packed_weights.as_ptr());
            run(rows as u32, || add_rms_norm(to, through, input, weights, vectors as u32, 1e-5));
        }
        assert!(residual == packed(&sums), "{vectors} vectors");
        near(&out, &sums.chunks(n).flat_map(|row| scaled(row, &weights)).collect::<Vec<_>>());
    }
}

#[test]
fn the_way_back_through_layers() {
    for (rows, n) in [(1, 1), (5, 31), (9, 128), (13, 257), (3, layer_norm_back::COLUMNS)] {
        let floats = small_floats(2 * rows * n);
        let (d_out, input) = floats.split_at(rows * n);
        let gamma: Vec<f32> = (0..n).map(|k| (k % 3) as f32 - 1.0).collect();
        let (means, scales): (Vec<f32>, Vec<f32>) = (0..rows).map(|row| (row as f32 / 8.0, 1.0 + row as f32)).unzip();
        // What is there is added to.
        let (mut d_input, mut d_gamma, mut d_beta) = (vec![1.0; rows * n], vec![2.0; n], vec![3.0; n]);
        let mut expected = [d_input.clone(), d_gamma.clone(), d_beta.clone()];
        for row in 0..rows {
            let at = |k: usize| row * n + k;
            let normal = |k: usize| (input[at(k)] - means[row]) * scales[row];
            let mean = |of: &dyn Fn(usize) -> f32| (0..n).map(of).sum::<f32>() / n as f32;
            let sum = mean(&|k| gamma[k] * d_out[at(k)]);
            let along = mean(&|k| gamma[k] * d_out[at(k)] * normal(k));
            for k in 0..n {
                expected[0][at(k)] += (gamma[k] * d_out[at(k)] - sum - normal(k) * along) * scales[row];
                expected[1][k] += normal(k) * d_out[at(k)];
                expected[2][k] += d_out[at(k)];
            }
        }
        let [to, to_gamma, to_beta] = [&mut d_input, &mut d_gamma, &mut d_beta].map(|all| all.as_mut_ptr());
        let [d_out, input, gamma, means, scales] =
            [d_out, input, &gamma, &means, &scales].map(|floats: &[f32]| floats.as_ptr());
        let (rows, n) = (rows as u32, n as u32);
        // SAFETY: there are so many rows and columns.
        unsafe {
            run(2, || {
                layer_norm_back(to, to_gamma, to_beta, d_out, input, gamma, means, scales, rows, n);
            });
        }
        for (found, expected) in [d_input, d_gamma, d_beta].iter().zip(&expected) {
            close(found, expected, &format!("{rows} rows of {n}"));
        }
    }
}

#[test]
fn rows_normalised() {
    let (rows, vectors) = (2, 100);
    let input = small_floats(8 * rows * vectors);
    let weights: Vec<f32> = (0..8 * vectors).map(|k| (k % 4) as f32 + 0.5).collect();
    let (packed, packed_weights) = (packed(&input), packed(&weights));
    let mut out = vec![V4::new([0; 4]); packed.len()];
    let to = out.as_mut_ptr();
    // SAFETY: a row for each block.
    unsafe { run(2, || rms_norm::rms_norm(to, packed.as_ptr(), packed_weights.as_ptr(), vectors as u32, 1e-5)) };
    near(&out, &input.chunks(8 * vectors).flat_map(|row| scaled(row, &weights)).collect::<Vec<_>>());

    let quads = quads(&input);
    let mut out = vec![V4::new([f32::NAN; 4]); quads.len()];
    let to = out.as_mut_ptr();
    // SAFETY: a row for each block.
    unsafe { run(2, || softmax::softmax(to, quads.as_ptr(), quads.len() as u32 / 2)) };
    let part = |row: &[f32]| {
        let sum: f32 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(|x| x.exp() / sum).collect::<Vec<_>>()
    };
    close(&flat(&out), &input.chunks(input.len() / 2).flat_map(part).collect::<Vec<_>>(), "softmax");
}
