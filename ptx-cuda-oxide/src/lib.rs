//! The markers of cuda-oxide's inline PTX, declared again for `ptx-intrinsics`.
//!
//! cuda-oxide replaces a call of `cuda_device::ptx::__ptx_asm_out_3` by PTX. It knows a marker by this path. The crate that
//! has the markers, NVIDIA's `cuda-device`, is on no registry, so a crate on a registry cannot depend on it. This crate has
//! the same name for rustc, `cuda_device`, and the same functions. It has nothing else.
#![no_std]

/// The markers.
pub mod ptx {
    macro_rules! marker {
        ($name:ident [$($result:ident)?] ($($argument:ident: $type:ident,)*)) => {
            /// A marker of cuda-oxide: template, constraints, options, then the values.
            ///
            /// # Safety
            /// As for the instruction that the template spells.
            #[inline(never)]
            #[allow(clippy::too_many_arguments, reason = "one for each operand")]
            pub unsafe fn $name<
                $($result,)?
                const TEMPLATE: usize,
                const CONSTRAINTS: usize,
                const OPTIONS: usize
                $(, $type)*
            >(
                _template: &'static [u8; TEMPLATE],
                _constraints: &'static [u8; CONSTRAINTS],
                _options: &'static [u8; OPTIONS]
                $(, $argument: $type)*
            ) $(-> $result)? {
                $(let _ = $argument;)*
                unreachable!("an instruction of a GPU was called on a CPU")
            }
        };
    }

    /// Markers by name: the first one takes no value, and each other one a value more.
    macro_rules! markers {
        ($result:tt [] $arguments:tt $($more:tt)*) => {};
        ($result:tt [$name:ident $($names:ident)*] [$($argument:tt)*] $([$($next:tt)*] $($more:tt)*)?) => {
            marker! { $name $result ($($argument)*) }
            markers! { $result [$($names)*] [$($argument)* $($($next)*,)?] $($($more)*)? }
        };
    }
    markers! {
        [T] [
            __ptx_asm_out_0 __ptx_asm_out_1 __ptx_asm_out_2 __ptx_asm_out_3 __ptx_asm_out_4 __ptx_asm_out_5
            __ptx_asm_out_6 __ptx_asm_out_7 __ptx_asm_out_8 __ptx_asm_out_9 __ptx_asm_out_10 __ptx_asm_out_11
            __ptx_asm_out_12 __ptx_asm_out_13 __ptx_asm_out_14 __ptx_asm_out_15 __ptx_asm_out_16 __ptx_asm_out_17
            __ptx_asm_out_18 __ptx_asm_out_19
        ] []
        [a0: A0] [a1: A1] [a2: A2] [a3: A3] [a4: A4] [a5: A5] [a6: A6] [a7: A7] [a8: A8] [a9: A9]
        [a10: A10] [a11: A11] [a12: A12] [a13: A13] [a14: A14] [a15: A15] [a16: A16] [a17: A17] [a18: A18]
    }

    markers! {
        [] [
            __ptx_asm_void_0 __ptx_asm_void_1 __ptx_asm_void_2 __ptx_asm_void_3 __ptx_asm_void_4 __ptx_asm_void_5
            __ptx_asm_void_6 __ptx_asm_void_7 __ptx_asm_void_8 __ptx_asm_void_9 __ptx_asm_void_10 __ptx_asm_void_11
            __ptx_asm_void_12 __ptx_asm_void_13 __ptx_asm_void_14 __ptx_asm_void_15 __ptx_asm_void_16
        ] []
        [a0: A0] [a1: A1] [a2: A2] [a3: A3] [a4: A4] [a5: A5] [a6: A6] [a7: A7] [a8: A8] [a9: A9]
        [a10: A10] [a11: A11] [a12: A12] [a13: A13] [a14: A14] [a15: A15]
    }
}
