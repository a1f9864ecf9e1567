//! The rows of a load or store in a state space: one for each order that it has there.

/// The state spaces of an instruction, each with the orders that it has there.
///
/// `$load` makes the access for every element type, and `$load_if` the weak one under a predicate. `[Acquire ".acquire"]` is
/// the order that `ordered` adds to `.relaxed`. Of a space there are: its marker and text, the types that fit (`narrow`:
/// up to 128 bits), whether the address is the `pointer` as it is or what `cvta` makes of it, and the orders: `weak` with its
/// effect, `volatile`, `mmio`, and `ordered` with a caching qualifier and its text.
#[cfg(ptx_device)]
macro_rules! space_rows {
    ($load:ident $load_if:ident $op:literal, $sync:tt:
        $($space:ident $text:literal, $types:ident types, $address:ident $($from:literal)?, $orders:tt;)*) => {
        const _: () = {
            use $crate::emit::{access::*, registers::*};
            use $crate::isa::{caching::*, element::*, order::*, scope::*, space::*};

            $(space_rows! {
                @$address $($from)? { $load $load_if [$op, $text] $sync $space $types } $orders
            })*
        };
    };
    (@pointer $row:tt $orders:tt) => { space_rows! { @space $row [(", [{p}];" " [{p}], ") [] []] $orders } };
    (@cvta $from:literal $row:tt $orders:tt) => {
        space_rows! { @space $row
            [(", [%address];" " [%address], ") ["{{\n.reg .u64 %address;\ncvta.to" $from ".u64 %address, {p};\n"] ["\n}}"]] $orders
        }
    };
    (@space { $load:ident $load_if:ident $opcode:tt $sync:tt $space:ident $types:ident }
        $address:tt $orders:tt) => {
        for_each_element! { $load_if { $space $types $address $opcode } }
        space_rows! { @order { $opcode $sync $load $space $types $address } $orders [] [] }
    };
    // One order after the other, until there is none left: then the rows are complete, those of all types and those that types of 256 bits lack.
    (@order { $opcode:tt $sync:tt $load:ident $space:ident $types:ident $address:tt } [] [$($rows:tt)*] [$($narrow:tt)*]) => {
        for_each_element! { $load { $space $types $address [$($rows)* $($narrow)*] [$($rows)*] } }
    };
    (@order { [$op:literal, $text:literal] $($s:tt)* } [weak $effect:ident $(, $($more:tt)*)?] [$($rows:tt)*] $narrow:tt) => {
        space_rows! { @order { [$op, $text] $($s)* } [$($($more)*)?]
            [$($rows)* <(Weak, NoHint) as OrderRow>::ID => [$op, $text] $effect;] $narrow }
    };
    (@order { [$op:literal, $text:literal] $($s:tt)* } [volatile $(, $($more:tt)*)?] [$($rows:tt)*] $narrow:tt) => {
        space_rows! { @order { [$op, $text] $($s)* } [$($($more)*)?]
            [$($rows)* <(Volatile, NoHint) as OrderRow>::ID => [$op, ".volatile", $text] memory;] $narrow }
    };
    (@order { [$op:literal, $text:literal] $($s:tt)* } [mmio $(, $($more:tt)*)?] $rows:tt [$($narrow:tt)*]) => {
        space_rows! { @order { [$op, $text] $($s)* } [$($($more)*)?] $rows
            [$($narrow)* <(Mmio, NoHint) as OrderRow>::ID => [$op, ".mmio.relaxed.sys", $text] memory;] }
    };
    (@order { [$op:literal, $text:literal] [$sync:ident $sync_text:literal] $($s:tt)* }
        [ordered $caching:ident $hint:literal $(, $($more:tt)*)?] [$($rows:tt)*] [$($narrow:tt)*]) => {
        space_rows! { @order { [$op, $text] [$sync $sync_text] $($s)* } [$($($more)*)?] [
            $($rows)*
            <(Relaxed<Cta>, $caching) as OrderRow>::ID => [$op, ".relaxed.cta", $text, $hint] memory;
            <(Relaxed<Cluster>, $caching) as OrderRow>::ID => [$op, ".relaxed.cluster", $text, $hint] memory;
            <(Relaxed<Gpu>, $caching) as OrderRow>::ID => [$op, ".relaxed.gpu", $text, $hint] memory;
            <(Relaxed<Sys>, $caching) as OrderRow>::ID => [$op, ".relaxed.sys", $text, $hint] memory;
        ] [
            $($narrow)*
            <($sync<Cta>, $caching) as OrderRow>::ID => [$op, $sync_text, ".cta", $text, $hint] memory;
            <($sync<Cluster>, $caching) as OrderRow>::ID => [$op, $sync_text, ".cluster", $text, $hint] memory;
            <($sync<Gpu>, $caching) as OrderRow>::ID => [$op, $sync_text, ".gpu", $text, $hint] memory;
            <($sync<Sys>, $caching) as OrderRow>::ID => [$op, $sync_text, ".sys", $text, $hint] memory;
        ] }
    };
}
