//! `mma.sync`: one table of all products.

use ptx_intrinsics::gate::{
    BitMatricesAnd, Fp8Matrices, Gate, Matrices, MatrixStores, Needs, OnTarget, QuadMatrices, ShortFp8Matrices,
    WideMatrices,
};

use super::fragment::{B1x32, Bf16x2, E4m3x4, E5m2x4, F16x2, S4x8, S8x4, Tf32, U4x8, U8x4};
#[cfg(target_arch = "nvptx64")]
use super::fragment::{Of2, Of4, Of8, Register};
#[cfg(not(target_arch = "nvptx64"))]
use super::on_cpu;

/// The gate and its words; the registers of A, B, C and D and how many they are; and the products with these registers: name, types of A,
/// B, C and D, PTX after `mma.sync.aligned`, LLVM's name after `llvm.nvvm.mma`.
macro_rules! products {
    ($($gate:ident $needs:literal $registers:tt {
        $($name:ident $A:ident $B:ident $C:ident $D:ident, $ptx:literal, $llvm:literal;)*
    })*) => {
        gated! { $($($name)*)* }

        /// Each function's name, PTX, gate, and the types of its arguments.
        #[doc(hidden)]
        pub const PRODUCTS: &[(&str, &str, Needs, [&str; 3])] = &[$($(
            product! { @listed $registers ($A $B $C $D) $gate $name $ptx }
        ),*),*];

        $($(product! { @matrices $registers ($A $B $C $D) $gate $needs $name $ptx $llvm })*)*
    };
}

/// One product. A matrix is `(([a0 a1] 2) F16x2)`: its registers, how many they are, and their type.
macro_rules! product {
    (@array (([$($register:ident)*] $n:literal) $T:ident)) => { [$T; $n] };
    (@array (($of:ident $n:literal) $T:ident)) => { [$T; $n] };
    (@listed (($($a:tt)*) ($($b:tt)*) ($($c:tt)*) $d:tt) ($A:ident $B:ident $C:ident $D:ident) $($function:tt)*) => {
        product! { @entry ($($a)* $A) ($($b)* $B) ($($c)* $C) $($function)* }
    };
    (@entry ($a:tt $in_a:literal $A:ident) ($b:tt $in_b:literal $B:ident) ($c:tt $in_c:literal $C:ident) $($function:tt)*) => {
        product! { @texts ([stringify!([$A; $in_a]), stringify!([$B; $in_b]), stringify!([$C; $in_c])]) $($function)* }
    };
    (@texts ($types:expr) $gate:ident $name:ident $ptx:literal) => {
        (stringify!($name), concat!("mma.sync.aligned.", $ptx), <$gate as Gate>::NEEDS, $types)
    };
    (@matrices ($a:tt $b:tt $c:tt $d:tt) ($A:ident $B:ident $C:ident $D:ident) $($function:tt)*) => {
        product! { @function ($a $A) ($b $B) ($c $C) ($d $D) $($function)* }
    };
    (@function $a:tt $b:tt $c:tt $d:tt $gate:ident $needs:literal $name:ident $ptx:literal $llvm:literal) => {
        #[doc = concat!("`d = a * b + c` of matrices, by all lanes of a warp: `", $ptx, "`.")]
        ///
        #[doc = concat!("PTX: `mma.sync.aligned.", $ptx, " d, a, b, c;`. ", $needs)]
        /// [Which lane holds what](crate::matrix#which-lane-holds-what), [how it rounds](crate::matrix#rounding).
        ///
        /// PTX ISA: [mma](https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-mma).
        ///
        /// # Safety
        /// All lanes of the warp come here together, and none has ended.
        #[doc(alias = "mma.sync")]
        #[inline(always)]
        pub unsafe fn $name(
            a: product!(@array $a),
            b: product!(@array $b),
            c: product!(@array $c),
        ) -> product!(@array $d)
        where
            for<'t> $gate: OnTarget<$name, &'t ()>,
        {
            #[cfg(target_arch = "nvptx64")]
            {
                product! { @inputs [] [] $a $b $c ((a, b, c), $d, $llvm) }
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                on_cpu::multiply(stringify!($name), concat!("mma.sync.aligned.", $ptx), a, b, c)
            }
        }
    };
    // The registers of A, B and C, one after the other, with the patterns of the three arrays.
    (@inputs [$($patterns:tt)*] [$($inputs:tt)*] (([$($register:ident)*] $n:literal) $T:ident) $($rest:tt)*) => {
        product! { @inputs [$($patterns)* [$($register),*],] [$($inputs)* $(($register $T))*] $($rest)* }
    };
    (@inputs [$($patterns:tt)*] [$(($register:ident $T:ident))*] ($arguments:expr, (($of:ident $n:literal) $D:ident), $llvm:literal)) => {
        ptx_intrinsics::__llvm! {
        #[allow(improper_ctypes, reason = "LLVM's intrinsic takes vectors of two halves")]
        {
            #[link_name = concat!("llvm.nvvm.mma.", $llvm)]
            fn intrinsic($($register: <$T as Register>::Raw),*) -> $of<<$D as Register>::Raw>;
        }
        }
        let ($($patterns)*) = $arguments;
        // SAFETY: the caller's promise, and the result has these registers.
        unsafe {
            core::mem::transmute::<$of<<$D as Register>::Raw>, [$D; $n]>(intrinsic($($register.raw()),*))
        }
    };
}

