//! Instructions that take the address of a cache line, or of a tensor map, and move no value.

/// The functions of such an instruction and their rows of the catalogue.
///
/// `$instruction`, `$behind` what stands behind the address, `$link` the ISA's section, `*const` or `*mut`, options of
/// `asm!`, what it means on a CPU. Then documentation, name, PTX, the space that the address is converted to where it
/// is, and a gated one's name again: the type that error messages name as the one that needs the target.
macro_rules! lines {
    ($instruction:literal $behind:literal $link:literal *$pointer:ident $options:tt $host:ident { $(
        $(#[$doc:meta])* $name:ident $ptx:literal $(@$space:ident)? $gate:ident $($what:ident)?;
    )* } $($more:expr,)*) => {
        $(
            $(
                #[doc(hidden)]
                #[allow(non_camel_case_types, reason = "error messages print it as the function that the user calls")]
                #[derive(Clone, Copy, Debug)]
                pub enum $what {}
            )?

            $(#[$doc])*
            ///
            #[doc = concat!("PTX: `", $ptx, " [p]", $behind, ";`. ", needs!($gate), "")]
            ///
            #[doc = concat!("PTX ISA: [", $instruction, "](https://docs.nvidia.com/cuda/parallel-thread-execution/#", $link, ").")]
            #[doc(alias = $ptx)]
            #[inline(always)]
            pub unsafe fn $name<T>(p: *$pointer T) $(where $gate: OnTarget<$what, T>)? {
                emit_line! { p [$ptx] $behind $options $host $(@$space)? }
            }
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        pub(crate) const SINGLES: &[crate::isa::row::Single] = &[
            $(line_row! { $gate $instruction concat!(stringify!($name), "(p)"), $ptx, $behind $pointer },)*
            $($more,)*
        ];
    };
}

/// A row of the catalogue.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! line_row {
    ($gate:ident $instruction:literal $rust:expr, $ptx:expr, $behind:literal $pointer:ident) => {
        crate::isa::row::Single::gated::<$gate>(
            $instruction,
            $rust,
            $ptx,
            crate::isa::row::Signature {
                parameters: concat!("p: *", stringify!($pointer), " u8"),
                result: None,
                operands: concat!("[%]", $behind),
            },
        )
    };
}

/// Its `asm!`. Never pure: nothing is returned, and yet it must stay.
#[cfg(target_arch = "nvptx64")]
macro_rules! emit_line {
    ($p:ident [$($ptx:expr),*] $behind:literal $options:tt $host:ident @$space:ident) => {
        emit_line! { @asm $p $options concat!(
            "{{\n.reg .u64 %address;\ncvta.to.", stringify!($space), ".u64 %address, {p};\n",
            $($ptx,)* " [%address]", $behind, ";\n}}"
        ) }
    };
    ($p:ident [$($ptx:expr),*] $behind:literal $options:tt $host:ident) => {
        emit_line! { @asm $p $options concat!($($ptx,)* " [{p}]", $behind, ";") }
    };
    (@asm $p:ident [$($option:ident)*] $text:expr) => {
        // SAFETY: the caller's promise about the address.
        unsafe { core::arch::asm!($text, p = in(reg64) $p, options($($option,)* nostack, preserves_flags)) }
    };
}

/// What it means on a CPU.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! emit_line {
    ($p:ident [$($ptx:expr),*] $behind:literal $options:tt $host:ident $(@$space:ident)?) => {
        // SAFETY: the caller's promise about the address.
        unsafe { $host($p.cast()) }
    };
}

/// A hint alone: nothing is to be done.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) unsafe fn nothing(_: *const u8) {}
