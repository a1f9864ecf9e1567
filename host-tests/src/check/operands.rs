//! What the catalogue says of an instruction's text: its family, and the operands of what is neither a load, a store nor
//! an atomic, by what their registers hold.

use std::collections::HashMap;
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{self, Family, Form};

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// An address in shared memory.
    Shared,
    /// A generic or global address.
    Global,
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
    /// 64 bits.
    Long,
    /// A cache policy.
    Policy,
    /// The predicate of a source that is ignored.
    Ignore,
    /// The predicate that a wait gives.
    Done,
}

/// A part of an instruction's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it is written.
    Text(&'static str),
    /// A register.
    Register(Holds),
}

/// The family of an instruction, which need not be a legal one. It is that of the first row of [`FAMILIES`] whose words begin it.
pub fn family(text: &str) -> Option<Family> {
    let begins =
        |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ']));
    FAMILIES.iter().find(|(name, _)| begins(name)).map(|(_, family)| *family)
}

/// Families by the words that an instruction begins with; an instruction before another one that begins with fewer of its words.
const FAMILIES: &[(&str, Family)] = &[
    ("ld", Family::Load),
    ("ldu", Family::Load),
    ("st.bulk", Family::Fill),
    ("tensormap", Family::TensorMap),
    ("st.async", Family::Asynchronous),
    ("st", Family::Store),
    ("atom", Family::Atomic),
    ("red.async", Family::Asynchronous),
    ("red", Family::Reduction),
    ("multimem.st.async", Family::Asynchronous),
    ("multimem.red.async", Family::Asynchronous),
    ("multimem", Family::Multimem),
    ("prefetch", Family::Cache),
    ("prefetchu", Family::Cache),
    ("applypriority", Family::Cache),
    ("discard", Family::Cache),
    ("createpolicy", Family::Policy),
    ("isspacep", Family::Address),
    ("cvta", Family::Address),
    ("mapa", Family::Address),
    ("getctarank", Family::Address),
    ("cp.async", Family::Copy),
    ("cp.reduce.async.bulk", Family::Copy),
    ("mbarrier", Family::Barrier),
    ("fence", Family::Fence),
    ("membar", Family::Fence),
    ("bar", Family::Block),
    ("barrier", Family::Block),
    ("elect", Family::Warp),
    ("match", Family::Warp),
    ("redux", Family::Warp),
    ("setmaxnreg", Family::Control),
    ("clusterlaunchcontrol", Family::Control),
    ("griddepcontrol", Family::Control),
    ("nanosleep", Family::Control),
    ("activemask", Family::Control),
    ("mov", Family::Control),
];

/// The parts of an instruction about caches, of a copy, a barrier or a fence, or of one that is done later, by the form's [`told`](Form::full_ptx).
pub fn parts(told: &str) -> Option<&'static [Part]> {
    static ALL: LazyLock<HashMap<String, Vec<Part>>> = LazyLock::new(|| {
        use Family::{Asynchronous, Barrier, Cache, Copy, Fence, Fill, TensorMap};
        let is_told = |form: &Form| {
            matches!(form.family(), Asynchronous | Cache | Copy | Barrier | Fence | Fill | TensorMap)
                || is_request(form.ptx())
        };
        let forms = catalogue::forms().filter(is_told);
        forms.map(|form| (form.full_ptx(), of_form(&form))).collect()
    });
    ALL.get(told).map(Vec::as_slice)
}

/// Whether it asks to cancel the launch of a cluster. It is of the family of what touches no memory, and its response does.
pub fn is_request(ptx: &str) -> bool {
    ptx.starts_with("clusterlaunchcontrol.try_cancel")
}

fn of_form(form: &Form) -> Vec<Part> {
    let signature = form.signature();
    let operands = signature.map_or("", |signature| signature.operands);
    let told: &'static str = format!("{} {operands}", form.ptx()).trim_end().to_owned().leak();
    let result = signature.and_then(|signature| signature.result).filter(|of| *of != "bool").map(holds);
    let parameters = signature.map_or("", |signature| signature.parameters).split(", ");
    let types = parameters.filter_map(|parameter| parameter.split_once(": ")).map(|(_, of)| of);
    let mut all: Vec<Holds> =
        result.into_iter().flatten().chain(types.filter(|of| *of != "bool").flat_map(holds)).collect();
    // A mask comes after the policy, which is the last argument.
    if let ([.., mask, policy @ Holds::Policy], true) = (&mut all[..], told.contains(".cp_mask")) {
        std::mem::swap(mask, policy);
    }
    let mut registers = all.into_iter();
    let mut parts = Vec::new();
    let mut rest = told;
    while let Some(at) = rest.find('%') {
        let (before, behind) = rest.split_at(at);
        parts.push(Part::Text(before));
        let word = 1 + behind[1..].find(|c: char| !c.is_alphanumeric()).unwrap_or(behind.len() - 1);
        parts.push(Part::Register(match &behind[..word] {
            "%ignore" => Holds::Ignore,
            "%done" => Holds::Done,
            _ => registers.next().unwrap_or_else(|| panic!("{told} has more operands than {}", form.rust())),
        }));
        rest = &behind[word..];
    }
    assert_eq!(registers.next(), None, "{} has more parameters than {told}", form.rust());
    parts.push(Part::Text(rest));
    parts
}

/// What the registers of a Rust type hold.
fn holds(of: &str) -> Vec<Holds> {
    match of {
        "u8" | "i8" | "B8" => vec![Holds::Byte],
        "u16" | "i16" | "B16" => vec![Holds::Half],
        "u32" | "i32" | "f32" | "B32" => vec![Holds::Word],
        "u64" | "i64" | "f64" | "B64" | "MbarrierState" => vec![Holds::Long],
        _ if of.starts_with('V') => {
            let lanes = of[1..2].parse().expect("a vector's name has its lanes");
            let lane = of[2..].trim_matches(['<', '>']);
            holds(lane).repeat(lanes)
        }
        "CachePolicy" => vec![Holds::Policy],
        _ if of.starts_with("Shared") => vec![Holds::Shared],
        _ if of.starts_with('*') => vec![Holds::Global],
        _ => {
            let array = of.trim_matches(['[', ']']).split_once("; ");
            let array = array.and_then(|(of, count)| Some((of, count.parse().ok()?)));
            let (of, count) =
                array.unwrap_or_else(|| panic!("say in host-tests/src/check/operands.rs what holds a `{of}`"));
            vec![if of == "i32" { Holds::Word } else { Holds::Half }; count]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_of_its_family() {
        for form in catalogue::forms() {
            assert_eq!(family(form.ptx()), Some(form.family()), "say in FAMILIES of what family {} is", form.ptx());
        }
        assert_eq!(family("stub.u32"), None);
    }
}
