//! What `ptx!` does on a GPU: the texts and the operands of an access, put together.

#[macro_use]
mod change;
#[macro_use]
mod multimem;

/// An access of a GPU: its words, then its operands, which are variables. On a CPU the same macro is in `on_cpu.rs`.
///
/// `@held` knows the text of what is moved, and its operands. `@at` adds the address, `@guard` the predicate, `@policy` the policy. Each
/// adds a text before the instruction and one after it. `@emit` joins them.
#[doc(hidden)]
#[macro_export]
macro_rules! __access {
    (load { $said:tt $effect:ident $space:ident $registers:tt } $unified:tt $cond:tt $policy:tt $or:tt $p:ident) => {{
        $crate::__access! { @registers __ptx_d $registers $or }
        let __ptx_a = $crate::__ptx!(@address $space $p);
        $crate::__access! { @value $or __ptx_d $registers $space __ptx_a $cond $policy load $said $effect $unified }
        $crate::ptx::value($p, __ptx_d)
    }};
    (store { $said:tt $space:ident $registers:tt } $cond:tt $policy:tt $value:ident $p:ident) => {{
        $crate::__access! { @taken __ptx_d $registers $value }
        let __ptx_a = $crate::__ptx!(@address $space $p);
        $crate::__access! { @held in __ptx_d $registers $space __ptx_a $cond $policy store $said memory false }
    }};
    (load_lanes { $said:tt $effect:ident $space:ident } [$($lane:tt)*] $operands:tt $unified:tt $policy:tt $p:ident) => {{
        $($crate::__access! { @declare $lane })*
        let __ptx_a = $crate::__ptx!(@address $space $p);
        $crate::__access! { @lanes [$($lane)*] $operands $space __ptx_a [] $policy load $said $effect $unified }
        $crate::ptx::vector_of($p, [$($crate::__access!(@name $lane)),*])
    }};
    (store_lanes { $said:tt $space:ident } $lanes:tt $operands:tt $policy:tt $p:ident) => {{
        let __ptx_a = $crate::__ptx!(@address $space $p);
        $crate::__access! { @lanes $lanes $operands $space __ptx_a [] $policy store $said memory false }
    }};
    (change $($change:tt)*) => { $crate::__change! { $($change)* } };
    (ld_reduce $($load:tt)*) => { $crate::__multimem_access! { ld_reduce $($load)* } };
    (multimem $($store:tt)*) => { $crate::__multimem_access! { $($store)* } };

    // The registers of a whole value.
    (@registers $d:ident ({$X:ident $($data:tt)*} $class:ident $r:ident) []) => {
        let mut $d: $crate::emit::registers::$X<$crate::emit::registers::Unset<$crate::ptx::types::$r>> = $crate::ptx::registers();
    };
    (@registers $d:ident ({$X:ident $($data:tt)*} $class:ident $r:ident) [$or:ident = $value:expr]) => {
        let mut $d: $crate::emit::registers::$X<$crate::ptx::types::$r> = $crate::ptx::registers_of($or);
    };
    (@taken $d:ident ({$X:ident $($data:tt)*} $class:ident $r:ident) $value:ident) => {
        let $d: $crate::emit::registers::$X<$crate::ptx::types::$r> = $crate::ptx::registers_of($value);
    };
    (@declare (lane $d:ident $r:ident $name:tt)) => { let $d: $crate::ptx::types::$r; };
    (@declare (sink $d:ident $r:ident)) => { let $d: $crate::ptx::types::$r = 0 as $crate::ptx::types::$r; };
    (@name ($kind:ident $d:ident $($rest:tt)*)) => { $d };

    // The text of a value: of some lanes, or of all.
    (@lanes [$($first:tt $($lane:tt)*)?] $operands:tt $($rest:tt)*) => {
        $crate::__access! { @at
            ["{{", $($crate::__access!(@lane $first), $(", ", $crate::__access!(@lane $lane),)*)? "}}",] [] [] $operands $($rest)* }
    };
    (@lane (lane $d:ident $r:ident $value:tt)) => { ::core::concat!("{", ::core::stringify!($d), "}") };
    (@lane (sink $d:ident $r:ident)) => { "_" };
    (@value [] $($rest:tt)*) => { $crate::__access! { @held out $($rest)* } };
    (@value [$or:ident = $value:expr] $($rest:tt)*) => { $crate::__access! { @held inout $($rest)* } };
    (@held $way:tt $d:ident ({$X:ident $value:literal [$($r:ident . $i:tt)*] $($packing:literal)*} $class:ident $register:ident) $($rest:tt)*) => {
        $crate::__access! { @packed $way [$($packing)*] [$value,] ($($r = $way($class) $d.$i,)*) $($rest)* }
    };
    (@packed $way:tt [] $value:tt $operands:tt $($rest:tt)*) => { $crate::__access! { @at $value [] [] $operands $($rest)* } };
    (@packed out [$open:literal $pack:literal $unpack:literal $close:literal] $value:tt $operands:tt $($rest:tt)*) => {
        $crate::__access! { @at $value [$open,] [$unpack, $close,] $operands $($rest)* }
    };
    (@packed inout [$open:literal $pack:literal $unpack:literal $close:literal] $value:tt $operands:tt $($rest:tt)*) => {
        $crate::__access! { @at $value [$open, $pack,] [$unpack, $close,] $operands $($rest)* }
    };
    (@packed in [$open:literal $pack:literal $unpack:literal $close:literal] $value:tt $operands:tt $($rest:tt)*) => {
        $crate::__access! { @at $value [$open, $pack,] [$close,] $operands $($rest)* }
    };

    // The address. Generic and global addresses are the same, and `cvta` knows no parameter of a function.
    (@at $value:tt $before:tt $after:tt ($($operands:tt)*) shared $p:ident $($rest:tt)*) => {
        $crate::__access! { @guard $value ["[{p}]"] $before $after ($($operands)* p = in(reg32) $p,) $($rest)* }
    };
    (@at $value:tt $before:tt $after:tt $operands:tt shared_cluster $($rest:tt)*) => {
        $crate::__access! { @at $value $before $after $operands shared $($rest)* }
    };
    (@at $value:tt $before:tt $after:tt $operands:tt const $($rest:tt)*) => {
        $crate::__access! { @convert "const" $value $before $after $operands $($rest)* }
    };
    (@at $value:tt $before:tt $after:tt $operands:tt local $($rest:tt)*) => {
        $crate::__access! { @convert "local" $value $before $after $operands $($rest)* }
    };
    (@at $value:tt $before:tt $after:tt $operands:tt param_entry $($rest:tt)*) => {
        $crate::__access! { @convert "param" $value $before $after $operands $($rest)* }
    };
    (@at $value:tt $before:tt $after:tt ($($operands:tt)*) $same:ident $p:ident $($rest:tt)*) => {
        $crate::__access! { @guard $value ["[{p}]"] $before $after ($($operands)* p = in(reg64) $p,) $($rest)* }
    };
    (@convert $space:literal $value:tt [$($before:tt)*] [$($after:tt)*] ($($operands:tt)*) $p:ident $($rest:tt)*) => {
        $crate::__access! { @guard $value ["[%address]"]
            [$($before)* "{{\n.reg .u64 %address;\ncvta.to.", $space, ".u64 %address, {p};\n",] ["\n}}", $($after)*]
            ($($operands)* p = in(reg64) $p,) $($rest)* }
    };
    // The predicate, and the policy.
    (@guard $value:tt $address:tt $before:tt $after:tt $operands:tt [] $($rest:tt)*) => {
        $crate::__access! { @policy $value $address $before $after $operands $($rest)* }
    };
    (@guard $value:tt $address:tt [$($before:tt)*] [$($after:tt)*] ($($operands:tt)*) [$cond:ident = $is:expr] $($rest:tt)*) => {
        $crate::__predicate! { ($crate::__access) $value $address [$($before)*] [$($after)*]
            (cond = in(reg32) $crate::emit::registers::bit($cond), $($operands)*) $($rest)* }
    };
    (@predicate $open:literal $close:literal $value:tt $address:tt [$($before:tt)*] [$($after:tt)*] $($rest:tt)*) => {
        $crate::__access! { @policy $value $address [$($before)* $open,] [$close, $($after)*] $($rest)* }
    };
    (@policy $value:tt $address:tt $before:tt $after:tt $operands:tt [] $form:ident $($rest:tt)*) => {
        $crate::__access! { @$form $value $address [] $before $after $operands $($rest)* }
    };
    (@policy $value:tt $address:tt $before:tt $after:tt ($($operands:tt)*) [policy $policy:ident = $is:expr] $form:ident $($rest:tt)*) => {
        $crate::__access! { @$form $value $address [", {policy}",] $before $after
            ($($operands)* policy = in(reg64) $crate::CachePolicy::bits($policy),) $($rest)* }
    };

    // In PTX's order: a load has its value before the address, a store after it, and an atomic has both.
    (@load [$($value:tt)*] [$address:literal] [$($policy:tt)*] $before:tt [$($after:tt)*] $operands:tt $said:tt $effect:ident $unified:tt) => {
        $crate::__access! { @emit $said $effect $before
            [" ", $($value)* ", ", $address, $crate::__access!(@unified $unified), $($policy)* ";", $($after)*] $operands }
    };
    (@store [$($value:tt)*] [$address:literal] [$($policy:tt)*] $before:tt [$($after:tt)*] $operands:tt $said:tt $effect:ident $unified:tt) => {
        $crate::__access! { @emit $said $effect $before [" ", $address, ", ", $($value)* $($policy)* ";", $($after)*] $operands }
    };
    (@change [[$($old:tt)*] $($value:tt)*] [$address:literal] [$($policy:tt)*] $before:tt [$($after:tt)*] $operands:tt $said:tt) => {
        $crate::__access! { @emit $said memory $before
            [" ", $($old)* $address, ", ", $($value)* $($policy)* ";", $($after)*] $operands }
    };
    (@emit ($op:ident ($($word:tt)*)) $effect:ident $before:tt $after:tt $operands:tt) => {
        $crate::__instruction! { $effect $before [::core::stringify!($op) $(, ::core::stringify!($word))*] $after $operands }
    };
    (@unified true) => { ".unified" };
    (@unified false) => { "" };
}
