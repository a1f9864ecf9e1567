//! The markers of cuda-oxide's inline PTX, declared again for `ptx-intrinsics`.
//!
//! cuda-oxide replaces a call of `cuda_device::ptx::__ptx_asm_out_3` by PTX. It knows a marker by this path. The crate that
//! has the markers, NVIDIA's `cuda-device`, is on no registry, so a crate on a registry cannot depend on it. This crate has
//! the same name for rustc, `cuda_device`, and the same functions. It has nothing else.
#![no_std]

/// The markers.
pub mod ptx {
    macro_rules! marker {
        ($name:ident [$($result:ident)?] ($($argument:ident: $type:ident),*)) => {
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
    macro_rules! with_result {
        ($name:ident $arguments:tt) => {
            marker! { $name [T] $arguments }
        };
    }
    macro_rules! without_result {
        ($name:ident $arguments:tt) => {
            marker! { $name [] $arguments }
        };
    }

    with_result! { __ptx_asm_out_0() }
    with_result! { __ptx_asm_out_1(a0: A0) }
    with_result! { __ptx_asm_out_2(a0: A0, a1: A1) }
    with_result! { __ptx_asm_out_3(a0: A0, a1: A1, a2: A2) }
    with_result! { __ptx_asm_out_4(a0: A0, a1: A1, a2: A2, a3: A3) }
    with_result! { __ptx_asm_out_5(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4) }
    with_result! { __ptx_asm_out_6(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5) }
    with_result! { __ptx_asm_out_7(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6) }
    with_result! { __ptx_asm_out_8(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7) }
    with_result! { __ptx_asm_out_9(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8) }
    with_result! { __ptx_asm_out_10(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9) }
    with_result! { __ptx_asm_out_11(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10) }
    with_result! { __ptx_asm_out_12(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11) }
    with_result! { __ptx_asm_out_13(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12) }
    with_result! { __ptx_asm_out_14(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13) }
    with_result! { __ptx_asm_out_15(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14) }
    with_result! { __ptx_asm_out_16(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15) }
    with_result! { __ptx_asm_out_17(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16) }
    with_result! { __ptx_asm_out_18(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17) }
    with_result! { __ptx_asm_out_19(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15, a16: A16, a17: A17, a18: A18) }

    without_result! { __ptx_asm_void_0() }
    without_result! { __ptx_asm_void_1(a0: A0) }
    without_result! { __ptx_asm_void_2(a0: A0, a1: A1) }
    without_result! { __ptx_asm_void_3(a0: A0, a1: A1, a2: A2) }
    without_result! { __ptx_asm_void_4(a0: A0, a1: A1, a2: A2, a3: A3) }
    without_result! { __ptx_asm_void_5(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4) }
    without_result! { __ptx_asm_void_6(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5) }
    without_result! { __ptx_asm_void_7(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6) }
    without_result! { __ptx_asm_void_8(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7) }
    without_result! { __ptx_asm_void_9(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8) }
    without_result! { __ptx_asm_void_10(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9) }
    without_result! { __ptx_asm_void_11(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10) }
    without_result! { __ptx_asm_void_12(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11) }
    without_result! { __ptx_asm_void_13(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12) }
    without_result! { __ptx_asm_void_14(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13) }
    without_result! { __ptx_asm_void_15(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14) }
    without_result! { __ptx_asm_void_16(a0: A0, a1: A1, a2: A2, a3: A3, a4: A4, a5: A5, a6: A6, a7: A7, a8: A8, a9: A9, a10: A10, a11: A11, a12: A12, a13: A13, a14: A14, a15: A15) }
}
