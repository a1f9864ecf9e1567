//! How an access is cached: operators, eviction priorities of L1 and L2, pairs of them.

use super::element::Wide;
use super::gate::{self, Gate};

/// The first parameter of a load or store: how the caches treat what it touches.
///
/// | Marker | Meaning |
/// | --- | --- |
/// | [`NoHint`] | nothing is said |
/// | [`Ca`] [`Cg`] [`Cs`] [`Lu`] [`Cv`], [`Wb`] [`Wt`] | a cache operator |
/// | [`EvictNormal`] [`EvictUnchanged`] [`EvictFirst`] [`EvictLast`] [`NoAllocate`] | an L1 eviction priority |
/// | [`L2EvictNormal`] [`L2EvictFirst`] [`L2EvictLast`] | an L2 eviction priority, for 256-bit types |
/// | `(L1, L2)` | one of each |
///
/// It is one parameter, so that an operator and a priority, which PTX refuses together, cannot meet.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a caching qualifier",
    note = "use `NoHint`, a cache operator, an L1 or an L2 eviction priority, or a pair `(L1, L2)` of priorities",
    note = "an access has a cache operator or eviction priorities, not both; a pair has one priority for each level"
)]
pub trait Caching: Copy + 'static + sealed::Sealed {
    /// A number of its own, for `match`.
    #[doc(hidden)]
    const ID: u8;
    #[doc(hidden)]
    type Gate: Gate;
}

/// An L1 eviction priority.
pub trait L1Priority: Caching {}

/// An L2 eviction priority.
pub trait L2Priority: Caching {}

/// A caching qualifier that an access to a `T` can have: for a [`Wide`] type all of them, for any other type those without an L2
/// priority.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known to be a caching qualifier for the type of this access",
    note = "use `NoHint`, a cache operator, an L1 or an L2 eviction priority, or a pair `(L1, L2)` of priorities",
    note = "in a generic function, write the bound `C: Suits<T>`, where `T` is the type that is loaded or stored"
)]
pub trait Suits<T>: Caching {}

/// A caching qualifier that a cache policy or a condition can be combined with: one without an L2 priority; and a prefetch size that a policy
/// can be combined with: [`NoPrefetch`](super::prefetch_size::NoPrefetch). With the cargo feature `l2-combinations` any.
#[diagnostic::on_unimplemented(
    message = "`{Self}` with a cache policy or under a condition needs the cargo feature `l2-combinations` of ptx-intrinsics",
    label = "an L2 priority or a prefetch size, combined",
    note = "enable it: `cargo add ptx-intrinsics --features l2-combinations`",
    note = "or write the instruction with `ptx!`, which needs no feature: \
            `ptx!(@cond ld.global.L2::evict_last.v8.f32 [p], else or)`, `ptx!(ld.global.L2::evict_last.L2::cache_hint.v8.f32 [p], policy)`"
)]
pub trait Combines {}

#[cfg(feature = "l2-combinations")]
#[diagnostic::do_not_recommend]
impl<T> Combines for T {}

#[cfg(not(feature = "l2-combinations"))]
impl Combines for super::prefetch_size::NoPrefetch {}

macro_rules! combines {
    ($name:ident) => {
        #[cfg(not(feature = "l2-combinations"))]
        impl Combines for $name {}
    };
}

mod sealed {
    pub trait Sealed {}
}

