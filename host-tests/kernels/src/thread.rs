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

/// The same number, as one that the compiler for the GPU knows nothing of. A sum it would take apart, to add what does not
/// change in a loop only where it is used: that is an instruction for each use, and a register for each part.
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

cfg_if::cfg_if! {
    if #[cfg(not(target_arch = "nvptx64"))] {
        /// No entry point: the function itself is what runs.
        macro_rules! entry_point {
            ($($kernel:tt)*) => {};
        }

        /// Where a parameter of a kernel lies: the argument itself.
        macro_rules! parameter {
            ($name:literal, $argument:ident) => {
                &raw const $argument
            };
        }
    } else {
        /// The function that the host launches.
        #[cfg(not(feature = "rust-cuda"))]
        macro_rules! launched {
            ($name:ident($($argument:ident: $type:ty),*) $body:block) => {
                #[unsafe(no_mangle)]
                unsafe extern "ptx-kernel" fn $name($($argument: $type),*) $body
            };
        }

        /// The function that the host launches.
        #[cfg(feature = "rust-cuda")]
        macro_rules! launched {
            ($name:ident($($argument:ident: $type:ty),*) $body:block) => {
                #[cuda_std::kernel]
                unsafe fn $name($($argument: $type),*) $body
            };
        }

        impl Thread {
            /// The thread that asks.
            #[inline(always)]
            pub fn current() -> Self {
                cfg_if::cfg_if! {
                    if #[cfg(feature = "rust-cuda")] {
                        use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};
                        let place = [grid_dim_x(), block_dim_x(), block_idx_x(), thread_idx_x()];
                    } else {
                        use core::arch::nvptx::{_block_dim_x, _block_idx_x, _grid_dim_x, _thread_idx_x};
                        // What is the same for all threads comes first: `ptxas` then keeps it in a uniform register.
                        // SAFETY: these only read the thread's own special registers.
                        let place = unsafe { [_grid_dim_x(), _block_dim_x(), _block_idx_x(), _thread_idx_x()] };
                        let place = place.map(|number| number as u32);
                    }
                }
                let [grid_dim, block_dim, block, thread] = place;
                Self { thread, block, block_dim, grid_dim }
            }
        }

        macro_rules! entry_point {
            ($name:ident($($argument:ident: $type:ty),*)) => {
                const _: () = {
                    launched! { $name($($argument: $type),*) {
                        // SAFETY: whoever launches the kernel keeps its contract.
                        unsafe { self::$name($crate::Thread::current(), $($argument),*) }
                    } }
                };
            };
            ($name:ident[$shared:ty]($($argument:ident: $type:ty),*)) => {
                // Outside of the constant's block: rustc 1.101 takes none inside.
                core::arch::global_asm!(
                    concat!(".shared .align 16 .b8 ", stringify!($name), "_shared[{bytes}];"),
                    // A variable has at least one byte.
                    bytes = const if size_of::<$shared>() == 0 { 1 } else { size_of::<$shared>() },
                );

                const _: () = {
                    launched! { $name($($argument: $type),*) {
                        let shared = generic_address!("shared", concat!(stringify!($name), "_shared"));
                        // SAFETY: the variable is this kernel's; whoever launches the kernel keeps its contract.
                        unsafe { self::$name($crate::Thread::current(), &$crate::Block::new(shared), $($argument),*) }
                    } }
                };
            };
        }

        /// The generic address of a PTX variable, by the name of its space and its own.
        macro_rules! generic_address {
            ($space:literal, $name:expr) => {{
                let address;
                // SAFETY: this takes an address, and reads nothing.
                unsafe {
                    core::arch::asm!(
                        "{{",
                        ".reg .b64 %in_space;",
                        concat!("mov.b64 %in_space, ", $name, ";"),
                        concat!("cvta.", $space, ".u64 {address}, %in_space;"),
                        "}}",
                        address = out(reg64) address,
                        options(pure, nomem, nostack),
                    );
                }
                address
            }};
        }

        /// Where a parameter of a kernel lies, by its name in PTX: Rust's own address of it is that of a copy.
        #[cfg_attr(not(feature = "parameters"), allow(unused_macros))]
        macro_rules! parameter {
            ($name:literal, $argument:ident) => {{
                let _ = $argument;
                generic_address!("param", $name)
            }};
        }
    }
}

/// Defines a kernel: a function of one thread and, on the GPU, the entry point of the same name. Threads that wait for
/// each other take their block too.
macro_rules! kernel {
    (
        $(#[$attribute:meta])*
        pub unsafe fn $name:ident(
            $thread:ident: Thread, $block:ident: &Block<$shared:ty> $(, $argument:ident: $type:ty)* $(,)?
        ) $body:block
    ) => {
        $(#[$attribute])*
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[allow(clippy::too_many_arguments)]
        pub unsafe fn $name($thread: Thread, $block: &Block<'_, $shared> $(, $argument: $type)*) $body

        entry_point!($name[$shared]($($argument: $type),*));
    };
    (
        $(#[$attribute:meta])*
        pub unsafe fn $name:ident($thread:ident: Thread $(, $argument:ident: $type:ty)* $(,)?) $body:block
    ) => {
        $(#[$attribute])*
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        pub unsafe fn $name($thread: Thread $(, $argument: $type)*) $body

        entry_point!($name($($argument: $type),*));
    };
}
