//! `ptx!`: a load, store or atomic in PTX's own words, put together where it stands.

use crate::element::*;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host;
use crate::shared_ptr::{InCluster, InShared, InSharedCluster, SharedClusterPtr, SharedPtr, Writable};
use crate::spell::same_bits;
#[cfg(not(target_arch = "nvptx64"))]
use crate::spelling::Spelling;

/// Spells a load, a store or an atomic in PTX itself: every legal form, one instruction, checked when the crate is checked.
///
/// ```
/// use ptx_intrinsics::{CachePolicy, V8, ptx};
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
/// | `ptx!(ldu….type [p])` | gives what all threads of the warp load from one address |
/// | `ptx!(st….type [p], value)` | stores |
/// | `ptx!(st….v8.f32 [p], {a, _, …})` | stores some lanes |
/// | `ptx!(st…L2::cache_hint….type [p], value, policy)` | under a policy |
/// | `ptx!(@cond st….type [p], value)` | under a predicate |
/// | `ptx!(atom….type [p], value)` | changes the value at `p` and gives what stood there |
/// | `ptx!(atom….cas.type [p], compare, value)` | stores `value` where `compare` stands |
/// | `ptx!(@cond atom….type [p], value, else or)` | under a predicate |
/// | `ptx!(red….type [p], value)` | changes the value at `p` |
/// | `ptx!(@cond red….type [p], value)` | under a predicate |
/// | `ptx!(red…L2::cache_hint.type [p], value, policy)` | under a policy, `atom` too |
///
/// The words are PTX's, in the order of the PTX ISA or in any other, and go to the assembler letter for letter. Which of
/// them go together is checked when the crate is: an illegal spelling, or one that the target does not have, is an error
/// that says why. Types are those of [`Element`](crate::Element): `.f32` is `f32`, `.s32` is `i32`, `.b32` is
/// [`B32`](crate::B32), `.v4.u32` is [`V4<u32>`](crate::V4). `p` may also point to a type that is moved as that one: an
/// `f16` for `.b16`, a `u128` for `.b128`. The floats of 16 bits that atomics add are `half`'s with feature `half`, and bits
/// without: `.f16` takes `f16` or [`B16`](crate::B16), `.f16x2` [`V2<f16>`](crate::V2) or [`B32`](crate::B32), `.v4.f16x2`
/// [`V8<f16>`](crate::V8) or [`V4<B32>`](crate::V4). Their bits of 32 and 64 may also be integers.
///
/// Where the machine has no instruction for an atomic, the assembler makes a loop of it: for floats in shared memory, for
/// single 16-bit floats, and at generic addresses, which may turn out to be shared memory. `cargo xtask explain` shows it.
/// `.f32` without `.noftz` may take subnormal numbers for zero. On a CPU each element is one atomic, 128 bits take a lock.
///
/// A pointer is a generic address, as all of Rust's are, and is converted for the space that the words name; see
/// [`Ld`](crate::Ld) for what that is in each space. In `.shared` a [`SharedPtr`](crate::SharedPtr) may stand for it too, in
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
/// [red](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-red).
///
/// # Safety
/// As for the functions that the words stand for: [`Ld::read`](crate::Ld::read), [`St::write`](crate::St::write),
/// [`LdGlobalNc::read`](crate::LdGlobalNc::read). `ldu` reads what nothing writes while the kernel runs, and all threads of
/// a warp that run it give one address. For an atomic, `p` is the address of a value of the type, aligned to its
/// size, in the space that the words name, which this thread may read and write, and which others access meanwhile by
/// atomics alone.
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
    (@$cond:tt atom $($rest:tt)*) => { $crate::__atomic! { @words atom [@ $cond] () any generic $($rest)* } };
    (@$cond:tt red $($rest:tt)*) => { $crate::__atomic! { @words red [@ $cond] () any generic $($rest)* } };
    (atom $($rest:tt)*) => { $crate::__atomic! { @words atom [] () any generic $($rest)* } };
    (red $($rest:tt)*) => { $crate::__atomic! { @words red [] () any generic $($rest)* } };
    (@$cond:tt $op:ident $($rest:tt)*) => { $crate::__ptx! { @words $op [@ $cond] () pure generic $($rest)* } };
    ($op:ident $($rest:tt)*) => { $crate::__ptx! { @words $op [] () pure generic $($rest)* } };
}

