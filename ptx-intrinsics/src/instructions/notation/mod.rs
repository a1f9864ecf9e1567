//! The notation of the instructions that move no value into a typed register: copies, barriers, fences, prefetches,
//! addresses. A row states each thing once:
//!
//! ```text
//! instructions! { SINGLES:                          // the table of the catalogue that the rows make
//!     instruction "mapa", isa "data-movement-…",    // what all rows below share: name, section of the PTX ISA,
//!     effect message, T = u8 {                      // effect, and the type that the catalogue shows for `T`
//!         /// What it does.
//!         unsafe fn name / name_with<T>(p: *const T as reg64, size: u32 as reg32) -> u64 as (state: reg64) {
//!             ptx: "mnemonic" hint ".more", state, [p], size, policy;
//!             needs: AsyncCopies;                   // the gate
//!             safety: "What the caller promises.";  // of an unsafe one
//!             cpu: what_a_cpu_does(p, size);
//!         }
//!     }
//! }
//! ```
//!
//! - `p: Type as reg64` is held by a register of that class; `= value` says what is in it, where it is not `p` itself.
//! - `-> Type as (name: reg64)` is what the instruction writes; `=> value` makes the result of it.
//! - `name / name_with`: two functions, of which the second takes a policy too. `hint` and the operand `policy` are there in
//!   its PTX, and left out in the other's.
//! - `<S in scope>` makes one form for each row of the table `scope`. Its word replaces `S` in the text after `ptx:`.
//! - `fn [CachePolicy] name` is a function of that type, `CachePolicy::name`.
//! - `[const N]` is a number that the instruction takes as a constant.
//! - `block: (done is);` puts the instruction into a block of PTX; [`block!`] has them all.
//! - The effect is `message` (it touches memory, at once or later: no access moves across it), `hint` (no value is to be
//!   seen of it), or `compute` (arithmetic).
//!
//! Made of it are the function, the lines of its documentation about PTX, its bound and the type that error messages
//! name, its `asm!`, and its rows in the catalogue.

