//! `ldmatrix` and `stmatrix`. What is built by `ptx-build` or `cargo ptx` has `.shared` in them; rustc alone writes a generic address.

use ptx_intrinsics::SharedPtr;
use ptx_intrinsics::gate::{Gate, Matrices, MatrixStores, Needs, OnTarget};

use super::fragment::Register32;
#[cfg(target_arch = "nvptx64")]
use super::fragment::{Of2, Of4};
#[cfg(not(target_arch = "nvptx64"))]
use super::on_cpu;

macro_rules! rows {
    (
        loads { $($load:ident $count:literal $of:ty, $load_ptx:literal $load_llvm:literal;)* }
        stores { $($store:ident $many:literal [$($v:ident)*] $store_ptx:literal $store_llvm:literal;)* }
    ) => {
        gated! { $($load)* $($store)* }

        /// Each function's name, PTX and gate.
        #[doc(hidden)]
        pub const MOVES: &[(&str, &str, Needs)] = &[
            $((stringify!($load), $load_ptx, <Matrices as Gate>::NEEDS),)*
            $((stringify!($store), $store_ptx, <MatrixStores as Gate>::NEEDS),)*
        ];

        #[cfg(target_arch = "nvptx64")]
        mod llvm {
            use super::super::fragment::{Of2, Of4};

            ptx_intrinsics::__llvm! { {
                $(
                    #[link_name = $load_llvm]
                    pub(super) fn $load(row: *const u8) -> $of;
                )*
                $(
                    #[link_name = $store_llvm]
                    pub(super) fn $store(row: *mut u8, $($v: u32),*);
                )*
            } }
        }

        $(
            #[doc = concat!("Loads ", $count, " matrices of 8 rows of 16 bytes from shared memory, a register of each for a lane.")]
            ///
            #[doc = concat!("PTX: `", $load_ptx, " d, [row];`. Needs sm_75 and ptx65. [Which lane holds what](crate::matrix#which-lane-holds-what).")]
            ///
            /// PTX ISA: [ldmatrix](https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-ldmatrix).
            ///
            /// # Safety
            /// All lanes of the warp come here together, and none has ended.
            #[doc = concat!("In each of the first 8 × ", $count, " lanes `row` is aligned to 16 bytes and readable.")]
            /// Other lanes may have any address. No other thread writes these rows meanwhile.
            #[doc(alias = "ldmatrix")]
            #[inline(always)]
            pub unsafe fn $load<T: Register32>(row: SharedPtr<[T; 4]>) -> [T; $count]
            where
                Matrices: OnTarget<$load, T>,
            {
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's promise, and the result has these words.
                unsafe {
                    core::mem::transmute::<$of, [u32; $count]>(llvm::$load(row.as_generic().cast())).map(T::of_word)
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    on_cpu::load(stringify!($load), $load_ptx, row.as_generic().cast()).map(T::of_word)
                }
            }
        )*
        $(
            #[doc = concat!("Stores ", $many, " matrices of 8 rows of 16 bytes in shared memory, a register of each from a lane.")]
            ///
            #[doc = concat!("PTX: `", $store_ptx, " [row], value;`. Needs sm_90 and ptx78. [Which lane holds what](crate::matrix#which-lane-holds-what).")]
            ///
            /// PTX ISA: [stmatrix](https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-stmatrix).
            ///
            /// # Safety
            /// All lanes of the warp come here together, and none has ended.
            #[doc = concat!("In each of the first 8 × ", $many, " lanes `row` is aligned to 16 bytes and writable.")]
            /// Other lanes may have any address. No other thread uses these rows meanwhile.
            #[doc(alias = "stmatrix")]
            #[inline(always)]
            pub unsafe fn $store<T: Register32>(row: SharedPtr<[T; 4]>, value: [T; $many])
            where
                MatrixStores: OnTarget<$store, T>,
            {
                let words = value.map(T::word);
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's promise.
                unsafe {
                    let [$($v),*] = words;
                    llvm::$store(row.as_generic().cast(), $($v),*);
                }
                #[cfg(not(target_arch = "nvptx64"))]
                on_cpu::store(stringify!($store), $store_ptx, row.as_generic().cast(), words);
            }
        )*
    };
}

rows! {
    loads {
        ldmatrix_m8n8_x1 1 u32, "ldmatrix.sync.aligned.m8n8.x1.shared.b16" "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p0";
        ldmatrix_m8n8_x2 2 Of2<u32>, "ldmatrix.sync.aligned.m8n8.x2.shared.b16" "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p0";
        ldmatrix_m8n8_x4 4 Of4<u32>, "ldmatrix.sync.aligned.m8n8.x4.shared.b16" "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p0";
        ldmatrix_m8n8_x1_trans 1 u32, "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16" "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p0";
        ldmatrix_m8n8_x2_trans 2 Of2<u32>, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16" "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p0";
        ldmatrix_m8n8_x4_trans 4 Of4<u32>, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p0";
    }
    stores {
        stmatrix_m8n8_x1 1 [v0] "stmatrix.sync.aligned.m8n8.x1.shared.b16" "llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16.p0";
        stmatrix_m8n8_x2 2 [v0 v1] "stmatrix.sync.aligned.m8n8.x2.shared.b16" "llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.b16.p0";
        stmatrix_m8n8_x4 4 [v0 v1 v2 v3] "stmatrix.sync.aligned.m8n8.x4.shared.b16" "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p0";
        stmatrix_m8n8_x1_trans 1 [v0] "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16" "llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16.p0";
        stmatrix_m8n8_x2_trans 2 [v0 v1] "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16" "llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16.p0";
        stmatrix_m8n8_x4_trans 4 [v0 v1 v2 v3] "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16" "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16.p0";
    }
}
