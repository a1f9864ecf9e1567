//! Tensor maps, as a kernel takes them.

/// What describes a tensor in global memory, and the box of it that a copy moves: CUDA's `CUtensorMap`, 128 bytes that the host makes.
///
/// A kernel takes a `&TensorMap`, which the host passes by value, and hands it to `cp_async_bulk_tensor_…` of `ptx-intrinsics`. The
/// host makes it by `TensorMap::tiled`: [`encode`](crate::Tiled::encode) for a CPU and for `cargo ptx run`,
/// [`encode_by`](crate::Tiled::encode_by) the driver for a GPU.
///
/// ```
/// use ptx_intrinsics::cp_async_bulk::*;
/// use ptx_intrinsics::fence::*;
/// use ptx_intrinsics::mbarrier::*;
/// use ptx_intrinsics::prelude::*;
/// use ptx_kernel::*;
///
/// #[repr(align(128))]
/// struct Tile([[f32; 8]; 4]);
///
/// shared! {
///     fn tile() -> Tile;
///     fn here() -> Mbarrier;
/// }
///
/// kernel! {
///     /// Copies a tile of 8 × 4 elements.
///     ///
///     /// # Safety
///     /// Both maps are of matrices of `f32` and have such boxes, and the second is of one that nobody else touches. A block has a thread.
///     pub unsafe fn copy(from: &TensorMap, to: &TensorMap, x: i32, y: i32) {
///         // SAFETY: the barrier expects the bytes of the box, and nobody else uses shared memory.
///         unsafe {
///             mbarrier_init(here(), 1);
///             fence_proxy_async_shared_cta();
///             mbarrier_arrive_expect_tx(here(), 128);
///             cp_async_bulk_tensor_shared_cluster_global(tile(), from, [x, y], here());
///             while !mbarrier_try_wait_parity(here(), 0) {
///                 pause();
///             }
///             cp_async_bulk_tensor_global_shared(to, [x, y], tile());
///             cp_async_bulk_commit_group();
///             cp_async_bulk_wait_group_read::<0>();
///         }
///     }
/// }
///
/// let (mut from, mut to) = ([[0.0f32; 12]; 5], [[9.0f32; 12]; 5]);
/// from.as_flattened_mut().iter_mut().enumerate().for_each(|(at, element)| *element = at as f32);
/// let map = |of: &mut [[f32; 12]; 5]| TensorMap::tiled(of.as_mut_ptr().cast::<f32>(), [12, 5], [8, 4]).encode();
/// let (a, b) = (map(&mut from)?, map(&mut to)?);
/// // SAFETY: as the kernel says.
/// unsafe { cpu::Launch::new(1, 1).run(|| copy(&a, &b, 8, 2)) };
/// // What is outside of the matrix is neither read nor written.
/// assert_eq!((to[1][8], to[2][7], to[2][8], to[4][11]), (9.0, 9.0, 32.0, 59.0));
/// # Ok::<(), TensorMapError>(())
/// ```
///
/// PTX: `.param .align 64 .b8 name[128]`, and its address by `cvta.param.u64`. Needs sm_90 and ptx80, as the copies do.
///
/// PTX ISA: [tensors](https://docs.nvidia.com/cuda/parallel-thread-execution/#tensors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct TensorMap([u64; 16]);

#[cfg(not(target_arch = "nvptx64"))]
impl TensorMap {
    pub(crate) fn new(words: [u64; 16]) -> TensorMap {
        TensorMap(words)
    }

    /// Its bytes, as a launch by the driver takes an argument.
    pub fn bytes(&self) -> [u8; 128] {
        let mut bytes = [0; 128];
        bytes.chunks_exact_mut(8).zip(self.0).for_each(|(place, word)| place.copy_from_slice(&word.to_ne_bytes()));
        bytes
    }
}

macro_rules! swizzles {
    ($($(#[$doc:meta])* $name:ident $bytes:literal $align:literal $bits:literal;)*) => { $(
        #[doc = concat!("Where a byte of a box is in shared memory, if the box was copied with a swizzle of ", $bytes, " bytes.")]
        ///
        $(#[$doc])*
        #[doc = concat!("`offset` is where the byte would be without a swizzle, counted from an address that is a multiple of ", $align, ".")]
        /// The function is its own inverse.
        #[inline(always)]
        pub const fn $name(offset: u32) -> u32 {
            offset ^ (offset >> 3 & $bits)
        }
    )* };
}
swizzles! {
    /// Bit 4 of it is changed by bit 7.
    swizzle_32 "32" "256" 0x10;
    /// Bits 4 and 5 of it are changed by bits 7 and 8.
    swizzle_64 "64" "512" 0x30;
    /// Bits 4 to 6 of it are changed by bits 7 to 9: the 16 bytes of column `c` of row `r`, of 128 bytes, are at column `c ^ r % 8`.
    ///
    /// ```
    /// use ptx_kernel::swizzle_128;
    ///
    /// let (row, column) = (5, 6);
    /// assert_eq!(swizzle_128(128 * row + 16 * column), 128 * row + 16 * (column ^ row % 8));
    /// ```
    ///
    swizzle_128 "128" "1024" 0x70;
}
