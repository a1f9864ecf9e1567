//! What `ptx!` makes of a `multimem`: its operands sorted.

#[cfg(not(ptx_device))]
pub use crate::cpu::multimem::{changed, reduced, stored};
use crate::isa::element::MovedAs;
pub use crate::isa::multimem::kinds;

/// A `multimem` after its type: `@type` has the type's registers and sorts the operands, which are predicate, address, value.
#[doc(hidden)]
#[macro_export]
macro_rules! __multimem {
    (@type ld_reduce [] $s:tt [$p:expr]) => { $crate::__multimem_load! { $s () (out) $p } };
    (@type ld_reduce [@ $cond:tt] $s:tt [$p:expr], else _) => { $crate::__multimem_load! { $s (__ptx_cond = $cond) (out) $p } };
    (@type ld_reduce [@ $cond:tt] $s:tt [$p:expr], else $or:expr) => {
        $crate::__multimem_load! { $s (__ptx_cond = $cond) (inout __ptx_or = $or) $p }
    };
    (@type st [] $s:tt [$p:expr], $v:expr) => { $crate::__multimem_store! { stored $s () $p, $v } };
    (@type st [@ $cond:tt] $s:tt [$p:expr], $v:expr) => { $crate::__multimem_store! { stored $s (__ptx_cond = $cond) $p, $v } };
    (@type red [] $s:tt [$p:expr], $v:expr) => { $crate::__multimem_store! { changed $s () $p, $v } };
    (@type red [@ $cond:tt] $s:tt [$p:expr], $v:expr) => { $crate::__multimem_store! { changed $s (__ptx_cond = $cond) $p, $v } };
    (@type $op:ident $guard:tt $s:tt . $($rest:tt)*) => { $crate::__ptx! { @after } };
    (@type ld_reduce [@ $($cond:tt)*] $s:tt [$p:expr]) => {
        ::core::compile_error!("a load under a predicate says what the value is where it is false: `ptx!(@cond multimem.ld_reduce….type [p], else value)`, or `else _` if it does not matter")
    };
    (@type ld_reduce $($other:tt)*) => { ::core::compile_error!("the operands of `multimem.ld_reduce` are `[p]`") };
    (@type st $($other:tt)*) => { $crate::__multimem! { @operands } };
    (@type red $($other:tt)*) => { $crate::__multimem! { @operands } };
    (@type $($other:tt)*) => { ::core::compile_error!("`multimem` is `multimem.ld_reduce`, `multimem.st` or `multimem.red`") };
    (@operands) => { ::core::compile_error!("the operands of `multimem.st` and `multimem.red` are `[p], value`") };
}

