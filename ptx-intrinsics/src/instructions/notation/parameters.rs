//! What a function takes: the gates of its target, its arguments, then what it is generic over.

/// The gates as bounds. What ties a bound to the call is the first of what the function is generic over.
macro_rules! bounds {
    ($then:ident $call:tt $name:ident $generics:tt $signature:tt
        { { [$ptx:literal $($mnemonic:tt)*] $($text:tt)* } $gates:tt $($body:tt)* }) => {
        bounds! {
            @alias $ptx $call $generics $name $gates
            { $then $generics $signature { { [$ptx $($mnemonic)*] $($text)* } $gates $($body)* } }
        }
    };
    // Rustdoc's search finds a function by the first piece of its PTX.
    (@alias $ptx:literal { $said:tt $function:ident [$($doc:tt)*] $item:tt } $generics:tt $($row:tt)*) => {
        bounds! { @tie $generics { $said $function [$($doc)* #[doc(alias = $ptx)]] $item } $($row)* }
    };
    (@tie [] $($row:tt)*) => { bounds! { @named [for<'a>] [&'a ()] $($row)* } };
    (@tie [(const $n:ident $($_in:tt)*) $($_other:tt)*] $($row:tt)*) => {
        bounds! { @named [] [$crate::isa::gate::Count<$n>] $($row)* }
    };
    (@tie [(impl $t:ident $($_in:tt)*) $($_other:tt)*] $($row:tt)*) => { bounds! { @named [] [$t] $($row)* } };
    (@tie [($t:ident $($_in:tt)*) $($_other:tt)*] $($row:tt)*) => { bounds! { @named [] [$t] $($row)* } };
    // What error messages name: the type whose function it is, or the function.
    (@named $for:tt $at:tt { $said:tt $function:ident $docs:tt { $what:tt $safety:ident [$on:ident] } } $name:ident $($row:tt)*) => {
        bounds! { @gates $for $at $on { $said $function $docs { $what $safety [$on] } } $($row)* }
    };
    (@named $for:tt $at:tt $call:tt $name:ident $($row:tt)*) => { bounds! { @gates $for $at $name $call $($row)* } };
    // What makes the value has asked for the first.
    (@gates [] [$at:ty] $what:ident { { WITH $chosen:tt } $($call:tt)* } [($gate:ident) $policy:ident] $row:tt) => {
        arguments! { { { WITH $chosen } $($call)* } [
            $crate::isa::gate::$policy: $crate::isa::gate::OnTarget<$crate::isa::policy::CachePolicy, $at>,
        ] $row }
    };
    (@gates [] [$at:ty] $what:ident $call:tt [($gate:ident) $($policy:ident)?] $row:tt) => { arguments! { $call [] $row } };
    (@gates [$($for:tt)*] [$at:ty] $what:ident { { WITH $chosen:tt } $($call:tt)* } [$gate:ident $policy:ident] $row:tt) => {
        arguments! { { { WITH $chosen } $($call)* } [
            $($for)* $crate::isa::gate::$gate: $crate::isa::gate::OnTarget<$what, $at>,
            $($for)* $crate::isa::gate::$policy: $crate::isa::gate::OnTarget<$crate::isa::policy::CachePolicy, $at>,
        ] $row }
    };
    (@gates [$($for:tt)*] [$at:ty] $what:ident $call:tt [{$gate:ident}] $row:tt) => {
        arguments! { $call [
            $($for)* $crate::isa::gate::$gate: $crate::isa::gate::OnTarget<$what, $at>,
            $($for)* $crate::isa::collective::this_compiler: $crate::isa::collective::Emits<$what, $at>,
        ] $row }
    };
    (@gates [$($for:tt)*] [$at:ty] $what:ident $call:tt [$gate:ident $($policy:ident)?] $row:tt) => {
        arguments! { $call [$($for)* $crate::isa::gate::$gate: $crate::isa::gate::OnTarget<$what, $at>,] $row }
    };
}

/// The arguments, one after the other, as three lists: of the function, of the catalogue, of the `asm!`.
macro_rules! arguments {
    ($call:tt $gates:tt { $then:ident $generics:tt { ($($argument:tt)*) $result:tt } $body:tt }) => {
        arguments! { @self $call { $then $call $gates $generics $result $body } $($argument)* }
    };
    (@self { $said:tt $function:ident $docs:tt { $what:tt $safety:ident [$on:ident<$p:ident: $size:ident> by $maker:ident] } } $($rest:tt)*) => {
        arguments! { @begin [(self: Self)] $($rest)* }
    };
    (@self $call:tt $($rest:tt)*) => { arguments! { @begin [] $($rest)* } };
    (@begin $taken:tt $state:tt $($argument:tt)*) => { arguments! { @ $state { [] () $taken [] } $($argument)* } };
    // One that an axis holds: its word says in which registers.
    (@ $state:tt { [$($held:tt)*] $registers:tt [$($taken:tt)*] [$($shown:tt)*] } $name:ident: $type:ty as held $(, $($rest:tt)*)?) => {
        arguments! {
            @ $state { [$($held)* $name] $registers [$($taken)* ($name: $type)] [$($shown)* ($name [$type])] } $($($rest)*)?
        }
    };
    (@ $state:tt $done:tt $name:ident: SharedPtr<$of:ty> as shared $(, $($rest:tt)*)?) => {
        arguments! {
            @add $state $done
            ($name: $crate::instructions::shared_ptr::SharedPtr<$of>) ($name [SharedPtr<$of>])
            ($name = in(reg32) $name.address(),) $($($rest)*)?
        }
    };
    (@ $state:tt $done:tt $name:ident: SharedClusterPtr<$of:ty> as cluster $(, $($rest:tt)*)?) => {
        arguments! {
            @add $state $done
            ($name: impl $crate::instructions::shared_ptr::InCluster<$of>) ($name [SharedClusterPtr<$of>])
            ($name = in(reg32) $name.cluster_address(),) $($($rest)*)?
        }
    };
    // 128 bits: PTX makes one operand of the two registers, in a block.
    (@ $state:tt $done:tt $name:ident: u128 as pair $(, $($rest:tt)*)?) => {
        arguments! {
            @add $state $done ($name: u128) ($name [u128])
            (low = in(reg64) $name as u64, high = in(reg64) ($name >> 64) as u64,) $($($rest)*)?
        }
    };
    (@ $state:tt $done:tt $name:ident: *const impl Sized as $class:ident $(, $($rest:tt)*)?) => {
        arguments! {
            @add $state $done ($name: *const impl Sized) ($name [*const T]) ($name = in($class) $name,) $($($rest)*)?
        }
    };
    (@ $state:tt $done:tt $name:ident: $type:ty as $class:ident = $value:expr $(, $($rest:tt)*)?) => {
        arguments! { @add $state $done ($name: $type) ($name [$type]) ($name = in($class) $value,) $($($rest)*)? }
    };
    (@ $state:tt $done:tt $name:ident: $type:ty as $class:ident $(, $($rest:tt)*)?) => {
        arguments! { @add $state $done ($name: $type) ($name [$type]) ($name = in($class) $name,) $($($rest)*)? }
    };
    // As the function takes it, as the catalogue shows it, as the `asm!` has it.
    (@add $state:tt { $held:tt ($($register:tt)*) [$($taken:tt)*] [$($shown:tt)*] }
        $take:tt $show:tt ($($in:tt)*) $($rest:tt)*) => {
        arguments! { @ $state { $held ($($register)* $($in)*) [$($taken)* $take] [$($shown)* $show] } $($rest)* }
    };
    // There is none left but the policy.
    (@ { $then:ident { { WITH $chosen:tt } $($call:tt)* } $($state:tt)* } $done:tt) => {
        arguments! {
            @add { $then { { POLICY $chosen } $($call)* } $($state)* } $done
            (policy: $crate::isa::policy::CachePolicy) (policy [CachePolicy]) (policy = in(reg64) policy.bits(),)
        }
    };
    (@ { $then:ident $call:tt $gates:tt $generics:tt $result:tt $body:tt } $arguments:tt) => {
        generics! { @ $then { $call $gates $arguments $result $body } $generics [] }
    };
}

/// What the function is generic over, one after the other: the parameter, its bounds, a constant of the `asm!`; of an axis its
/// words, and what the documentation has for them.
macro_rules! generics {
    (@ $then:ident $row:tt [($t:ident) $($rest:tt)*] [$($found:tt)*]) => {
        generics! { @ $then $row [$($rest)*] [$($found)* { (Type $t) [$t,] [] [] [] [] [] }] }
    };
    (@ $then:ident $row:tt [(const $n:ident) $($rest:tt)*] [$($found:tt)*]) => {
        generics! { @ $then $row [$($rest)*] [$($found)* { (Number $n) [const $n: u32,] [] [$n = const $n,] [] [] [] }] }
    };
    // One of a range.
    (@ $then:ident $row:tt [(const $n:ident in $range:ident) $($rest:tt)*] [$($found:tt)*]) => {
        generics! {
            @ $then $row [$($rest)*]
            [$($found)* { (Number $n) [const $n: u32,] [$crate::isa::gate::Count<$n>: $range,] [$n = const $n,] [] [] [] }]
        }
    };
    (@ $then:ident $row:tt [($axis:ident in $words:ident) $($rest:tt)*] $found:tt) => {
        $words! { generics $axis { [$axis,] $then $row [$($rest)*] $found } }
    };
    // The parameter is the type's.
    (@ $then:ident $row:tt [(impl $axis:ident in $words:ident) $($rest:tt)*] $found:tt) => {
        $words! { generics $axis { [] $then $row [$($rest)*] $found } }
    };
    // What a table of words answers.
    (@words $axis:ident $bound:tt $words:tt $said:literal $more:expr, { [] $then:ident $row:tt $rest:tt [$($found:tt)*] }) => {
        generics! {
            @ $then $row $rest [$($found)* { (Axis $axis) [] [] [] [{ $axis $words }] [($axis $said)] [$more] }]
        }
    };
    (@words $axis:ident [$($bound:tt)*] $words:tt $said:literal $more:expr,
        { $parameter:tt $then:ident $row:tt $rest:tt [$($found:tt)*] }) => {
        generics! {
            @ $then $row $rest
            [$($found)* { (Axis $axis) $parameter [$axis: $($bound)*,] [] [{ $axis $words }] [($axis $said)] [$more] }]
        }
    };
    // There is none left.
    (@ $then:ident $row:tt [] [$({
        $name:tt [$($parameter:tt)*] [$($bound:tt)*] [$($constant:tt)*] [$($axis:tt)?] [$($said:tt)?] [$($more:expr)?]
    })*]) => {
        $then! { $row {
            { [$($($axis)?)*] [$($($constant)*)*] [$($($said)?)*] [$($($more)?)*] [$($name)*] }
            [$($($parameter)*)*] [$($($bound)*)*]
        } }
    };
}
