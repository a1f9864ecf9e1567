//! A spelling: its words, what its operands say, and the instruction that the assembler is asked about.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::sync::LazyLock;

use regex::Regex;

/// A mnemonic with all its words, and what is in its operands beside an address, a value and a policy. Where operands
/// distinguish forms they come after the words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spelling {
    /// The mnemonic: `ld.global.nc.f32`.
    pub ptx: String,
    /// What is said in the operands.
    pub operands: Operands,
}

/// What is in the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operands {
    /// Nothing in particular.
    Plain,
    /// `.unified` after the address of a load.
    Unified,
    /// A sink for the first element of a vector.
    OneSink,
    /// A sink for each.
    AllSinks,
}

impl fmt::Display for Spelling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands = match self.operands {
            Operands::Plain => "",
            Operands::Unified => " [p].unified",
            Operands::OneSink => " {_, …}",
            Operands::AllSinks => " {_}",
        };
        write!(out, "{}{operands}", self.ptx)
    }
}

impl Operands {
    pub(super) fn of(instruction: &str, ty: &str) -> impl Iterator<Item = Self> {
        let load = ["ld", "ldu"].contains(&instruction).then_some(Self::Unified);
        let vector = ty.starts_with(".v").then_some([Self::OneSink, Self::AllSinks]);
        [Self::Plain].into_iter().chain(load).chain(vector.into_iter().flatten())
    }
}

/// The registers that the lines of a function use, beside `.b128 %q`.
pub const REGISTERS: &str = ".reg .b8 %b<24>; .reg .b16 %h<24>; .reg .b32 %r<24>; .reg .b64 %d<24>; .reg .f32 %f<24>; .reg .f64 %e<24>; \
                             .reg .b32 %s; .reg .pred %ignore, %done, %holds, %found;";

impl Spelling {
    /// The instruction, at the address `%p` plus `offset`, under the policy `%policy` where it takes one.
    pub fn instruction(&self, offset: usize) -> String {
        let policy = if self.takes_policy() { ", %policy" } else { "" };
        let address = format!("[%p+{offset}]{}", if self.operands == Operands::Unified { ".unified" } else { "" });
        match self.opcode() {
            "cp" | "mbarrier" | "tensormap" | "clusterlaunchcontrol" => self.by_operands(offset, policy),
            "ld" | "ldu" => format!("{} {}, {address}{policy};", self.ptx, self.value()),
            "elect" => format!("{} %r0|%done, %r1;", self.ptx),
            "match" => {
                let both = if self.ptx.contains(".all") { "|%done" } else { "" };
                let value = if self.ptx.ends_with("64") { "%d1" } else { "%r1" };
                format!("{} %r0{both}, {value}, %r2;", self.ptx)
            }
            "redux" => format!("{} %r0, %r1, %r2;", self.ptx),
            "bar" | "barrier" | "setmaxnreg" | "nanosleep" | "activemask" | "griddepcontrol" | "mov" => {
                format!("{};", self.ptx)
            }
            "st.bulk" => format!("{} {address}, %d0, 0;", self.ptx),
            "st.async" | "red.async" | "multimem.st.async" | "multimem.red.async" => {
                let barrier = if self.ptx.contains("::complete_tx") { ", [%p]" } else { "" };
                format!("{} {address}, {}{barrier};", self.ptx, self.value())
            }
            "st" => format!("{} {address}, {}{policy};", self.ptx, self.value()),
            "atom" => format!("{} {}, {address}, {}{policy};", self.ptx, self.values_from(0), self.changed_by()),
            "red" => format!("{} {address}, {}{policy};", self.ptx, self.changed_by()),
            "multimem" if self.ptx.starts_with("multimem.ld_reduce") => {
                format!("{} {}, {address};", self.ptx, self.value())
            }
            "multimem" => format!("{} {address}, {};", self.ptx, self.value()),
            "fence" if self.ptx.contains("::generic.acquire") && !self.ptx.contains(".sync_restrict") => {
                format!("{} {address}, 128;", self.ptx)
            }
            "fence" | "membar" => format!("{};", self.ptx),
            "isspacep" => format!("{} %done, %p;", self.ptx),
            "cvta" | "mapa" | "getctarank" => {
                let register = if self.ptx.ends_with("32") { "%r" } else { "%d" };
                let result = if self.opcode() == "getctarank" { "%r" } else { register };
                let rank = if self.opcode() == "mapa" { ", %r2" } else { "" };
                format!("{} {result}0, {register}1{rank};", self.ptx)
            }
            "createpolicy" if self.ptx.contains(".range") => format!("{} %d0, {address}, %r0, %r1;", self.ptx),
            "createpolicy" if self.ptx.contains(".cvt") => format!("{} %d0, %p;", self.ptx),
            "createpolicy" => format!("{} %d0, %f0;", self.ptx),
            "applypriority" | "discard" => format!("{} {address}, 128;", self.ptx),
            _ => format!("{} {address}{policy};", self.ptx),
        }
    }

