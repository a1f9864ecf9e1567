//! Which GPU runs what is compiled for a target.

/// Whether a GPU of that number, 90 for sm_90, runs PTX for a target of this number and suffix: with an `a` that GPU alone, with an `f`
/// the later ones of its family, else all later ones.
///
/// ```
/// use ptx_sass::target::runs_on;
///
/// assert!(runs_on(90, None, 100) && !runs_on(90, Some('a'), 100));
/// assert!(runs_on(100, Some('f'), 103) && !runs_on(100, Some('f'), 120));
/// ```
pub fn runs_on(number: u32, suffix: Option<char>, gpu: u32) -> bool {
    match suffix {
        Some('a') => number == gpu,
        Some('f') => number <= gpu && family(number) == family(gpu),
        _ => number <= gpu,
    }
}

/// The first GPU of a family: 100 of 103 and 107. CUDA 13 calls 110 what was 101.
fn family(number: u32) -> u32 {
    if number == 101 { 110 } else { number / 10 * 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_of_later_gpus() {
        let runs = |number, gpu| runs_on(number, Some('f'), gpu);
        assert!(runs(101, 110) && runs(120, 121) && runs(100, 107));
        assert!(!runs(103, 100) && !runs(100, 110) && !runs(101, 103));
    }
}