/// `@words` takes the words one by one, noting the space, whether it may be merged, and the type; `@type` has the
/// type's registers, `@load` and `@store` the operands.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx {
    // The type, which ends the words.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . v2 . $ty:ident $($operands:tt)*) => {
        $crate::__with_element! { (v2 $ty) $op $guard ($($words)* . v2 . $ty) $effect $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . v4 . $ty:ident $($operands:tt)*) => {
        $crate::__with_element! { (v4 $ty) $op $guard ($($words)* . v4 . $ty) $effect $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . v8 . $ty:ident $($operands:tt)*) => {
        $crate::__with_element! { (v8 $ty) $op $guard ($($words)* . v8 . $ty) $effect $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $ty:ident [$($p:tt)*] $($operands:tt)*) => {
        $crate::__with_element! { ($ty) $op $guard ($($words)* . $ty) $effect $space [$($p)*] $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $ty:ident {$($d:tt)*} $($operands:tt)*) => {
        $crate::__with_element! { ($ty) $op $guard ($($words)* . $ty) $effect $space {$($d)*} $($operands)* }
    };
    // A space whose addresses are converted.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . shared :: cluster $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . shared::cluster) $effect shared_cluster $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . shared :: cta $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . shared::cta) $effect shared $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . shared $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . shared) $effect shared $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . const $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . const) $effect const $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . local $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . local) $effect local $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . param :: func $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . param::func) $effect param_func $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . param :: entry $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . param::entry) $effect param_entry $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . param $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . param) $effect param_entry $($rest)* }
    };
    // A word that keeps the access where it is.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . volatile $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . volatile) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . relaxed $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . relaxed) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . acquire $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . acquire) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . lu $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . lu) memory $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . cv $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . cv) memory $space $($rest)* }
    };
    // Any other.
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $level:tt :: $word:tt $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . $level::$word) $effect $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $effect:ident $space:ident . $word:tt $($rest:tt)*) => {
        $crate::__ptx! { @words $op $guard ($($words)* . $word) $effect $space $($rest)* }
    };
    (@words $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `ld….type [p]`, `ldu….type [p]`, `st….type [p], value`, and `atom` and `red` as `st`: PTX's words, then the operands")
    };

    (@type ld $($rest:tt)*) => { $crate::__ptx! { @loaded ld $($rest)* } };
    (@type ldu $($rest:tt)*) => { $crate::__ptx! { @loaded ldu $($rest)* } };
    (@loaded $op:ident ($($t:tt)*) $registers:tt $guard:tt $words:tt $effect:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @load $guard { $op $words $effect $space ($($t)*) $registers } $($operands)* }
    };
    (@type st ($($t:tt)*) $registers:tt $guard:tt $words:tt $effect:ident $space:ident $($operands:tt)*) => {
        $crate::__ptx! { @store $guard { st $words memory $space ($($t)*) $registers } $($operands)* }
    };
    (@type $($other:tt)*) => { ::core::compile_error!("`ptx!` spells `ld`, `ldu`, `st`, `atom` and `red`") };

    (@load [] $s:tt [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx_load! { $s [] $p, [$($policy)?] false }
    };
    (@load [] $s:tt [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx_load! { $s [] $p, [$($policy)?] true }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [] false }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr], $policy:expr, else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [$policy] false }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [] true }
    };
    (@load [@ $cond:tt] $s:tt [$p:expr].unified, $policy:expr, else $or:expr) => {
        $crate::__ptx_load! { $s [@ $cond, $or] $p, [$policy] true }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr] $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$($policy)?] false }
    };
    (@load [] $s:tt {$($lane:tt),* $(,)?}, [$p:expr].unified $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$($policy)?] true }
    };
    (@load [@ $($cond:tt)*] $s:tt [$p:expr] $($rest:tt)*) => {
        ::core::compile_error!("a load under a predicate says what the value is where it is false: `ptx!(@cond ld….type [p], else value)`")
    };
    (@load $($other:tt)*) => {
        ::core::compile_error!("the operands of a load are `[p]`, `[p].unified` or `{d, _, …}, [p]`, then a policy if it has `.L2::cache_hint`")
    };

    (@store [] $s:tt [$p:expr], {$($lane:tt),* $(,)?} $(, $policy:expr)?) => {
        $crate::__ptx_lanes! { $s [$($lane)*] $p, [$($policy)?] false }
    };
    (@store $guard:tt $s:tt [$p:expr], $value:expr $(, $policy:expr)?) => {
        $crate::__ptx_store! { $guard $s $p, $value, [$($policy)?] }
    };
    (@store $($other:tt)*) => {
        ::core::compile_error!("the operands of a store are `[p], value` or `[p], {value, _, …}`, then a policy if it has `.L2::cache_hint`")
    };

    // A type by its path.
    (@named ($vector:ident<$scalar:ident>) ($($registers:tt)*) $op:ident $($rest:tt)*) => {
        $crate::__ptx! { @type $op ($crate::ptx::types::$vector<$crate::ptx::types::$scalar>) ($($registers)*) $($rest)* }
    };
    (@named ($scalar:ident) ($($registers:tt)*) $op:ident $($rest:tt)*) => {
        $crate::__ptx! { @type $op ($crate::ptx::types::$scalar) ($($registers)*) $($rest)* }
    };
    (@text $op:ident $($word:tt)*) => { ::core::concat!(::core::stringify!($op) $(, ::core::stringify!($word))*) };
    (@meaning $($words:tt)*) => { const { $crate::ptx::meaning($crate::__ptx!(@text $($words)*)) } };
    (@from shared $t:ty, $p:expr) => { $crate::ptx::from_shared::<_, $t>($p) };
    (@from shared_cluster $t:ty, $p:expr) => { $crate::ptx::from_shared_cluster::<_, $t>($p) };
    (@from $other:ident $t:ty, $p:expr) => { $crate::ptx::from::<_, $t>($p) };
    (@to shared $t:ty, $p:expr) => { $crate::ptx::to_shared::<_, $t>($p) };
    (@to shared_cluster $t:ty, $p:expr) => { $crate::ptx::to_shared_cluster::<_, $t>($p) };
    (@to $other:ident $t:ty, $p:expr) => { $crate::ptx::to::<_, $t>($p) };
    (@pointer shared $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer shared_cluster $p:ident) => { $crate::ptx::shared_pointer($p) };
    (@pointer $other:ident $p:ident) => { $p };
    (@has) => { false };
    (@has $policy:expr) => { true };
    (@drop) => {};
    (@drop $policy:expr) => { let _: $crate::CachePolicy = $policy; };
}

