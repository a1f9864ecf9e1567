//! Shared memory: variables of a block, and memory whose size the launch says.

use ptx_intrinsics::gate::{Clusters, OnTarget};
use ptx_intrinsics::{SharedClusterPtr, SharedPtr};

/// Declares variables in shared memory, which all threads of a block share: for each a function that gives its address.
///
/// ```
/// use ptx_kernel::*;
///
/// shared! {
///     /// A value of each warp.
///     fn warps() -> [f32; 32];
/// }
///
/// kernel! {
///     /// # Safety
///     /// `out` points at an element for each block of one warp.
///     pub unsafe fn first(out: *mut f32) {
///         let warps = warps().cast::<f32>();
///         // SAFETY: a place for each lane, and one store for each block.
///         unsafe {
///             warps.add(lane_id()).write(lane_id() as f32);
///             sync_threads();
///             if thread_idx_x() == 0 {
///                 *out.add(block_idx_x() as usize) = warps.add(31).read();
///             }
///         }
///     }
/// }
/// ```
///
/// PTX: `.shared .align 16 .b8 name[bytes];`. Nothing is in it at first; on a CPU a pattern is, so that a kernel that reads
/// what it did not write gets no zeros. A kernel that does not name a variable has none of its memory taken.
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(asm_experimental_arch))]
macro_rules! shared {
    ($($(#[$attribute:meta])* $visibility:vis fn $name:ident() -> $type:ty;)*) => { $(
        #[cfg(target_arch = "nvptx64")]
        ::core::arch::global_asm!(
            // `ptx-build` gives the variable the name of the function, as far as PTX takes it.
            ::core::concat!(
                ".shared .align {align} .b8 ptx_kernel_shared_{name}[{bytes}]; // fn ",
                ::core::stringify!($name),
                ", line {line}, column {column}",
            ),
            name = const $crate::__private::unique(&$name, ::core::file!(), ::core::line!(), ::core::column!()),
            line = const ::core::line!(),
            column = const ::core::column!(),
            align = const if ::core::mem::align_of::<$type>() < 16 { 16 } else { ::core::mem::align_of::<$type>() },
            // A variable has at least one byte.
            bytes = const if ::core::mem::size_of::<$type>() == 0 { 1 } else { ::core::mem::size_of::<$type>() },
        );

        $(#[$attribute])*
        #[inline(always)]
        $visibility fn $name() -> $crate::__private::SharedPtr<$type> {
            #[cfg(target_arch = "nvptx64")]
            {
                let address: u32;
                // SAFETY: it takes an address, and reads nothing.
                unsafe {
                    ::core::arch::asm!(
                        "mov.u32 {address}, ptx_kernel_shared_{name};",
                        name = const $crate::__private::unique(&$name, ::core::file!(), ::core::line!(), ::core::column!()),
                        address = out(reg32) address,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
                $crate::__private::SharedPtr::from_address(address)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                static VARIABLE: u8 = 0;
                $crate::cpu::variable(&VARIABLE)
            }
        }
    )* };
    ($($other:tt)*) => {
        ::core::compile_error!("write each variable as a function that gives its address: `fn tile() -> [f32; 256];`");
    };
}

/// A number that no other variable has: the path of its function, and where that is written. FNV-1a.
#[cfg(target_arch = "nvptx64")]
pub const fn unique<F>(_: &F, file: &str, line: u32, column: u32) -> u64 {
    let mut hash = hashed(0xcbf2_9ce4_8422_2325, core::any::type_name::<F>().as_bytes());
    hash = hashed(hash, file.as_bytes());
    hash = hashed(hash, &line.to_le_bytes());
    hashed(hash, &column.to_le_bytes())
}

#[cfg(target_arch = "nvptx64")]
const fn hashed(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(target_arch = "nvptx64")]
core::arch::global_asm!(".extern .shared .align 16 .b8 ptx_kernel_dynamic_shared[];");

/// The shared memory whose size the launch says: `cpu::Launch::dynamic_shared`, or the third number of a launch on a GPU. It begins
/// after the variables of [`shared!`](crate::shared), at a multiple of 16. This is its first address that is aligned for a `T`, so with
/// a `T` that is aligned to more than 16 bytes, as boxes of a tensor are, a launch adds the alignment to the size.
///
/// ```
/// use ptx_kernel::*;
///
/// #[repr(C, align(128))]
/// struct Tile([f32; 64]);
///
/// kernel! {
///     /// # Safety
///     /// A block of one thread has 624 bytes of dynamic shared memory.
///     pub unsafe fn second_tile() {
///         // SAFETY: there are two tiles, of which nobody else uses one, and 112 bytes before them at most.
///         unsafe { dynamic_shared::<Tile>().add(1).cast::<f32>().write(1.0) };
///     }
/// }
///
/// // SAFETY: as the kernel says.
/// unsafe { cpu::Launch::new(1, 1).dynamic_shared(2 * size_of::<Tile>() + 112).run(|| second_tile()) };
/// ```
///
/// PTX: `.extern .shared .align 16 .b8 name[];`. More than 1,024 do not compile.
#[inline(always)]
pub fn dynamic_shared<T>() -> SharedPtr<T> {
    const { assert!(align_of::<T>() <= 1024, "dynamic shared memory is aligned to 1,024 bytes at most") };
    #[cfg(target_arch = "nvptx64")]
    {
        let address: u32;
        // SAFETY: it takes an address, and reads nothing.
        unsafe {
            core::arch::asm!(
                "mov.u32 {address}, ptx_kernel_dynamic_shared;",
                address = out(reg32) address,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        let align = align_of::<T>() as u32;
        SharedPtr::from_address(if align <= 16 { address } else { (address + (align - 1)) & !(align - 1) })
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::cpu::dynamic()
    }
}

/// The place in the shared memory of the cluster's block of that number that corresponds to `p` in this block's.
///
/// PTX: `mapa.shared::cluster.u32 d, p, rank;`. Needs sm_90 and ptx78.
#[doc(alias = "mapa")]
#[inline(always)]
pub fn shared_of<T>(p: SharedPtr<T>, rank: u32) -> SharedClusterPtr<T>
where
    Clusters: OnTarget<SharedClusterPtr<T>, T>,
{
    #[cfg(target_arch = "nvptx64")]
    {
        let address: u32;
        // SAFETY: it makes an address of an address; a `SharedPtr` is one of 32 bits.
        unsafe {
            core::arch::asm!(
                "mapa.shared::cluster.u32 {address}, {p}, {rank};",
                address = out(reg32) address,
                p = in(reg32) core::mem::transmute_copy::<SharedPtr<T>, u32>(&p),
                rank = in(reg32) rank,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        SharedClusterPtr::from_address(address)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        SharedClusterPtr::new(crate::cpu::of_rank(p, rank))
    }
}
