//! What the plain kernels need of `ptx_kernel`, by rust-cuda's `cuda_std`. Its compiler takes no assembler at the top of a
//! module, which shared and constant variables are.

use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};
pub(crate) use kernel;

pub(crate) fn global_index() -> u32 {
    whole(block_idx_x() * block_dim_x() + thread_idx_x())
}

pub(crate) fn global_size() -> u32 {
    grid_dim_x() * block_dim_x()
}

pub(crate) fn whole(mut number: u32) -> u32 {
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {number} */", number = inout(reg32) number, options(pure, nomem, nostack, preserves_flags));
    }
    number
}

/// Defines a kernel: a function and the entry point of the same name. Its bounds are left out.
macro_rules! kernel {
    (
        $(#[doc = $doc:expr])*
        $(#[launch_bounds($($bounds:tt)*)])?
        pub unsafe fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block
    ) => {
        $(#[doc = $doc])*
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) $body

        const _: () = {
            /// # Safety
            /// As the kernel says.
            #[cuda_std::kernel]
            pub unsafe fn $name($($argument: $type),*) {
                // SAFETY: whoever launches the kernel keeps its contract.
                unsafe { self::$name($($argument),*) }
            }
        };
    };
}
