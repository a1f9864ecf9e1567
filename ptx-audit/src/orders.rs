//! Whether the machine code keeps what an acquire or a release orders: a `MEMBAR` before a release, an invalidation of L1
//! after an acquire.

use ptx_sass::hot_loop::successors;
use ptx_sass::nvdisasm::SassInstruction;

use crate::fate::{Fate, Word, width_of_scope};
use crate::machine::{fence_scope, is_access, is_branch, is_memory, is_ordering, is_write};
use crate::ptx::Statement;

/// The first GPU whose shared memory other multiprocessors see: there an acquire of shared memory invalidates L1 too.
const CLUSTERS: u32 = 90;

/// The code of a kernel, and how control flows through it.
pub(crate) struct Orders<'a> {
    code: &'a [SassInstruction],
    sm: u32,
    after: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
}

/// What a step of a walk says of the order that is looked for.
enum Step {
    /// It is kept on this path.
    Kept,
    /// It is lost on this path.
    Lost,
    /// The path goes on.
    On,
}

impl<'a> Orders<'a> {
    pub(crate) fn of(code: &'a [SassInstruction], sm: u32) -> Self {
        let after = successors(code);
        let mut before = vec![Vec::new(); code.len()];
        for (from, next) in after.iter().enumerate() {
            next.iter().for_each(|to| before[*to].push(from));
        }
        Orders { code, sm, after, before }
    }

    /// What became of the order of an access; nothing if it has none.
    pub(crate) fn of_access(&self, statement: &Statement, at: &[usize]) -> Option<Word> {
        let order = ["acquire", "release", "acq_rel"].into_iter().find(|order| statement.has(order))?;
        if !["ld", "st", "atom", "red"].contains(&statement.name()) {
            return None;
        }
        let scope = width_of_scope(&statement.opcode)?;
        // A generic atomic of a type that the machine lacks has other ways for shared and local memory.
        let on_chip = statement.opcode.contains(".shared");
        let carries =
            |at: &&usize| on_chip || ["STRONG", "MMIO"].iter().any(|word| self.code[**at].opcode.contains(word));
        let own: Vec<usize> = at.iter().filter(carries).copied().collect();
        let releases = order != "acquire";
        let acquires = order != "release" && scope > 1 && (!on_chip || self.sm >= CLUSTERS);
        let writes: Vec<usize> = own.iter().filter(|at| is_write(&self.code[**at])).copied().collect();
        let kept = (!releases || self.released(&writes, at, scope)) && (!acquires || self.acquired(&own, at));
        let fate = match kept {
            false => Fate::Lost,
            true if releases || acquires => Fate::Kept,
            true => Fate::Default,
        };
        Some(Word { word: format!(".{order}"), fate })
    }

    /// Whether a fence of that scope is between these instructions and the last write before them, on every path.
    fn released(&self, own: &[usize], all: &[usize], scope: u32) -> bool {
        self.walk(own, all, &self.before, |one| match fence_scope(one) {
            // What is done asynchronously is ordered by its own unit.
            Some(found) if found >= scope || self.is_asynchronous(own) => Step::Kept,
            _ if one.name() == "BAR" && scope == 1 => Step::Kept,
            // What a function that is called does is not known.
            _ if ["CALL", "RET"].contains(&one.name()) => Step::Kept,
            _ if is_write(one) => Step::Lost,
            _ => Step::On,
        })
    }

    fn is_asynchronous(&self, own: &[usize]) -> bool {
        own.iter().all(|at| self.code[*at].name().starts_with('U'))
    }

    /// Whether L1 is invalidated between these instructions and the next load that may find old data there, on every path.
    fn acquired(&self, own: &[usize], all: &[usize]) -> bool {
        self.walk(own, all, &self.after, |one| match one.name() {
            "CCTL" if one.opcode.contains("IVALL") => Step::Kept,
            "CALL" | "RET" => Step::Kept,
            "LDG" | "LD"
                if is_memory(one) && !["STRONG", "CONSTANT", "MMIO"].iter().any(|word| one.opcode.contains(word)) =>
            {
                Step::Lost
            }
            _ => Step::On,
        })
    }

