//! What `ptx!` makes of a `multimem`: its operands sorted.

#[cfg(not(ptx_device))]
pub use crate::cpu::multimem::{changed, reduced, stored};
use crate::isa::element::MovedAs;
pub use crate::isa::multimem::kinds;

/// A `multimem` after its type: `@type` has the type's registers and sorts the operands, which are predicate, address, value.
#[doc(hidden)]
#[macro_export]
macro_rules! __multimem {
    (@type ld_reduce [] $s:tt [$p:expr]) => { $crate::__multimem! { @load $s [] [] $p } };
    (@type ld_reduce [@ $cond:tt] $s:tt [$p:expr], else _) => { $crate::__multimem! { @load $s [__ptx_cond = $cond] [] $p } };
    (@type ld_reduce [@ $cond:tt] $s:tt [$p:expr], else $or:expr) => {
        $crate::__multimem! { @load $s [__ptx_cond = $cond] [__ptx_or = $or] $p }
    };
    (@type st [] $s:tt [$p:expr], $v:expr) => { $crate::__multimem! { @store stored $s [] $p, $v } };
    (@type st [@ $cond:tt] $s:tt [$p:expr], $v:expr) => { $crate::__multimem! { @store stored $s [__ptx_cond = $cond] $p, $v } };
    (@type red [] $s:tt [$p:expr], $v:expr) => { $crate::__multimem! { @store changed $s [] $p, $v } };
    (@type red [@ $cond:tt] $s:tt [$p:expr], $v:expr) => { $crate::__multimem! { @store changed $s [__ptx_cond = $cond] $p, $v } };
    (@type $op:ident $guard:tt $s:tt . $($rest:tt)*) => { $crate::__ptx! { @after } };
    (@type ld_reduce [@ $($cond:tt)*] $s:tt [$p:expr]) => {
        ::core::compile_error!("a load under a predicate says what the value is where it is false: `ptx!(@cond multimem.ld_reduce….type [p], else value)`, or `else _` if it does not matter")
    };
    (@type ld_reduce $($other:tt)*) => { ::core::compile_error!("the operands of `multimem.ld_reduce` are `[p]`") };
    (@type st $($other:tt)*) => { $crate::__multimem! { @operands } };
    (@type red $($other:tt)*) => { $crate::__multimem! { @operands } };
    (@type $($other:tt)*) => { ::core::compile_error!("`multimem` is `multimem.ld_reduce`, `multimem.st` or `multimem.red`") };
    (@operands) => { ::core::compile_error!("the operands of `multimem.st` and `multimem.red` are `[p], value`") };

    (@load { $said:tt $effect:ident $kind:ident $registers:tt } $cond:tt $or:tt $p:expr) => {
        $crate::__ptx! { @begin
            {
                const __PTX_WORDS: $crate::grammar::multimem::Multimem =
                    $crate::grammar::multimem::demand_multimem($crate::__ptx!(@text $said));
            }
            $cond __ptx_p = $crate::ptx::multimem::reduce_at::<_, $crate::ptx::multimem::kinds::$kind>($p), [$or]
            ld_reduce { $said $effect $registers } $cond $or __ptx_p
        }
    };
    (@store $does:ident { $said:tt $effect:ident $kind:ident $registers:tt } $cond:tt $p:expr, $v:expr) => {
        $crate::__ptx! { @begin
            {
                const __PTX_WORDS: $crate::grammar::multimem::Multimem =
                    $crate::grammar::multimem::demand_multimem($crate::__ptx!(@text $said));
            }
            $cond __ptx_p = $crate::ptx::multimem::change_at::<_, $crate::ptx::multimem::kinds::$kind>($p), [[__ptx_v = $v]]
            multimem { $does $said $registers } $cond __ptx_p __ptx_v
        }
    };
}

macro_rules! with_multimem_type {
    (($d:tt) $({$kind:ident $t:tt ($($word:ident)*) $text:tt $shape:ident $class:ident $register:ident $number:literal $group:ident})*) => {
        /// Goes on with the type that PTX's words name, and its registers.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __with_multimem_type {
            $((($($word)*) $d op:ident $d guard:tt $d words:tt $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {
                $d crate::__multimem! { @type $d op $d guard { (multimem $d words) $d effect $kind ($shape $class $register) } $d($d operands)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt $d words:tt
                $d effect:ident $d cas:ident $d space:ident $d($d operands:tt)*) => {{
                const _: $d crate::grammar::multimem::Multimem =
                    $d crate::grammar::multimem::demand_multimem($d crate::__ptx!(@text (multimem $d words)));
                $d crate::__ptx!(@refused $d($d operands)*)
            }};
        }
    };
}
for_each_multimem! { with_multimem_type ($) }

/// The address of a load of what is moved as a `K`.
///
/// # Safety
/// As for the instruction that the words spell. It is the one call that is not in an `unsafe` block of the macros' own.
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
