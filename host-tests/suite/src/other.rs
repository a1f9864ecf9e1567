//! How an instruction that moves no value is tried.

use std::borrow::Cow;

use ptx_intrinsics::catalogue::Form;

use super::room::Room;

/// How an instruction that moves no value is tried.
pub(super) struct Other {
    pub(super) room: Room,
    /// What comes before the form's expression in the kernel.
    pub(super) before: &'static str,
    /// What becomes of the expression's value, `{}`.
    pub(super) then: Cow<'static, str>,
    /// What has to be in a thread's slot.
    pub(super) expected: fn(&Form, usize, &[u8], &mut [u8]),
}

pub(super) fn all(_: &Form, _: usize, from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
}

pub(super) fn truth(_: &Form, _: usize, _: &[u8], to: &mut [u8]) {
    to[..8].copy_from_slice(&1u64.to_le_bytes());
}