    /// Whether no path from these instructions along these edges is lost; what else they are made of counts for nothing.
    fn walk(
        &self,
        from: &[usize],
        all: &[usize],
        edges: &[Vec<usize>],
        step: impl Fn(&SassInstruction) -> Step,
    ) -> bool {
        let mut seen = vec![false; self.code.len()];
        from.iter().for_each(|at| seen[*at] = true);
        let mut open: Vec<usize> = from.iter().flat_map(|at| &edges[*at]).copied().collect();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match step(&self.code[at]) {
                Step::Lost if all.contains(&at) => open.extend(&edges[at]),
                Step::Kept => {}
                Step::Lost => return false,
                Step::On => open.extend(&edges[at]),
            }
        }
        true
    }

    /// The ordering instructions around these, up to the next access and the next branch on both sides: the assembler makes one
    /// fence of several, and writes it on the line of one.
    pub(crate) fn around(&self, at: &[usize]) -> Vec<&'a SassInstruction> {
        let (Some(first), Some(last)) = (at.iter().min(), at.iter().max()) else { return Vec::new() };
        let goes_on = |one: &&SassInstruction| !is_access(one) && !is_branch(one);
        let (front, back) = (&self.code[..*first], &self.code[*last + 1..]);
        let before = front.iter().rev().take_while(goes_on);
        let after = back.iter().take_while(goes_on);
        before.chain(&self.code[*first..=*last]).chain(after).filter(|one| is_ordering(one)).collect()
    }

    /// The ordering instructions between two accesses; nothing if they are not in this order, or a branch is between them.
    pub(crate) fn between(&self, from: usize, to: usize) -> Option<Vec<&'a SassInstruction>> {
        let code = self.code.get(from + 1..to)?;
        (!code.iter().any(is_branch)).then(|| code.iter().filter(|one| is_ordering(one)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::Module;
    use ptx_sass::nvdisasm::parse;

    fn code(lines: &[&str]) -> Vec<SassInstruction> {
        let body: String = lines.iter().enumerate().map(|(at, line)| format!("/*{at:02x}0*/ {line} ;\n")).collect();
        parse(&format!("        .type k,@function\nk:\n{body}")).remove(0).instructions
    }

    /// The fate of the order of an access at that position.
    fn fate(ptx: &str, at: usize, lines: &[&str]) -> Fate {
        let module = Module::read(&format!(".visible .entry k()\n{{\n{ptx};\n}}\n"));
        let code = code(lines);
        let word = Orders::of(&code, 90).of_access(&module.functions[0].statements[0], &[at]);
        word.expect("it has an order").fate
    }

    #[test]
    fn a_release_needs_a_fence_between_it_and_the_last_write() {
        let release = |lines: &[&str]| fate("st.release.gpu.global.u32 [%rd1], %r1", lines.len() - 1, lines);
        let (data, flag) = ("STG.E desc[UR4][R2.64], R5", "STG.E.STRONG.GPU desc[UR4][R4.64], R7");
        assert_eq!(release(&[data, "MEMBAR.ALL.GPU", "ERRBAR", flag]), Fate::Kept);
        assert_eq!(release(&[data, "MEMBAR.ALL.CTA", flag]), Fate::Lost);
        assert_eq!(release(&["MEMBAR.ALL.GPU", data, flag]), Fate::Lost);
        assert_eq!(release(&["MEMBAR.SC.SYS", "LDG.E R9, desc[UR4][R2.64]", flag]), Fate::Kept);
        // Nothing is before it.
        assert_eq!(release(&[flag]), Fate::Kept);
    }

    #[test]
    fn an_acquire_needs_an_invalidation_before_the_next_load() {
        let acquire = |lines: &[&str]| fate("ld.acquire.gpu.global.u32 %r1, [%rd1]", 0, lines);
        let (flag, data) = ("LDG.E.STRONG.GPU R5, desc[UR4][R2.64]", "LDG.E R7, desc[UR4][R4.64]");
        assert_eq!(acquire(&[flag, "CCTL.IVALL", data, "EXIT"]), Fate::Kept);
        assert_eq!(acquire(&[flag, data, "CCTL.IVALL", "EXIT"]), Fate::Lost);
        assert_eq!(acquire(&[flag, "LDG.E.CONSTANT R7, desc[UR4][R4.64]", "CCTL.IVALL", data, "EXIT"]), Fate::Kept);
        assert_eq!(fate("ld.acquire.cta.global.u32 %r1, [%rd1]", 0, &[flag, data, "EXIT"]), Fate::Default);
    }
}
