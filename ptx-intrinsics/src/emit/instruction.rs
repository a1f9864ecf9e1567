//! The one `asm!` of the crate. Under cuda-oxide it is a call of a marker instead, in `markers.rs`.

/// One instruction: its effect, the texts before its opcode, of it, and after it, and its operands.
///
/// What the compiler may do is the effect. `pure`: merge it, move it, and drop it where its value is not used. `memory` and
/// `message`: nothing, and no access moves across it. `hint`: it may not drop it. `compute` is arithmetic, without an access.
#[cfg(not(ptx_by_markers))]
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(asm_experimental_arch))]
macro_rules! __instruction {
    (pure [$($before:tt)*] [$($opcode:tt)*] [$($after:tt)*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($before)* $($opcode)*, $($after)*), $($operands)* options(pure, readonly, nostack, preserves_flags))
    };
    (memory [$($before:tt)*] [$($opcode:tt)*] [$($after:tt)*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($before)* $($opcode)*, $($after)*), $($operands)* options(nostack, preserves_flags))
    };
    (message [$($before:tt)*] [$($opcode:tt)*] [$($after:tt)*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($before)* $($opcode)*, $($after)*), $($operands)* options(nostack, preserves_flags))
    };
    (hint [$($before:tt)*] [$($opcode:tt)*] [$($after:tt)*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($before)* $($opcode)*, $($after)*), $($operands)* options(readonly, nostack, preserves_flags))
    };
    (compute [$($before:tt)*] [$($opcode:tt)*] [$($after:tt)*] ($($operands:tt)*)) => {
        ::core::arch::asm!(::core::concat!($($before)* $($opcode)*, $($after)*), $($operands)* options(pure, nomem, nostack, preserves_flags))
    };
}
