//! What the threads of a warp find out together.

use ptx_intrinsics::catalogue::Form;

use super::other::{Other, truth};
use super::room::Room;

/// Which lane is elected the ISA leaves open: all have to agree on one of the mask, and that one alone knows that it is it.
pub(super) fn trial(_: &Form) -> Other {
    Other {
        room: Room::Global,
        before: "let mask = u32::MAX;",
        then: "let (leader, elected) = {}; put(to, (leader < 32 && elected == (leader == thread as u32)) as u64);"
            .into(),
        expected: truth,
    }
}
