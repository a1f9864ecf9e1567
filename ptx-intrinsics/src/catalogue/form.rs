//! One legal form, with everything that is known about it.

use alloc::format;
use alloc::string::String;

use super::message::Message;
use crate::grammar::access::Spelling;
use crate::grammar::atomic::Atomic;
use crate::grammar::multimem::Multimem;
use crate::isa::element::ELEMENTS;
use crate::isa::gate::Needs;
use crate::isa::row::Operation;
pub use crate::isa::row::{Family, Signature};

/// One legal form: an instruction with all its qualifiers and its type.
#[derive(Clone, Debug)]
pub struct Form {
    instruction: String,
    rust: String,
    ptx: String,
    what: What,
    pub(super) needs: Needs,
}

#[derive(Clone, Debug)]
enum What {
    Access(Spelling),
    Atomic(Atomic),
    Multimem(Multimem),
    Message(Family, Message),
}

impl Form {
    /// The instruction's name: `ld.global.nc`, `ld.acquire`.
    pub fn instruction(&self) -> &str {
        &self.instruction
    }

    /// What kind of instruction it is.
    pub fn family(&self) -> Family {
        match self.what {
            What::Access(spelling) if spelling.operation == Operation::Load => Family::Load,
            What::Access(_) => Family::Store,
            What::Atomic(atomic) if atomic.red => Family::Reduction,
            What::Atomic(_) => Family::Atomic,
            What::Multimem(_) => Family::Multimem,
            What::Message(family, _) => family,
        }
    }

    /// The anchor of its section in the page <https://docs.nvidia.com/cuda/parallel-thread-execution/>.
    pub fn section(&self) -> &'static str {
        match &self.what {
            What::Access(spelling) => spelling.section(),
            What::Atomic(atomic) => atomic.section(),
            What::Multimem(multimem) => multimem.section(),
            What::Message(_, message) => message.section,
        }
    }

    /// What it does with its address.
    pub fn operation(&self) -> Operation {
        self.access().map_or(Operation::Other, |spelling| spelling.operation)
    }

    /// Whether it is an `atom` or a `red`.
    pub fn is_atomic(&self) -> bool {
        matches!(self.what, What::Atomic(_))
    }

    /// Whether it is a `multimem`.
    pub fn is_multimem(&self) -> bool {
        matches!(self.what, What::Multimem(_))
    }

    fn access(&self) -> Option<Spelling> {
        if let What::Access(spelling) = self.what { Some(spelling) } else { None }
    }

    /// Its arguments and its result, if it is neither a load nor a store.
    pub fn signature(&self) -> Option<Signature<'_>> {
        match &self.what {
            What::Access(_) => None,
            What::Atomic(atomic) => Some(atomic.signature()),
            What::Multimem(multimem) => Some(multimem.signature()),
            What::Message(_, Message { parameters, result, operands, .. }) => {
                Some(Signature { parameters, result: result.as_deref(), operands })
            }
        }
    }

    /// The expression, with `p` as the address, `v` as the value of a store, and `policy` if it takes a policy. It is unsafe
    /// to evaluate. If the form has a method, the expression calls it. Otherwise it is [`ptx!`](crate::ptx).
    pub fn rust(&self) -> &str {
        &self.rust
    }

    /// The expression of the predicated form. It has `cond` too, and `or` if it has a value. None if there is no such form.
    pub fn rust_if(&self) -> Option<String> {
        match self.what {
            What::Access(spelling) => Some(spelling.method(true).unwrap_or_else(|| spelling.macro_call(true))),
            What::Atomic(atomic) => Some(atomic.rust(true)),
            What::Multimem(multimem) => Some(multimem.rust(true)),
            What::Message(..) => None,
        }
    }

    /// The cargo feature that [`rust`](Self::rust) needs.
    pub fn feature(&self) -> Option<&'static str> {
        feature_of(&self.rust)
    }

    /// The cargo feature that [`rust_if`](Self::rust_if) needs.
    pub fn feature_if(&self) -> Option<&'static str> {
        feature_of(&self.rust_if()?)
    }

    /// The expression of a load or store with [`ptx!`](crate::ptx). None for other instructions.
    pub fn rust_ptx(&self) -> Option<String> {
        self.access().map(|spelling| spelling.macro_call(false))
    }

    /// The predicated expression of a load or store with [`ptx!`](crate::ptx). None for other instructions.
    pub fn rust_ptx_if(&self) -> Option<String> {
        self.access().map(|spelling| spelling.macro_call(true))
    }

    /// The form with `.unified` after its address, if it takes that: the expression, SM and PTX ISA version.
    pub fn unified(&self) -> Option<(String, u32, u32)> {
        let spelling = Spelling { unified: true, ..self.access()? };
        let needs = spelling.check().ok()?;
        Some((spelling.macro_call(false), needs.sm(), needs.ptx()))
    }

    /// The mnemonic with all qualifiers and the type.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The mnemonic, and the operands if they distinguish forms: `cp.async.cg.shared.global [%], [%], 16`.
    pub fn full_ptx(&self) -> String {
        let operands = self.signature().map_or("", |signature| signature.operands);
        let by_operands = matches!(
            self.family(),
            Family::Copy | Family::TensorMap | Family::Barrier | Family::Block | Family::Control
        );
        if by_operands && !operands.is_empty() { format!("{} {operands}", self.ptx) } else { self.ptx.clone() }
    }

    /// The Rust type that a load or store moves: `V4<f32>`. None for other instructions.
    pub fn element(&self) -> Option<&'static str> {
        self.access().map(|spelling| ELEMENTS[spelling.element].rust)
    }

    /// How many bytes a load or store moves. 0 for other instructions.
    pub fn bytes(&self) -> usize {
        self.access().map_or(0, |spelling| ELEMENTS[spelling.element].bytes)
    }

    /// The state space of its address as a word without a dot, `shared::cluster`. None for a generic address.
    pub fn space(&self) -> Option<&'static str> {
        match self.what {
            What::Access(spelling) => spelling.space.map(|space| &space.ptx()[1..]),
            What::Atomic(atomic) => atomic.space(),
            What::Multimem(multimem) => multimem.space(),
            What::Message(..) => None,
        }
    }

    /// Whether it takes a [`CachePolicy`](crate::CachePolicy).
    pub fn takes_policy(&self) -> bool {
        match self.what {
            What::Access(spelling) => spelling.hint,
            What::Atomic(atomic) => atomic.hint(),
            What::Multimem(_) | What::Message(..) => false,
        }
    }

    /// Whether all threads of a warp execute it together. It is LLVM's intrinsic then, and no `asm!`.
    pub fn is_collective(&self) -> bool {
        matches!(&self.what, What::Message(_, message) if message.is_collective)
    }

    /// The targets of which it needs one, where the number of a GPU is not enough: `["sm_90a", "sm_100f"]`. `sm_90a` is that GPU
    /// alone, `sm_100f` the later ones of its family too, each with a suffix. Of most forms there are none.
    pub fn targets(&self) -> &'static [&'static str] {
        self.needs.targets()
    }

    /// The oldest target that has it: 80 for sm_80. See [`targets`](Form::targets) too.
    pub fn min_sm(&self) -> u32 {
        self.needs.sm()
    }

    /// The oldest PTX ISA version that has it: 74 for 7.4.
    pub fn min_ptx(&self) -> u32 {
        self.needs.ptx()
    }
}

