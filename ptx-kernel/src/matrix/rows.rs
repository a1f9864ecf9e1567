//! `ldmatrix` and `stmatrix`. What is built by `ptx-build` or `cargo ptx` has `.shared` in them; rustc alone writes a generic address.

use ptx_intrinsics::SharedPtr;
use ptx_intrinsics::gate::{ByteMatrices, Gate, Matrices, MatrixStores, Needs, OnTarget};

use super::fragment::Register32;
#[cfg(target_arch = "nvptx64")]
use super::fragment::{Of2, Of4};
#[cfg(not(target_arch = "nvptx64"))]
use super::on_cpu;

/// The mnemonic; the gate and its words, the rows of a matrix in memory, and what a row is; and the functions: name, PTX before and after
/// `.shared`, and the registers of a lane.
macro_rules! moves {
    ($($mnemonic:ident $about:tt {
        $($name:ident $shape:literal $types:literal $registers:tt;)*
    })*) => {
        gated! { $($($name)*)* }

        /// Each function's name, PTX and gate.
        #[doc(hidden)]
        pub const MOVES: &[(&str, &str, Needs)] = &[$($(
            moved! { @listed $about $name (moved!(@ptx $mnemonic $shape $types)) }
        ),*),*];

        $($(moved! { @$mnemonic $about $name $shape $types $registers })*)*
    };
}

/// One function. The registers are the number of matrices, and for a load `2 Of2<u32>`: how many registers they are, and LLVM's type of
/// them.
macro_rules! moved {
    (@ptx $mnemonic:ident $shape:literal $types:literal) => {
        concat!(stringify!($mnemonic), ".sync.aligned.", $shape, ".shared.", $types)
    };
    (@listed ($gate:ident $($about:literal)*) $name:ident $ptx:expr) => {
        (stringify!($name), $ptx, <$gate as Gate>::NEEDS)
    };
    (@ldmatrix ($gate:ident $needs:literal $rows:literal $what:literal) $name:ident $shape:literal $types:literal
        ($matrices:literal $registers:literal $of:ty)) => {
        #[doc = concat!("Loads matrices of ", $rows, " rows from shared memory. A row is ", $what, ".")]
        ///
        #[doc = concat!("Matrices: ", $matrices, ". Registers of each lane: ", $registers, ".")]
        ///
        #[doc = concat!("PTX: `", moved!(@ptx ldmatrix $shape $types), " d, [row];`. ", $needs)]
        /// [Which lane holds what](crate::matrix#which-lane-holds-what).
        ///
        /// PTX ISA: [ldmatrix](https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-ldmatrix).
        ///
        /// # Safety
        /// All lanes of the warp come here together, and none has ended.
        #[doc = concat!("In each of the first ", $rows, " × ", $matrices, " lanes `row` is aligned to 16 bytes, and 16 bytes there are readable.")]
        /// Other lanes may have any address. No other thread writes these rows meanwhile.
        #[doc(alias = "ldmatrix")]
        #[inline(always)]
        pub unsafe fn $name<T: Register32>(row: SharedPtr<[T; 4]>) -> [T; $registers]
        where
            $gate: OnTarget<$name, T>,
        {
            #[cfg(target_arch = "nvptx64")]
            {
                ptx_intrinsics::__llvm! { {
                    #[link_name = concat!("llvm.nvvm.ldmatrix.sync.aligned.", $shape, ".", $types, ".p0")]
                    fn intrinsic(row: *const u8) -> $of;
                } }
                // SAFETY: the caller's promise, and the result has these words.
                unsafe {
                    core::mem::transmute::<$of, [u32; $registers]>(intrinsic(row.as_generic().cast())).map(T::of_word)
                }
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                on_cpu::load(stringify!($name), moved!(@ptx ldmatrix $shape $types), row.as_generic().cast())
                    .map(T::of_word)
            }
        }
    };
    (@stmatrix ($gate:ident $needs:literal $rows:literal $what:literal) $name:ident $shape:literal $types:literal
        ($matrices:literal [$($v:ident)*])) => {
        #[doc = concat!("Stores matrices of ", $rows, " rows in shared memory, a register of each from each lane. A row is ", $what, ".")]
        ///
        #[doc = concat!("Matrices: ", $matrices, ".")]
        ///
        #[doc = concat!("PTX: `", moved!(@ptx stmatrix $shape $types), " [row], value;`. ", $needs)]
        /// [Which lane holds what](crate::matrix#which-lane-holds-what).
        ///
        /// PTX ISA: [stmatrix](https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-stmatrix).
        ///
        /// # Safety
        /// All lanes of the warp come here together, and none has ended.
        #[doc = concat!("In each of the first ", $rows, " × ", $matrices, " lanes `row` is aligned to 16 bytes, and 16 bytes there are writable.")]
        /// Other lanes may have any address. No other thread uses these rows meanwhile.
        #[doc(alias = "stmatrix")]
        #[inline(always)]
        pub unsafe fn $name<T: Register32>(row: SharedPtr<[T; 4]>, value: [T; $matrices])
        where
            $gate: OnTarget<$name, T>,
        {
            let words = value.map(T::word);
            #[cfg(target_arch = "nvptx64")]
            {
                ptx_intrinsics::__llvm! { {
                    #[link_name = concat!("llvm.nvvm.stmatrix.sync.aligned.", $shape, ".", $types, ".p0")]
                    fn intrinsic(row: *mut u8, $($v: u32),*);
                } }
                let [$($v),*] = words;
                // SAFETY: the caller's promise.
                unsafe { intrinsic(row.as_generic().cast(), $($v),*) };
            }
            #[cfg(not(target_arch = "nvptx64"))]
            on_cpu::store(stringify!($name), moved!(@ptx stmatrix $shape $types), row.as_generic().cast(), words);
        }
    };
}

