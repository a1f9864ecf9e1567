//! The forms of a row, for the catalogue.

/// `{ what was read } { what it is generic over }`, as a constant.
macro_rules! forms {
    ({ $call:tt $bounds:tt $arguments:tt $result:tt $body:tt } { $words:tt $($_found:tt)* }) => {
        forms! { @call $call $arguments $result $words $body }
    };
    (@call { $said:tt $function:ident $docs:tt { { $effect:ident $instruction:literal $isa:literal ($of:ty) } $safety:ident $on:tt } }
        $($row:tt)*) => {
        $crate::isa::row::Rows::Function(&$crate::isa::row::Function {
            instruction: $instruction,
            section: $isa,
            of: stringify!($of),
            place: forms!(@place $on),
            name: stringify!($function),
            takes: forms! { @takes $said $($row)* },
        })
    };
    (@place []) => { $crate::isa::row::Place::Module };
    (@place [$on:ident]) => { $crate::isa::row::Place::Type(stringify!($on)) };
    (@place [$on:ident<$p:ident: $bound:ident> by $maker:ident]) => { $crate::isa::row::Place::Made(stringify!($maker)) };
    (@takes $said:tt { $held:tt $registers:tt $taken:tt [$(($argument:ident [$type:ty]))*] } $result:tt $words:tt $body:tt) => {
        $crate::isa::row::Takes {
            parameters: &[$((stringify!($argument), stringify!($type))),*],
            result: forms!(@result $result),
            generics: forms!(@generics $words),
            needs: forms!(@needs $said $body),
            is_collective: forms!(@is_collective $body),
            texts: forms! { @texts $said $words $body },
        }
    };
    (@is_collective { $text:tt [{$gate:ident}] $($_body:tt)* }) => { true };
    (@is_collective $body:tt) => { false };
    (@result []) => { None };
    (@result [($type:ty as $($_out:tt)*)]) => { Some(stringify!($type)) };
    (@generics { $axes:tt $constants:tt $said:tt $more:tt [$(($kind:ident $name:ident))*] }) => {
        &[$($crate::isa::row::Generic::$kind(stringify!($name))),*]
    };
    (@needs { POLICY $chosen:tt } { $text:tt [$gate:tt $policy:ident] $($_body:tt)* }) => {
        forms!(@of $gate).and(forms!(@of $policy))
    };
    (@needs $said:tt { $text:tt [$gate:tt $($_policy:ident)?] $($_body:tt)* }) => { forms!(@of $gate) };
    (@of ($gate:ident)) => { forms!(@of $gate) };
    (@of {$gate:ident}) => { forms!(@of $gate) };
    (@of $gate:ident) => { $crate::isa::gate::Needs::of::<$crate::isa::gate::$gate>() };
    (@texts { $variant:ident $chosen:tt } { $axes:tt $($_words:tt)* } { { $ptx:tt $written:tt $operands:tt $block:tt } $($_body:tt)* }) => {
        forms! { @each $axes $chosen { $variant $ptx $written $operands } }
    };

    // The words of an axis after those of the other.
    (@each [] $chosen:tt { $variant:ident $ptx:tt $written:tt $operands:tt }) => {
        $crate::isa::row::Texts::One {
            ptx: mnemonic!($variant $chosen $ptx),
            operands: operands!(shown $variant $chosen $written $operands),
        }
    };
    (@each [{ $axis:ident $words:tt } $($axes:tt)*] $chosen:tt $text:tt) => {
        forms! { @axis $axis $words [$($axes)*] $chosen $text }
    };
    (@axis $axis:ident [$on:expr; $(($word:pat => $text:tt $shown:expr, $gate:ident $($more:tt)?))*] $axes:tt $chosen:tt $leaf:tt) => {
        $crate::isa::row::Texts::Each(&[$(
            $crate::isa::row::Choice {
                word: $shown,
                needs: forms!(@of $gate),
                is_silent: forms!(@is $($more)?),
                belongs: forms!(@belongs $($more)?),
                texts: forms! { @word ($axis $text) $($more)?; $chosen $axes $leaf },
            }
        ),*])
    };
    (@is silent) => { true };
    (@is $($_more:tt)?) => { false };
    (@belongs [$type:ty]) => { Some(stringify!($type)) };
    (@belongs ($first:ty as $operand:tt $r:tt in $class:ident, $type:ty as $($_held:tt)*)) => { Some(stringify!($type)) };
    (@belongs $($_more:tt)?) => { None };
    (@word $word:tt; [$($chosen:tt)*] $axes:tt $leaf:tt) => { forms! { @each $axes [$($chosen)* $word] $leaf } };
    (@word $word:tt silent; $chosen:tt $axes:tt { $variant:ident $ptx:tt [$written:tt] $operands:tt }) => {
        forms! { @word $word; $chosen $axes { $variant $ptx ["_"] $operands } }
    };
    (@word $word:tt [$belongs:ty]; $($row:tt)*) => { forms! { @word $word; $($row)* } };
    (@word $word:tt silent; $($row:tt)*) => { forms! { @word $word; $($row)* } };
    // There is no other word, and no form.
    (@word $word:tt never; $($row:tt)*) => { forms! { @word $word; $($row)* } };
    (@word ($($word:tt)*) (value $class:ident $r:ident {$X:ident $value:literal [$($d:ident . $i:tt)*]}); $($row:tt)*) => {
        forms! { @word ($($word)* ($value $($d)*)); $($row)* }
    };
    (@word ($($word:tt)*) ($($type:ty as $operand:literal [$($r:ident)*] in $class:ident),*); $($row:tt)*) => {
        forms! { @word ($($word)* $({$($r),*})*); $($row)* }
    };
}