macro_rules! with_multimem_type {
    (($d:tt) $({$kind:ident $t:tt ($($word:ident)*) $text:tt $shape:ident $class:ident $register:ident $number:literal $group:ident})*) => {
        /// Goes on with the type that PTX's words name, and its registers.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __with_multimem_type {
            $((($($word)*) $d op:ident $d guard:tt $d words:tt $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {
                $d crate::__multimem! { @type $d op $d guard { $d words $d effect $kind $shape $class $register } $d($d operands)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt ($d($d word:tt)*)
                $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {{
                const _: $d crate::grammar::multimem::Multimem =
                    $d crate::grammar::multimem::demand_multimem($d crate::__ptx!(@text multimem $d($d word)*));
                $d crate::__ptx!(@refused $d($d operands)*)
            }};
        }
    };
}
for_each_multimem! { with_multimem_type ($) }

/// `multimem.ld_reduce`: predicate, value where that is false, address.
#[doc(hidden)]
#[macro_export]
macro_rules! __multimem_load {
    ({ ($($word:tt)*) $effect:ident $kind:ident $shape:ident $class:ident $r:ident }
        ($($cond:ident = $cond_value:expr)?) ($way:ident $($or:ident = $or_value:expr)?) $p:expr) => {{
        const __PTX_WORDS: $crate::grammar::multimem::Multimem =
            $crate::grammar::multimem::demand_multimem($crate::__ptx!(@text multimem $($word)*));
        $(let ($cond,): (::core::primitive::bool,) = ($cond_value,);)?
        let __ptx_p = $crate::ptx::multimem::reduce_at::<_, $crate::ptx::multimem::kinds::$kind>($p);
        $(let $or = $crate::ptx::like(__ptx_p, $or_value);)?
        $crate::__on_gpu! {
            let __ptx_value = unsafe {
                let _ = __PTX_WORDS;
                let mut __ptx_d: $crate::__registers!($shape $crate::__multimem_load!(@register $way $r)) =
                    $crate::__multimem_load!(@registers $($or)?);
                $crate::__multimem_asm! { $shape $way $class __ptx_d __ptx_p [$($cond)?] $effect ($($word)*) }
                $crate::ptx::atomic::value(__ptx_p, __ptx_d)
            };
        }
        $crate::__on_cpu! {
            let __ptx_value = unsafe {
                let __ptx_load = || $crate::ptx::multimem::reduced(__PTX_WORDS, __ptx_p);
                $crate::__multimem_load! { @if [$($cond)?] __ptx_load __ptx_p $($or)? }
            };
        }
        __ptx_value
    }};
    (@register out $r:ident) => { $crate::emit::registers::Unset<$crate::ptx::types::$r> };
    (@register inout $r:ident) => { $crate::ptx::types::$r };
    (@registers) => { $crate::ptx::registers() };
    (@registers $or:ident) => { $crate::ptx::atomic::registers($or) };
    (@if [] $load:ident $p:ident) => { $load() };
    (@if [$cond:ident] $load:ident $p:ident) => { if $cond { $load() } else { $crate::ptx::multimem::unset($p) } };
    (@if [$cond:ident] $load:ident $p:ident $or:ident) => { if $cond { $load() } else { $or } };
}

/// `multimem.st` and `multimem.red`: what a CPU does, predicate, address, value.
#[doc(hidden)]
#[macro_export]
macro_rules! __multimem_store {
    ($does:ident { ($($word:tt)*) $effect:ident $kind:ident $shape:ident $class:ident $r:ident }
        ($($cond:ident = $cond_value:expr)?) $p:expr, $v:expr) => {{
        const __PTX_WORDS: $crate::grammar::multimem::Multimem =
            $crate::grammar::multimem::demand_multimem($crate::__ptx!(@text multimem $($word)*));
        $(let ($cond,): (::core::primitive::bool,) = ($cond_value,);)?
        let __ptx_p = $crate::ptx::multimem::change_at::<_, $crate::ptx::multimem::kinds::$kind>($p);
        let __ptx_v = $crate::ptx::like(__ptx_p, $v);
        $crate::__on_gpu! {
            unsafe {
                let _ = __PTX_WORDS;
                let __ptx_d: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::ptx::atomic::registers(__ptx_v);
                $crate::__multimem_asm! { $shape in $class __ptx_d __ptx_p [$($cond)?] memory ($($word)*) }
            }
        }
        $crate::__on_cpu! {
            if true $(&& $cond)? {
                unsafe { $crate::ptx::multimem::$does(__PTX_WORDS, __ptx_p, __ptx_v) }
            }
        }
    }};
}

/// The address of a load of what is moved as a `K`.
///
/// # Safety
/// As for the words. It is the one call that is not in an `unsafe` block of the macros' own.
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn reduce_at<T: Copy + MovedAs<K>, K>(p: *const T) -> *const T {
    p
}

/// The address of a store or a reduction of what is moved as a `K`.
///
/// # Safety
/// As for [`reduce_at`].
#[doc(hidden)]
#[inline(always)]
pub const unsafe fn change_at<T: Copy + MovedAs<K>, K>(p: *mut T) -> *mut T {
    p
}

/// What a load gives that did not happen, where the author said `else _`.
///
/// # Safety
/// Every bit pattern is a `T`, as of all that is moved.
#[cfg(not(ptx_device))]
#[doc(hidden)]
pub const unsafe fn unset<T: Copy>(_: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { core::mem::zeroed() }
}
