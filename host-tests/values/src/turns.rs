//! The order of the kernels: one of each family in turn, so that a run that ends early has some of each.

use std::collections::HashMap;

use crate::case::{Case, Judge};
use crate::types::Kind;

/// What is alike enough to wait: the same opcodes on the same types, as exact.
fn family(case: &Case) -> String {
    let opcodes = case.body.split("; ").filter_map(|instruction| instruction.split(['.', ' ']).next());
    let is_exact = matches!(case.judge, Judge::Exact);
    format!("{:?} {:?} {:?} {is_exact}", opcodes.collect::<Vec<_>>(), case.results, case.operands)
}

/// Whether it does no more than arithmetic of integers, of which most is simple.
fn is_whole(case: &Case) -> bool {
    let has_float = |types: &[crate::types::Type]| types.iter().any(|ty| matches!(ty.kind, Kind::Float(_)));
    matches!(case.judge, Judge::Exact)
        && !has_float(&case.results)
        && !has_float(&case.operands)
        && !case.body.starts_with("cvt")
}

/// In each turn, floats, conversions and matrices come before integers.
pub(crate) fn in_turn(cases: Vec<Case>) -> Vec<Case> {
    let mut turns: HashMap<String, usize> = HashMap::new();
    let mut next = |case: &Case| {
        let turn = turns.entry(family(case)).or_default();
        *turn += 1;
        (*turn, is_whole(case))
    };
    let mut all: Vec<_> = cases.into_iter().map(|case| (next(&case), case)).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, case)| case).collect()
}

#[cfg(test)]
mod tests {
    use crate::every;

    #[test]
    fn the_first_kernels_have_some_of_each_family() {
        let place =
            |name: &str| every().iter().position(|case| case.name == name).unwrap_or_else(|| panic!("no {name}"));
        let later = place("setp_ge_f32");
        for early in ["fma_rn_f32", "rcp_approx_f32", "cvt_rni_s32_f32", "rem_u32", "bfe_u64", "sin_approx_f32"] {
            assert!(place(early) < later, "{early} comes after setp_ge_f32");
        }
        assert!(place("fma_rn_f32") < place("rem_u32"));
    }
}
