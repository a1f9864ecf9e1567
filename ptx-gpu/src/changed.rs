//! What a library that has this one in it does otherwise. The GPU of this repository's tests is such a library: it can be told to
//! fail, and its images are machine code.

use std::sync::OnceLock;

use ptx_interpreter::Launch;

/// A call of the program. What a call of this library calls in its turn is none.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The function: `cuMemAlloc_v2`.
    pub name: &'static str,
    /// The first eight bytes of each argument, as a number.
    pub arguments: &'a [u64],
}

/// What is otherwise.
pub struct Changed {
    /// Answers a call of the program. It is handed what does the call.
    pub around: fn(Call<'_>, Box<dyn FnOnce() -> u32 + '_>) -> u32,
    /// Changes what a launch asks the interpreter for.
    pub launch: fn(&mut Launch<'_>),
    /// The PTX that machine code was assembled from, if it is known.
    pub text_of: fn(&[u8]) -> Option<String>,
    /// Whether launches are only run, and not checked.
    pub runs_only: bool,
}

static CHANGED: OnceLock<Changed> = OnceLock::new();

/// Says what is otherwise, before the first call: in a function that the system calls when it opens the library (`.init_array`). The
/// first one who says it is heard.
///
/// ```no_run
/// use ptx_gpu::{Call, Changed, change};
///
/// /// The third allocation fails: `CUDA_ERROR_OUT_OF_MEMORY`.
/// fn around(call: Call<'_>, body: Box<dyn FnOnce() -> u32 + '_>) -> u32 {
///     static ALLOCATIONS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
///     let is_third = || ALLOCATIONS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2;
///     if call.name == "cuMemAlloc_v2" && is_third() { 2 } else { body() }
/// }
///
/// change(Changed { around, launch: |_| {}, text_of: |_| None, runs_only: false });
/// ```
pub fn change(changed: Changed) {
    CHANGED.get_or_init(|| changed);
}

/// Whether launches are checked.
pub(crate) fn is_checked() -> bool {
    changed().is_none_or(|changed| !changed.runs_only)
}

/// What is otherwise, if something is.
pub(crate) fn changed() -> Option<&'static Changed> {
    CHANGED.get()
}