/// The types that PTX's words stand for.
#[doc(hidden)]
pub mod types {
    pub use crate::element::{B8, B16, B32, B64, B128, V2, V4, V8};
    pub use core::primitive::*;
}

macro_rules! with_element {
    (($d:tt) $({($($t:tt)*) ($($word:ident)*) $text:tt $shape:ident $class:ident $register:ident $width:ident})*) => {
        /// Goes on with the type that PTX's words stand for, and its registers.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __with_element {
            $((($($word)*) $d($d rest:tt)*) => {
                $d crate::__ptx! { @named ($($t)*) ($shape $class $register) $d($d rest)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt ($d($d word:tt)*) $d($d rest:tt)*) => {{
                const _: $d crate::spelling::Spelling = $d crate::spelling::demand(
                    $d crate::__ptx!(@text $d op $d($d word)*), false, false, $d crate::spelling::Lanes::All
                );
                loop {}
            }};
        }
    };
}
for_each_element! { with_element ($) }

/// A load of a whole value, or under a predicate.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_load {
    ({ $op:ident ($($word:tt)*) $effect:ident $space:ident ($t:ty) ($shape:ident $class:ident $r:ident) }
        [] $p:expr, [$($policy:expr)?] $unified:tt) => {{
        const _: $crate::spelling::Spelling = $crate::spelling::demand(
            $crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy)?), $unified, $crate::spelling::Lanes::All
        );
        let __ptx_p = $crate::__ptx!(@from $space $t, $p);
        #[cfg(target_arch = "nvptx64")]
        let __ptx_value = {
            let mut __ptx_d: $crate::__registers!($shape ::core::mem::MaybeUninit<$crate::ptx::types::$r>) = $crate::ptx::registers();
            $crate::__ptx_asm! { @unified $unified { $op $effect ($($word)*) } [$($policy)?] [] ($shape out $class __ptx_d) $space __ptx_p () }
            $crate::ptx::value(__ptx_p, __ptx_d)
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_value = {
            $crate::__ptx!(@drop $($policy)?);
            $crate::ptx::load($crate::__ptx!(@meaning $op $($word)*), $crate::__ptx!(@pointer $space __ptx_p))
        };
        __ptx_value
    }};
    ({ $op:ident ($($word:tt)*) $effect:ident $space:ident ($t:ty) ($shape:ident $class:ident $r:ident) }
        [@ $cond:tt, $or:expr] $p:expr, [$($policy:expr)?] $unified:tt) => {{
        const _: $crate::spelling::Spelling = $crate::spelling::demand(
            $crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy)?), $unified, $crate::spelling::Lanes::All
        );
        let (__ptx_cond, __ptx_p) = ($cond, $crate::__ptx!(@from $space $t, $p));
        let __ptx_or = $crate::ptx::like(__ptx_p, $or);
        #[cfg(target_arch = "nvptx64")]
        let __ptx_value = {
            let mut __ptx_d: $crate::__registers!($shape ::core::mem::MaybeUninit<$crate::ptx::types::$r>) = $crate::ptx::registers_of(__ptx_or);
            $crate::__ptx_asm! { @unified $unified { $op $effect ($($word)*) } [$($policy)?] [@] ($shape inout $class __ptx_d) $space __ptx_p
                (cond = in(reg32) $crate::ptx::bit(__ptx_cond),) }
            $crate::ptx::value(__ptx_p, __ptx_d)
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_value = {
            $crate::__ptx!(@drop $($policy)?);
            if __ptx_cond { $crate::ptx::load($crate::__ptx!(@meaning $op $($word)*), $crate::__ptx!(@pointer $space __ptx_p)) } else { __ptx_or }
        };
        __ptx_value
    }};
}

