//! Whether the blocks of a kernel can have to do with each other only by the bytes that they read and write: then some of them
//! may run without the others.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use crate::machine::{Action, Line, Program};
use crate::parts::joint::Blocks;
use crate::ptx::access::Scope;
use crate::ptx::text;

/// The system's functions that a part of a launch may call: it ends there.
const ENDS: &str = "__assertfail";

impl Program {
    /// How the blocks of a kernel may run. It is looked at once.
    pub(crate) fn blocks_of(&self, kernel: &str) -> Blocks {
        let known = self.known().get(kernel).copied();
        known.unwrap_or_else(|| {
            let blocks = self.look_at(kernel);
            self.known().insert(kernel.to_owned(), blocks);
            blocks
        })
    }

    /// Whether threads of a kernel may wait for what another launch writes, or the host: by strong accesses of memory that is not its
    /// blocks' own.
    pub fn may_wait(&self, kernel: &str) -> bool {
        matches!(self.blocks_of(kernel), Blocks::Together)
    }

    /// Blocks of a kernel had to do with each other: they run together from now on.
    pub(crate) fn run_together(&self, kernel: &str) {
        self.known().insert(kernel.to_owned(), Blocks::Together);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Blocks>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_at(&self, kernel: &str) -> Blocks {
        // Every function may be called.
        let functions = self.functions.iter().filter(|(name, code)| !code.is_entry || *name == kernel);
        let mut loops = false;
        for lines in functions.map(|(_, code)| &code.lines) {
            if !lines.iter().all(|line| self.is_separate(line.site)) {
                return Blocks::Together;
            }
            let goes_back = |(at, line): (usize, &Line)| matches!(line.action, Action::Branch(target) if target <= at);
            loops |= lines.iter().enumerate().any(goes_back);
        }
        Blocks::Apart { loops }
    }

    /// Whether an instruction orders nothing between blocks, and does only what can be taken back.
    fn is_separate(&self, site: u32) -> bool {
        let (opcode, rest) = text::opcode(text::guarded(&self.sites[site as usize].text).1);
        let words: Vec<&str> = opcode.split('.').collect();
        let has = |word: &str| words.contains(&word);
        let is_near = || {
            let is_own = |word: &str| word.starts_with("shared") || word.starts_with("param") || word == "local";
            words.iter().any(|word| is_own(word)) || Scope::of(&words).is_some_and(|scope| scope <= Scope::Cluster)
        };
        match words[0] {
            "ld" | "ldu" | "st" => {
                let strong = ["volatile", "relaxed", "acquire", "release", "mmio", "async"];
                !strong.into_iter().any(has) || is_near()
            }
            "atom" | "red" => is_near() || self.only_changes(site, &words),
            "call" => self.calls_what_is_known(rest),
            "griddepcontrol" => !has("launch_dependents"),
            "discard"
            | "multimem"
            | "clusterlaunchcontrol"
            | "tensormap"
            | "tex"
            | "tld4"
            | "txq"
            | "suq"
            | "suld"
            | "sust"
            | "sured" => false,
            _ => !["%clock", "%globaltimer"].into_iter().any(|timer| rest.contains(timer)),
        }
    }

    /// Whether an atomic changes a number whatever it was, and nobody uses what it was.
    fn only_changes(&self, site: u32, words: &[&str]) -> bool {
        let others = ["acquire", "release", "acq_rel", "exch", "cas", "async"];
        !others.iter().any(|word| words.contains(word)) && (words[0] == "red" || !self.uses_result_of(site))
    }

    /// Whether a called function is in the module.
    fn calls_what_is_known(&self, rest: &str) -> bool {
        let parts = text::operands(rest);
        let name = parts.iter().find(|part| !part.starts_with('('));
        name.is_some_and(|name| name == ENDS || self.functions.contains_key(name))
    }
}
