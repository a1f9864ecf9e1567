//! The function of a row, with its documentation, its bounds and its `asm!`.

/// `{ what was read } { what it is generic over }`, opened step by step up to `@item`.
macro_rules! function {
    ({ $call:tt $bounds:tt $arguments:tt $result:tt $body:tt } $found:tt) => {
        function! { @call $call $bounds $arguments $result $found { $call $body $arguments $result $found } }
    };
    (@call { $said:tt $function:ident $docs:tt { $what:tt safe $on:tt } } $($row:tt)*) => {
        function! { @lists { $on $docs [] $function } $($row)* }
    };
    (@call { $said:tt $function:ident $docs:tt { $what:tt unsafe $on:tt } } $($row:tt)*) => {
        function! { @lists { $on $docs [unsafe] $function } $($row)* }
    };
    (@lists $head:tt [$($gate:tt)*] $arguments:tt $result:tt { $words:tt $parameters:tt [$($bound:tt)*] } $row:tt) => {
        function! { @taken $arguments $head $parameters $result [$($bound)* $($gate)*] $row }
    };
    (@taken { $held:tt $registers:tt $taken:tt $shown:tt } $head:tt $parameters:tt $($more:tt)*) => {
        function! { @item $head $parameters $taken $($more)* }
    };
    (@item { $on:tt [$(#[$doc:meta])*] [$($unsafe:ident)?] $function:ident } [$($parameter:tt)*]
        [$(($argument:ident: $type:ty))*] $result:tt [$($bound:tt)*] $row:tt) => {
        place! { $on
            $(#[$doc])*
            #[doc = described!(ptx $row)]
            #[doc = described!(isa $row)]
            #[doc = described!(safety $row)]
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            pub $($unsafe)? fn $function<$($parameter)*>($($argument: $type),*) -> result!(type $result)
            where
                $($bound)*
            {
                #[cfg(ptx_device)]
                {
                    on_gpu! { $row }
                }
                #[cfg(not(ptx_device))]
                {
                    let _ = ($(&$argument,)*);
                    on_cpu! { [$($unsafe)?] $row }
                }
            }
        }
    };
}

/// An item, a function of a type, or a method of what a function makes.
macro_rules! place {
    ([] $($item:tt)*) => { $($item)* };
    ([$on:ident] $($item:tt)*) => { impl $on { $($item)* } };
    ([$on:ident<$p:ident: $bound:ident> by $maker:ident] $($item:tt)*) => { impl<$p: $bound> $on<$p> { $($item)* } };
}

/// The type of what a function gives.
macro_rules! result {
    (type []) => {
        ()
    };
    (type [($type:ty as $($_out:tt)*)]) => {
        $type
    };
}

/// A paragraph of the documentation. Where a compiler makes code for a GPU, nobody reads it.
#[cfg(all(ptx_device, not(any(doc, rust_analyzer))))]
macro_rules! described {
    ($($row:tt)*) => {
        ""
    };
}

/// A paragraph of the documentation.
#[cfg(any(doc, rust_analyzer, not(ptx_device)))]
macro_rules! described {
    (isa { { $said:tt $function:tt $docs:tt { { $effect:ident $instruction:literal $isa:literal $of:tt } $($_item:tt)* } }
        $($_row:tt)* }) => {
        concat!("\n", isa_link!($instruction $isa))
    };
    (safety { $call:tt { $text:tt $gates:tt [] $cpu:tt } $($_row:tt)* }) => { "" };
    (safety { $call:tt { $text:tt $gates:tt [$promise:expr] $cpu:tt } $($_row:tt)* }) => {
        concat!("\n# Safety\n", $promise)
    };
    (ptx { $call:tt $body:tt $arguments:tt $result:tt { $words:tt $($_found:tt)* } }) => {
        described! { @said $call $words $body }
    };
    (@said { { $variant:ident [$($chosen:tt)*] } $($_call:tt)* } { $axes:tt $constants:tt [$($said:tt)*] $more:tt $names:tt } $body:tt) => {
        described! { @text $variant [$($chosen)* $($said)*] $more $body }
    };
    (@text $variant:ident $words:tt [$($more:expr)*]
        { { $ptx:tt $written:tt $operands:tt $block:tt } [$($gate:tt)+] $($_body:tt)* }) => {
        concat!(
            "\nPTX: `", text!(doc $variant $words $ptx $written $operands), ";`. ",
            described!(@needs $variant $($gate)+) $(, $more)*
        )
    };
    (@needs POLICY $gate:tt $policy:ident) => { needs!($policy) };
    (@needs $variant:ident {$gate:ident}) => {
        concat!(needs!($gate), " A collective: for a GPU it needs rustc 1.97 or newer.")
    };
    (@needs $variant:ident ($gate:ident) $($policy:ident)?) => { needs!($gate) };
    (@needs $variant:ident $gate:ident $($policy:ident)?) => { needs!($gate) };
}

/// What a GPU does: the body of the function.
#[cfg(ptx_device)]
macro_rules! on_gpu {
    ({ $call:tt { $text:tt $($_body:tt)* } $arguments:tt $result:tt { $words:tt $($_found:tt)* } }) => {
        on_gpu! { @call $call $words $arguments $text $result }
    };
    (@call { $said:tt $function:tt $docs:tt { { $effect:ident $($_what:tt)* } $($_item:tt)* } } $($row:tt)*) => {
        on_gpu! { @words $said $effect $($row)* }
    };
    (@words { $variant:ident $chosen:tt } $effect:ident { $axes:tt [$($constant:tt)*] $($_words:tt)* }
        { $held:tt ($($register:tt)*) $($_lists:tt)* } $($row:tt)*) => {
        on_gpu! { @text $axes $chosen [$effect $variant] { $held ($($register)* $($constant)*) } $($row)* }
    };
    (@text $axes:tt $chosen:tt $how:tt $registers:tt $text:tt []) => {
        on_gpu! { @out $axes $chosen $how $registers $text [] }
    };
    (@text $axes:tt $chosen:tt $how:tt $registers:tt $text:tt [($type:ty as $out:ident: $class:ident)]) => {
        on_gpu! { @text $axes $chosen $how $registers $text [($type as $out: $class => $out)] }
    };
    (@text $axes:tt $chosen:tt $how:tt $registers:tt $text:tt [($type:ty as $out:ident: $class:ident => $given:expr)]) => {
        let $out;
        on_gpu! { @out $axes $chosen $how $registers $text [$out: $class] }
        $given
    };
    // Several registers.
    (@text $axes:tt $chosen:tt $how:tt $registers:tt $text:tt [($type:ty as [$($out:ident)+]: $class:ident => $given:expr)]) => {
        $(let $out;)+
        on_gpu! { @out $axes $chosen $how $registers $text [$($out: $class)+] }
        $given
    };
    (@out $axes:tt $chosen:tt [$effect:ident $variant:ident] $registers:tt
        { $ptx:tt $written:tt $operands:tt ((intrinsic $call:tt)) } $out:tt) => {
        emit! { $axes $chosen { intrinsic $variant $call $out } }
    };
    (@out $axes:tt $chosen:tt $how:tt { $held:tt $registers:tt } { $ptx:tt $written:tt $operands:tt $block:tt } $out:tt) => {
        emit! { $axes $chosen { $held $written $out $registers $how $ptx $operands $block } }
    };
}

/// What a CPU does: the body of a function that is unsafe or is not.
#[cfg(not(ptx_device))]
macro_rules! on_cpu {
    ([] { $call:tt { $text:tt $gates:tt $promise:tt [$cpu:expr] } $($_row:tt)* }) => {
        $cpu
    };
    ([unsafe] { $call:tt { $text:tt $gates:tt $promise:tt [$cpu:expr] } $($_row:tt)* }) => {
        // SAFETY: the caller's promise.
        #[allow(unused_unsafe, reason = "where there is nothing to be done")]
        unsafe {
            $cpu
        }
    };
}