products! {
    QuadMatrices "Needs sm_70 and ptx64." (([a0 a1] 2) ([b0 b1] 2) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m8n8k4_row_col_f16_f16_f16_f16 F16x2 F16x2 F16x2 F16x2, "m8n8k4.row.col.f16.f16.f16.f16", "m8n8k4.row.col.f16.f16";
        mma_m8n8k4_row_row_f16_f16_f16_f16 F16x2 F16x2 F16x2 F16x2, "m8n8k4.row.row.f16.f16.f16.f16", "m8n8k4.row.row.f16.f16";
        mma_m8n8k4_col_row_f16_f16_f16_f16 F16x2 F16x2 F16x2 F16x2, "m8n8k4.col.row.f16.f16.f16.f16", "m8n8k4.col.row.f16.f16";
        mma_m8n8k4_col_col_f16_f16_f16_f16 F16x2 F16x2 F16x2 F16x2, "m8n8k4.col.col.f16.f16.f16.f16", "m8n8k4.col.col.f16.f16";
    }
    QuadMatrices "Needs sm_70 and ptx64." (([a0 a1] 2) ([b0 b1] 2) ([c0 c1 c2 c3] 4) (Of8 8)) {
        mma_m8n8k4_row_col_f32_f16_f16_f16 F16x2 F16x2 F16x2 f32, "m8n8k4.row.col.f32.f16.f16.f16", "m8n8k4.row.col.f32.f16";
        mma_m8n8k4_row_row_f32_f16_f16_f16 F16x2 F16x2 F16x2 f32, "m8n8k4.row.row.f32.f16.f16.f16", "m8n8k4.row.row.f32.f16";
        mma_m8n8k4_col_row_f32_f16_f16_f16 F16x2 F16x2 F16x2 f32, "m8n8k4.col.row.f32.f16.f16.f16", "m8n8k4.col.row.f32.f16";
        mma_m8n8k4_col_col_f32_f16_f16_f16 F16x2 F16x2 F16x2 f32, "m8n8k4.col.col.f32.f16.f16.f16", "m8n8k4.col.col.f32.f16";
    }
    QuadMatrices "Needs sm_70 and ptx64." (([a0 a1] 2) ([b0 b1] 2) ([c0 c1 c2 c3 c4 c5 c6 c7] 8) (Of8 8)) {
        mma_m8n8k4_row_col_f32_f16_f16_f32 F16x2 F16x2 f32 f32, "m8n8k4.row.col.f32.f16.f16.f32", "m8n8k4.row.col.f32.f32";
        mma_m8n8k4_row_row_f32_f16_f16_f32 F16x2 F16x2 f32 f32, "m8n8k4.row.row.f32.f16.f16.f32", "m8n8k4.row.row.f32.f32";
        mma_m8n8k4_col_row_f32_f16_f16_f32 F16x2 F16x2 f32 f32, "m8n8k4.col.row.f32.f16.f16.f32", "m8n8k4.col.row.f32.f32";
        mma_m8n8k4_col_col_f32_f16_f16_f32 F16x2 F16x2 f32 f32, "m8n8k4.col.col.f32.f16.f16.f32", "m8n8k4.col.col.f32.f32";
    }
    Matrices "Needs sm_75 and ptx65." (([a0] 1) ([b0] 1) ([c0 c1] 2) (Of2 2)) {
        mma_m8n8k16_s32_s8 S8x4 S8x4 i32 i32, "m8n8k16.row.col.s32.s8.s8.s32", "m8n8k16.row.col.s8";
        mma_m8n8k16_satfinite_s32_s8 S8x4 S8x4 i32 i32, "m8n8k16.row.col.satfinite.s32.s8.s8.s32", "m8n8k16.row.col.satfinite.s8";
        mma_m8n8k16_s32_s8_u8 S8x4 U8x4 i32 i32, "m8n8k16.row.col.s32.s8.u8.s32", "m8n8k16.row.col.s8.u8";
        mma_m8n8k16_satfinite_s32_s8_u8 S8x4 U8x4 i32 i32, "m8n8k16.row.col.satfinite.s32.s8.u8.s32", "m8n8k16.row.col.satfinite.s8.u8";
        mma_m8n8k16_s32_u8_s8 U8x4 S8x4 i32 i32, "m8n8k16.row.col.s32.u8.s8.s32", "m8n8k16.row.col.u8.s8";
        mma_m8n8k16_satfinite_s32_u8_s8 U8x4 S8x4 i32 i32, "m8n8k16.row.col.satfinite.s32.u8.s8.s32", "m8n8k16.row.col.satfinite.u8.s8";
        mma_m8n8k16_s32_u8 U8x4 U8x4 i32 i32, "m8n8k16.row.col.s32.u8.u8.s32", "m8n8k16.row.col.u8";
        mma_m8n8k16_satfinite_s32_u8 U8x4 U8x4 i32 i32, "m8n8k16.row.col.satfinite.s32.u8.u8.s32", "m8n8k16.row.col.satfinite.u8";
        mma_m8n8k32_s32_s4 S4x8 S4x8 i32 i32, "m8n8k32.row.col.s32.s4.s4.s32", "m8n8k32.row.col.s4";
        mma_m8n8k32_satfinite_s32_s4 S4x8 S4x8 i32 i32, "m8n8k32.row.col.satfinite.s32.s4.s4.s32", "m8n8k32.row.col.satfinite.s4";
        mma_m8n8k32_s32_s4_u4 S4x8 U4x8 i32 i32, "m8n8k32.row.col.s32.s4.u4.s32", "m8n8k32.row.col.s4.u4";
        mma_m8n8k32_satfinite_s32_s4_u4 S4x8 U4x8 i32 i32, "m8n8k32.row.col.satfinite.s32.s4.u4.s32", "m8n8k32.row.col.satfinite.s4.u4";
        mma_m8n8k32_s32_u4_s4 U4x8 S4x8 i32 i32, "m8n8k32.row.col.s32.u4.s4.s32", "m8n8k32.row.col.u4.s4";
        mma_m8n8k32_satfinite_s32_u4_s4 U4x8 S4x8 i32 i32, "m8n8k32.row.col.satfinite.s32.u4.s4.s32", "m8n8k32.row.col.satfinite.u4.s4";
        mma_m8n8k32_s32_u4 U4x8 U4x8 i32 i32, "m8n8k32.row.col.s32.u4.u4.s32", "m8n8k32.row.col.u4";
        mma_m8n8k32_satfinite_s32_u4 U4x8 U4x8 i32 i32, "m8n8k32.row.col.satfinite.s32.u4.u4.s32", "m8n8k32.row.col.satfinite.u4";
    }
    Matrices "Needs sm_75 and ptx65." (([a0 a1] 2) ([b0] 1) ([c0 c1] 2) (Of2 2)) {
        mma_m16n8k8_f16_f16 F16x2 F16x2 F16x2 F16x2, "m16n8k8.row.col.f16.f16.f16.f16", "m16n8k8.row.col.f16.f16";
    }
    Matrices "Needs sm_75 and ptx65." (([a0 a1] 2) ([b0] 1) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k8_f32_f16 F16x2 F16x2 f32 f32, "m16n8k8.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f32.f32";
    }
    // ptxas has it from sm_75 on, and LLVM from sm_80 on.
    WideMatrices "Needs sm_80 and ptx70." (([a0] 1) ([b0] 1) ([c0 c1] 2) (Of2 2)) {
        mma_m8n8k128_s32_b1_xor_popc B1x32 B1x32 i32 i32, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", "xor.popc.m8n8k128.row.col.b1";
    }
    WideMatrices "Needs sm_80 and ptx70." (([a0] 1) ([b0] 1) ([c0 c1] 2) (Of2 2)) {
        mma_m8n8k4_f64_f64 f64 f64 f64 f64, "m8n8k4.row.col.f64.f64.f64.f64", "m8n8k4.row.col.f64";
    }
    WideMatrices "Needs sm_80 and ptx70." (([a0 a1] 2) ([b0] 1) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k4_f32_tf32 Tf32 Tf32 f32 f32, "m16n8k4.row.col.f32.tf32.tf32.f32", "m16n8k4.row.col.tf32";
        mma_m16n8k8_f32_bf16 Bf16x2 Bf16x2 f32 f32, "m16n8k8.row.col.f32.bf16.bf16.f32", "m16n8k8.row.col.bf16";
        mma_m16n8k16_s32_s8 S8x4 S8x4 i32 i32, "m16n8k16.row.col.s32.s8.s8.s32", "m16n8k16.row.col.s8";
        mma_m16n8k16_satfinite_s32_s8 S8x4 S8x4 i32 i32, "m16n8k16.row.col.satfinite.s32.s8.s8.s32", "m16n8k16.row.col.satfinite.s8";
        mma_m16n8k16_s32_s8_u8 S8x4 U8x4 i32 i32, "m16n8k16.row.col.s32.s8.u8.s32", "m16n8k16.row.col.s8.u8";
        mma_m16n8k16_satfinite_s32_s8_u8 S8x4 U8x4 i32 i32, "m16n8k16.row.col.satfinite.s32.s8.u8.s32", "m16n8k16.row.col.satfinite.s8.u8";
        mma_m16n8k16_s32_u8_s8 U8x4 S8x4 i32 i32, "m16n8k16.row.col.s32.u8.s8.s32", "m16n8k16.row.col.u8.s8";
        mma_m16n8k16_satfinite_s32_u8_s8 U8x4 S8x4 i32 i32, "m16n8k16.row.col.satfinite.s32.u8.s8.s32", "m16n8k16.row.col.satfinite.u8.s8";
        mma_m16n8k16_s32_u8 U8x4 U8x4 i32 i32, "m16n8k16.row.col.s32.u8.u8.s32", "m16n8k16.row.col.u8";
        mma_m16n8k16_satfinite_s32_u8 U8x4 U8x4 i32 i32, "m16n8k16.row.col.satfinite.s32.u8.u8.s32", "m16n8k16.row.col.satfinite.u8";
        mma_m16n8k32_s32_s4 S4x8 S4x8 i32 i32, "m16n8k32.row.col.s32.s4.s4.s32", "m16n8k32.row.col.s4";
        mma_m16n8k32_satfinite_s32_s4 S4x8 S4x8 i32 i32, "m16n8k32.row.col.satfinite.s32.s4.s4.s32", "m16n8k32.row.col.satfinite.s4";
        mma_m16n8k32_s32_s4_u4 S4x8 U4x8 i32 i32, "m16n8k32.row.col.s32.s4.u4.s32", "m16n8k32.row.col.s4.u4";
        mma_m16n8k32_satfinite_s32_s4_u4 S4x8 U4x8 i32 i32, "m16n8k32.row.col.satfinite.s32.s4.u4.s32", "m16n8k32.row.col.satfinite.s4.u4";
        mma_m16n8k32_s32_u4_s4 U4x8 S4x8 i32 i32, "m16n8k32.row.col.s32.u4.s4.s32", "m16n8k32.row.col.u4.s4";
        mma_m16n8k32_satfinite_s32_u4_s4 U4x8 S4x8 i32 i32, "m16n8k32.row.col.satfinite.s32.u4.s4.s32", "m16n8k32.row.col.satfinite.u4.s4";
        mma_m16n8k32_s32_u4 U4x8 U4x8 i32 i32, "m16n8k32.row.col.s32.u4.u4.s32", "m16n8k32.row.col.u4";
        mma_m16n8k32_satfinite_s32_u4 U4x8 U4x8 i32 i32, "m16n8k32.row.col.satfinite.s32.u4.u4.s32", "m16n8k32.row.col.satfinite.u4";
        mma_m16n8k128_s32_b1_xor_popc B1x32 B1x32 i32 i32, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", "xor.popc.m16n8k128.row.col.b1";
    }
    WideMatrices "Needs sm_80 and ptx70." (([a0 a1 a2 a3] 4) ([b0 b1] 2) ([c0 c1] 2) (Of2 2)) {
        mma_m16n8k16_f16_f16 F16x2 F16x2 F16x2 F16x2, "m16n8k16.row.col.f16.f16.f16.f16", "m16n8k16.row.col.f16.f16";
    }
    WideMatrices "Needs sm_80 and ptx70." (([a0 a1 a2 a3] 4) ([b0 b1] 2) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k8_f32_tf32 Tf32 Tf32 f32 f32, "m16n8k8.row.col.f32.tf32.tf32.f32", "m16n8k8.row.col.tf32";
        mma_m16n8k16_f32_f16 F16x2 F16x2 f32 f32, "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.f32";
        mma_m16n8k16_f32_bf16 Bf16x2 Bf16x2 f32 f32, "m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k16.row.col.bf16";
        mma_m16n8k32_s32_s8 S8x4 S8x4 i32 i32, "m16n8k32.row.col.s32.s8.s8.s32", "m16n8k32.row.col.s8";
        mma_m16n8k32_satfinite_s32_s8 S8x4 S8x4 i32 i32, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", "m16n8k32.row.col.satfinite.s8";
        mma_m16n8k32_s32_s8_u8 S8x4 U8x4 i32 i32, "m16n8k32.row.col.s32.s8.u8.s32", "m16n8k32.row.col.s8.u8";
        mma_m16n8k32_satfinite_s32_s8_u8 S8x4 U8x4 i32 i32, "m16n8k32.row.col.satfinite.s32.s8.u8.s32", "m16n8k32.row.col.satfinite.s8.u8";
        mma_m16n8k32_s32_u8_s8 U8x4 S8x4 i32 i32, "m16n8k32.row.col.s32.u8.s8.s32", "m16n8k32.row.col.u8.s8";
        mma_m16n8k32_satfinite_s32_u8_s8 U8x4 S8x4 i32 i32, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", "m16n8k32.row.col.satfinite.u8.s8";
        mma_m16n8k32_s32_u8 U8x4 U8x4 i32 i32, "m16n8k32.row.col.s32.u8.u8.s32", "m16n8k32.row.col.u8";
        mma_m16n8k32_satfinite_s32_u8 U8x4 U8x4 i32 i32, "m16n8k32.row.col.satfinite.s32.u8.u8.s32", "m16n8k32.row.col.satfinite.u8";
        mma_m16n8k64_s32_s4 S4x8 S4x8 i32 i32, "m16n8k64.row.col.s32.s4.s4.s32", "m16n8k64.row.col.s4";
        mma_m16n8k64_satfinite_s32_s4 S4x8 S4x8 i32 i32, "m16n8k64.row.col.satfinite.s32.s4.s4.s32", "m16n8k64.row.col.satfinite.s4";
        mma_m16n8k64_s32_s4_u4 S4x8 U4x8 i32 i32, "m16n8k64.row.col.s32.s4.u4.s32", "m16n8k64.row.col.s4.u4";
        mma_m16n8k64_satfinite_s32_s4_u4 S4x8 U4x8 i32 i32, "m16n8k64.row.col.satfinite.s32.s4.u4.s32", "m16n8k64.row.col.satfinite.s4.u4";
        mma_m16n8k64_s32_u4_s4 U4x8 S4x8 i32 i32, "m16n8k64.row.col.s32.u4.s4.s32", "m16n8k64.row.col.u4.s4";
        mma_m16n8k64_satfinite_s32_u4_s4 U4x8 S4x8 i32 i32, "m16n8k64.row.col.satfinite.s32.u4.s4.s32", "m16n8k64.row.col.satfinite.u4.s4";
        mma_m16n8k64_s32_u4 U4x8 U4x8 i32 i32, "m16n8k64.row.col.s32.u4.u4.s32", "m16n8k64.row.col.u4";
        mma_m16n8k64_satfinite_s32_u4 U4x8 U4x8 i32 i32, "m16n8k64.row.col.satfinite.s32.u4.u4.s32", "m16n8k64.row.col.satfinite.u4";
        mma_m16n8k256_s32_b1_xor_popc B1x32 B1x32 i32 i32, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "xor.popc.m16n8k256.row.col.b1";
    }
    BitMatricesAnd "Needs sm_80 and ptx71." (([a0] 1) ([b0] 1) ([c0 c1] 2) (Of2 2)) {
        mma_m8n8k128_s32_b1_and_popc B1x32 B1x32 i32 i32, "m8n8k128.row.col.s32.b1.b1.s32.and.popc", "and.popc.m8n8k128.row.col.b1";
    }
    BitMatricesAnd "Needs sm_80 and ptx71." (([a0 a1] 2) ([b0] 1) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k128_s32_b1_and_popc B1x32 B1x32 i32 i32, "m16n8k128.row.col.s32.b1.b1.s32.and.popc", "and.popc.m16n8k128.row.col.b1";
    }
    BitMatricesAnd "Needs sm_80 and ptx71." (([a0 a1 a2 a3] 4) ([b0 b1] 2) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k256_s32_b1_and_popc B1x32 B1x32 i32 i32, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", "and.popc.m16n8k256.row.col.b1";
    }
    Fp8Matrices "Needs sm_89 and ptx84." (([a0 a1 a2 a3] 4) ([b0 b1] 2) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k32_f32_e4m3 E4m3x4 E4m3x4 f32 f32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k32.row.col.f32.e4m3.e4m3.f32";
        mma_m16n8k32_f32_e4m3_e5m2 E4m3x4 E5m2x4 f32 f32, "m16n8k32.row.col.f32.e4m3.e5m2.f32", "m16n8k32.row.col.f32.e4m3.e5m2.f32";
        mma_m16n8k32_f32_e5m2_e4m3 E5m2x4 E4m3x4 f32 f32, "m16n8k32.row.col.f32.e5m2.e4m3.f32", "m16n8k32.row.col.f32.e5m2.e4m3.f32";
        mma_m16n8k32_f32_e5m2 E5m2x4 E5m2x4 f32 f32, "m16n8k32.row.col.f32.e5m2.e5m2.f32", "m16n8k32.row.col.f32.e5m2.e5m2.f32";
    }
    ShortFp8Matrices "Needs sm_89 and ptx87." (([a0 a1] 2) ([b0] 1) ([c0 c1] 2) (Of2 2)) {
        mma_m16n8k16_f16_e4m3 E4m3x4 E4m3x4 F16x2 F16x2, "m16n8k16.row.col.f16.e4m3.e4m3.f16", "m16n8k16.row.col.f16.e4m3.e4m3.f16";
        mma_m16n8k16_f16_e4m3_e5m2 E4m3x4 E5m2x4 F16x2 F16x2, "m16n8k16.row.col.f16.e4m3.e5m2.f16", "m16n8k16.row.col.f16.e4m3.e5m2.f16";
        mma_m16n8k16_f16_e5m2_e4m3 E5m2x4 E4m3x4 F16x2 F16x2, "m16n8k16.row.col.f16.e5m2.e4m3.f16", "m16n8k16.row.col.f16.e5m2.e4m3.f16";
        mma_m16n8k16_f16_e5m2 E5m2x4 E5m2x4 F16x2 F16x2, "m16n8k16.row.col.f16.e5m2.e5m2.f16", "m16n8k16.row.col.f16.e5m2.e5m2.f16";
    }
    ShortFp8Matrices "Needs sm_89 and ptx87." (([a0 a1] 2) ([b0] 1) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k16_f32_e4m3 E4m3x4 E4m3x4 f32 f32, "m16n8k16.row.col.f32.e4m3.e4m3.f32", "m16n8k16.row.col.f32.e4m3.e4m3.f32";
        mma_m16n8k16_f32_e4m3_e5m2 E4m3x4 E5m2x4 f32 f32, "m16n8k16.row.col.f32.e4m3.e5m2.f32", "m16n8k16.row.col.f32.e4m3.e5m2.f32";
        mma_m16n8k16_f32_e5m2_e4m3 E5m2x4 E4m3x4 f32 f32, "m16n8k16.row.col.f32.e5m2.e4m3.f32", "m16n8k16.row.col.f32.e5m2.e4m3.f32";
        mma_m16n8k16_f32_e5m2 E5m2x4 E5m2x4 f32 f32, "m16n8k16.row.col.f32.e5m2.e5m2.f32", "m16n8k16.row.col.f32.e5m2.e5m2.f32";
    }
    ShortFp8Matrices "Needs sm_89 and ptx87." (([a0 a1 a2 a3] 4) ([b0 b1] 2) ([c0 c1] 2) (Of2 2)) {
        mma_m16n8k32_f16_e4m3 E4m3x4 E4m3x4 F16x2 F16x2, "m16n8k32.row.col.f16.e4m3.e4m3.f16", "m16n8k32.row.col.f16.e4m3.e4m3.f16";
        mma_m16n8k32_f16_e4m3_e5m2 E4m3x4 E5m2x4 F16x2 F16x2, "m16n8k32.row.col.f16.e4m3.e5m2.f16", "m16n8k32.row.col.f16.e4m3.e5m2.f16";
        mma_m16n8k32_f16_e5m2_e4m3 E5m2x4 E4m3x4 F16x2 F16x2, "m16n8k32.row.col.f16.e5m2.e4m3.f16", "m16n8k32.row.col.f16.e5m2.e4m3.f16";
        mma_m16n8k32_f16_e5m2 E5m2x4 E5m2x4 F16x2 F16x2, "m16n8k32.row.col.f16.e5m2.e5m2.f16", "m16n8k32.row.col.f16.e5m2.e5m2.f16";
    }
    MatrixStores "Needs sm_90 and ptx78." (([a0 a1] 2) ([b0] 1) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k4_f64_f64 f64 f64 f64 f64, "m16n8k4.row.col.f64.f64.f64.f64", "m16n8k4.row.col.f64";
    }
    MatrixStores "Needs sm_90 and ptx78." (([a0 a1 a2 a3] 4) ([b0 b1] 2) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k8_f64_f64 f64 f64 f64 f64, "m16n8k8.row.col.f64.f64.f64.f64", "m16n8k8.row.col.f64";
    }
    MatrixStores "Needs sm_90 and ptx78." (([a0 a1 a2 a3 a4 a5 a6 a7] 8) ([b0 b1 b2 b3] 4) ([c0 c1 c2 c3] 4) (Of4 4)) {
        mma_m16n8k16_f64_f64 f64 f64 f64 f64, "m16n8k16.row.col.f64.f64.f64.f64", "m16n8k16.row.col.f64";
    }
}