    fn by_operands(&self, offset: usize, policy: &str) -> String {
        let says = |words| self.ptx.contains(words);
        let [dst, src] = match () {
            _ if (says("tensormap") || says("try_cancel")) && !says(".shared") => ["%p", "%p"],
            _ if says(".bulk.global") => ["%p", "%s"],
            _ if says(".shared::cluster.shared") || says(".shared::cta.shared") => ["%s", "%s"],
            _ => ["%s", "%p"],
        };
        let barrier = if says("shared") { "%s" } else { "%p" };
        let phase = if says(".parity") { "%r1" } else { "%d0" };
        let named = self.ptx.replace("%dst", dst).replace("%src", src).replace("%s]", &format!("{barrier}]"));
        let text = named.replace("%phase", phase).replace("%p]", &format!("%p+{offset}]"));
        let new = if says(".b64") { "%d0" } else { "%r0" };
        let text = text.replace("%s]", &format!("%s+{offset}]")).replace("%new", new).replace("%response", "%q0");
        match text.rsplit_once(", ") {
            // A mask comes after the policy.
            Some((before, mask)) if says(".cp_mask") => format!("{before}{policy}, {mask};"),
            _ => format!("{text}{policy};"),
        }
    }

    /// As the catalogue tells its forms apart: `%` for a register, but for predicates.
    pub fn full_ptx(&self) -> String {
        let policy = if takes_policy_among_operands(&self.ptx) { POLICY } else { "" };
        without_registers(&self.ptx).into_owned() + policy
    }

    /// The word that it begins with; two words for what `ptx!` does not spell.
    fn opcode(&self) -> &str {
        opcode(&self.ptx)
    }

    /// Whether it is a load or a store.
    pub fn moves(&self) -> bool {
        matches!(self.opcode(), "ld" | "ldu" | "st")
    }

    /// Whether `ptx!` is how it is written.
    pub fn is_spelled(&self) -> bool {
        self.moves() || self.is_atomic() || self.is_multimem()
    }

    /// Whether it is a `multimem`.
    pub fn is_multimem(&self) -> bool {
        self.opcode() == "multimem"
    }

    /// Whether it is an atomic.
    pub fn is_atomic(&self) -> bool {
        matches!(self.opcode(), "atom" | "red")
    }

    /// Stores that keep what a load brings, a register each: without them the assembler would drop it, or narrow it.
    pub fn kept(&self) -> String {
        let mut kept = String::new();
        if self.opcode() == "createpolicy" {
            kept += " st.volatile.global.b64 [%p], %d0;";
        }
        if matches!(self.opcode(), "ld" | "ldu" | "atom") || self.ptx.starts_with("multimem.ld_reduce") {
            let (register, bits) = self.register();
            let first = usize::from(self.operands == Operands::OneSink);
            for lane in first..self.lanes() {
                write!(kept, " st.volatile.global.b{bits} [%p], %{register}{lane};").expect("a string takes all");
            }
        }
        kept
    }

    /// Whether it takes a policy.
    pub fn takes_policy(&self) -> bool {
        self.ptx.contains("::cache_hint")
    }

    /// How many elements its type has.
    pub fn lanes(&self) -> usize {
        let vector = self.ptx.rsplit_once(".v").and_then(|(_, rest)| rest.split('.').next()?.parse().ok());
        vector.unwrap_or(1)
    }

    fn value(&self) -> String {
        self.values_from(0)
    }

    /// What an atomic changes the value in memory by; a `.cas` compares before.
    fn changed_by(&self) -> String {
        let value = self.values_from(8);
        if self.ptx.contains(".cas.") { format!("{}, {value}", self.values_from(16)) } else { value }
    }

