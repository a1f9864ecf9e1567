//! Transforms, without a scale.

use num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};

use super::shape::Shape;
use super::types::Form;

type Wide = Complex<f64>;

/// Of all elements of a batch, the fastest dimension last.
pub(super) fn transform(shape: &Shape, direction: FftDirection, mut values: Vec<Wide>) -> Vec<Wide> {
    let last = shape.sizes[2];
    let half = shape.half();
    match shape.kind.form {
        Form::Complex => {
            along(&mut values, last, 1, direction);
            along_outer(&mut values, shape, direction);
            values
        }
        Form::FromReal => {
            along(&mut values, last, 1, FftDirection::Forward);
            let mut halves: Vec<Wide> = values.chunks_exact(last).flat_map(|row| &row[..half]).copied().collect();
            along_outer(&mut halves, shape, FftDirection::Forward);
            halves
        }
        Form::ToReal => {
            along_outer(&mut values, shape, FftDirection::Inverse);
            let whole = |row| (0..last).map(move |at| element(row, at, last));
            let mut all: Vec<Wide> = values.chunks_exact(half).flat_map(whole).collect();
            along(&mut all, last, 1, FftDirection::Inverse);
            all
        }
    }
}

/// The second half of a row has the conjugates of the first.
fn element(half: &[Wide], at: usize, count: usize) -> Wide {
    half.get(at).copied().unwrap_or_else(|| half[count - at].conj())
}

fn along_outer(values: &mut [Wide], shape: &Shape, direction: FftDirection) {
    let [first, second, _] = shape.sizes;
    along(values, second, shape.half(), direction);
    along(values, first, second * shape.half(), direction);
}

/// Transforms a dimension whose elements lie `step` apart.
fn along(values: &mut [Wide], count: usize, step: usize, direction: FftDirection) {
    if count == 1 {
        return;
    }
    let fft = FftPlanner::new().plan_fft(count, direction);
    if step == 1 {
        return fft.process(values);
    }
    let mut line = vec![Wide::default(); count];
    for block in values.chunks_exact_mut(count * step) {
        for first in 0..step {
            line.iter_mut().zip(block[first..].iter().step_by(step)).for_each(|(to, from)| *to = *from);
            fft.process(&mut line);
            block[first..].iter_mut().step_by(step).zip(&line).for_each(|(to, from)| *to = *from);
        }
    }
}
