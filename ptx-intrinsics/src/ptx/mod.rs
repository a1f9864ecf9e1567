//! `ptx!`: a load, store, atomic or `multimem` in PTX's own words, put together where it is written.

#[macro_use]
mod words;
#[cfg(not(ptx_device))]
#[macro_use]
mod on_cpu;
#[cfg(ptx_device)]
#[macro_use]
mod on_gpu;
#[macro_use]
mod lanes;
#[macro_use]
pub mod atomic;
#[macro_use]
pub mod multimem;
mod values;

pub use self::values::*;
#[cfg(not(ptx_device))]
pub use crate::cpu::atomic::{change, changed};
pub use crate::isa::atomic::{Kind, kinds};
#[cfg(not(ptx_device))]
pub use crate::isa::order::Meaning;

/// Spells a load, a store, an atomic or a `multimem` in PTX itself: every legal form, one instruction, checked when the crate is checked.
///
/// ```
/// use ptx_intrinsics::prelude::*;
///
/// let (mut x, mut y) = (2.5f32, 0.0f32);
/// // What others write meanwhile has no `&` in Rust: an atomic access takes a pointer that may be written through.
/// let shared = &raw mut x;
/// unsafe {
///     // d = …
///     let v = ptx!(ld.relaxed.gpu.global.L1::no_allocate.L2::256B.f32 [shared]);
///     // a policy, for `.L2::cache_hint`
///     let w = ptx!(ld.global.L2::cache_hint.f32 [shared], CachePolicy::EVICT_FIRST);
///     // @cond, and what the value is where `cond` is false: the address is not touched then
///     let ready = v == w;
///     let u = ptx!(@ready ld.acquire.sys.f32 [shared], else 0.0);
///     ptx!(@ready st.release.gpu.global.f32 [&mut y], u);
/// }
/// assert_eq!(y, 2.5);
///
/// let mut count = 7u32;
/// unsafe {
///     // nothing comes back
///     ptx!(red.relaxed.gpu.global.add.u32 [&mut count], 1);
///     // what stood there
///     let before = ptx!(atom.acq_rel.sys.global.cas.b32 [&mut count], 8, 0);
///     assert_eq!((before, count), (8, 0));
/// }
///
/// let row = V8::new([0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
/// // some lanes of a 256-bit vector: `_` is PTX's sink, and comes out as zero
/// let v = unsafe { ptx!(ld.global.nc.L1::evict_last.L2::evict_first.v8.f32 {d, _, d, _, _, _, _, d}, [&row]) };
/// assert_eq!(v.0, [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 7.0]);
/// ```
///
/// | Form | |
/// | --- | --- |
/// | `ptx!(ld….type [p])` | gives the value |
/// | `ptx!(ld….type [p].unified)` | of a variable with the attribute `.unified` (the ISA asks for sm_90, `ptxas` does not) |
/// | `ptx!(ld….v8.f32 {d, _, …}, [p])` | some lanes; any name, or `_` |
/// | `ptx!(ld…L2::cache_hint….type [p], policy)` | under a [`CachePolicy`](crate::CachePolicy) |
/// | `ptx!(@cond ld….type [p], else or)` | under a predicate: `cond` is a name or `(expression)` |
/// | `ptx!(@cond ld….type [p], else _)` | where `cond` is false the value does not matter: any bits |
/// | `ptx!(ldu….type [p])` | gives what all threads of the warp load from one address |
/// | `ptx!(st….type [p], value)` | stores |
/// | `ptx!(st….v8.f32 [p], {a, _, …})` | stores some lanes |
/// | `ptx!(st…L2::cache_hint….type [p], value, policy)` | under a policy |
/// | `ptx!(@cond st….type [p], value)` | under a predicate |
/// | `ptx!(atom….type [p], value)` | changes the value at `p` and gives what was there |
/// | `ptx!(atom….cas.type [p], compare, value)` | stores `value` if `compare` is there |
/// | `ptx!(@cond atom….type [p], value, else or)` | under a predicate |
/// | `ptx!(red….type [p], value)` | changes the value at `p` |
/// | `ptx!(@cond red….type [p], value)` | under a predicate |
/// | `ptx!(red…L2::cache_hint.type [p], value, policy)` | under a policy, `atom` too |
///
/// | `ptx!(multimem.ld_reduce….type [p])` | gives the sum, minimum, … of the values that all GPUs have at `p` |
/// | `ptx!(@cond multimem.ld_reduce….type [p], else or)` | under a predicate |
/// | `ptx!(multimem.st….type [p], value)` | stores on all GPUs |
/// | `ptx!(multimem.red….type [p], value)` | changes the values of all GPUs at `p` |
/// | `ptx!(@cond multimem.st….type [p], value)` | under a predicate, `multimem.red` too |
///
/// The words are PTX's, in the order of the PTX ISA or in any other, and go to the assembler letter for letter. Which of
/// them go together is checked when the crate is: an illegal spelling, or one that the target does not have, is an error
/// that says why. Types are those of [`Element`](crate::element::Element): `.f32` is `f32`, `.s32` is `i32`, `.b32` is
/// [`B32`](crate::element::B32), `.v4.u32` is [`V4<u32>`](crate::element::V4). `p` may also point to a type that is moved as that one: an
/// `f16` for `.b16`, a `u128` for `.b128`. The floats of 16 bits that atomics add are `half`'s with feature `half`, and bits
/// without: `.f16` takes `f16` or [`B16`](crate::element::B16), `.f16x2` [`V2<f16>`](crate::element::V2) or [`B32`](crate::element::B32), `.v4.f16x2`
/// [`V8<f16>`](crate::element::V8) or [`V4<B32>`](crate::element::V4). Their bits of 32 and 64 may also be integers.
///
/// Where the machine has no instruction for an atomic, the assembler makes a loop of it: for floats in shared memory, for
/// single 16-bit floats, and at generic addresses, which may turn out to be shared memory. `cargo xtask explain` shows it.
/// `.f32` without `.noftz` may take subnormal numbers for zero. On a CPU each element is one atomic, 128 bits take a lock.
/// On an H100 `.add.noftz.f16x2` and `.bf16x2` in the shared memory of another block add 32-bit integers; `cargo ptx run` names them.
///
/// # Memory of several GPUs
/// `multimem` takes a *multimem address*: it points to one copy on each GPU of a multicast object, which
/// [`cuMulticastCreate`](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MULTICAST.html) makes.
#[doc = concat!("`multimem`: ", needs!(Multimems))]
#[doc = concat!("`.acc::f32`, which makes the sums of floats of 16 bits in `f32`: ", needs!(MultimemSums))]
#[doc = concat!("Floats of 8 bits, and `.acc::f16`, which makes their sums in `f16`: ", needs!(MultimemFp8))]
///
/// ```
/// use ptx_intrinsics::prelude::*;
///
/// let mut copy = V4::new([1.0f32, 2.0, 3.0, 4.0]);
/// let mut arrived = 0u32;
/// unsafe {
///     // The sum of the copies of all GPUs, then the same on each: an all-reduce.
///     let sum = ptx!(multimem.ld_reduce.relaxed.sys.global.add.v4.f32 [&raw const copy]);
///     ptx!(multimem.st.relaxed.sys.global.v4.f32 [&raw mut copy], sum);
///     // Each GPU counts all of them: a barrier.
///     ptx!(multimem.red.release.sys.global.add.u32 [&raw mut arrived], 1);
/// }
/// // On a CPU there is one copy.
/// assert_eq!((copy.0, arrived), ([1.0, 2.0, 3.0, 4.0], 1));
/// ```
///
/// On a CPU, and in the interpreter of `cargo ptx run`, a multimem address stands for one copy: `ld_reduce` gives its value. The types
/// of floats of 8 bits are bits: `.e4m3x4` is [`B32`](crate::element::B32), `.v4.e4m3` `V4<B8>`. `.weak`, `.relaxed`, `.acquire` and `.release`
/// mean what they do elsewhere. Which one a GPU adds first is not said, so a sum of floats may differ in its last bits.
///
/// A pointer is a generic address, as all of Rust's are, and is converted for the space that the words name; see
/// [`Ld`](crate::Ld) for what that is in each space. In `.shared` a [`SharedPtr`](crate::SharedPtr) may be given instead, in
/// `.shared::cluster` a [`SharedClusterPtr`](crate::SharedClusterPtr): `ptx!(red.shared.add.u32 [bins.add(i)], 1)` is free
/// of the conversion.
///
/// Only what is used is compiled, where [`ld_global`](crate::ld_global) and the others have a method for everything that
/// is written every day.
///
/// PTX ISA: [ld](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld),
/// [ldu](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ldu),
/// [st](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st),
/// [atom](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom),
/// [red](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-red),
/// [multimem](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-multimem).
///
/// # Safety
/// As for the functions of the same meaning: [`Ld::read`](crate::Ld::read), [`St::write`](crate::St::write),
/// [`LdGlobalNc::read`](crate::LdGlobalNc::read). `ldu` reads what nothing writes while the kernel runs, and all threads of
/// a warp that run it give one address. For an atomic, `p` is the address of a value of the type, aligned to its
/// size, in the space that the words name, which this thread may read and write, and which others access meanwhile by
/// atomics alone.
///
/// For a `multimem`, `p` is a multimem address of a value of the type in global memory, aligned to its size: each copy is readable
/// (`.ld_reduce`, `.red`) and writable (`.st`, `.red`). No other instruction accesses memory through a multimem address. The copy of
/// one GPU has an ordinary address too. That is an access by another proxy: between an access through the one address and one
/// through the other is a [`fence_proxy_alias`](crate::fence::fence_proxy_alias), on the way by which the threads synchronise.
#[doc(alias = "multimem.ld_reduce")]
#[doc(alias = "multimem.st")]
#[doc(alias = "multimem.red")]
#[doc(alias = "acc::f16")]
#[doc(alias = "acc::f32")]
#[doc(alias = "ldu")]
#[doc(alias = "ldu.global")]
#[doc(alias = "atom")]
#[doc(alias = "red")]
#[doc(alias = "atom.add")]
#[doc(alias = "atom.and")]
#[doc(alias = "atom.or")]
#[doc(alias = "atom.xor")]
#[doc(alias = "atom.min")]
#[doc(alias = "atom.max")]
#[doc(alias = "atom.inc")]
#[doc(alias = "atom.dec")]
#[doc(alias = "red.add")]
#[doc(alias = "red.and")]
#[doc(alias = "red.or")]
#[doc(alias = "red.xor")]
#[doc(alias = "red.min")]
#[doc(alias = "red.max")]
#[doc(alias = "red.inc")]
#[doc(alias = "red.dec")]
#[doc(alias = "atom.exch")]
#[doc(alias = "atom.cas")]
#[macro_export]
macro_rules! ptx {
    (@! $($rest:tt)*) => { $crate::__ptx! { @predicate } };
    (@* $($rest:tt)*) => { $crate::__ptx! { @predicate } };
    (@$cond:tt atom $($rest:tt)*) => { $crate::__ptx! { @words { __with_atomic_type atom [@ $cond] } () memory any generic $($rest)* } };
    (@$cond:tt red $($rest:tt)*) => { $crate::__ptx! { @words { __with_atomic_type red [@ $cond] } () memory any generic $($rest)* } };
    (atom $($rest:tt)*) => { $crate::__ptx! { @words { __with_atomic_type atom [] } () memory any generic $($rest)* } };
    (red $($rest:tt)*) => { $crate::__ptx! { @words { __with_atomic_type red [] } () memory any generic $($rest)* } };
    (@$cond:tt multimem . $op:ident $($rest:tt)*) => {
        $crate::__ptx! { @words { __with_multimem_type $op [@ $cond] } (. $op) pure any generic $($rest)* }
    };
    (multimem . $op:ident $($rest:tt)*) => { $crate::__ptx! { @words { __with_multimem_type $op [] } (. $op) pure any generic $($rest)* } };
    (@$cond:tt $op:ident $($rest:tt)*) => { $crate::__ptx! { @words { __with_element $op [@ $cond] } () pure any generic $($rest)* } };
    ($op:ident $($rest:tt)*) => { $crate::__ptx! { @words { __with_element $op [] } () pure any generic $($rest)* } };
    (@$($other:tt)*) => { $crate::__ptx! { @predicate } };
    ($($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes PTX's words as they are, without quotes: `ptx!(ld.global.f32 [p])`")
    };
}

/// The types that PTX's words name.
#[doc(hidden)]
pub mod types {
    pub use crate::isa::element::{B8, B16, B32, B64, B128, V2, V4, V8};
    pub use core::primitive::*;
}