    /// The value in registers from a number on.
    fn values_from(&self, first: usize) -> String {
        let (register, lanes) = (self.register().0, self.lanes());
        if lanes == 1 {
            return format!("%{register}{first}");
        }
        let lane = |at: usize| match self.operands {
            Operands::AllSinks => "_".to_owned(),
            Operands::OneSink if at == 0 => "_".to_owned(),
            _ => format!("%{register}{}", first + at),
        };
        format!("{{{}}}", (0..lanes).map(lane).collect::<Vec<_>>().join(", "))
    }

    /// The register that holds an element, and the element's bits.
    fn register(&self) -> (char, &str) {
        let ty = self.ptx.rsplit('.').next().unwrap_or_default();
        let bits =
            if ty.ends_with("16x2") { "32" } else { ty.trim_start_matches(|kind: char| kind.is_ascii_lowercase()) };
        let register = match (ty, bits) {
            ("f32", _) => 'f',
            ("f64", _) => 'e',
            (_, "8") if self.ptx.contains("st.async") => 'b',
            (_, "8" | "16") => 'h',
            (_, "64") => 'd',
            (_, "128") => 'q',
            _ => 'r',
        };
        (register, bits)
    }
}

fn opcode(ptx: &str) -> &str {
    let functions = ["st.bulk", "st.async", "red.async", "multimem.st.async", "multimem.red.async"];
    let own = functions.into_iter().find(|opcode| ptx.starts_with(opcode));
    own.unwrap_or_else(|| ptx.split('.').next().unwrap_or_default())
}

/// How a policy is shown among other operands.
pub(super) const POLICY: &str = ", %";

/// Whether that is how its policy is shown.
pub(super) fn takes_policy_among_operands(ptx: &str) -> bool {
    ["cp", "mbarrier", "tensormap"].contains(&opcode(ptx)) && ptx.contains("::cache_hint")
}

/// `%` for a register, but for predicates.
pub(super) fn without_registers(words: &str) -> Cow<'_, str> {
    static REGISTER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"%(?:phase|dst|src|new|[sp]|[hrd]\d)\b").expect("valid"));
    REGISTER.replace_all(words, "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_instructions() {
        let line = |ptx: &str, operands| {
            let spelling = Spelling { ptx: ptx.into(), operands };
            spelling.instruction(64) + &spelling.kept()
        };
        assert_eq!(
            line("ld.global.nc.L2::cache_hint.v2.s8", Operands::Plain),
            "ld.global.nc.L2::cache_hint.v2.s8 {%h0, %h1}, [%p+64], %policy; st.volatile.global.b8 [%p], %h0; \
             st.volatile.global.b8 [%p], %h1;"
        );
        assert_eq!(
            line("ld.v2.f64", Operands::OneSink),
            "ld.v2.f64 {_, %e1}, [%p+64]; st.volatile.global.b64 [%p], %e1;"
        );
        assert_eq!(
            line("ld.b128", Operands::Unified),
            "ld.b128 %q0, [%p+64].unified; st.volatile.global.b128 [%p], %q0;"
        );
        assert_eq!(line("st.global.v4.f32", Operands::AllSinks), "st.global.v4.f32 [%p+64], {_, _, _, _};");
        assert_eq!(line("prefetchu.L1", Operands::Plain), "prefetchu.L1 [%p+64];");
        assert_eq!(
            line("atom.cas.b16", Operands::Plain),
            "atom.cas.b16 %h0, [%p+64], %h16, %h8; st.volatile.global.b16 [%p], %h0;"
        );
        assert_eq!(
            line("red.global.add.noftz.L2::cache_hint.v2.f16x2", Operands::Plain),
            "red.global.add.noftz.L2::cache_hint.v2.f16x2 [%p+64], {%r8, %r9}, %policy;"
        );
        assert_eq!(
            line("cp.async.cg.shared.global.L2::cache_hint [%s], [%p], 16, %ignore", Operands::Plain),
            "cp.async.cg.shared.global.L2::cache_hint [%s+64], [%p+64], 16, %ignore, %policy;"
        );
        assert_eq!(line("mbarrier.inval.b64 [%s]", Operands::Plain), "mbarrier.inval.b64 [%p+64];");
        assert_eq!(
            line("createpolicy.range.L2::evict_last.b64", Operands::Plain),
            "createpolicy.range.L2::evict_last.b64 %d0, [%p+64], %r0, %r1; st.volatile.global.b64 [%p], %d0;"
        );
    }
}
