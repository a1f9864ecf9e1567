//! Memory outside of a part of a launch. The part reads what is there, and writes to pages of its own.

use std::sync::PoisonError;

use crate::machine::Machine;
use crate::memory::change::Change;
use crate::memory::spaces::{Owner, owner};
use crate::parts::overlay::{ALL, PAGE};

impl Machine<'_> {
    /// Where the bytes of an address are before the launch, if they are in memory outside. Nobody writes them while parts run.
    pub(crate) fn beneath(&self, address: u64, bytes: usize) -> Option<*const u8> {
        let (owner, at) = owner(address, self.cluster);
        match owner {
            Owner::Outside => (self.outside.holds)(address, bytes).then_some(address as *const u8),
            Owner::Module => {
                let module = self.program.module.lock().unwrap_or_else(PoisonError::into_inner);
                module.get(at as usize..(at as usize).checked_add(bytes)?).map(<[u8]>::as_ptr)
            }
            _ => None,
        }
    }

    /// Whether an address is in memory that the blocks of a launch share.
    pub(crate) fn is_outside(&self, address: u64) -> bool {
        matches!(owner(address, self.cluster).0, Owner::Outside | Owner::Module)
    }

    /// Changes a value when all parts of the launch have ended, if it is outside of this one.
    pub(crate) fn changes_later(&mut self, address: u64, change: Change, value: u128) -> bool {
        let is_later = self.is_outside(address);
        let part = self.part.as_mut().filter(|_| is_later);
        part.map(|part| part.later.push(address, change, value)).is_some()
    }

    /// Whether bytes outside of a part are on several pages, each of which may be somewhere else.
    pub(crate) fn is_apart(&self, address: u64, bytes: usize) -> bool {
        self.part.is_some() && (address % PAGE).saturating_add(bytes as u64) > PAGE && self.is_outside(address)
    }

    /// Where bytes are for a part of a launch. None of what is written on several pages, or may be so.
    pub(crate) fn of_the_part(&mut self, address: u64, bytes: usize, writes: bool) -> Option<*mut u8> {
        let beneath = self.beneath(address, bytes)?;
        let (first, last) = (address / PAGE, (address + (bytes as u64).saturating_sub(1)) / PAGE);
        let overlay = &self.part.as_ref()?.overlay;
        if !writes && overlay.is_free(first, last) {
            if first == last && self.beneath(first * PAGE, PAGE as usize).is_some() {
                self.know_page(false, first, (beneath.expose_provenance() as u64).wrapping_sub(address));
            }
            return Some(beneath.cast_mut());
        }
        if first != last {
            return None;
        }
        let (at, whole) = (address % PAGE, self.beneath(first * PAGE, PAGE as usize));
        let page = self.part.as_mut()?.overlay.page(first);
        // SAFETY: the bytes are there, and nobody writes them.
        unsafe {
            match whole {
                Some(_) if page.known == ALL => {}
                Some(whole) => page.copy(0..PAGE as usize, whole),
                None => page.copy(at as usize..at as usize + bytes, beneath),
            }
        }
        let place = page.content.as_mut_ptr();
        if whole.is_some() {
            let away = (place.expose_provenance() as u64).wrapping_sub(first * PAGE);
            self.know_page(false, first, away);
            self.know_page(true, first, away);
        }
        Some(place.wrapping_add(at as usize))
    }
}
