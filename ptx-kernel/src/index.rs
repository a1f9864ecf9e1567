//! Where a thread is: in its warp, its block, its cluster, its grid.

use ptx_intrinsics::gate::{Clusters, OnTarget};

/// Threads of a warp.
pub const WARP_SIZE: u32 = 32;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident $register:literal $intrinsic:ident $field:ident $dimension:ident;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `mov.u32 d, ", $register, ";`.")]
        #[doc(alias = $register)]
        #[inline(always)]
        pub fn $name() -> u32 {
            cfg_if::cfg_if! {
                if #[cfg(not(target_arch = "nvptx64"))] {
                    crate::cpu::place().$field.$dimension
                } else if #[cfg(feature = "rust-cuda")] {
                    cuda_std::thread::$name()
                } else {
                    // SAFETY: it reads a special register.
                    unsafe { core::arch::nvptx::$intrinsic() as u32 }
                }
            }
        }
    )* };
}
indices! {
    /// The thread's number in its block, in `x`.
    thread_idx_x "%tid.x" _thread_idx_x thread x;
    /// The thread's number in its block, in `y`.
    thread_idx_y "%tid.y" _thread_idx_y thread y;
    /// The thread's number in its block, in `z`.
    thread_idx_z "%tid.z" _thread_idx_z thread z;
    /// The block's number in the grid, in `x`.
    block_idx_x "%ctaid.x" _block_idx_x block x;
    /// The block's number in the grid, in `y`.
    block_idx_y "%ctaid.y" _block_idx_y block y;
    /// The block's number in the grid, in `z`.
    block_idx_z "%ctaid.z" _block_idx_z block z;
    /// How many threads a block has in `x`.
    block_dim_x "%ntid.x" _block_dim_x block_dim x;
    /// How many threads a block has in `y`.
    block_dim_y "%ntid.y" _block_dim_y block_dim y;
    /// How many threads a block has in `z`.
    block_dim_z "%ntid.z" _block_dim_z block_dim z;
    /// How many blocks the grid has in `x`.
    grid_dim_x "%nctaid.x" _grid_dim_x grid_dim x;
    /// How many blocks the grid has in `y`.
    grid_dim_y "%nctaid.y" _grid_dim_y grid_dim y;
    /// How many blocks the grid has in `z`.
    grid_dim_z "%nctaid.z" _grid_dim_z grid_dim z;
}

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    fn laneid() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.ctarank"]
    fn cluster_ctarank() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.nctarank"]
    fn cluster_nctarank() -> u32;
}

/// The thread's number in its warp, 0 to 31.
///
/// PTX: `mov.u32 d, %laneid;`.
#[doc(alias = "%laneid")]
#[inline(always)]
pub fn lane_id() -> u32 {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it reads a special register.
    unsafe {
        laneid()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::cpu::place().lane()
    }
}

gated! { cluster_rank cluster_size }

/// The block's number in its cluster.
///
/// PTX: `mov.u32 d, %cluster_ctarank;`. Needs sm_90 and ptx78.
#[doc(alias = "%cluster_ctarank")]
#[inline(always)]
pub fn cluster_rank() -> u32
where
    for<'a> Clusters: OnTarget<cluster_rank, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it reads a special register.
    unsafe {
        cluster_ctarank()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::cpu::place().rank
    }
}

/// How many blocks the cluster has.
///
/// PTX: `mov.u32 d, %cluster_nctarank;`. Needs sm_90 and ptx78.
#[doc(alias = "%cluster_nctarank")]
#[inline(always)]
pub fn cluster_size() -> u32
where
    for<'a> Clusters: OnTarget<cluster_size, &'a ()>,
{
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it reads a special register.
    unsafe {
        cluster_nctarank()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::cpu::place().cluster
    }
}

/// The thread's number in a grid of one dimension: where a loop over all elements begins.
///
/// It is a number that the compiler does not take apart, as [`whole`] makes it.
#[inline(always)]
pub fn global_index() -> u32 {
    whole(block_idx_x() * block_dim_x() + thread_idx_x())
}

/// How many threads a grid of one dimension has: the step of a loop over all elements.
#[inline(always)]
pub fn global_size() -> u32 {
    grid_dim_x() * block_dim_x()
}

/// The same number, as one of which the compiler for the GPU knows nothing. It would take a sum apart, and add in each
/// iteration of a loop what is the same in all: an instruction for each use, and a register for each part.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), allow(unused_mut))]
pub fn whole(mut number: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {number} */", number = inout(reg32) number, options(pure, nomem, nostack, preserves_flags));
    }
    number
}

/// CUDA C++'s names, so that the compiler knows them and says ours.
macro_rules! of_cuda {
    ($($name:ident $ours:literal;)*) => { $(
        #[doc(hidden)]
        #[allow(non_upper_case_globals, reason = "it is the name in CUDA C++")]
        #[deprecated = $ours]
        pub const $name: OfCuda = OfCuda;
    )* };
}
of_cuda! {
    threadIdx "in Rust write `thread_idx_x()`, `thread_idx_y()` or `thread_idx_z()`";
    blockIdx "in Rust write `block_idx_x()`, `block_idx_y()` or `block_idx_z()`";
    blockDim "in Rust write `block_dim_x()`, `block_dim_y()` or `block_dim_z()`";
    gridDim "in Rust write `grid_dim_x()`, `grid_dim_y()` or `grid_dim_z()`";
    warpSize "in Rust write `WARP_SIZE`";
}

/// It has no fields.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct OfCuda;
