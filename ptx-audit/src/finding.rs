//! The kinds of findings: how bad each is, what to write instead, and where to read about it.

use serde::{Deserialize, Serialize};

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An order or a scope is not in the machine code.
    OrderLost,
    /// Nothing writes the descriptor of an access that has a policy.
    PolicyUndefined,
    /// The descriptor holds another constant than the source.
    PolicyChanged,
    /// The descriptor is the default one.
    PolicyLost,
    /// A hint is not in the machine code.
    HintLost,
    /// The machine code has a weaker hint.
    HintWeakened,
    /// A vector became several accesses.
    VectorSplit,
    /// Registers are spilled to local memory.
    Spill,
    /// An array is in local memory.
    StackFrame,
    /// `setmaxnreg` is not in the machine code.
    RegistersKept,
    /// With launch bounds more loads would be in flight.
    LaunchBounds,
    /// The space of a generic access is known.
    GenericAccess,
    /// Addresses are added in 64 bits in the hot loop.
    WideArithmetic,
    /// Several small accesses could be one wide one.
    NarrowAccess,
    /// A parameter is only read, and its loads are not `.nc`.
    CouldBeNc,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The kernel may do something else than its source says.
    Error,
    /// The kernel is slower than its source lets hope.
    Warning,
    /// The kernel could be faster.
    Note,
}

impl Kind {
    /// As it is named in what is printed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::OrderLost => "order-lost",
            Kind::PolicyUndefined => "policy-undefined",
            Kind::PolicyChanged => "policy-changed",
            Kind::PolicyLost => "policy-lost",
            Kind::HintLost => "hint-lost",
            Kind::HintWeakened => "hint-weakened",
            Kind::VectorSplit => "vector-split",
            Kind::Spill => "spill",
            Kind::StackFrame => "stack-frame",
            Kind::RegistersKept => "registers-kept",
            Kind::LaunchBounds => "launch-bounds",
            Kind::GenericAccess => "generic-access",
            Kind::WideArithmetic => "wide-arithmetic",
            Kind::NarrowAccess => "narrow-access",
            Kind::CouldBeNc => "could-be-nc",
        }
    }

    /// How bad it is.
    pub fn level(self) -> Level {
        match self {
            Kind::OrderLost | Kind::PolicyUndefined | Kind::PolicyChanged => Level::Error,
            Kind::WideArithmetic | Kind::NarrowAccess | Kind::CouldBeNc => Level::Note,
            _ => Level::Warning,
        }
    }

    /// What to write instead.
    pub fn help(self) -> &'static str {
        match self {
            Kind::OrderLost => "put a `fence` of that scope beside the access, and report the assembler",
            Kind::PolicyUndefined => {
                "assemble with another version of ptxas, or give the policy as a 64-bit constant: `mov.b64 p, 0x12f0000000000000`"
            }
            Kind::PolicyChanged => "assemble with another version of ptxas, and report this one",
            Kind::PolicyLost => "assemble with another version of ptxas, or make the policy with `createpolicy`",
            Kind::HintLost => "leave the word out, or use one that this GPU has: `cargo ptx explain` shows them",
            Kind::HintWeakened => "nothing to change: this GPU has no more; write the weaker word to say what you get",
            Kind::VectorSplit => "align the address to the whole vector, and access it by one `.v2`, `.v4` or `.v8`",
            Kind::Spill => {
                "give the kernel more registers: fewer threads by `.maxntid` and `.minnctapersm`, or hold less at once"
            }
            Kind::StackFrame => {
                "index the array by constants only: unroll the loop (`unroll!`, `#pragma unroll`), or use shared memory"
            }
            Kind::RegistersKept => {
                "say how many registers the kernel begins with: `.maxntid` and `.minnctapersm` (`__launch_bounds__(384, 1)`, both numbers), or `.maxnreg`"
            }
            Kind::LaunchBounds => {
                "give the kernel launch bounds: `#[launch_bounds(256, 1)]`, `__launch_bounds__(256, 1)`"
            }
            Kind::GenericAccess => {
                "name the space in the instruction: `ld.global`, `st.shared`; in CUDA C++ keep the pointer in one space"
            }
            Kind::WideArithmetic => "count in 32 bits, and add the index to the pointer once in the access",
            Kind::NarrowAccess => "access them by one vector: `ld.global.v4.f32`, `float4` in CUDA C++",
            Kind::CouldBeNc => {
                "if nothing writes that memory while the kernel runs, load it by `ld.global.nc`: `ldg`, `__ldg`, `const … __restrict__`"
            }
        }
    }

    /// The lesson of docs/fast-kernels.md, by its heading's anchor; empty if none is about it.
    pub fn lesson(self) -> &'static str {
        match self {
            Kind::LaunchBounds | Kind::Spill | Kind::RegistersKept => "give-the-launch-bounds",
            Kind::StackFrame => "index-arrays-by-constants",
            Kind::GenericAccess => "shared-memory-by-sharedptr",
            Kind::WideArithmetic => "count-in-32-bits",
            Kind::PolicyLost | Kind::PolicyUndefined | Kind::PolicyChanged => "make-a-policy-once",
            _ => "",
        }
    }
}

/// Something that the audit found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// What was found, in a sentence.
    pub text: String,
    /// The line of PTX, if it is about one.
    pub ptx_line: Option<u32>,
    /// The address of the machine instruction, if it is about one.
    pub address: Option<u64>,
    /// Whether it stands in the hot loop.
    pub hot: bool,
}
