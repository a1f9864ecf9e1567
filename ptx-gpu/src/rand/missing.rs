//! Functions of the library that are missing here.

use super::status::TYPE_ERROR;
use crate::call::missing;
use crate::output::note_missing;

pub(super) fn say(name: &str) -> u32 {
    note_missing(name, "CURAND_STATUS_TYPE_ERROR");
    TYPE_ERROR.0
}

missing! {
    say: curandCreatePoissonDistribution curandDestroyDistribution curandGetDirectionVectors32 curandGetDirectionVectors64
    curandGetScrambleConstants32 curandGetScrambleConstants64
}
