//! The notation of the instructions that are no plain loads, stores or atomics: copies, barriers, fences, prefetches,
//! addresses. A row states each thing once:
//!
//! ```text
//! instructions! { SINGLES:                          // the table of the catalogue that the rows make
//!     instruction "mapa", isa "data-movement-…",    // what all rows below share: name, section of the PTX ISA,
//!     effect message, T = u8 {                      // effect, and the type that the catalogue shows for `T`
//!         /// What it does.
//!         unsafe fn name / name_with<T>(p: *const T as reg64, size: u32 as reg32) -> (u64 as state: reg64) {
//!             ptx: "mnemonic" hint ".more" -> state, [p], size, policy;
//!             needs: AsyncCopies;                   // the gate
//!             safety: "What the caller promises.";  // of an unsafe one
//!             cpu: what_a_cpu_does(p, size);
//!         }
//!     }
//! }
//! ```
//!
//! - `p: Type as reg64` is held by a register of that class; `= value` says what is in it, where it is not `p` itself.
//!   `p: SharedPtr<T> as shared` and `p: SharedClusterPtr<T> as cluster` are addresses in shared memory: of this block; of a
//!   block of the cluster, which a `SharedPtr` is too.
//! - `-> (Type as name: reg64)` is what the function gives and the register that is written; `=> value` makes the result of
//!   it. In the PTX the written operand is after `->`.
//!   `-> (Type as [x y z]: reg32 => value)` are several. `response: u128 as pair` is 128 bits in two registers, `{low}` and
//!   `{high}`, of which a block makes one operand.
//! - `name / name_with`: two functions, of which the second takes a policy too. `hint` and the operand `policy` are there in
//!   its PTX, and left out in the other's. `needs: A / B`: the second needs `B` too.
//!   `needs: (A)`: what makes the value asks for `A` already.
//! - `<S in scope>` is an axis: one form for each word of the table `scope`. Its word replaces `S` in the text after `ptx:`,
//!   and among the operands. There may be several.
//! - `name / name_as<optional O in order>`: two functions, of which the first has no `O`.
//! - `name / name_global<either G in global>`: two functions, of which the first takes a generic address, and the second one
//!   in global memory. `G` is `.global` in the second.
//! - `<T in table>` with a table of `types!` is an axis too: one form for each type. The word of `T` is PTX's type, and
//!   `value: T as held` an argument in the registers that hold a `T`. `value` is its operand.
//! - `fn [CachePolicy] name` is a function of that type, `CachePolicy::name`. `fn [CpAsyncCa<P: Size> by cp_async_ca]
//!   copy<impl P in size>` is a method of what `cp_async_ca::<P>()` makes; `P` is the type's.
//! - `<const N>` is a number that the instruction takes as a constant, `<const REGISTERS>` one of registers. `<const N in Range>` is one
//!   for which `Count<N>` has that trait.
//! - `block: (done is);` puts the instruction into a block of PTX; `block!` has them all.
//! - `intrinsic: { "llvm.nvvm.elect.sync"(mask: u32) };` is for what all threads of a warp execute together, a *collective*:
//!   ldmatrix, mma, redux, elect, barriers, … An `asm!` may be copied into branches; LLVM's intrinsic is convergent. The
//!   function calls it in place of the `asm!`, and `ptx:` says what LLVM makes of it, which the tests compare. After the name
//!   are axes, as in `ptx:`, then what it takes, each `value: type`. A value is a name, a constant, or an expression in
//!   parentheses. The class of the result is the Rust type that LLVM gives, an alias or a struct with `repr(C)`; so
//!   `-> (bool as both: LaneAndFlag => both.1)`. In the PTX `(lane | flag)` are two operands of one. What one thread does
//!   by itself, such as a bulk or tensor copy, needs no intrinsic, and Rust has no pointers for `ptr addrspace(3)` anyway: an
//!   address is a generic one, `.p0` in the intrinsic's name.
//! - The effect is `message` (it touches memory, at once or later: no access moves across it), `hint` (no value is to be
//!   seen of it), or `compute` (arithmetic).
//!
//! A row is read in steps, each a macro: `rows!`, `body!`, `variants!`, `bounds!`, `arguments!`, `generics!`. What was read goes to
//! `function!`, which makes the function with its documentation, its bounds and its `asm!`, and to `forms!`, which makes its
//! forms in the catalogue.
//!
//! A table of words is a macro that answers `generics!`: see `scopes!` in `isa/scope.rs`. Its words are
//! `(pattern => "text" shown, Gate)`; with `silent` after the gate the instruction writes nothing there.

#[cfg(not(ptx_device))]
#[macro_use]
mod forms;
#[macro_use]
mod function;
#[macro_use]
mod parameters;

macro_rules! instructions {
    ($table:ident: $(
        instruction $instruction:literal, isa $isa:literal, effect $effect:ident, T = $of:ty { $($rows:tt)* }
    )*) => {
        $(rows! { function { $effect $instruction $isa ($of) } $($rows)* })*

        /// The rows of the catalogue.
        #[cfg(not(ptx_device))]
        pub(crate) const $table: $crate::isa::row::Table =
            &[$(rows! { forms { $effect $instruction $isa ($of) } $($rows)* }),*];
    };
}

