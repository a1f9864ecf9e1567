//! What all threads of a warp execute together, and which compiler leaves it where it is.

/// The compiler of this build emits `What` where all threads of a warp reach it together. `At` is never read; it ties the bound
/// to the call.
///
/// It is implemented here alone.
#[diagnostic::on_unimplemented(
    message = "`{What}` is a collective, and this compiler cannot emit one",
    label = "all threads of a warp execute it together"
)]
#[cfg_attr(
    ptx_by_libnvvm,
    diagnostic::on_unimplemented(
        note = "rust-cuda's libnvvm has its own LLVM, which lacks the intrinsic: write it in CUDA C++ and link that, or build with rustc"
    )
)]
#[cfg_attr(
    ptx_by_markers,
    diagnostic::on_unimplemented(
        note = "cuda-oxide's markers do not say that all threads come along: use the function of cuda-device, or build with rustc"
    )
)]
#[cfg_attr(
    not(any(ptx_by_libnvvm, ptx_by_markers)),
    diagnostic::on_unimplemented(
        note = "a collective needs rustc 1.97 or newer: older ones copy it into branches that only some threads take",
        note = "install a newer Rust (`rustup update`), or build with ptx-build, which takes release 1.96 too"
    )
)]
pub trait Emits<What: ?Sized, At: ?Sized = ()> {}

/// The compiler of this build.
#[allow(non_camel_case_types, reason = "error messages print it in a sentence")]
pub enum this_compiler {}

// A stable rustc, on a CPU, does not take `version`.
#[cfg(not(any(ptx_by_libnvvm, ptx_by_markers)))]
#[cfg_attr(target_arch = "nvptx64", cfg(any(version("1.97"), ptx_calls_are_kept)))]
#[diagnostic::do_not_recommend]
impl<What: ?Sized, At: ?Sized> Emits<What, At> for this_compiler {}
