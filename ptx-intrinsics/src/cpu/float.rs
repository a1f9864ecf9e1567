//! The smaller and the larger of two floats, as PTX has them: -0 is less than +0, and there is one NaN.

/// PTX's NaN.
const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// The smaller one; of a number and NaN it is the number.
pub(crate) fn least(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) if a.total_cmp(&b).is_le() => a,
        (false, false) => b,
    }
}

/// The larger one; of a number and NaN it is the number.
pub(crate) fn largest(a: f32, b: f32) -> f32 {
    if a.is_nan() && b.is_nan() { NAN } else { -least(-a, -b) }
}

/// The smaller one, or NaN if one of them is.
pub(crate) fn least_or_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN } else { least(a, b) }
}

/// The larger one, or NaN if one of them is.
pub(crate) fn largest_or_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN } else { largest(a, b) }
}
