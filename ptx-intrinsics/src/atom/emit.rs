//! What `ptx!` makes of an atomic: its words taken one by one, and its block put together.

/// `@words` takes the words one by one, noting the space and whether it is a `.cas`; `@type` has the type's registers and
/// sorts the operands: predicate, address, value, what it is compared with, policy.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic {
    // The type, which ends the words.
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . v2 . $ty:ident $($operands:tt)*) => {
        $crate::__with_atomic_type! { (v2 $ty) $op $guard ($($words)* . v2 . $ty) $cas $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . v4 . $ty:ident $($operands:tt)*) => {
        $crate::__with_atomic_type! { (v4 $ty) $op $guard ($($words)* . v4 . $ty) $cas $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . v8 . $ty:ident $($operands:tt)*) => {
        $crate::__with_atomic_type! { (v8 $ty) $op $guard ($($words)* . v8 . $ty) $cas $space $($operands)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . $ty:ident [$($p:tt)*] $($operands:tt)*) => {
        $crate::__with_atomic_type! { ($ty) $op $guard ($($words)* . $ty) $cas $space [$($p)*] $($operands)* }
    };
    // A space that has addresses of its own.
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . shared :: cluster $($rest:tt)*) => {
        $crate::__atomic! { @words $op $guard ($($words)* . shared::cluster) $cas shared_cluster $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . shared :: cta $($rest:tt)*) => {
        $crate::__atomic! { @words $op $guard ($($words)* . shared::cta) $cas shared $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . shared $($rest:tt)*) => {
        $crate::__atomic! { @words $op $guard ($($words)* . shared) $cas shared $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . cas $($rest:tt)*) => {
        $crate::__atomic! { @words $op $guard ($($words)* . cas) cas $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . $level:tt :: $word:tt $($rest:tt)*) => {
        $crate::__atomic! { @words $op $guard ($($words)* . $level::$word) $cas $space $($rest)* }
    };
    (@words $op:ident $guard:tt ($($words:tt)*) $cas:ident $space:ident . $word:tt $($rest:tt)*) => {
        $crate::__atomic! { @words $op $guard ($($words)* . $word) $cas $space $($rest)* }
    };
    (@words $($other:tt)*) => {
        ::core::compile_error!("`ptx!` takes `atom….type [p], value` or `red….type [p], value`: PTX's words, then the operands")
    };

    (@at generic $kind:ident $p:expr) => { $crate::atom::at::<_, $crate::atom::kinds::$kind>($p) };
    (@at $shared:ident $kind:ident $p:expr) => { $crate::__ptx!(@to $shared $crate::atom::kinds::$kind, $p) };

    (@type red [] $cas:ident $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { red $s () () () ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type red [@ $cond:tt] $cas:ident $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { red $s (__ptx_cond = $cond) () () ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type red $($other:tt)*) => {
        ::core::compile_error!("the operands of `red` are `[p], value`, then a policy if it has `.L2::cache_hint`")
    };
    (@type atom [] cas $s:tt [$p:expr], $compare:expr, $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { atom $s () () (__ptx_compare = $compare) ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type atom [] any $s:tt [$p:expr], $v:expr $(, $policy:expr)?) => {
        $crate::__atomic_go! { atom $s () () () ($(__ptx_policy = $policy)?) $p, $v }
    };
    (@type atom [@ $cond:tt] cas $s:tt [$p:expr], $compare:expr, $v:expr, else $or:expr) => {
        $crate::__atomic_go! { atom $s (__ptx_cond = $cond) (__ptx_or = $or) (__ptx_compare = $compare) () $p, $v }
    };
    (@type atom [@ $cond:tt] any $s:tt [$p:expr], $v:expr, else $or:expr) => {
        $crate::__atomic_go! { atom $s (__ptx_cond = $cond) (__ptx_or = $or) () () $p, $v }
    };
    (@type atom [@ $cond:tt] any $s:tt [$p:expr], $v:expr, $policy:expr, else $or:expr) => {
        $crate::__atomic_go! { atom $s (__ptx_cond = $cond) (__ptx_or = $or) () (__ptx_policy = $policy) $p, $v }
    };
    (@type atom $($other:tt)*) => {
        ::core::compile_error!("the operands of `atom` are `[p], value`, of `.cas` `[p], compare, value`, then a policy if it has `.L2::cache_hint`, then `else value` under a predicate")
    };
}

macro_rules! with_atomic_type {
    (($d:tt) $({$kind:ident $same:ident $t:tt ($($word:ident)*) $text:tt $shape:ident $class:ident $register:ident $number:ident $takes:tt})*) => {
        /// Goes on with the type that PTX's words stand for, and its registers.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __with_atomic_type {
            $((($($word)*) $d op:ident $d guard:tt $d words:tt $d cas:ident $d space:ident $d($d operands:tt)*) => {
                $d crate::__atomic! { @type $d op $d guard $d cas
                    { $d words $d space $kind $shape $class $register } $d($d operands)* }
            };)*
            // No such type: reading the words says why.
            ($d other:tt $d op:ident $d guard:tt ($d($d word:tt)*) $d($d rest:tt)*) => {{
                const _: $d crate::atom::Atomic =
                    $d crate::atom::demand_atomic($d crate::__ptx!(@text $d op $d($d word)*), false);
                loop {}
            }};
        }
    };
}
for_each_atomic! { with_atomic_type ($) }

/// The atomic, its operands sorted: predicate, value where that is false, what is compared, policy, address, value.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic_go {
    ($op:ident { ($($word:tt)*) $space:ident $kind:ident $shape:ident $class:ident $r:ident }
        ($($cond:ident = $cond_value:expr)?) ($($or:ident = $or_value:expr)?) ($($compare:ident = $compare_value:expr)?)
        ($($policy:ident = $policy_value:expr)?) $p:expr, $v:expr) => {{
        const __PTX_WORDS: $crate::atom::Atomic =
            $crate::atom::demand_atomic($crate::__ptx!(@text $op $($word)*), $crate::__ptx!(@has $($policy_value)?));
        $(let ($cond,): (::core::primitive::bool,) = ($cond_value,);)?
        let __ptx_p = $crate::__atomic!(@at $space $kind $p);
        $(let $compare = $crate::ptx::like(__ptx_p, $compare_value);)?
        let __ptx_v = $crate::ptx::like(__ptx_p, $v);
        $(let $policy: $crate::CachePolicy = $policy_value;)?
        $(let $or = $crate::ptx::like(__ptx_p, $or_value);)?
        #[cfg(target_arch = "nvptx64")]
        let __ptx_old = {
            let _ = __PTX_WORDS;
            let __ptx_v: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::atom::registers(__ptx_v);
            $(let $compare: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::atom::registers($compare);)?
            $crate::__atomic_asm! { @$op __ptx_p $shape $class $r __ptx_v [$($compare)?] [$($or)?] [$($cond)?] [$($policy)?] $space ($($word)*) }
        };
        #[cfg(not(target_arch = "nvptx64"))]
        let __ptx_old = {
            let __ptx_p = $crate::__ptx!(@pointer $space __ptx_p);
            $crate::__atomic_host! { $op __PTX_WORDS __ptx_p __ptx_v [$($compare)?] [$($or)?] [$($cond)?] [$($policy)?] }
        };
        __ptx_old
    }};
}

/// On a CPU.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic_host {
    ($op:ident $words:ident $p:ident $v:ident $compare:tt $or:tt $cond:tt [$policy:ident]) => {{
        let _ = $policy;
        $crate::__atomic_host! { $op $words $p $v $compare $or $cond [] }
    }};
    ($op:ident $words:ident $p:ident $v:ident $compare:tt $or:tt [$cond:ident] []) => {
        if $cond { $crate::__atomic_host! { $op $words $p $v $compare $or [] [] } } else { $crate::__atomic_host! { @or $or } }
    };
    (red $words:ident $p:ident $v:ident [] [] [] []) => {{
        $crate::atom::change($words, $p, $v, ::core::option::Option::None);
    }};
    (atom $words:ident $p:ident $v:ident [$($compare:ident)?] $or:tt [] []) => {
        $crate::atom::change($words, $p, $v, $crate::__atomic_host!(@option $($compare)?))
    };
    (@or [$or:ident]) => { $or };
    (@or []) => { () };
    (@option $compare:ident) => { ::core::option::Option::Some($compare) };
    (@option) => { ::core::option::Option::None };
}

/// The instruction and its block: registers of the result where it has one, then the predicate, the policy, the address.
#[doc(hidden)]
#[macro_export]
macro_rules! __atomic_asm {
    (@red $p:ident $shape:ident $class:ident $r:ident $v:ident [] [] $($rest:tt)*) => {
        $crate::__atomic_asm! { @registers $shape $class $v [] [] $p red $($rest)* }
    };
    (@atom $p:ident $shape:ident $class:ident $r:ident $v:ident $compare:tt [] $($rest:tt)*) => {{
        let mut __ptx_d: $crate::__registers!($shape ::core::mem::MaybeUninit<$crate::ptx::types::$r>) = $crate::ptx::registers();
        $crate::__atomic_asm! { @registers $shape $class $v $compare [out __ptx_d] $p atom $($rest)* }
        $crate::atom::value($p, __ptx_d)
    }};
    (@atom $p:ident $shape:ident $class:ident $r:ident $v:ident $compare:tt [$or:ident] $($rest:tt)*) => {{
        let mut __ptx_d: $crate::__registers!($shape $crate::ptx::types::$r) = $crate::atom::registers($or);
        $crate::__atomic_asm! { @registers $shape $class $v $compare [inout __ptx_d] $p atom $($rest)* }
        $crate::atom::value($p, __ptx_d)
    }};

    // Before, result, values, after, and what `asm!` takes.
    (@registers x1 $class:ident $v:ident [$($c:ident)?] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{d0}, " [$d])?] [$("{c0}, " [$c])? "{v0}"] [] (
            $(d0 = $way($class) $d.0,)? $(c0 = in($class) $c.0,)? v0 = in($class) $v.0,
        ) $($rest)* }
    };
    (@registers x2 $class:ident $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{{{d0}, {d1}}}, " [$d])?] ["{{{v0}, {v1}}}"] [] (
            $(d0 = $way($class) $d.0, d1 = $way($class) $d.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };
    (@registers x4 $class:ident $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{{{d0}, {d1}, {d2}, {d3}}}, " [$d])?] ["{{{v0}, {v1}, {v2}, {v3}}}"] [] (
            $(d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,)?
            v0 = in($class) $v.0, v1 = in($class) $v.1, v2 = in($class) $v.2, v3 = in($class) $v.3,
        ) $($rest)* }
    };
    (@registers x8 $class:ident $v:ident [] [$($way:ident $d:ident)?] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard [] [$("{{{d0}, {d1}, {d2}, {d3}, {d4}, {d5}, {d6}, {d7}}}, " [$d])?]
            ["{{{v0}, {v1}, {v2}, {v3}, {v4}, {v5}, {v6}, {v7}}}"] [] (
            $(
                d0 = $way($class) $d.0, d1 = $way($class) $d.1, d2 = $way($class) $d.2, d3 = $way($class) $d.3,
                d4 = $way($class) $d.4, d5 = $way($class) $d.5, d6 = $way($class) $d.6, d7 = $way($class) $d.7,
            )?
            v0 = in($class) $v.0, v1 = in($class) $v.1, v2 = in($class) $v.2, v3 = in($class) $v.3,
            v4 = in($class) $v.4, v5 = in($class) $v.5, v6 = in($class) $v.6, v7 = in($class) $v.7,
        ) $($rest)* }
    };
    // Rust has no register of 128 bits: the block packs and unpacks two of 64.
    (@registers b128 $class:ident $v:ident [$($c:ident)?] [out $d:ident] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard
            ["{{\n.reg .b128 %old, %value;\nmov.b128 %value, {{{v0}, {v1}}};\n"
                $(".reg .b128 %compare;\nmov.b128 %compare, {{{c0}, {c1}}};\n" [$c])?]
            ["%old, " [$d]] [$("%compare, " [$c])? "%value"] ["\nmov.b128 {{{d0}, {d1}}}, %old;\n}}"] (
            d0 = out($class) $d.0, d1 = out($class) $d.1,
            $(c0 = in($class) $c.0, c1 = in($class) $c.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };
    (@registers b128 $class:ident $v:ident [$($c:ident)?] [inout $d:ident] $($rest:tt)*) => {
        $crate::__atomic_asm! { @guard
            ["{{\n.reg .b128 %old, %value;\nmov.b128 %old, {{{d0}, {d1}}};\nmov.b128 %value, {{{v0}, {v1}}};\n"
                $(".reg .b128 %compare;\nmov.b128 %compare, {{{c0}, {c1}}};\n" [$c])?]
            ["%old, " [$d]] [$("%compare, " [$c])? "%value"] ["\nmov.b128 {{{d0}, {d1}}}, %old;\n}}"] (
            d0 = inout($class) $d.0, d1 = inout($class) $d.1,
            $(c0 = in($class) $c.0, c1 = in($class) $c.1,)? v0 = in($class) $v.0, v1 = in($class) $v.1,
        ) $($rest)* }
    };

    (@guard $before:tt $d:tt $values:tt $after:tt ($($operands:tt)*) $p:ident $op:ident [$($cond:ident)?] [$($policy:ident)?]
        $space:ident $words:tt) => {
        $crate::__atomic_asm! { @address $space $p $before $after
            [$("{{\n.reg .pred %cond;\nsetp.ne.b32 %cond, {cond}, 0;\n@%cond " "\n}}" [$cond])?]
            $d $values [$(", {policy}" [$policy])?] $op $words (
                $($operands)*
                $(cond = in(reg32) $crate::ptx::bit($cond),)? $(policy = in(reg64) $crate::CachePolicy::bits($policy),)?
            )
        }
    };
    (@address generic $p:ident $before:tt $after:tt $guard:tt $d:tt $values:tt $policy:tt $op:ident $words:tt ($($operands:tt)*)) => {
        $crate::__atomic_asm! { @emit $before $after $guard $d $values $policy $op $words ($($operands)* p = in(reg64) $p,) }
    };
    (@address $shared:ident $p:ident $before:tt $after:tt $guard:tt $d:tt $values:tt $policy:tt $op:ident $words:tt ($($operands:tt)*)) => {
        $crate::__atomic_asm! { @emit $before $after $guard $d $values $policy $op $words
            ($($operands)* p = in(reg32) $crate::ptx::shared_address($p),) }
    };
    (@emit [$($before:literal $([$_b:ident])?)*] [$($after:literal)?] [$($guard:literal $end:literal [$_c:ident])?]
        [$($d:literal [$_d:ident])?] [$($values:literal $([$_v:ident])?)*] [$($policy:literal [$_p:ident])?]
        $op:ident ($($word:tt)*) $operands:tt) => {
        $crate::__emit! { memory [$($before)* $($guard)?] [::core::stringify!($op) $(, ::core::stringify!($word))*]
            [" " $($d)? "[{p}], " $($values)* $($policy)? ";" $($end)? $($after)?] $operands }
    };
}
