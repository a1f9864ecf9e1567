//! The one `asm!` of the crate. Under cuda-oxide it is a call of a marker instead, in `markers.rs`.

/// One instruction: its effect, the texts before its opcode, of it, and after it, and its operands.
///
/// What the compiler may do is the effect. `pure`: merge it, move it, and drop it where its value is not used. `memory` and
/// `message`: nothing, and no access moves across it. `hint`: it may not drop it. `compute` is arithmetic, without an access.
///
/// Or the rows of an access in front of the texts before and after the opcode: a `match` on a constant, so that one arm is compiled.
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
    ({ only $effect:ident $opcode:tt } $before:tt $after:tt $operands:tt) => {
        $crate::__instruction! { $effect $before $opcode $after $operands }
    };
    ({ $C:ident, sized $P:ident [$($hint:literal)?], $rows:tt } $before:tt [$($after:tt)*] ($($operands:tt)*)) => {
        match $P::BYTES {
            0 => $crate::__instruction! { { $C, $rows } $before [$($hint,)? $($after)*] ($($operands)*) },
            _ => $crate::__instruction! { { $C, $rows } $before [$($hint,)? ".L2::{bytes}B", $($after)*]
                ($($operands)* bytes = const $P::BYTES,) },
        }
    };
    ({ $C:ident, hint $hint:literal, $rows:tt } $before:tt [$($after:tt)*] $operands:tt) => {
        $crate::__instruction! { { $C, $rows } $before [$hint, $($after)*] $operands }
    };
    ({ $C:ident, [$($id:pat => $opcode:tt $effect:ident;)*] } $before:tt $after:tt $operands:tt) => {
        match $C::ID {
            $($id => $crate::__instruction! { $effect $before $opcode $after $operands },)*
            _ => $crate::emit::access::no_row(),
        }
    };
}