/// A store of a whole value, or under a predicate.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_store {
    ([] { st ($($word:tt)*) $effect:ident $space:ident ($t:ty) ($shape:ident $class:ident $r:ident) }
        $p:expr, $value:expr, [$($policy:expr)?]) => {{
        const _: $crate::spelling::Spelling = $crate::spelling::demand(
            $crate::__ptx!(@text st $($word)*), $crate::__ptx!(@has $($policy)?), false, $crate::spelling::Lanes::All
        );
        let __ptx_p = $crate::__ptx!(@to $space $t, $p);
        let __ptx_value = $crate::ptx::like(__ptx_p, $value);
        #[cfg(target_arch = "nvptx64")]
        {
            let __ptx_d: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::registers_of(__ptx_value);
            $crate::__ptx_asm! { @unified false { st $effect ($($word)*) } [$($policy)?] [] ($shape in $class __ptx_d) $space __ptx_p () }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $crate::__ptx!(@drop $($policy)?);
            $crate::ptx::store($crate::__ptx!(@meaning st $($word)*), $crate::__ptx!(@pointer $space __ptx_p), __ptx_value);
        }
    }};
    ([@ $cond:tt] { st ($($word:tt)*) $effect:ident $space:ident ($t:ty) ($shape:ident $class:ident $r:ident) }
        $p:expr, $value:expr, [$($policy:expr)?]) => {{
        const _: $crate::spelling::Spelling = $crate::spelling::demand(
            $crate::__ptx!(@text st $($word)*), $crate::__ptx!(@has $($policy)?), false, $crate::spelling::Lanes::All
        );
        let (__ptx_cond, __ptx_p) = ($cond, $crate::__ptx!(@to $space $t, $p));
        let __ptx_value = $crate::ptx::like(__ptx_p, $value);
        #[cfg(target_arch = "nvptx64")]
        {
            let __ptx_d: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::registers_of(__ptx_value);
            $crate::__ptx_asm! { @unified false { st $effect ($($word)*) } [$($policy)?] [@] ($shape in $class __ptx_d) $space __ptx_p
                (cond = in(reg32) $crate::ptx::bit(__ptx_cond),) }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $crate::__ptx!(@drop $($policy)?);
            if __ptx_cond {
                $crate::ptx::store($crate::__ptx!(@meaning st $($word)*), $crate::__ptx!(@pointer $space __ptx_p), __ptx_value);
            }
        }
    }};
}

