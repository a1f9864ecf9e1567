//! [`kernel!`](crate::kernel): a function that is an entry point on a GPU.

/// Defines a kernel: a function and, on the GPU, the entry point of the same name.
///
/// ```
/// use ptx_kernel::*;
///
/// const THREADS: u32 = 128;
///
/// kernel! {
///     /// Counts up.
///     ///
///     /// # Safety
///     /// `out` points at an element for each thread of the grid.
///     #[launch_bounds(THREADS, 8)]
///     pub unsafe fn count(out: *mut u32) {
///         // SAFETY: the thread's own element.
///         unsafe { *out.add(global_index() as usize) = global_index() }
///     }
/// }
/// ```
///
/// | Attribute | PTX | Meaning |
/// | --- | --- | --- |
/// | `#[launch_bounds(T)]` | `.maxntid T` | a block has `T` threads at most, in all dimensions together: a launch with more fails; `T` is from 1 to 1,024 |
/// | `#[launch_bounds(T, B)]` | and `.minnctapersm B` | so few registers that `B` blocks fit into a multiprocessor; these are at least 1, and `T` times `B` is at most 2,048 |
/// | `#[cluster_size(N)]` | `.reqnctapercluster N` | a cluster has `N` blocks in `x`, from 1 to 16 (sm_90, ptx78) |
///
/// The numbers may be constants. A number out of range is an error. Without bounds `ptxas` keeps a kernel small enough for
/// blocks of 1,024 threads, and so has fewer loads on their way at once. rustc cannot write these lines into PTX: it writes them
/// as comments, `// ptx-kernel: entry count: .maxntid 128`, and whoever builds the PTX puts them after the parameters of the entry.
///
/// Parameters are numbers and pointers, or `#[repr(C)]` structs of them, up to 16 bytes of alignment. There are no
/// generic kernels: call a generic function.
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(abi_ptx, asm_experimental_arch))]
macro_rules! kernel {
    ($($kernel:tt)*) => { $crate::__kernel! { @attributes [] [] $($kernel)* } };
}

/// The threads of a block, if there are blocks of so many.
#[track_caller]
pub const fn threads(threads: u32) -> u32 {
    assert!(threads >= 1 && threads <= 1024, "#[launch_bounds]: a block has from 1 to 1,024 threads");
    threads
}

/// The blocks of a multiprocessor, if one can hold so many of so many threads.
#[track_caller]
pub const fn blocks(blocks: u32, threads: u32) -> u32 {
    assert!(blocks >= 1, "#[launch_bounds]: a multiprocessor holds at least one block");
    assert!(blocks <= 32, "#[launch_bounds]: a multiprocessor holds at most 32 blocks");
    assert!(blocks.saturating_mul(threads) <= 2048, "#[launch_bounds]: a multiprocessor holds at most 2,048 threads");
    blocks
}

/// The blocks of a cluster, if there are clusters of so many.
#[track_caller]
pub const fn cluster(blocks: u32) -> u32 {
    assert!(blocks >= 1 && blocks <= 16, "#[cluster_size]: a cluster has from 1 to 16 blocks");
    blocks
}

/// `@attributes` takes the attributes one by one: what goes to the function, and the PTX of the entry.
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(abi_ptx, asm_experimental_arch))]
macro_rules! __kernel {
    (@attributes [$($kept:tt)*] [$($lines:tt)*] #[launch_bounds($threads:expr $(,)?)] $($rest:tt)*) => {
        $crate::__kernel! { @attributes [$($kept)*] [$($lines)* {".maxntid" $crate::__private::threads($threads)}] $($rest)* }
    };
    (@attributes [$($kept:tt)*] [$($lines:tt)*] #[launch_bounds($threads:expr, $blocks:expr $(,)?)] $($rest:tt)*) => {
        $crate::__kernel! {
            @attributes [$($kept)*] [
                $($lines)*
                {".maxntid" $crate::__private::threads($threads)}
                {".minnctapersm" $crate::__private::blocks($blocks, $threads)}
            ]
            $($rest)*
        }
    };
    (@attributes [$($kept:tt)*] [$($lines:tt)*] #[cluster_size($blocks:expr $(,)?)] $($rest:tt)*) => {
        $crate::__kernel! { @attributes [$($kept)*] [$($lines)* {".reqnctapercluster" $crate::__private::cluster($blocks)}] $($rest)* }
    };
    (@attributes [$($kept:tt)*] $lines:tt #[$attribute:meta] $($rest:tt)*) => {
        $crate::__kernel! { @attributes [$($kept)* #[$attribute]] $lines $($rest)* }
    };
    (@attributes [$($kept:tt)*] [$({$line:literal $value:expr})*]
        $visibility:vis unsafe fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $($kept)*
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[allow(clippy::too_many_arguments)]
        $visibility unsafe fn $name($($argument: $type),*) $body

        $(
            #[cfg(target_arch = "nvptx64")]
            ::core::arch::global_asm!(
                ::core::concat!("// ptx-kernel: entry ", ::core::stringify!($name), ": ", $line, " {value}"),
                value = const { let value: u32 = $value; value },
            );
        )*

        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            $crate::__launched! { $name($($argument: $type),*) {
                // SAFETY: whoever launches the kernel keeps its contract.
                unsafe { self::$name($($argument),*) }
            } }
        };
        $(#[cfg(not(target_arch = "nvptx64"))] const _: u32 = $value;)*
    };
    (@attributes $kept:tt $lines:tt $visibility:vis fn $($rest:tt)*) => {
        ::core::compile_error!("a kernel is an `unsafe fn`: whoever launches it keeps a contract that no type states");
    };
    (@attributes $kept:tt $lines:tt $($rest:tt)*) => {
        ::core::compile_error!(
            "write a kernel as `pub unsafe fn name(argument: Type, …) { … }`, without generics and without a result"
        );
    };
}

/// The function that the host launches.
#[cfg(not(target_feature = "compute_50"))]
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(abi_ptx))]
macro_rules! __launched {
    ($name:ident($($argument:ident: $type:ty),*) $body:block) => {
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn $name($($argument: $type),*) $body
    };
}

/// The same for rust-cuda, which has an attribute of its own, and target features that tell of it.
#[cfg(target_feature = "compute_50")]
#[doc(hidden)]
#[macro_export]
macro_rules! __launched {
    ($name:ident($($argument:ident: $type:ty),*) $body:block) => {
        #[unsafe(no_mangle)]
        #[nvvm_internal::kernel]
        unsafe extern "C" fn $name($($argument: $type),*) $body
    };
}
