//! Rounding to odd: the last bit says whether something was cut off, so that rounding twice is like rounding once.

/// A number as an `f32`: if it is none, the neighbour whose last bit is set.
#[inline]
pub fn odd(number: f64) -> f32 {
    let nearest = number as f32;
    if number.is_nan() || f64::from(nearest) == number {
        return nearest;
    }
    let is_beyond = f64::from(nearest).abs() > number.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_beyond)) | 1)
}

/// The sum of two numbers, rounded to odd.
#[inline]
pub fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    // What is lost of it, exactly.
    let of_b = sum - a;
    let lost = (a - (sum - of_b)) + (b - of_b);
    let is_beyond = lost != 0.0 && (lost < 0.0) == (sum > 0.0);
    f64::from_bits((sum.to_bits() - u64::from(is_beyond)) | u64::from(lost != 0.0))
}