/// The access itself, its texts and operands gathered one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_asm {
    (@unified true { $($s:tt)* } $($rest:tt)*) => { $crate::__ptx_asm! { @hint { $($s)* [".unified"] } $($rest)* } };
    (@unified false { $($s:tt)* } $($rest:tt)*) => { $crate::__ptx_asm! { @hint { $($s)* [] } $($rest)* } };
    (@hint { $($s:tt)* } [] $guard:tt $registers:tt $space:ident $p:ident $operands:tt) => {
        $crate::__ptx_asm! { @guard { $($s)* [] } $guard $registers $space $p $operands }
    };
    (@hint { $($s:tt)* } [$policy:expr] $guard:tt $registers:tt $space:ident $p:ident ($($operands:tt)*)) => {
        $crate::__ptx_asm! { @guard { $($s)* [", {policy}"] } $guard $registers $space $p
            ($($operands)* policy = in(reg64) $crate::CachePolicy::bits($policy),) }
    };
    (@guard { $($s:tt)* } [] $($rest:tt)*) => { $crate::__ptx_asm! { @address { $($s)* [] } $($rest)* } };
    (@guard { $($s:tt)* } [@] $($rest:tt)*) => {
        $crate::__ptx_asm! {
            @address { $($s)* ["{{\n.reg .pred %cond;\nsetp.ne.b32 %cond, {cond}, 0;\n@%cond " "\n}}"] } $($rest)*
        }
    };
    (@address $s:tt $registers:tt shared $p:ident ($($operands:tt)*)) => {
        $crate::__ptx_asm! { { $s $registers ($($operands)* p = in(reg32) $crate::ptx::shared_address($p),) } [] "[{p}]" [] }
    };
    (@address $s:tt $registers:tt shared_cluster $($rest:tt)*) => {
        $crate::__ptx_asm! { @address $s $registers shared $($rest)* }
    };
    (@address $s:tt $registers:tt $space:ident $p:ident ($($operands:tt)*)) => {
        $crate::__with_address! { [$crate::__ptx_asm] { $s $registers ($($operands)* p = in(reg64) $p,) } $space }
    };
    // From `@address`, and on to the registers.
    ({ { $($s:tt)* } [$($lane:literal)*] $operands:tt } $convert:tt $address:literal $converted:tt) => {
        $crate::__ptx_asm! { { $($s)* $convert $address $converted } ["{{" $($lane)* "}}"] [] [] $operands }
    };
    ({ { $($s:tt)* } ($shape:ident $way:ident $class:ident $d:ident) $operands:tt } $convert:tt $address:literal $converted:tt) => {
        $crate::__with_shape! { $shape $way $class $d, [$crate::__ptx_asm] { $($s)* $convert $address $converted } $operands }
    };
    // From `__with_shape!`, or from lanes.
    ({ $($s:tt)* } [$($value:literal)*] $before:tt $after:tt $operands:tt) => {
        $crate::__ptx_asm! { @access { $($s)* } [$($value)*] $before $after $operands }
    };
    ({ $($s:tt)* } $value:literal $before:tt $after:tt $operands:tt) => {
        $crate::__ptx_asm! { @access { $($s)* } [$value] $before $after $operands }
    };
    (@access { st $effect:ident ($($word:tt)*) [] [$($policy:literal)?] [$($guard:literal $end:literal)?]
        [$($convert:literal)?] $address:literal [$($converted:literal)?] }
        [$($value:literal)*] [$($before:literal)?] [$($after:literal)?] $operands:tt) => {
        $crate::__emit! { $effect [$($before)? $($convert)? $($guard)?] ["st" $(, ::core::stringify!($word))*]
            [" " $address ", " $($value)* $($policy)? ";" $($end)? $($converted)? $($after)?] $operands }
    };
    (@access { $load:ident $effect:ident ($($word:tt)*) [$($unified:literal)?] [$($policy:literal)?] [$($guard:literal $end:literal)?]
        [$($convert:literal)?] $address:literal [$($converted:literal)?] }
        [$($value:literal)*] [$($before:literal)?] [$($after:literal)?] $operands:tt) => {
        $crate::__emit! { $effect [$($before)? $($convert)? $($guard)?] [::core::stringify!($load) $(, ::core::stringify!($word))*]
            [" " $($value)* ", " $address $($unified)? $($policy)? ";" $($end)? $($converted)? $($after)?] $operands }
    };
}