/// The table of caching qualifiers: each one's name, PTX's word, what it means, a number for `match`, its gate, and its example.
///
/// It makes the markers, the same words as values, and `caching_rows!`.
macro_rules! caching {
    ($d:tt none $none:tt operators $operators:tt l1 $l1:tt l2 $l2:tt) => {
        caching! { @none $none }
        caching! { @operators $d $operators }
        caching! { @l1 $l1 }
        caching! { @l2 $l2 }
        caching! { @names [@pairs $d] $l1 $l2 }
    };
    (@none { $(#[$doc:meta])* $name:ident $how:tt $shown:tt }) => {
        caching! { @marker $(#[$doc])* $name "" () 0 Always $how $shown }
        combines! { $name }
        impl<T> Suits<T> for $name {}
    };
    (@operators $d:tt { $($(#[$doc:meta])* $name:ident $text:literal $says:literal $id:literal $gate:ident $how:tt $shown:tt;)* }) => {
        $(
            caching! { @marker $(#[$doc])* $name $text ($says) $id $gate $how $shown }
            combines! { $name }
            impl<T> Suits<T> for $name {}
        )*

        words! {
            /// A cache operator as a value.
            OperatorWord { $($name $text (stringify!($name)) $gate $says;)* }
        }

        /// `operator_rows! { {then} before after [operator effect, …] [] }` becomes `then` with the row of each: its number, the opcode, the
        /// effect.
        #[cfg(ptx_device)]
        macro_rules! operator_rows {
            ({ $d then:ident $d($d state:tt)* } $d before:literal $d after:literal [] $d rows:tt) => {
                $d then! { $d($d state)* $d rows }
            };
            $(($d then:tt $d before:literal $d after:literal [$name $d effect:ident, $d($d rest:tt)*] [$d($d rows:tt)*]) => {
                operator_rows! {
                    $d then $d before $d after [$d($d rest)*]
                    [$d($d rows)* $id => [$d before, $text, $d after] $d effect;]
                }
            };)*
        }
    };
    (@l1 { $($(#[$doc:meta])* $name:ident $text:literal $says:literal $id:literal $gate:ident $how:tt $shown:tt;)* }) => {
        $(
            caching! { @marker $(#[$doc])* $name $text ($says) $id $gate $how $shown }
            impl L1Priority for $name {}
            combines! { $name }
            impl<T> Suits<T> for $name {}
        )*

        words! {
            /// An [`L1Priority`] as a value.
            L1PriorityWord { $($name $text (stringify!($name)) $gate $says;)* }
        }
    };
    (@l2 { $($(#[$doc:meta])* $name:ident $text:literal $says:literal $id:literal $gate:ident $how:tt $shown:tt;)* }) => {
        $(
            caching! { @marker $(#[$doc])* $name $text ($says) $id $gate $how $shown }
            impl L2Priority for $name {}
            impl<T: Wide> Suits<T> for $name {}
        )*

        words! {
            /// An [`L2Priority`] as a value.
            L2PriorityWord { $($name $text (stringify!($name)) $gate $says;)* }
        }
    };
    // The names, texts and numbers of the L1 priorities, and the names and texts of the L2 ones.
    (@names [$($to:tt)*] { $($(#[$doc:meta])* $name:ident $text:literal $says:literal $id:literal $gate:ident $how:tt $shown:tt;)* } $l2:tt) => {
        caching! { @texts [$($to)* [$($name $text $id)*]] $l2 }
    };
    (@texts [$($to:tt)*] { $($(#[$doc:meta])* $name:ident $text:literal $says:literal $id:literal $gate:ident $how:tt $shown:tt;)* }) => {
        caching! { $($to)* [$($name $text)*] }
    };
    // Rust's macros have no product of two lists: the L2 priorities are taken by name.
    (@pairs $d:tt [$($l1:ident $l1_text:literal $l1_id:literal)*]
        [$normal:ident $normal_text:literal $first:ident $first_text:literal $last:ident $last_text:literal]) => {
        // Each pair by itself, so that an error about another one names the pair and not a half of it.
        $(
            impl<T: Wide> Suits<T> for ($l1, $normal) {}
            impl<T: Wide> Suits<T> for ($l1, $first) {}
            impl<T: Wide> Suits<T> for ($l1, $last) {}
        )*

        /// The rows of an instruction on global memory, one for each caching qualifier that it takes, and with them its
        /// `asm!` for each element type: `number => [opcode] effect;`.
        ///
        /// `hints` is the opcode without a qualifier, to which priorities are added. An operator is between the two
        /// texts around `operators`. Types of 256 bits take L2 priorities and pairs too.
        macro_rules! caching_rows {
            ($d impl_access:ident $d instruction:ident, legal: $d legal:ident,
                hints: $d plain:literal $d effect:ident,
                operators: $d before:literal [$d($d operator:ident $d operator_effect:ident),*] $d after:literal) => {
                #[cfg(ptx_device)]
                operator_rows! {
                    { caching_rows @all $d impl_access $d instruction $d plain $d effect }
                    $d before $d after [$d($d operator $d operator_effect,)*] []
                }

                const _: () = {
                    use $crate::isa::caching::*;

                    legal! { $d legal: NoHint $d($d operator)* $normal $first $last
                        $($l1 ($l1, $normal) ($l1, $first) ($l1, $last))* }
                };
            };
            (@all $d impl_access:ident $d instruction:ident $d plain:literal $d effect:ident [$d($d operators:tt)*]) => {
                for_each_element! { $d impl_access { $d instruction
                    narrow [
                        0 => [$d plain] $d effect;
                        $d($d operators)*
                        $($l1_id => [$d plain, $l1_text] $d effect;)*
                    ]
                    wide [
                        0 => [$d plain] $d effect;
                        $d($d operators)*
                        <$normal as Caching>::ID => [$d plain, $normal_text] $d effect;
                        <$first as Caching>::ID => [$d plain, $first_text] $d effect;
                        <$last as Caching>::ID => [$d plain, $last_text] $d effect;
                        $(
                            $l1_id => [$d plain, $l1_text] $d effect;
                            <($l1, $normal) as Caching>::ID => [$d plain, $l1_text, $normal_text] $d effect;
                            <($l1, $first) as Caching>::ID => [$d plain, $l1_text, $first_text] $d effect;
                            <($l1, $last) as Caching>::ID => [$d plain, $l1_text, $last_text] $d effect;
                        )*
                    ]
                } }
            };
        }
    };
    (@marker $(#[$doc:meta])* $name:ident $text:literal ($($says:literal)?) $id:literal $gate:ident $how:tt $shown:tt) => {
        $(#[doc = concat!("`", $text, "`: ", $says, ".")])?
        $(#[$doc])*
        #[doc = ""]
        #[doc = concat!("PTX: `", $text, "`. ", needs!($gate))]
        #[doc = caching!(@page $name $text $how $shown)]
        #[doc = when_it_pays!($name)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl sealed::Sealed for $name {}
        #[diagnostic::do_not_recommend]
        impl Caching for $name {
            const ID: u8 = $id;
            type Gate = gate::$gate;
        }
    };
    (@page $name:ident $text:literal (store) $shown:tt) => {
        page! { store concat!("st_global::<", stringify!($name), ">()"), concat!("st.global", $text), $shown }
    };
    (@page $name:ident $text:literal ($($how:ident)*) $shown:tt) => {
        page! { $($how)* concat!("ld_global::<", stringify!($name), ", NoPrefetch>()"), concat!("ld.global", $text), $shown }
    };
}

caching! { $
    none {
        /// Nothing is said about caching.
        NoHint (load) {"LDG.E" sm_90, ld_global ld_global_nc st_global}
    }
    operators {
        ///
        /// Not the same as saying nothing: on many GPUs `ld.global.ca` is a strong load at the scope of the SM.
        Ca ".ca" "cached at all levels, likely to be read again" 1 Always (load) {"LDG.E.STRONG.SM" sm_90, ld_global ld_global_nc};
        Cg ".cg" "cached in L2 and not in L1" 2 Always (load) {"LDG.E.STRONG.GPU" sm_90, ld_global ld_global_nc st_global};
        Cs ".cs" "probably used once: evicted first" 3 Always (load) {"LDG.E.EF" sm_90, ld_global ld_global_nc st_global};
        Lu ".lu" "last use: the line need not be written back" 4 Always (load) {"LDG.E.LU" sm_90, ld_global};
        Cv ".cv" "not cached: fetched again at each read,\nfor system memory that others write" 5 Always (load) {"LDG.E.STRONG.SYS" sm_90, ld_global};
        Wb ".wb" "written back from all coherent levels" 6 Always (store) {"STG.E.STRONG.SM" sm_90, st_global};
        Wt ".wt" "written through L2 to system memory" 7 Always (store) {"STG.E.STRONG.SYS" sm_90, st_global};
    }
    l1 {
        #[doc(alias = "L1::evict_normal")]
        EvictNormal ".L1::evict_normal" "L1 evicts it as usual" 16 L1Priorities (load) {"LDG.E" sm_90, ld_global ld_global_nc st_global};
        #[doc(alias = "L1::evict_unchanged")]
        EvictUnchanged ".L1::evict_unchanged" "L1 keeps the line's priority as it is" 32 L1Priorities (load) {"LDG.E.EU" sm_90, ld_global ld_global_nc st_global};
        #[doc(alias = "L1::evict_first")]
        EvictFirst ".L1::evict_first" "L1 evicts it before others: for data that is read once" 48 L1Priorities (load) {"LDG.E.EF" sm_90, ld_global ld_global_nc st_global};
        #[doc(alias = "L1::evict_last")]
        EvictLast ".L1::evict_last" "L1 evicts it after others: for data that is read again" 64 L1Priorities (load) {"LDG.E.EL" sm_90, ld_global ld_global_nc st_global};
        #[doc(alias = "L1::no_allocate")]
        NoAllocate ".L1::no_allocate" "it takes no line of L1, so the lines there stay" 80 L1Priorities (load) {"LDG.E.NA" sm_90, ld_global ld_global_nc st_global};
    }
    l2 {
        #[doc(alias = "L2::evict_normal")]
        L2EvictNormal ".L2::evict_normal" "L2 evicts it as usual" 8 Bits256 (wide load) {"LDG.E.ENL2.256" sm_100, ld_global ld_global_nc st_global};
        #[doc(alias = "L2::evict_first")]
        L2EvictFirst ".L2::evict_first" "L2 evicts it before others: for data that is read once" 9 Bits256 (wide load) {"LDG.E.EFL2.256" sm_100, ld_global ld_global_nc st_global};
        #[doc(alias = "L2::evict_last")]
        L2EvictLast ".L2::evict_last" "L2 evicts it after others: for data that is read again" 10 Bits256 (wide load) {"LDG.E.ELL2.256" sm_100, ld_global ld_global_nc st_global};
    }
}

impl<A: L1Priority, B: L2Priority> sealed::Sealed for (A, B) {}
#[diagnostic::do_not_recommend]
impl<A: L1Priority, B: L2Priority> Caching for (A, B) {
    const ID: u8 = A::ID + B::ID;
    type Gate = B::Gate;
}

/// Which caching qualifiers an instruction takes, as impls for the compiler.
macro_rules! legal {
    ($legal:ident: $($marker:tt)*) => { $(
        #[diagnostic::do_not_recommend]
        impl $legal for $marker {}
    )* };
}
