//! How an instruction of floats rounds, and what else it does to its result.

use rustc_apfloat::Round;

use super::format::{ROUNDINGS, round_of};
use super::words::{Kind, Type, Words};

/// `{.rnd}{.ftz}{.sat}.type`, of which each type has its own.
pub(super) struct Modifiers {
    pub(super) round: Option<Round>,
    pub(super) flushed: bool,
    pub(super) saturated: bool,
    pub(super) relu: bool,
    pub(super) ty: Type,
}

pub(super) fn modifiers(mut words: Words<'_>, of_fused: bool) -> Option<Modifiers> {
    let word = words.one_of(&ROUNDINGS);
    let (flushed, saturated) = (words.flag("ftz"), words.flag("sat"));
    let relu = !saturated && words.flag("relu");
    let ty = words.last("f16 f16x2 bf16 bf16x2 f32 f32x2 f64")?;
    let legal = match (ty.bits, ty.kind) {
        (64, _) => !flushed && !saturated && !relu,
        (32, _) => !relu && !(saturated && ty.lanes == 2),
        (_, Kind::Brain) => !flushed && !saturated && (of_fused || matches!(word, None | Some("rn"))),
        _ => matches!(word, None | Some("rn")),
    };
    legal.then_some(Modifiers { round: word.map(round_of), flushed, saturated, relu, ty })
}