moves! {
    ldmatrix (Matrices "Needs sm_75 and ptx65." 8 "16 bytes") {
        ldmatrix_m8n8_x1 "m8n8.x1" "b16" (1 1 u32);
        ldmatrix_m8n8_x2 "m8n8.x2" "b16" (2 2 Of2<u32>);
        ldmatrix_m8n8_x4 "m8n8.x4" "b16" (4 4 Of4<u32>);
        ldmatrix_m8n8_x1_trans "m8n8.x1.trans" "b16" (1 1 u32);
        ldmatrix_m8n8_x2_trans "m8n8.x2.trans" "b16" (2 2 Of2<u32>);
        ldmatrix_m8n8_x4_trans "m8n8.x4.trans" "b16" (4 4 Of4<u32>);
    }
    ldmatrix (ByteMatrices "Needs sm_100f, sm_110f or sm_120f, and ptx86." 16 "16 bytes") {
        ldmatrix_m16n16_x1_trans_b8 "m16n16.x1.trans" "b8" (1 2 Of2<u32>);
        ldmatrix_m16n16_x2_trans_b8 "m16n16.x2.trans" "b8" (2 4 Of4<u32>);
    }
    ldmatrix (ByteMatrices "Needs sm_100f, sm_110f or sm_120f, and ptx86." 16 "16 numbers of 6 bits and 4 bytes of padding, and each number becomes a byte") {
        ldmatrix_m16n16_x1_trans_b8x16_b6x16_p32 "m16n16.x1.trans" "b8x16.b6x16_p32" (1 2 Of2<u32>);
        ldmatrix_m16n16_x2_trans_b8x16_b6x16_p32 "m16n16.x2.trans" "b8x16.b6x16_p32" (2 4 Of4<u32>);
    }
    ldmatrix (ByteMatrices "Needs sm_100f, sm_110f or sm_120f, and ptx86." 8 "16 numbers of 6 bits and 4 bytes of padding, and each number becomes a byte") {
        ldmatrix_m8n16_x1_b8x16_b6x16_p32 "m8n16.x1" "b8x16.b6x16_p32" (1 1 u32);
        ldmatrix_m8n16_x2_b8x16_b6x16_p32 "m8n16.x2" "b8x16.b6x16_p32" (2 2 Of2<u32>);
        ldmatrix_m8n16_x4_b8x16_b6x16_p32 "m8n16.x4" "b8x16.b6x16_p32" (4 4 Of4<u32>);
    }
    ldmatrix (ByteMatrices "Needs sm_100f, sm_110f or sm_120f, and ptx86." 16 "16 numbers of 4 bits and 8 bytes of padding, and each number becomes a byte") {
        ldmatrix_m16n16_x1_trans_b8x16_b4x16_p64 "m16n16.x1.trans" "b8x16.b4x16_p64" (1 2 Of2<u32>);
        ldmatrix_m16n16_x2_trans_b8x16_b4x16_p64 "m16n16.x2.trans" "b8x16.b4x16_p64" (2 4 Of4<u32>);
    }
    ldmatrix (ByteMatrices "Needs sm_100f, sm_110f or sm_120f, and ptx86." 8 "16 numbers of 4 bits and 8 bytes of padding, and each number becomes a byte") {
        ldmatrix_m8n16_x1_b8x16_b4x16_p64 "m8n16.x1" "b8x16.b4x16_p64" (1 1 u32);
        ldmatrix_m8n16_x2_b8x16_b4x16_p64 "m8n16.x2" "b8x16.b4x16_p64" (2 2 Of2<u32>);
        ldmatrix_m8n16_x4_b8x16_b4x16_p64 "m8n16.x4" "b8x16.b4x16_p64" (4 4 Of4<u32>);
    }
    stmatrix (MatrixStores "Needs sm_90 and ptx78." 8 "16 bytes") {
        stmatrix_m8n8_x1 "m8n8.x1" "b16" (1 [v0]);
        stmatrix_m8n8_x2 "m8n8.x2" "b16" (2 [v0 v1]);
        stmatrix_m8n8_x4 "m8n8.x4" "b16" (4 [v0 v1 v2 v3]);
        stmatrix_m8n8_x1_trans "m8n8.x1.trans" "b16" (1 [v0]);
        stmatrix_m8n8_x2_trans "m8n8.x2.trans" "b16" (2 [v0 v1]);
        stmatrix_m8n8_x4_trans "m8n8.x4.trans" "b16" (4 [v0 v1 v2 v3]);
    }
    stmatrix (ByteMatrices "Needs sm_100f, sm_110f or sm_120f, and ptx86." 8 "16 bytes") {
        stmatrix_m16n8_x1_trans_b8 "m16n8.x1.trans" "b8" (1 [v0]);
        stmatrix_m16n8_x2_trans_b8 "m16n8.x2.trans" "b8" (2 [v0 v1]);
        stmatrix_m16n8_x4_trans_b8 "m16n8.x4.trans" "b8" (4 [v0 v1 v2 v3]);
    }
}
