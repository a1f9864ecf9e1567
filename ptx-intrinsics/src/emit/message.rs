//! Instructions that take registers and are neither loads nor stores: their `asm!`, and the names of their gates.

/// Its `asm!`. It may touch memory, at once or later: no access moves across it.
#[cfg(target_arch = "nvptx64")]
macro_rules! issue {
    ([$($text:expr),* $(,)?] $($operand:tt)*) => {
        core::arch::asm!(concat!($($text),*), $($operand)* options(nostack, preserves_flags))
    };
}

/// The `asm!` of arithmetic: no access.
#[cfg(target_arch = "nvptx64")]
macro_rules! compute {
    ([$($text:expr),* $(,)?] $($operand:tt)*) => {
        // SAFETY: it makes a number of numbers.
        unsafe { core::arch::asm!(concat!($($text),*), $($operand)* options(pure, nomem, nostack, preserves_flags)) }
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
