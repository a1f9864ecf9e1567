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
    /// Accesses the copies that several GPUs have of one memory: `multimem`.
    Multimem,
    /// Says something about a line of a cache: `prefetch`, `applypriority`, `discard`.
    Cache,
    /// Fills memory: `st.bulk`.
    Fill,
    /// Changes a tensor map: `tensormap.replace`.
    TensorMap,
    /// Makes a policy: `createpolicy`.
    Policy,
    /// Computes with an address: `isspacep`, `cvta`, `mapa`, `getctarank`.
    Address,
    /// An asynchronous copy, or a wait for one: `cp.async`, `cp.async.bulk`.
    Copy,
    /// Stores or changes a value later: `st.async`, `red.async`, and those of `multimem`.
    Asynchronous,
    /// `mbarrier`.
    Barrier,
    /// The threads of a block or of a cluster wait for each other: `bar`, `barrier`, `barrier.cluster`.
    Block,
    /// `fence`, `membar`.
    Fence,
    /// What the threads of a warp find out together: `elect.sync`, `match.sync`, `redux.sync`.
    Warp,
    /// What a thread does by itself about how it runs, and clocks: `griddepcontrol`, `nanosleep`, `activemask`, `mov` of a clock,
    /// `clusterlaunchcontrol`.
    Control,
}

/// The arguments and the result of a form that is neither a load nor a store.
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'f> {
    /// The parameters that its Rust expression names: `p: *const u8`.
    pub parameters: &'f str,
    /// The type of the expression, if it has a value.
    pub result: Option<&'f str>,
    /// The operands of the instruction, `%` for a register: `[%]`.
    pub operands: &'static str,
}

/// The rows of a table.
#[cfg(not(ptx_device))]
pub(crate) type Table = &'static [Rows];

/// What a row of the notation makes, or several.
#[cfg(not(ptx_device))]
#[derive(Debug)]
pub(crate) enum Rows {
    Many(&'static [Rows]),
    Function(&'static Function),
}

/// A function of the notation that `instructions/notation/` describes.
#[cfg(not(ptx_device))]
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) instruction: &'static str,
    /// The anchor of its section on the page of the PTX ISA.
    pub(crate) section: &'static str,
    /// The type that is shown for `T`.
    pub(crate) of: &'static str,
    pub(crate) place: Place,
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
}

/// Whose function it is.
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Module,
    /// A type's.
    Type(&'static str),
    /// A method of what a function makes, which takes the first of the axes.
    Made(&'static str),
}

/// What a function takes and gives.
#[cfg(not(ptx_device))]
#[derive(Debug)]
pub(crate) struct Takes {
    /// Each parameter's name and type.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    pub(crate) result: Option<&'static str>,
    /// What it is generic over.
    pub(crate) generics: &'static [Generic],
    pub(crate) needs: Needs,
    /// All threads of a warp execute it together.
    pub(crate) is_collective: bool,
    pub(crate) texts: Texts,
}

/// What a function is generic over, and what its name is there.
#[cfg(not(ptx_device))]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Generic {
    Type(&'static str),
    Number(&'static str),
    /// It has a word.
    Axis(&'static str),
}

/// The text of a function, or its texts for each word of an axis.
#[cfg(not(ptx_device))]
#[derive(Debug)]
pub(crate) enum Texts {
    One { ptx: &'static str, operands: &'static str },
    Each(&'static [Choice]),
}

/// A word of an axis.
#[cfg(not(ptx_device))]
#[derive(Debug)]
pub(crate) struct Choice {
    /// As Rust says it: `Cta`.
    pub(crate) word: &'static str,
    pub(crate) needs: Needs,
    /// The instruction writes nothing there.
    pub(crate) is_silent: bool,
    /// What a type that belongs to the axis is, such as `D::Offsets`.
    pub(crate) belongs: Option<&'static str>,
    /// The texts with this word.
    pub(crate) texts: Texts,
}

/// Instead of a word: the form is that of the function without the word.
#[cfg(not(ptx_device))]
pub(crate) const SAME: &str = "same";
