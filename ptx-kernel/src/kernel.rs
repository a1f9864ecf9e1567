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
/// Parameters are numbers and pointers, and structs of them whose author says so: see [`KernelArgument`]. A `&TensorMap` is a map that
/// the host passes by value, CUDA's `const __grid_constant__ CUtensorMap`: see [`TensorMap`](crate::TensorMap). There are no generic
/// kernels: call a generic function. `#[cfg]` is of the entry too.
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(abi_ptx, asm_experimental_arch))]
macro_rules! kernel {
    ($($kernel:tt)*) => { $crate::__kernel! { @attributes [] [] [] [] $($kernel)* } };
}

/// A type that the host passes to a kernel: numbers, pointers, and structs of them whose author says so.
///
/// ```
/// use ptx_kernel::*;
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Matrix {
///     data: *const f32,
///     rows: u32,
///     columns: u32,
/// }
/// // SAFETY: its layout is C's, and it is a pointer and two numbers.
/// unsafe impl KernelArgument for Matrix {}
///
/// kernel! {
///     /// # Safety
///     /// `data` points at the matrix, and `sum` at a number, and one thread runs it.
///     pub unsafe fn sum(of: Matrix, sum: *mut f32) {
///         // SAFETY: the caller's promise.
///         unsafe { *sum = (0..of.rows * of.columns).map(|i| *of.data.add(i as usize)).sum() }
///     }
/// }
/// ```
///
/// PTX: `.param`. Any target.
///
/// PTX ISA: [kernel function parameters](https://docs.nvidia.com/cuda/parallel-thread-execution/#kernel-function-parameters).
///
/// # Safety
/// The type has the same layout on the host and on the GPU, as a `#[repr(C)]` struct has, is aligned to 16 bytes at most, and holds
/// numbers and pointers alone: a reference or a `bool` would promise what the host cannot see.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a `{Self}`",
    label = "a kernel takes numbers and pointers",
    note = "for a slice pass a pointer and a length, `x: *const f32, n: u32`; for a reference a pointer; for a `bool` a `u32`",
    note = "for a `#[repr(C)]` struct of numbers and pointers write `unsafe impl KernelArgument for` it"
)]
pub unsafe trait KernelArgument {}

macro_rules! arguments {
    ($($type:ty)*) => { $(
        // SAFETY: a number.
        #[diagnostic::do_not_recommend]
        unsafe impl KernelArgument for $type {}
    )* };
}
arguments! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 }
// SAFETY: a policy is a number of 64 bits.
#[diagnostic::do_not_recommend]
unsafe impl KernelArgument for ptx_intrinsics::CachePolicy {}
// SAFETY: an address.
#[diagnostic::do_not_recommend]
unsafe impl<T> KernelArgument for *const T {}
// SAFETY: an address.
#[diagnostic::do_not_recommend]
unsafe impl<T> KernelArgument for *mut T {}
// SAFETY: the host passes the map by value, and `kernel!` makes a reference of it that is good for the whole kernel.
#[diagnostic::do_not_recommend]
unsafe impl KernelArgument for &crate::TensorMap {}

/// The bytes of an argument that stays in the kernel's parameters. rustc knows no alignment of a parameter above 16.
#[cfg(target_arch = "nvptx64")]
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Constant<const BYTES: usize>([u8; BYTES]);

/// Compiles if the host can pass a `T`.
pub const fn argument<T: KernelArgument>() {}

/// The number itself: a place for a constant expression that brings no name.
pub const fn number(number: u32) -> u32 {
    number
}

/// How many names there are.
#[cfg(target_arch = "nvptx64")]
pub const fn count(names: &[&str]) -> usize {
    names.len()
}

/// Checks the number of threads of a block.
#[track_caller]
pub const fn threads(threads: u32) -> u32 {
    assert!(threads >= 1 && threads <= 1024, "#[launch_bounds]: a block has from 1 to 1,024 threads");
    threads
}

/// Checks the number of blocks that a multiprocessor has to hold.
#[track_caller]
pub const fn blocks(blocks: u32, threads: u32) -> u32 {
    assert!(blocks >= 1, "#[launch_bounds]: a multiprocessor holds at least one block");
    assert!(blocks <= 32, "#[launch_bounds]: a multiprocessor holds at most 32 blocks");
    assert!(blocks.saturating_mul(threads) <= 2048, "#[launch_bounds]: a multiprocessor holds at most 2,048 threads");
    blocks
}

/// Checks the number of blocks of a cluster.
#[track_caller]
pub const fn cluster(blocks: u32) -> u32 {
    assert!(blocks >= 1 && blocks <= 16, "#[cluster_size]: a cluster has from 1 to 16 blocks");
    blocks
}