/// An access of some lanes of a 256-bit vector: `@each` sorts them into texts, operands and variables.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_lanes {
    ({ $op:ident $words:tt $effect:ident $space:ident $t:tt ($shape:ident $class:ident $r:ident) } $lanes:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each $op $class $r $lanes [] [] [] [
            "" "{__ptx_d0}" __ptx_d0; ", " "{__ptx_d1}" __ptx_d1; ", " "{__ptx_d2}" __ptx_d2; ", " "{__ptx_d3}" __ptx_d3;
            ", " "{__ptx_d4}" __ptx_d4; ", " "{__ptx_d5}" __ptx_d5; ", " "{__ptx_d6}" __ptx_d6; ", " "{__ptx_d7}" __ptx_d7;
        ] { $words $effect $space $t } $($rest)* }
    };
    (@each $op:ident $class:ident $r:ident [] $texts:tt $operands:tt $lanes:tt $left:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @$op $class $r $texts $operands $lanes $($rest)* }
    };
    (@each $op:ident $class:ident $r:ident [_ $($lane:tt)*] [$($text:literal)*] $operands:tt [$($lanes:tt)*]
        [$comma:literal $place:literal $d:ident; $($left:tt)*] $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each $op $class $r [$($lane)*] [$($text)* $comma "_"] $operands [$($lanes)* (sink $d _)]
            [$($left)*] $($rest)* }
    };
    (@each st $class:ident $r:ident [$value:tt $($lane:tt)*] [$($text:literal)*] [$($operands:tt)*] [$($lanes:tt)*]
        [$comma:literal $place:literal $d:ident; $($left:tt)*] $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each st $class $r [$($lane)*] [$($text)* $comma $place] [$($operands)* $d = in($class) $d,]
            [$($lanes)* (named $d $value)] [$($left)*] $($rest)* }
    };
    (@each $op:ident $class:ident $r:ident [$name:ident $($lane:tt)*] [$($text:literal)*] [$($operands:tt)*] [$($lanes:tt)*]
        [$comma:literal $place:literal $d:ident; $($left:tt)*] $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each $op $class $r [$($lane)*] [$($text)* $comma $place] [$($operands)* $d = out($class) $d,]
            [$($lanes)* (named $d _)] [$($left)*] $($rest)* }
    };
    (@each $($other:tt)*) => { ::core::compile_error!("a vector has at most eight lanes, each a name or `_`") };

    (@st $class:ident $r:ident $texts:tt [$($operands:tt)*] [$(($kind:ident $d:ident $value:tt))*]
        { ($($word:tt)*) $effect:ident $space:ident ($t:ty) } $p:expr, [$($policy:expr)?] $unified:tt) => {{
        const _: $crate::spelling::Spelling = $crate::spelling::demand(
            $crate::__ptx!(@text st $($word)*), $crate::__ptx!(@has $($policy)?), false,
            $crate::spelling::Lanes::Some(&[$($crate::__ptx_lanes!(@is $kind)),*])
        );
        let __ptx_p = $crate::__ptx!(@to $space $t, $p);
        $($crate::__ptx_lanes! { @value $kind $d $r __ptx_p $value })*
        #[cfg(target_arch = "nvptx64")]
        $crate::__ptx_asm! { @unified false { st memory ($($word)*) } [$($policy)?] [] $texts $space __ptx_p ($($operands)*) }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $crate::__ptx!(@drop $($policy)?);
            $crate::ptx::store_lanes($crate::__ptx!(@meaning st $($word)*), $crate::__ptx!(@pointer $space __ptx_p), &[$($crate::__ptx_lanes!(@option $kind $d)),*]);
        }
    }};
    (@$op:ident $class:ident $r:ident $texts:tt [$($operands:tt)*] [$(($kind:ident $d:ident $nothing:tt))*]
        { ($($word:tt)*) $effect:ident $space:ident ($t:ty) } $p:expr, [$($policy:expr)?] $unified:tt) => {{
        const __PTX_LANES: &[$crate::ptx::types::bool] = &[$($crate::__ptx_lanes!(@is $kind)),*];
        const _: $crate::spelling::Spelling = $crate::spelling::demand(
            $crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy)?), $unified, $crate::spelling::Lanes::Some(__PTX_LANES)
        );
        let __ptx_p = $crate::__ptx!(@from $space $t, $p);
        #[cfg(target_arch = "nvptx64")]
        let __ptx_value = {
            $($crate::__ptx_lanes! { @declare $kind $d $r })*
            $crate::__ptx_asm! { @unified $unified { $op $effect ($($word)*) } [$($policy)?] [] $texts $space __ptx_p ($($operands)*) }
            $crate::ptx::vector_of(__ptx_p, [$($d),*])
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_value = {
            $crate::__ptx!(@drop $($policy)?);
            $crate::ptx::load_lanes($crate::__ptx!(@meaning $op $($word)*), $crate::__ptx!(@pointer $space __ptx_p), __PTX_LANES)
        };
        __ptx_value
    }};

    (@is named) => { true };
    (@is sink) => { false };
    (@declare named $d:ident $r:ident) => { let $d: $crate::ptx::types::$r; };
    (@declare sink $d:ident $r:ident) => { let $d: $crate::ptx::types::$r = 0 as $crate::ptx::types::$r; };
    (@value named $d:ident $r:ident $p:ident $value:tt) => { let $d: $crate::ptx::types::$r = $crate::ptx::lane($p, $value); };
    (@value sink $d:ident $r:ident $p:ident $value:tt) => {};
    (@option named $d:ident) => { ::core::option::Option::Some($d) };
    (@option sink $d:ident) => { ::core::option::Option::None };
}

