//! Where a thread stands in its grid, and how a kernel becomes an entry point.

/// A thread's place in a one-dimensional grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number in its block.
    pub thread: u32,
    /// Its block's number in the grid.
    pub block: u32,
    /// How many threads a block has.
    pub block_dim: u32,
    /// How many blocks the grid has.
    pub grid_dim: u32,
}

impl Thread {
    /// Its number in the grid.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.block as usize * self.block_dim as usize + self.thread as usize
    }

    /// How many threads the grid has: the step of a loop that the whole grid shares.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.grid_dim as usize * self.block_dim as usize
    }
}

cfg_if::cfg_if! {
    if #[cfg(not(target_arch = "nvptx64"))] {
        /// No entry point: the function itself is what runs.
        macro_rules! entry_point {
            ($($kernel:tt)*) => {};
        }
    } else if #[cfg(feature = "rust-cuda")] {
        impl Thread {
            /// The thread that asks.
            #[inline(always)]
            pub(crate) fn current() -> Self {
                use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};
                Self {
                    thread: thread_idx_x(),
                    block: block_idx_x(),
                    block_dim: block_dim_x(),
                    grid_dim: grid_dim_x(),
                }
            }
        }

        macro_rules! entry_point {
            ($name:ident($($argument:ident: $type:ty),*)) => {
                const _: () = {
                    /// # Safety
                    /// As the kernel says.
                    #[cuda_std::kernel]
                    pub unsafe fn $name($($argument: $type),*) {
                        // SAFETY: whoever launches the kernel keeps its contract.
                        unsafe { self::$name($crate::Thread::current(), $($argument),*) }
                    }
                };
            };
        }
    } else {
        impl Thread {
            /// The thread that asks.
            #[inline(always)]
            pub(crate) fn current() -> Self {
                use core::arch::nvptx::{_block_dim_x, _block_idx_x, _grid_dim_x, _thread_idx_x};
                // SAFETY: these only read the thread's own special registers.
                let place = unsafe { [_thread_idx_x(), _block_idx_x(), _block_dim_x(), _grid_dim_x()] };
                let [thread, block, block_dim, grid_dim] = place.map(|number| number as u32);
                Self { thread, block, block_dim, grid_dim }
            }
        }

        macro_rules! entry_point {
            ($name:ident($($argument:ident: $type:ty),*)) => {
                const _: () = {
                    #[unsafe(no_mangle)]
                    unsafe extern "ptx-kernel" fn $name($($argument: $type),*) {
                        // SAFETY: whoever launches the kernel keeps its contract.
                        unsafe { self::$name($crate::Thread::current(), $($argument),*) }
                    }
                };
            };
        }
    }
}

/// Defines a kernel: a function of one thread and, on the GPU, the entry point of the same name.
macro_rules! kernel {
    (
        $(#[$attribute:meta])*
        pub unsafe fn $name:ident($thread:ident: Thread $(, $argument:ident: $type:ty)* $(,)?) $body:block
    ) => {
        $(#[$attribute])*
        #[inline(always)]
        pub unsafe fn $name($thread: Thread $(, $argument: $type)*) $body

        entry_point!($name($($argument: $type),*));
    };
}
