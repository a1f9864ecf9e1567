//! Small numbers in the formats that matrices have.

pub(crate) fn width(format: &str) -> usize {
    match format {
        "f64" => 64,
        "f32" | "s32" | "tf32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "u4" => 4,
        "b1" => 1,
        _ => 8,
    }
}

/// Where a byte is in an image of a matrix, as a copy of a tensor map with a swizzle of so many bytes leaves it: how many bytes it
/// lies beside the first one of its line, of so many lines. A swizzle of 16 bytes is none.
#[allow(dead_code, reason = "not every test has matrices in shared memory")]
pub(crate) fn byte(swizzle: usize, across: bool, lines: usize, beside: usize, line: usize) -> usize {
    if swizzle == 16 {
        // Core matrices of eight lines of 16 bytes, two along K.
        let (far, near) = if across { (beside / 16, line / 8) } else { (line / 8, beside / 16) };
        return far * 256 + near * 128 + line % 8 * 16 + beside % 16;
    }
    let permuted = match swizzle {
        128 => line % 8,
        64 => line / 2 % 4,
        _ => line / 4 % 2,
    };
    let (panel, beside) = (beside / swizzle, beside % swizzle);
    panel * lines * swizzle + line * swizzle + ((beside / 16) ^ permuted) * 16 + beside % 16
}

/// Small numbers that every format has, so that every sum is exact.
pub(crate) fn small(format: &str, row: usize, column: usize) -> i32 {
    let number = ((row * 7 + column * 3) % 9) as i32;
    match format {
        "b1" => i32::from((row * 5 + column * column + column / 7).is_multiple_of(3)),
        "u4" | "u8" => number,
        // Up to 4, a float of four bits has all integers.
        _ => number - 4,
    }
}

/// The bits of a small number in a format.
pub(crate) fn bits(format: &str, number: i32) -> u64 {
    let float = |exponent: u32, fraction: u32| {
        let bits = (number as f32).to_bits();
        let bias = (1 << (exponent - 1)) - 1;
        let sign = bits >> 31 << (exponent + fraction);
        let rest = if number == 0 { 0 } else { ((bits >> 23 & 0xff) + bias - 127) << fraction };
        u64::from(sign | rest | (bits >> (23 - fraction) & ((1 << fraction) - 1)))
    };
    match format {
        "f16" => float(5, 10),
        "bf16" => float(8, 7),
        "f32" | "tf32" => u64::from((number as f32).to_bits()),
        "f64" => f64::from(number).to_bits(),
        "e4m3" => float(4, 3),
        "e5m2" => float(5, 2),
        "e3m2" => float(3, 2),
        "e2m3" => float(2, 3),
        "e2m1" => float(2, 1) << 2,
        "s32" => u64::from(number as u32),
        _ => number as u64 & ((1 << width(format)) - 1),
    }
}
