//! Whether tests take everything of which they draw a sample otherwise: `cargo xtask test --whole`.

/// Set by `--whole`.
pub const VARIABLE: &str = "PTX_INTRINSICS_WHOLE";

/// Whether everything is taken.
pub fn is_set() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// How many are taken where a sample has so many.
pub fn or(sample: usize) -> usize {
    if is_set() { usize::MAX } else { sample }
}
