//! A load or store of some lanes of a 256-bit vector.

/// An access of some lanes of a 256-bit vector: `@each` makes of each lane a variable, and an operand if it has a name.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx_lanes {
    (load { $said:tt $effect:ident $space:ident $t:tt ($data:tt $class:ident $r:ident) } $lanes:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @all load out $class $r $lanes { $said $effect $space $t } $($rest)* }
    };
    (store { $said:tt $space:ident $t:tt ($data:tt $class:ident $r:ident) } $lanes:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @all store in $class $r $lanes { $said $space $t } $($rest)* }
    };
    (@all $op:ident $way:tt $class:ident $r:ident $lanes:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each ($way $class $r) $lanes
            [__ptx_d0 __ptx_d1 __ptx_d2 __ptx_d3 __ptx_d4 __ptx_d5 __ptx_d6 __ptx_d7] [] () $op $($rest)* }
    };
    (@each $row:tt [] $left:tt $lanes:tt $operands:tt $op:ident $($rest:tt)*) => {
        $crate::__ptx_lanes! { @$op $lanes $operands $($rest)* }
    };
    (@each ($way:tt $class:ident $r:ident) [_ $($lane:tt)*] [$d:ident $($left:tt)*] [$($lanes:tt)*] $operands:tt $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each ($way $class $r) [$($lane)*] [$($left)*] [$($lanes)* (sink $d $r)] $operands $($rest)* }
    };
    (@each (in $class:ident $r:ident) [$value:tt $($lane:tt)*] [$d:ident $($left:tt)*] [$($lanes:tt)*] ($($operands:tt)*)
        $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each (in $class $r) [$($lane)*] [$($left)*] [$($lanes)* (lane $d $r $value)]
            ($($operands)* $d = in($class) $d,) $($rest)* }
    };
    (@each (out $class:ident $r:ident) [$name:ident $($lane:tt)*] [$d:ident $($left:tt)*] [$($lanes:tt)*] ($($operands:tt)*)
        $($rest:tt)*) => {
        $crate::__ptx_lanes! { @each (out $class $r) [$($lane)*] [$($left)*] [$($lanes)* (lane $d $r $name)]
            ($($operands)* $d = out($class) $d,) $($rest)* }
    };
    (@each $($other:tt)*) => { ::core::compile_error!("a vector has at most eight lanes, each a name or `_`") };

    (@store [$($lane:tt)*] $operands:tt { $said:tt $space:ident $t:tt } $p:expr, $policy:tt) => {
        $crate::__ptx! { @begin
            {
                const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
                    $crate::__ptx!(@text $said), $crate::__ptx!(@has $policy), false,
                    $crate::grammar::access::Lanes::Some(&[$($crate::__ptx_lanes!(@is $lane)),*])
                );
            }
            [] __ptx_p = $crate::__ptx!(@to $space $t $p), [$($lane)* $policy]
            store_lanes { $said $space } [$($lane)*] $operands $policy __ptx_p
        }
    };
    (@load [$($lane:tt)*] $operands:tt { $said:tt $effect:ident $space:ident $t:tt } $p:expr, $policy:tt $unified:tt) => {
        $crate::__ptx! { @begin
            {
                const _: $crate::grammar::access::Spelling = $crate::grammar::access::demand(
                    $crate::__ptx!(@text $said), $crate::__ptx!(@has $policy), $unified,
                    $crate::grammar::access::Lanes::Some(&[$($crate::__ptx_lanes!(@is $lane)),*])
                );
            }
            [] __ptx_p = $crate::__ptx!(@from $space $t $p), [$policy]
            load_lanes { $said $effect $space } [$($lane)*] $operands $unified $policy __ptx_p
        }
    };
    (@is (lane $($lane:tt)*)) => { true };
    (@is (sink $($lane:tt)*)) => { false };
}