impl Spelling {
    pub(super) fn form(self) -> Option<Form> {
        let needs = self.check().ok()?;
        Some(Form {
            instruction: self.instruction(),
            rust: self.method(false).unwrap_or_else(|| self.macro_call(false)),
            ptx: self.ptx(),
            what: What::Access(self),
            needs,
        })
    }
}

impl Atomic {
    pub(super) fn form(self) -> Option<Form> {
        Some(Form {
            instruction: self.instruction(),
            rust: self.rust(false),
            ptx: self.ptx(),
            what: What::Atomic(self),
            needs: self.check().ok()?,
        })
    }
}

impl Multimem {
    pub(super) fn form(self) -> Option<Form> {
        Some(Form {
            instruction: self.instruction(),
            rust: self.rust(false),
            ptx: self.ptx(),
            what: What::Multimem(self),
            needs: self.check().ok()?,
        })
    }
}

impl Message {
    pub(super) fn form(self, family: Family) -> Form {
        Form {
            instruction: self.instruction.into(),
            rust: self.rust.clone(),
            ptx: self.ptx.into(),
            needs: self.needs,
            what: What::Message(family, self),
        }
    }
}

/// The cargo feature of an expression: of a policy, an L2 priority, a prefetch size and a condition it combines two.
fn feature_of(rust: &str) -> Option<&'static str> {
    let is_method = rust.starts_with("ld_global") || rust.starts_with("st_global");
    let has = |words: &[&str]| words.iter().any(|word| rust.contains(word));
    let (policy, condition) = (has(&["_with("]), has(&["_if(", "_if_with("]));
    let (priority, size) = (has(&["L2Evict"]), has(&[", Prefetch"]));
    let combines = policy && (priority || size || condition) || priority && condition;
    (is_method && combines).then_some("l2-combinations")
}
