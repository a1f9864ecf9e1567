//! The one `asm!` of the crate. Under cuda-oxide it is a call of a marker instead, in `markers.rs`.

/// One instruction: its effect, its texts, its operands.
///
/// What the compiler may do is the effect. `pure`: merge it, move it, and drop it where its value is not used. `memory` and
/// `message`: nothing, and no access moves across it. `hint`: it may not drop it. `compute` is arithmetic, without an access.
#[cfg(not(ptx_by_markers))]
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(asm_experimental_arch))]
macro_rules! __instruction {
    (pure [$($text:expr),*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($text),*), $($operands)* options(pure, readonly, nostack, preserves_flags))
    };
    (memory [$($text:expr),*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($text),*), $($operands)* options(nostack, preserves_flags))
    };
    (message $texts:tt $operands:tt) => { $crate::__instruction! { memory $texts $operands } };
    (hint [$($text:expr),*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($text),*), $($operands)* options(readonly, nostack, preserves_flags))
    };
    (compute [$($text:expr),*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($text),*), $($operands)* options(pure, nomem, nostack, preserves_flags))
    };
}

/// Statements for a GPU alone. A `cfg` in what `ptx!` expands to would ask the user's crate.
#[cfg(ptx_device)]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_gpu {
    ($($statements:tt)*) => { $($statements)* };
}
/// Statements for a GPU alone.
#[cfg(not(ptx_device))]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_gpu {
    ($($statements:tt)*) => {};
}

/// Statements for a CPU alone.
#[cfg(ptx_device)]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_cpu {
    ($($statements:tt)*) => {};
}
/// Statements for a CPU alone.
#[cfg(not(ptx_device))]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_cpu {
    ($($statements:tt)*) => { $($statements)* };
}
