//! What became of fences: the `MEMBAR`, the invalidation of L1 and the `FENCE` that they are in machine code.

use ptx_sass::nvdisasm::SassInstruction;

use crate::accesses::{Became, is_fence};
use crate::fate::{Fate, Word, width_of_scope};
use crate::machine::fence_scope;
use crate::orders::Orders;
use crate::ptx::{Function, Statement};

/// The fences of a kernel among its other accesses.
pub(crate) struct Fences<'a> {
    pub(crate) orders: &'a Orders<'a>,
    pub(crate) function: Option<&'a Function>,
    pub(crate) became: &'a [Became<'a>],
}

impl Fences<'_> {
    /// What became of the words of the fence at that place among the accesses; nothing if that cannot be told.
    pub(crate) fn words(&self, number: usize) -> Option<Vec<Word>> {
        let fence = &self.became[number];
        let opcode = &fence.origin.statement.opcode;
        if !fence.at.is_empty() {
            return Some(words(opcode, &self.orders.around(&fence.at)));
        }
        // Nothing is on its line: another fence's machine code may be for both.
        let is_access = |one: &&Became<'_>| !is_fence(one.origin.statement);
        let before = self.became[..number].iter().rev().find(is_access)?;
        let after = self.became[number + 1..].iter().find(is_access)?;
        let lines = before.origin.statement.line..after.origin.statement.line + 1;
        let mut between = self.function?.statements.iter().filter(|one| lines.contains(&one.line)).skip(1);
        if between.any(|one| one.labelled || ends_a_block(one)) {
            return None;
        }
        let (from, to) = (before.at.last()?, after.at.first()?);
        Some(words(opcode, &self.orders.between(*from, *to)?))
    }
}

fn ends_a_block(statement: &Statement) -> bool {
    ["bra", "brx", "call", "ret", "exit", "bar", "barrier"].contains(&statement.name())
}

/// What became of the words of a fence in these ordering instructions.
fn words(opcode: &str, machine: &[&SassInstruction]) -> Vec<Word> {
    let parts: Vec<&str> = opcode.split('.').collect();
    let has = |word: &str| parts.contains(&word);
    let any = |what: &dyn Fn(&SassInstruction) -> bool| machine.iter().any(|one| what(one));
    let scope = machine.iter().filter_map(|one| fence_scope(one)).max().unwrap_or(0);
    let sequential = any(&|one| one.opcode.starts_with("MEMBAR.SC"));
    let invalidates = any(&|one| one.opcode == "CCTL.IVALL");
    let views = any(&|one| one.name() == "FENCE");
    let word = |word: &str, kept: bool| {
        let fate = if kept { Fate::Kept } else { Fate::Lost };
        Word { word: format!(".{word}"), fate }
    };
    let default = |word: &str| Word { word: format!(".{word}"), fate: Fate::Default };
    let restricted = parts.iter().any(|part| part.starts_with("sync_restrict"));
    let order = ["sc", "acq_rel", "release", "acquire"].into_iter().find(|order| has(order));
    let wanted = width_of_scope(opcode);
    if has("membar") {
        let level =
            parts.iter().find_map(|part| Some((*part, ["cta", "gl", "sys"].iter().position(|own| own == part)?)));
        if let Some((name, level)) = level {
            return vec![word(name, sequential && scope > level as u32 && (level == 0 || invalidates))];
        }
    }
    match (order, wanted) {
        (Some("acquire"), _) if has("alias") => vec![word("alias", invalidates)],
        _ if has("alias") => vec![word("alias", scope >= 2)],
        _ if has("mbarrier_init") => vec![default("release")],
        (Some("acquire"), _) if restricted => vec![default("acquire")],
        (Some("release"), _) if restricted => vec![word("release", views)],
        (Some("acquire"), _) if has("tensormap::generic") => {
            vec![word("acquire", any(&|one| one.opcode.starts_with("UTMACCTL.IV")))]
        }
        (None, _) if has("async") => vec![word("async", views)],
        (Some("acquire"), Some(1)) => vec![default("acquire")],
        (Some("acquire"), _) => vec![word("acquire", invalidates)],
        (Some(order), Some(wanted)) => {
            let acquires = ["sc", "acq_rel"].contains(&order) && wanted > 1;
            let kept = scope > 0 && (order != "sc" || sequential) && (!acquires || invalidates);
            let name = parts.iter().find(|part| ["cta", "cluster", "gpu", "sys"].contains(part)).copied();
            let reaches = name.map(|name| word(name, scope >= wanted));
            [word(order, kept)].into_iter().chain(reaches).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_sass::nvdisasm::parse;

    fn code(lines: &[&str]) -> Vec<SassInstruction> {
        let body: String = lines.iter().enumerate().map(|(at, line)| format!("/*{at:02x}0*/ {line} ;\n")).collect();
        parse(&format!("        .type k,@function\nk:\n{body}")).remove(0).instructions
    }

    #[test]
    fn the_words_of_a_fence() {
        let told = |opcode: &str, lines: &[&str]| {
            let code = code(lines);
            let machine: Vec<&SassInstruction> = code.iter().collect();
            let words = words(opcode, &machine).into_iter();
            words.filter(|one| one.fate == Fate::Lost).map(|one| one.word).collect::<Vec<_>>().concat()
        };
        let full = ["MEMBAR.SC.GPU", "ERRBAR", "CCTL.IVALL"];
        for opcode in [
            "fence.sc.gpu",
            "fence.acq_rel.gpu",
            "fence.acquire.gpu",
            "fence.sc.cluster",
            "membar.gl",
            "fence.acquire.cta",
        ] {
            assert_eq!(told(opcode, &full), "", "{opcode}");
        }
        assert_eq!(told("fence.sc.sys", &full), ".sys");
        assert_eq!(told("fence.sc.gpu", &["MEMBAR.ALL.GPU", "CCTL.IVALL"]), ".sc");
        assert_eq!(told("fence.acq_rel.gpu", &["MEMBAR.ALL.GPU"]), ".acq_rel");
        assert_eq!(told("fence.release.gpu", &["MEMBAR.ALL.GPU"]), "");
        assert_eq!(told("fence.release.gpu", &["MEMBAR.ALL.CTA"]), ".gpu");
        assert_eq!(told("membar.sys", &full), ".sys");
        assert_eq!(told("fence.proxy.async", &["MEMBAR.ALL.GPU"]), ".async");
        assert_eq!(told("fence.proxy.async", &["FENCE.VIEW.ASYNC.S"]), "");
        assert_eq!(told("fence.proxy.tensormap::generic.acquire.gpu", &["MEMBAR.ALL.GPU"]), ".acquire");
        assert_eq!(told("fence.proxy.alias.acquire.sys", &["CCTL.IVALL"]), "");
        assert_eq!(told("fence.proxy.alias.acquire.sys", &["MEMBAR.ALL.SYS"]), ".alias");
        assert_eq!(told("fence.proxy.alias.release.sys", &["MEMBAR.ALL.SYS"]), "");
        assert_eq!(told("fence.mbarrier_init.release.cluster", &[]), "");
    }
}