/// `instructions!` for rows that macros write, one after the other. `writer! [row]` among the rows calls `writer! { state [row] }`, which
/// becomes `gather! { @add state its rows }`.
macro_rules! gather {
    ($table:ident: $(
        instruction $instruction:literal, isa $isa:literal, effect $effect:ident, T = $of:ty { $($writer:ident! $row:tt)* }
    )*) => {
        $($($writer! { { function { $effect $instruction $isa ($of) } } $row })*)*

        /// The rows of the catalogue.
        #[cfg(not(ptx_device))]
        pub(crate) const $table: $crate::isa::row::Table = &[
            $($crate::isa::row::Rows::Many(&[$($writer! { { forms { $effect $instruction $isa ($of) } } $row }),*])),*
        ];
    };
    (@add { $($state:tt)* } $($rows:tt)*) => { rows! { $($state)* $($rows)* } };
}

/// The rows of an instruction, each as `{ its head } { its body }`.
macro_rules! rows {
    ($then:ident $what:tt $(
        $(#[$doc:meta])*
        $safety:ident fn $([$($on:tt)*])? $($name:ident)/+ $(<$($($generic:ident)+),*>)? ($($argument:tt)*) $(-> $result:tt)? { $($body:tt)* }
    )*) => {
        each! { $then body [$({
            {
                $then { $what $safety [$($($on)*)?] } [$(#[$doc])*] [$($name)+]
                [$($(($($generic)+))*)?] { ($($argument)*) [$($result)?] }
            }
            { $($body)* }
        })*] }
    };
}

/// One after the other: functions are items, their forms a list.
macro_rules! each {
    (function $next:ident [$({ $($row:tt)* })*]) => {
        $($next! { $($row)* })*
    };
    (forms $next:ident [$({ $($row:tt)* })*]) => {
        $crate::isa::row::Rows::Many(&[$($next! { $($row)* }),*])
    };
}

/// The labels of a row.
macro_rules! body {
    // A collective.
    ($head:tt {
        ptx: $ptx:literal $($mark:ident $($text:literal)?)* $(-> $written:tt)? $(, $operand:tt)*;
        intrinsic: $call:tt;
        needs: $gate:ident;
        $(safety: $promise:expr;)?
        cpu: $cpu:expr;
    }) => {
        variants! { $head
            {
                { [$ptx $($mark $($text)?)*] [$($written)?] [$($operand),*] ((intrinsic $call)) }
                [{$gate}] [$($promise)?] [$cpu]
            }
        }
    };
    ($head:tt {
        ptx: $ptx:literal $($mark:ident $($text:literal)?)* $(-> $written:tt)? $(, $operand:tt)*;
        $(block: $block:tt;)?
        needs: $($gate:tt)/+;
        $(safety: $promise:expr;)?
        cpu: $cpu:expr;
    }) => {
        variants! { $head
            {
                { [$ptx $($mark $($text)?)*] [$($written)?] [$($operand),*] ($($block)?) }
                [$($gate)+] [$($promise)?] [$cpu]
            }
        }
    };
}

/// The functions of a row: one, or two with another name each.
macro_rules! variants {
    ({ $then:ident $item:tt $docs:tt [$name:ident] $generics:tt $signature:tt } $body:tt) => {
        name! { $then $item $name
            bounds! { $then { { PLAIN [] } $name $docs $item } $name $generics $signature $body }
        }
    };
    ({ $then:ident $item:tt $docs:tt [$name:ident $as:ident] [(optional $axis:ident in $words:ident) $($generic:tt)*]
        $signature:tt } $body:tt) => {
        name! { $then $item $name
            each! { $then bounds [
                { $then { { PLAIN [($axis "")] } $name $docs $item } $name [$($generic)*] $signature $body }
                {
                    $then {
                        { PLAIN [] } $as [#[doc = concat!("[`", stringify!($name), "`] in the order `O`.")]] $item
                    } $name
                    [($axis in $words) $($generic)*] $signature $body
                }
            ] }
        }
    };
    ({ $then:ident $item:tt $docs:tt [$name:ident $global:ident] [(either $axis:ident in global) $($generic:tt)*]
        $signature:tt } $body:tt) => {
        name! { $then $item $name
            each! { $then bounds [
                { $then { { PLAIN [($axis "")] } $name $docs $item } $name [$($generic)*] $signature $body }
                {
                    $then {
                        { PLAIN [($axis ".global")] } $global
                        [#[doc = concat!("[`", stringify!($name), "`] at a global address.")]] $item
                    } $name
                    [$($generic)*] $signature $body
                }
            ] }
        }
    };
    ({ $then:ident $item:tt $docs:tt [$name:ident $with:ident] $generics:tt $signature:tt } $body:tt) => {
        name! { $then $item $name
            each! { $then bounds [
                { $then { { PLAIN [] } $name $docs $item } $name $generics $signature $body }
                {
                    $then {
                        { WITH [] } $with [#[doc = concat!("`", stringify!($name), "` under a cache policy.")]] $item
                    } $name
                    $generics $signature $body
                }
            ] }
        }
    };
}

/// Before its functions the type that error messages name: of a method it is that whose method it is.
macro_rules! name {
    (function { $what:tt $safety:ident [] } $name:ident $($functions:tt)*) => {
        gated! { $name }
        $($functions)*
    };
    ($then:ident $item:tt $name:ident $($functions:tt)*) => { $($functions)* };
}

/// The names of functions that need more than what else they are made of, for error messages.
macro_rules! gated {
    ($($name:ident)*) => { $(
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "error messages print it as the function that the user calls")]
        pub enum $name {}
    )* };
}

/// What the PTX ISA calls an instruction, as a line of documentation.
macro_rules! isa_link {
    ($name:literal $anchor:literal) => {
        concat!("PTX ISA: [", $name, "](https://docs.nvidia.com/cuda/parallel-thread-execution/#", $anchor, ").")
    };
}