/// `@attributes` takes the attributes one by one: what goes to the function, the conditions of all of it, and the lines of PTX of
/// its threads and of its cluster. `@arguments` looks for a generic argument, with which the compiler drops the entry without a word.
/// `@define` writes the function and the entry, and `@line` a line of PTX.
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(abi_ptx, asm_experimental_arch))]
macro_rules! __kernel {
    (@attributes $kept:tt $cfg:tt [] $cluster:tt #[launch_bounds($threads:expr $(,)?)] $($rest:tt)*) => {
        $crate::__kernel! { @attributes $kept $cfg [{".maxntid" $crate::__private::threads($threads)}] $cluster $($rest)* }
    };
    (@attributes $kept:tt $cfg:tt [] $cluster:tt #[launch_bounds($threads:expr, $blocks:expr $(,)?)] $($rest:tt)*) => {
        $crate::__kernel! {
            @attributes $kept $cfg [
                {".maxntid" $crate::__private::threads($threads)}
                {".minnctapersm" $crate::__private::blocks($blocks, $threads)}
            ] $cluster $($rest)*
        }
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt [] #[cluster_size($blocks:expr $(,)?)] $($rest:tt)*) => {
        $crate::__kernel! {
            @attributes $kept $cfg $bounds [{".reqnctapercluster" $crate::__private::cluster($blocks)}] $($rest)*
        }
    };
    (@attributes $kept:tt $cfg:tt [$($set:tt)+] $cluster:tt #[launch_bounds $($again:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("two `#[launch_bounds]`: a kernel has one");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt [$($set:tt)+] #[cluster_size $($again:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("two `#[cluster_size]`: a kernel has one");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt #[launch_bounds $($wrong:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("write `#[launch_bounds(threads)]` or `#[launch_bounds(threads, blocks)]`");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt #[cluster_size $($wrong:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("write `#[cluster_size(blocks)]`: a cluster has so many blocks in `x`");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt #[launch_bound $($wrong:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("`#[launch_bound]`: did you mean `#[launch_bounds(threads)]`?");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt #[__launch_bounds__ $($wrong:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("`#[__launch_bounds__]`: did you mean `#[launch_bounds(threads)]`?");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt #[cluster_dims $($wrong:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("`#[cluster_dims]`: did you mean `#[cluster_size(blocks)]`?");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt #[__cluster_dims__ $($wrong:tt)*] $($rest:tt)*) => {
        ::core::compile_error!("`#[__cluster_dims__]`: did you mean `#[cluster_size(blocks)]`?");
    };
    (@attributes $kept:tt [$($cfg:tt)*] $bounds:tt $cluster:tt #[cfg($($when:tt)*)] $($rest:tt)*) => {
        $crate::__kernel! { @attributes $kept [$($cfg)* #[cfg($($when)*)]] $bounds $cluster $($rest)* }
    };
    (@attributes [$($kept:tt)*] $cfg:tt $bounds:tt $cluster:tt #[$attribute:meta] $($rest:tt)*) => {
        $crate::__kernel! { @attributes [$($kept)* #[$attribute]] $cfg $bounds $cluster $($rest)* }
    };
    (@attributes $kept:tt $cfg:tt [$($bounds:tt)*] [$($cluster:tt)*]
        $visibility:vis unsafe fn $name:ident($($arguments:tt)*) $body:block) => {
        $crate::__kernel! {
            @arguments [[$($arguments)*] $kept $cfg [$($bounds)* $($cluster)*] {$visibility} $name $body] [] [] $($arguments)*
        }
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt $visibility:vis fn $($rest:tt)*) => {
        ::core::compile_error!("a kernel is an `unsafe fn`: whoever launches it keeps a contract that no type states");
    };
    (@attributes $kept:tt $cfg:tt $bounds:tt $cluster:tt $($rest:tt)*) => {
        $crate::__kernel! { @form }
    };
    (@arguments $kernel:tt $before:tt $taken:tt $argument:ident: impl $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "`", ::core::stringify!($argument), ": impl …`: a kernel is no generic function, since the host launches it by its name: \
             name the type, or call a generic function"
        ));
    };
    (@arguments $kernel:tt [$($before:ident)*] [$($taken:tt)*] $argument:ident: &mut $type:ty $(, $($rest:tt)*)?) => {
        $crate::__kernel! {
            @arguments $kernel [$($before)* $argument] [$($taken)* {value $argument [&mut $type]}] $($($rest)*)?
        }
    };
    (@arguments $kernel:tt [$($before:ident)*] [$($taken:tt)*] $argument:ident: &$type:path $(, $($rest:tt)*)?) => {
        $crate::__kernel! {
            @arguments $kernel [$($before)* $argument] [$($taken)* {constant $argument [$type] [$($before)*]}] $($($rest)*)?
        }
    };
    (@arguments $kernel:tt [$($before:ident)*] [$($taken:tt)*] $argument:ident: $type:ty $(, $($rest:tt)*)?) => {
        $crate::__kernel! {
            @arguments $kernel [$($before)* $argument] [$($taken)* {value $argument [$type]}] $($($rest)*)?
        }
    };
    (@arguments [$($kernel:tt)*] $before:tt $taken:tt) => { $crate::__kernel! { @define $taken $($kernel)* } };
    (@arguments $($other:tt)*) => { $crate::__kernel! { @form } };
    (@form) => {
        ::core::compile_error!(
            "write a kernel as `pub unsafe fn name(argument: Type, …) { … }`, without generics, patterns, `mut` or a result, each in a \
             `kernel!` of its own"
        );
    };
    (@define [$($taken:tt)*] $arguments:tt $kept:tt $cfg:tt [$({$line:literal $value:expr})*] $visibility:tt $name:ident $body:block) => {
        $crate::__kernel! { @function [$($taken)*] $arguments $kept $cfg [$({$line $value})*] $visibility $name $body }
        $($crate::__kernel! { @line $cfg $name $line $value })*
        $($crate::__taken! { line $cfg $name $taken })*
    };
    (@function [$($taken:tt)*] [$($argument:ident: $type:ty),* $(,)?] [$($kept:tt)*] [$($cfg:tt)*] [$({$line:literal $value:expr})*]
        {$visibility:vis} $name:ident $body:block) => {
        $($cfg)*
        $($kept)*
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[allow(clippy::too_many_arguments)]
        $visibility unsafe fn $name($($argument: $type),*) {
            #[cfg(not(target_arch = "nvptx64"))]
            $crate::cpu::begin(::core::stringify!($name), &[$(($line, $value)),*]);
            $body
        }

        $($cfg)*
        const _: () = {
            $($crate::__private::argument::<$type>();)*
            // An argument may have the kernel's name, and so has the entry below.
            #[cfg(target_arch = "nvptx64")]
            use $name as __named;
            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn __kernel($($argument: $type),*) {
                // SAFETY: the caller keeps the kernel's contract.
                unsafe { __named($($argument),*) }
            }
            #[cfg(target_arch = "nvptx64")]
            const _: () = {
                $crate::__launched! { $name($($argument: $crate::__taken!(type $taken)),*) {
                    // SAFETY: whoever launches the kernel keeps its contract.
                    unsafe { __kernel($($crate::__taken!(value $name $taken)),*) }
                } }
            };
        };
    };
    (@line [$($cfg:tt)*] $name:ident $line:literal $value:expr) => {
        $($cfg)*
        #[cfg(target_arch = "nvptx64")]
        ::core::arch::global_asm!(
            ::core::concat!("// ptx-kernel: entry ", ::core::stringify!($name), ": ", $line, " {}"),
            const { $crate::__private::number($value) },
        );
        $($cfg)*
        #[cfg(not(target_arch = "nvptx64"))]
        const _: u32 = $value;
    };
}

/// An argument: the `type` of the entry's parameter, the `value` that the function takes, and a `line` for whoever builds the PTX. What
/// a function takes by reference stays where the host put it: its address is that of the parameter, by the name that LLVM gives it.
#[doc(hidden)]
#[macro_export]
#[cfg_attr(target_arch = "nvptx64", allow_internal_unstable(asm_experimental_arch))]
macro_rules! __taken {
    (type {value $argument:ident [$type:ty]}) => { $type };
    (type {constant $argument:ident [$type:ty] $before:tt}) => {
        $crate::__private::Constant<{ ::core::mem::size_of::<$type>() }>
    };
    (value $name:ident {value $argument:ident $type:tt}) => { $argument };
    (value $name:ident {constant $argument:ident [$type:ty] [$($before:ident)*]}) => {{
        let _ = $argument;
        let address: *const $type;
        ::core::arch::asm!(
            "{{",
            ".reg .b64 %in_param;",
            ::core::concat!("mov.b64 %in_param, ", ::core::stringify!($name), "_param_{index};"),
            "cvta.param.u64 {address}, %in_param;",
            "}}",
            index = const $crate::__private::count(&[$(::core::stringify!($before)),*]),
            address = out(reg64) address,
            options(pure, nomem, nostack, preserves_flags),
        );
        &*address
    }};
    (line $cfg:tt $name:ident {value $argument:ident $type:tt}) => {};
    (line [$($cfg:tt)*] $name:ident {constant $argument:ident [$type:ty] [$($before:ident)*]}) => {
        $($cfg)*
        #[cfg(target_arch = "nvptx64")]
        ::core::arch::global_asm!(
            ::core::concat!("// ptx-kernel: entry ", ::core::stringify!($name), ": .param {index} .align {align}"),
            index = const $crate::__private::count(&[$(::core::stringify!($before)),*]),
            align = const ::core::mem::align_of::<$type>(),
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
