//! What a library that has this one in it does otherwise. The GPU that runs the bundles of this repository does: its images are
//! machine code, and it checks nothing.

use std::sync::OnceLock;

/// What is otherwise.
pub struct Changed {
    /// The name of the device.
    pub name: &'static str,
    /// `CU_DEVICE_ATTRIBUTE_…` that have other values.
    pub attribute: fn(u32) -> Option<i32>,
    /// The PTX that machine code was assembled from, if it is known.
    pub text_of: fn(&[u8]) -> Option<String>,
    /// Whether launches are only run, and not checked.
    pub runs_only: bool,
}

static CHANGED: OnceLock<Changed> = OnceLock::new();

/// Says what is otherwise, before the first call. The first one who says it is heard.
pub fn change(changed: Changed) {
    CHANGED.get_or_init(|| changed);
}

/// What is otherwise, if something is.
pub(crate) fn changed() -> Option<&'static Changed> {
    CHANGED.get()
}