/// The source of a load, which points to what is moved as a `P`.
#[inline(always)]
pub const fn from<T: Element + MovedAs<P>, P>(p: *const T) -> *const T {
    p
}

/// The destination of a store, which points to what is moved as a `P`.
#[inline(always)]
pub const fn to<T: Element + MovedAs<P>, P>(p: *mut T) -> *mut T {
    p
}

/// The source of a load from this block's shared memory.
#[inline(always)]
pub fn from_shared<P: InShared<Of: Element + MovedAs<T>>, T>(p: P) -> SharedPtr<P::Of> {
    p.in_shared()
}

/// The source of a load from the cluster's shared memory.
#[inline(always)]
pub fn from_shared_cluster<P: InSharedCluster<Of: Element + MovedAs<T>>, T>(p: P) -> SharedClusterPtr<P::Of> {
    p.in_shared_cluster()
}

/// The destination of a store to this block's shared memory, or of an atomic there.
#[inline(always)]
pub fn to_shared<P: InShared<Of: MovedAs<T>> + Writable, T>(p: P) -> SharedPtr<P::Of> {
    p.in_shared()
}

/// The destination of a store to the cluster's shared memory, or of an atomic there.
#[inline(always)]
pub fn to_shared_cluster<P: InSharedCluster<Of: MovedAs<T>> + Writable, T>(p: P) -> SharedClusterPtr<P::Of> {
    p.in_shared_cluster()
}

/// What the instruction takes as its address in shared memory.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub fn shared_address<T>(p: impl InCluster<T>) -> u32 {
    p.cluster_address()
}

/// Off the GPU: the pointer that an address in shared memory is.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub fn shared_pointer<T>(p: impl InCluster<T>) -> *mut T {
    p.cluster_address().cast()
}

mod sealed {
    pub trait Sealed {}
}

/// A pointer to a `T`.
pub trait PointsTo<T>: Copy + sealed::Sealed {}
impl<T> sealed::Sealed for *const T {}
impl<T> sealed::Sealed for *mut T {}
impl<T> sealed::Sealed for SharedPtr<T> {}
impl<T> sealed::Sealed for SharedClusterPtr<T> {}
impl<T> PointsTo<T> for *const T {}
impl<T> PointsTo<T> for *mut T {}
impl<T> PointsTo<T> for SharedPtr<T> {}
impl<T> PointsTo<T> for SharedClusterPtr<T> {}

