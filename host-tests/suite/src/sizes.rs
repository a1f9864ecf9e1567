/// A total size that is a power of two or beside it (`which` is 0 to 2), and a primary size within it, of random bits: the
/// kernel and the host make the same ones, and the assembler knows none of them.
pub(crate) fn sizes(exponent: usize, which: usize, random: u32) -> (u32, u32) {
    let total = match (exponent, which) {
        (31, 2) => u32::MAX,
        _ => (1u32 << exponent) - 1 + which as u32,
    };
    let primary = match random % 4 {
        0 => total,
        1 => total / 2,
        2 => total.min(1),
        _ => ((random as u64 * total as u64) >> 32) as u32,
    };
    (primary, total)
}