macro_rules! instructions {
    ($table:ident: $(
        instruction $instruction:literal, isa $isa:literal, effect $effect:ident, T = $of:ty { $(
            $(#[$doc:meta])*
            $safety:ident fn $([$on:ident])? $name:ident $(/ $with:ident)? $(<$generic:ident $(in $words:ident)?>)? $([const $count:ident])?
                ($($argument:tt)*) $(-> $result:ty as ($($out:tt)*))? { $($body:tt)* }
        )* }
    )*) => {
        $($(
            message! {
                @$safety [$($on)?] $name $(/ $with)? ($($argument)*) ($($generic $(in $words)?)? $(const $count)?)
                { $instruction $isa $effect ($of) [$($result as $($out)*)?] $($body)* } [$(#[$doc])*]
            }
        )*)*

        /// The rows of the catalogue.
        #[cfg(not(ptx_device))]
        pub(crate) const $table: $crate::isa::row::Table = &[$($($name::ROWS),*),*];
    };
}

/// A row of [`instructions!`].
macro_rules! message {
    (@safe $($row:tt)*) => { message! { @row [] $($row)* } };
    (@unsafe $($row:tt)*) => { message! { @row [unsafe] $($row)* } };

    // The function, and the other under a policy.
    (@row $safety:tt $on:tt $name:ident $arguments:tt $generic:tt $row:tt $docs:tt) => {
        message! { @name $on $name }
        message! { @function PLAIN $on $name $name $arguments [] $generic $safety $row $docs }
        #[cfg(not(ptx_device))]
        impl $name {
            const ROWS: $crate::isa::row::Rows = &[Self::PLAIN];
        }
    };
    (@row $safety:tt $on:tt $name:ident / $with:ident $arguments:tt $generic:tt $row:tt $docs:tt) => {
        message! { @name $on $name }
        message! { @function PLAIN $on $name $name $arguments [] $generic $safety $row $docs }
        message! {
            @function WITH $on $name $with $arguments [policy: CachePolicy as reg64 = policy.bits(),] $generic $safety $row
            [#[doc = concat!("[`", stringify!($name), "`] under a cache policy.")]]
        }
        #[cfg(not(ptx_device))]
        impl $name {
            const ROWS: $crate::isa::row::Rows = &[Self::PLAIN, Self::WITH];
        }
    };

    // What error messages name: the function, or the type whose method it is.
    (@name [] $name:ident) => { gated! { $name } };
    (@name [$on:ident] $name:ident) => {
        #[cfg(not(ptx_device))]
        #[allow(non_camel_case_types, reason = "it has the rows of that function")]
        enum $name {}
    };

    // With its arguments and the policy in one list.
    (@function $manner:ident $on:tt $name:ident $function:ident
        ($($argument:ident: $type:ty as $class:ident $(= $value:expr)?),* $(,)?) [$($policy:tt)*] $generic:tt
        $safety:tt $row:tt $docs:tt) => {
        message! {
            @generic $generic $safety {
                $manner $on $name $function ($($argument: $type as $class = (or!($($value)? $argument)),)* $($policy)*) $docs
            } $row
        }
    };

    // What the function is generic over, its bounds but the gate, `for<'a>` where nothing generic ties the gate to the
    // call, what does so, and the constants of the `asm!`.
    (@generic () $($row:tt)*) => {
        message! { @emit [] [] [for<'a>] [&'a ()] [] [(); (_ => "" "", Always)] "" "" $($row)* }
    };
    (@generic ($t:ident) $($row:tt)*) => {
        message! { @emit [$t] [] [] [$t] [] [(); (_ => "" "", Always)] "" "" $($row)* }
    };
    (@generic (const $n:ident) $($row:tt)*) => {
        message! {
            @emit [const $n: u32] [] [] [$crate::isa::gate::Count<$n>] [$n = const $n,]
            [(); (_ => "" "3", Always)] "" "" $($row)*
        }
    };
    (@generic ($s:ident in $words:ident) $($row:tt)*) => { $words! { message $s [$($row)*] } };
    // What a table of words calls.
    (@words $s:ident [$($bound:tt)*] $words:tt $said:literal $more:literal [$($row:tt)*]) => {
        message! { @emit [$s] [$s: $($bound)*,] [] [$s] [] $words $said $more $($row)* }
    };

    (@emit [$($generic:tt)*] [$($bound:tt)*] [$($for:tt)*] [$at:ty] [$($constant:tt)*] $words:tt $said:literal $more:literal
        [$($unsafe:ident)?]
        {
            $manner:ident [$($on:ident)?] $name:ident $function:ident
            ($($argument:ident: $type:ty as $class:ident = $value:expr,)*) [$(#[$doc:meta])*]
        }
        {
            $instruction:literal $isa:literal $effect:ident ($of:ty)
            [$($result:ty as $out:ident: $out_class:ident $(=> $give:expr)?)?]
            ptx: $ptx:literal $($mark:ident $($text:literal)?)* $(, $operand:tt)*;
            $(block: $block:tt;)?
            needs: $gate:ident;
            $(safety: $promise:expr;)?
            cpu: $cpu:expr;
        }
    ) => {
        place! { [$($on)?]
            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `", text!(doc $manner $said [$ptx $($mark $($text)?)*] [$($operand),*]), ";`. ", needs!($gate), $more)]
            ///
            #[doc = isa_link!($instruction $isa)]
            $(
                ///
                /// # Safety
                #[doc = $promise]
            )?
            #[doc(alias = $ptx)]
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            pub $($unsafe)? fn $function<$($generic)*>($($argument: $type),*) $(-> $result)?
            where
                $($bound)*
                $($for)* $crate::isa::gate::$gate: $crate::isa::gate::OnTarget<or!($($on)? $name), $at>,
            {
                #[cfg(ptx_device)]
                {
                    $(let $out;)?
                    emit! {
                        $effect $manner $words [$ptx $($mark $($text)?)*] [$($operand),*] ($($block)?)
                        ($($argument = in($class) $value,)* $($out = out($out_class) $out,)? $($constant)*)
                    }
                    $(or!($($give)? $out))?
                }
                #[cfg(not(ptx_device))]
                {
                    let _ = ($(&$argument,)*);
                    on_cpu! { [$($unsafe)?] $cpu }
                }
            }
        }

        #[cfg(not(ptx_device))]
        impl $name {
            const $manner: &[$crate::isa::row::Row] = rows! {
                $manner $words [$ptx $($mark $($text)?)*] [$($operand),*] $crate::isa::gate::Needs::of::<$crate::isa::gate::$gate>(), {
                    instruction: $instruction,
                    section: $isa,
                    name: concat!($(stringify!($on), "::",)? stringify!($function)),
                    of: stringify!($of),
                    generic: stringify!($($generic)*),
                    parameters: &[$((stringify!($argument), stringify!($type)),)*],
                    result: or!($((Some(stringify!($result))))? None),
                }
            };
        }
    };
}

/// An item, or a method of a type.
macro_rules! place {
    ([] $($item:tt)*) => { $($item)* };
    ([$on:ident] $($item:tt)*) => { impl $on { $($item)* } };
}

/// What a CPU does: the body of a function that is unsafe or is not.
#[cfg(not(ptx_device))]
macro_rules! on_cpu {
    ([] $cpu:expr) => {
        $cpu
    };
    ([unsafe] $cpu:expr) => {
        // SAFETY: the caller's promise.
        #[allow(unused_unsafe, reason = "where there is nothing to be done")]
        unsafe {
            $cpu
        }
    };
}

/// The first of two, if there are two.
macro_rules! or {
    ($first:tt $second:ident) => {
        $first
    };
    ($only:tt) => {
        $only
    };
}

/// A row of the catalogue for each word.
#[cfg(not(ptx_device))]
macro_rules! rows {
    ($manner:ident [$on:expr; $(($word:pat => $text:tt $shown:expr, $gate:ident))*] $ptx:tt $operands:tt
        $needs:expr, $fields:tt) => {
        &[$(rows! { @one $manner $text $shown, $gate $ptx $operands $needs, $fields }),*]
    };
    (@one $manner:ident $text:tt $shown:expr, $gate:ident $ptx:tt $operands:tt $needs:expr, { $($field:tt)* }) => {
        $crate::isa::row::Row {
            word: $shown,
            ptx: mnemonic!($manner $text $ptx),
            operands: operands!(told $manner $operands),
            needs: $needs.and($crate::isa::gate::Needs::of::<$crate::isa::gate::$gate>()),
            $($field)*
        }
    };
}

/// The names of functions that need more than what else they are made of, for error messages.
macro_rules! gated {
    ($($name:ident)*) => { $(
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "error messages print it as the function that the user calls")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
    )* };
}

/// What the PTX ISA calls an instruction, as a line of documentation.
macro_rules! isa_link {
    ($name:literal $anchor:literal) => {
        concat!("PTX ISA: [", $name, "](https://docs.nvidia.com/cuda/parallel-thread-execution/#", $anchor, ").")
    };
}