/// A value of the type that `p` points to.
#[inline(always)]
pub const fn like<T>(_: impl PointsTo<T>, value: T) -> T {
    value
}

/// Registers with nothing in them.
///
/// # Safety
/// `D` need not be initialised.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub const unsafe fn registers<D: Copy>() -> D {
    crate::spell::uninit()
}

/// The registers of a value.
///
/// # Safety
/// Every bit pattern is a `D`.
#[inline(always)]
pub const unsafe fn registers_of<T: Element, D: Copy>(value: T) -> D {
    same_bits(value)
}

/// The value that was loaded from `p`, out of its registers.
///
/// # Safety
/// The registers are initialised.
#[inline(always)]
pub const unsafe fn value<T: Element, D: Copy>(_: impl PointsTo<T>, registers: D) -> T {
    same_bits(registers)
}

/// The vector of these lanes.
#[inline(always)]
pub const fn vector_of<T: Element, const LANES: usize>(_: impl PointsTo<T>, lanes: [Lane<T>; LANES]) -> T {
    same_bits(lanes)
}

/// A lane of a `T`.
pub type Lane<T> = <<T as Element>::Ptx as PtxType>::Register;

/// A vector, and what its lanes are.
#[diagnostic::on_unimplemented(message = "a `{Self}` has no lanes: only a 256-bit vector leaves some out")]
pub trait Vector: Element {
    /// The type of an element.
    type Element: Copy;
}
impl<T: Scalar> Vector for V4<T>
where
    Self: Element,
{
    type Element = T;
}
impl<T: Scalar> Vector for V8<T>
where
    Self: Element,
{
    type Element = T;
}

/// An element of the vector at `p`, as the register that holds it.
#[inline(always)]
pub const fn lane<T: Vector>(_: impl PointsTo<T>, value: T::Element) -> Lane<T> {
    same_bits(value)
}

/// A predicate as a register.
#[inline(always)]
pub const fn bit(cond: bool) -> u32 {
    cond as u32
}

/// What the words mean on a CPU; they were checked before.
#[cfg(not(target_arch = "nvptx64"))]
pub const fn meaning(text: &'static str) -> host::Meaning {
    match Spelling::read(text) {
        Ok(spelling) => spelling.on_host(),
        Err(_) => host::Meaning::Plain,
    }
}

/// Off the GPU: a load.
///
/// # Safety
/// As for the words.
#[cfg(not(target_arch = "nvptx64"))]
#[inline]
pub unsafe fn load<T: Element>(meaning: host::Meaning, p: *const T) -> T {
    // SAFETY: the caller's promise.
    same_bits(unsafe { host::load(meaning, p as *const T::Ptx) })
}

/// Off the GPU: a load of some lanes; the others are zero.
///
/// # Safety
/// As for the words.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe fn load_lanes<T: Element>(meaning: host::Meaning, p: *const T, lanes: &[bool]) -> T
where
    Lane<T>: PtxType,
{
    // SAFETY: all zeroes are a value of every number and vector of numbers.
    let mut value: T = unsafe { core::mem::zeroed() };
    for (at, _) in lanes.iter().enumerate().filter(|(_, named)| **named) {
        // SAFETY: the lane is a part of what the caller promises.
        unsafe { (&raw mut value).cast::<Lane<T>>().add(at).write(host::load(meaning, p.cast::<Lane<T>>().add(at))) };
    }
    value
}

/// Off the GPU: a store.
///
/// # Safety
/// As for the words.
#[cfg(not(target_arch = "nvptx64"))]
#[inline]
pub unsafe fn store<T: Element>(meaning: host::Meaning, p: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { host::store(meaning, p as *mut T::Ptx, same_bits(value)) };
}

/// Off the GPU: a store of some lanes.
///
/// # Safety
/// As for the words.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe fn store_lanes<T: Element>(meaning: host::Meaning, p: *mut T, lanes: &[Option<Lane<T>>])
where
    Lane<T>: PtxType,
{
    for (at, lane) in lanes.iter().enumerate() {
        if let Some(value) = lane {
            // SAFETY: the lane is a part of what the caller promises.
            unsafe { host::store(meaning, p.cast::<Lane<T>>().add(at), *value) };
        }
    }
}
