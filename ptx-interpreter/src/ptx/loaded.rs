//! What becomes of what a load brings.

use std::sync::{Arc, PoisonError};

use crate::machine::Program;
use crate::ptx::fate::{Fate, Fates, fates};
use crate::ptx::site::Site;
use crate::ptx::text::{guarded, opcode, operands, words};

impl Program {
    /// What a function does with its registers.
    pub(crate) fn fates_in(&self, function: &str) -> Arc<Fates> {
        let mut known = self.fates.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let sites = self.sites.iter().filter(|site| site.function == function);
            Arc::new(fates(sites.map(|site| site.text.as_str())))
        };
        known.entry(function.to_owned()).or_insert_with(new).clone()
    }

    /// Whether the function does something with the first register of an instruction.
    pub(crate) fn uses_result_of(&self, site: u32) -> bool {
        self.fates_of_first(&self.sites[site as usize]).iter().any(|fate| *fate > Fate::Unused)
    }

    /// What becomes of the registers that are an instruction's first operand.
    fn fates_of_first(&self, site: &Site) -> Vec<Fate> {
        let fates = self.fates_in(&site.function);
        let of = |register: &str| fates.get(register).copied().unwrap_or_default();
        let operands = operands(opcode(guarded(&site.text).1).1);
        operands.first().into_iter().flat_map(|first| words(first)).map(of).collect()
    }

    /// What becomes of what an instruction loads: the bytes of an element, and the fate of each. None if it is no load and no exchange.
    pub(crate) fn loaded_by(&self, site: u32) -> Option<(usize, Vec<Fate>)> {
        let site = &self.sites[site as usize];
        let (opcode, _) = opcode(guarded(&site.text).1);
        let bits = opcode.rsplit('.').next()?.trim_start_matches(char::is_alphabetic).parse::<usize>().ok()?;
        let is_exchange = opcode.starts_with("atom.") && opcode.split('.').any(|word| word == "exch");
        if !is_exchange && !opcode.starts_with("ld.") && !opcode.starts_with("ldu.") {
            return None;
        }
        Some((bits / 8, self.fates_of_first(site)))
    }
}
