//! What the catalogue knows of an instruction, as plain data.

#[cfg(not(ptx_device))]
use super::gate::Needs;

/// What an instruction does with its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads a value.
    Load,
    /// Writes a value.
    Store,
    #[cfg(not(ptx_device))]
    /// Neither: it brings something into a cache, or makes a policy.
    Other,
}

/// A kind of instruction.
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Reads a value: `ld`, `ldu`.
    Load,
    /// Writes a value: `st`.
    Store,
    /// Changes a value and gives the old one: `atom`.
    Atomic,
    /// Changes a value: `red`.
    Reduction,
    /// Says something about a line of a cache: `prefetch`, `applypriority`, `discard`.
    Cache,
    /// Fills memory: `st.bulk`.
    Fill,
    /// Makes a policy: `createpolicy`.
    Policy,
    /// Computes with an address: `isspacep`, `cvta`, `mapa`, `getctarank`.
    Address,
    /// An asynchronous copy, or a wait for one: `cp.async`, `cp.async.bulk`.
    Copy,
    /// `mbarrier`.
    Barrier,
    /// `fence`, `membar`.
    Fence,
}

/// The arguments and the result of a form that is neither a load nor a store.
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The parameters that its Rust expression names: `p: *const u8`.
    pub(crate) parameters: &'static str,
    /// The type of the expression, if it has a value.
    pub(crate) result: Option<&'static str>,
    /// The operands of the instruction, `%` for a register: `[%]`.
    pub(crate) operands: &'static str,
}

/// A row of the notation that `instructions/notation/` describes, for one word and with a policy or without.
#[cfg(not(ptx_device))]
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) instruction: &'static str,
    /// The anchor of its section on the page of the PTX ISA.
    pub(crate) section: &'static str,
    pub(crate) ptx: &'static str,
    pub(crate) operands: &'static str,
    /// The function, and what it is generic over.
    pub(crate) name: &'static str,
    pub(crate) generic: &'static str,
    /// The word as Rust says it: `Cta`.
    pub(crate) word: &'static str,
    /// Each parameter's name and type.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    pub(crate) result: Option<&'static str>,
    /// The type that is shown for `T`.
    pub(crate) of: &'static str,
    pub(crate) needs: Needs,
}

/// The rows of a function, and those of its other under a policy.
#[cfg(not(ptx_device))]
pub(crate) type Rows = &'static [&'static [Row]];

/// The rows of several functions.
#[cfg(not(ptx_device))]
pub(crate) type Table = &'static [Rows];

/// A function's rows in this block, and in the cluster.
#[cfg(not(ptx_device))]
pub(crate) type Pair = [&'static [Row]; 2];

/// Instead of a word: the form is that of the function without the word.
#[cfg(not(ptx_device))]
pub(crate) const SAME: &str = "same";
