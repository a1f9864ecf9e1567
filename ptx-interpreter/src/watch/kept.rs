//! Values that are undefined in memory: what is loaded, stored and copied.

use std::mem::take;

use crate::check::{Cause, Origin};
use crate::machine::Machine;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes, lanes_of, lanes_where};
use crate::machine::undefined::Bits;
use crate::memory::spaces::{Owner, owner};
use crate::ptx::operand::Operand;

const STORES: &str = "stores it";

/// The bits of those of some bytes for which a bit is set.
pub(super) fn bits_of(bytes: u64, count: usize) -> u128 {
    (0..count).filter(|at| bytes >> at & 1 == 1).fold(0, |bits, at| bits | 0xff << (8 * at))
}

/// The bytes in which some bits are set, a bit for each.
pub(super) fn bytes_of(bits: u128, count: usize) -> u64 {
    (0..count).filter(|at| bits >> (8 * at) & 0xff != 0).fold(0, |bytes, at| bytes | 1 << at)
}

impl Machine<'_> {
    /// Whether a warp may have undefined values in registers, or load some.
    pub(super) fn may_have_undefined(&self, warp: usize) -> bool {
        let Some(checks) = &self.checks else { return false };
        !checks.undefined.is_empty() || checks.brings_unwritten || !self.warp(warp).undefined.is_empty()
    }

    /// Reads what goes to registers, where it is followed.
    pub(crate) fn reads_to_registers<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.checks.iter_mut().for_each(|checks| checks.brings_to_registers = true);
        let what = read(self);
        self.checks.iter_mut().for_each(|checks| checks.brings_to_registers = false);
        what
    }

    /// Something else is done while bytes are read, and has no part in that.
    pub(crate) fn apart_from_what_is_read<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self
            .checks
            .as_mut()
            .map(|checks| (take(&mut checks.brings_to_registers), take(&mut checks.brings_unwritten)));
        let done = what(self);
        if let (Some(outer), Some(checks)) = (outer, &mut self.checks) {
            (checks.brings_to_registers, checks.brings_unwritten) = outer;
        }
        done
    }

    /// Which of some bytes that a thread has read have no value, and why. If all are written, it may still be undefined what was stored.
    pub(super) fn without_value(
        &mut self,
        thread: Thread,
        (address, bytes): (u64, usize),
        are_written: bool,
    ) -> Option<(u64, Origin)> {
        let (reader, site) = (self.actor(thread), self.site);
        let written = match owner(address, self.cluster) {
            _ if are_written => u64::MAX,
            (Owner::Local(of), at) => {
                let local = self.local_of(of)?;
                (0..bytes).fold(0, |all, offset| all | u64::from(local.is_written(at as usize + offset)) << offset)
            }
            (Owner::Parameters, _) => return None,
            _ => self.checks.as_mut()?.written(address, bytes),
        };
        let (without, kept) = self.checks.as_ref()?.without_value(address, bytes, written);
        let at = address + u64::from(without.trailing_zeros());
        let cause = Cause::Unwritten { reader, site, begin: address, bytes, at };
        let is_computed = without.count_ones() as usize == bytes;
        (without != 0).then(|| (without, kept.unwrap_or(Origin::new(cause, is_computed))))
    }

    /// Each thread has loaded elements of `bytes` bytes to registers.
    #[inline]
    pub(crate) fn watch_loaded(
        &mut self,
        group: Group,
        addresses: &Lanes,
        bytes: usize,
        to: &[Operand],
        is_signed: bool,
    ) {
        if self.may_have_undefined(group.warp) {
            self.follow_loaded(group, addresses, bytes, to, is_signed);
        }
    }

    #[cold]
    fn follow_loaded(&mut self, group: Group, addresses: &Lanes, bytes: usize, to: &[Operand], is_signed: bool) {
        let are_written = self.has_read_what_is_written();
        to.iter().for_each(|to| self.set_undefined(group, to, None));
        for thread in group.threads() {
            let read = (addresses[thread.lane], bytes * to.len());
            let Some((without, origin)) = self.without_value(thread, read, are_written) else { continue };
            let mut begin = 0;
            for to in to {
                let own = bits_of(without >> begin, bytes);
                begin += bytes;
                let is_extended = is_signed && own >> (8 * bytes - 1) & 1 == 1;
                let own = if is_extended { own | u128::MAX << (8 * bytes - 1) } else { own };
                self.give_undefined(thread, to, own, origin);
            }
        }
    }

    /// A thread prints a value.
    pub(crate) fn watch_printed(&mut self, thread: Thread, address: u64, bytes: usize) {
        if self.may_have_undefined(thread.warp)
            && let Some((_, origin)) = self.without_value(thread, (address, bytes), false)
        {
            let site = self.site;
            self.tell(|checks, machine| {
                checks.uses_undefined(origin.cause, (machine.actor(thread), site), "prints it")
            });
        }
    }

    /// A thread has exchanged what was there, and nobody may have written it.
    pub(crate) fn watch_exchanged(&mut self, thread: Thread, address: u64, bytes: usize, to: Option<&Operand>) {
        let brings = self.checks.as_mut().is_some_and(|checks| checks.brings_unwritten());
        if let Some(to) = to.filter(|_| brings) {
            let (reader, site) = (self.actor(thread), self.site);
            let cause = Cause::Unwritten { reader, site, begin: address, bytes, at: address };
            self.give_undefined(thread, to, u128::MAX, Origin::new(cause, true));
        }
    }

    /// Whether somebody has written all that was read to registers since this was asked before.
    pub(super) fn has_read_what_is_written(&mut self) -> bool {
        !self.checks.as_mut().is_some_and(|checks| checks.brings_unwritten())
    }

    /// A thread has read some bytes to registers: their bits that are undefined, and why.
    pub(crate) fn undefined_read(&mut self, thread: Thread, place: (u64, usize)) -> Option<(u128, Origin)> {
        if !self.may_have_undefined(thread.warp) {
            return None;
        }
        let are_written = self.has_read_what_is_written();
        let (without, origin) = self.without_value(thread, place, are_written)?;
        Some((bits_of(without, place.1), origin))
    }

    /// A register of some threads gets a value, of which some bits are undefined, or none.
    pub(crate) fn all_get(&mut self, all: &[Thread], to: &Operand, undefined: &[Option<(u128, Origin)>]) {
        // What was in other lanes says nothing of this value.
        all.iter().for_each(|thread| self.set_undefined(thread.alone(), to, None));
        for (thread, undefined) in all.iter().zip(undefined) {
            undefined.iter().for_each(|(bits, why)| self.give_undefined(*thread, to, *bits, *why));
        }
    }

    /// A register of one thread has bits that are undefined.
    pub(super) fn give_undefined(&mut self, thread: Thread, to: &Operand, bits: u128, origin: Origin) {
        self.follows = true;
        for (half, (register, width)) in to.numbers().enumerate() {
            let mut lanes = [0; LANES];
            lanes[thread.lane] = (bits >> (64 * half)) as u64 & (u64::MAX >> (64 - width));
            let undefined = &mut self.warp_mut(thread.warp).undefined;
            undefined.set((thread.frame, register), 1 << thread.lane, Some(&Bits { lanes, origin }));
        }
    }

    /// Each thread stores elements of `bytes` bytes.
    #[inline]
    pub(crate) fn watch_stored(&mut self, group: Group, addresses: &Lanes, bytes: usize, from: &[Operand]) {
        if self.may_have_undefined(group.warp) {
            self.follow_stored(group, addresses, bytes, from);
        }
    }

    /// It is a finding to store in global memory what was computed, and nothing but registers without a value. What is a copy, or is stored
    /// elsewhere, is undefined there.
    #[cold]
    fn follow_stored(&mut self, group: Group, addresses: &Lanes, bytes: usize, from: &[Operand]) {
        let unset = self.all_unset(group, bytes, from);
        for (number, from) in from.iter().enumerate() {
            let all: Vec<Option<Bits>> = from.numbers().map(|(register, _)| self.undefined(group, register)).collect();
            let without = |lane: usize| {
                let parts = all.iter().enumerate().filter_map(|(place, bits)| Some((place, bits.as_ref()?)));
                let own = parts.fold(0, |all, (place, bits)| all | u128::from(bits.lanes[lane]) << (64 * place));
                bytes_of(own, bytes)
            };
            let first = all.iter().flatten().next().copied();
            let mut wrong = None;
            if let Some(bits) = first {
                let those = if bits.origin.is_computed { group.mask } else { unset };
                let mask = lanes_where(those, |lane| without(lane) != 0 && self.is_global(addresses[lane]));
                wrong = (mask != 0).then_some((mask, bits));
            }
            for lane in lanes_of(group.mask) {
                let at = addresses[lane].wrapping_add((number * bytes) as u64);
                let is_told = wrong.is_some_and(|(mask, _)| mask >> lane & 1 == 1);
                let without = if is_told { 0 } else { without(lane) };
                let origin = first.map(|bits| bits.origin);
                self.checks.iter_mut().for_each(|checks| checks.stores_undefined(at, bytes, without, origin));
            }
            if let Some((mask, bits)) = wrong {
                let group = Group { mask, ..group };
                self.use_undefined(
                    group,
                    &Bits { lanes: std::array::from_fn(|lane| u64::from(mask >> lane & 1 == 1)), ..bits },
                    from,
                    STORES,
                );
            }
        }
    }

    /// A thread stores some bytes of a register, from one of its bits on.
    pub(crate) fn watch_part_stored(
        &mut self,
        thread: Thread,
        (address, bytes): (u64, usize),
        from: &Operand,
        begin: u32,
    ) {
        if !self.may_have_undefined(thread.warp) {
            return;
        }
        let own = self.undefined_of(thread.alone(), from);
        let lane = own.map_or(0, |bits| bits.lanes[thread.lane] >> begin);
        let mut without = bytes_of(lane.into(), bytes);
        if let Some(bits) = own.filter(|bits| bits.origin.is_computed && without != 0 && self.is_global(address)) {
            self.use_undefined(thread.alone(), &bits, from, STORES);
            without = 0;
        }
        let origin = own.map(|bits| bits.origin);
        self.checks.iter_mut().for_each(|checks| checks.stores_undefined(address, bytes, without, origin));
    }

    /// The lanes that store nothing but registers to which nothing was written.
    fn all_unset(&self, group: Group, bytes: usize, from: &[Operand]) -> u32 {
        let own = u64::MAX >> (64 - 8 * bytes.min(8));
        let is_unset = |bits: Bits, lane: usize| {
            matches!(bits.origin.cause, Cause::ReadUnset { .. }) && bits.lanes[lane] & own == own
        };
        let mask = |at: usize| {
            self.undefined(group, at).map_or(0, |bits| lanes_where(group.mask, |lane| is_unset(bits, lane)))
        };
        from.iter().flat_map(Operand::numbers).fold(group.mask, |all, (register, _)| all & mask(register))
    }

    /// A warp has loaded a matrix: the bytes without a value of each row of 16, and where its bytes go.
    pub(crate) fn watch_matrix(
        &mut self,
        all: &[Thread],
        rows: &[(Thread, u64)],
        registers: &[Operand],
        place: impl Fn(usize, usize, usize) -> (usize, usize),
    ) {
        if !self.may_have_undefined(all[0].warp) {
            return;
        }
        let are_written = self.has_read_what_is_written();
        let row = |machine: &mut Self, (thread, address): &(Thread, u64)| {
            machine.without_value(*thread, (*address, 16), are_written)
        };
        let rows: Vec<Option<(u64, Origin)>> = rows.iter().map(|named| row(self, named)).collect();
        for (number, register) in registers.iter().enumerate() {
            let of_thread = |thread: &Thread| {
                let (mut bits, mut why) = (0, None);
                for at in 0..4 {
                    let (row, byte) = place(thread.lane, number, at);
                    if let Some((_, origin)) = rows[row].filter(|(without, _)| without >> byte & 1 == 1) {
                        bits |= 0xff << (8 * at);
                        why = Some(origin);
                    }
                }
                Some((bits, why?))
            };
            let given: Vec<_> = all.iter().map(of_thread).collect();
            self.all_get(all, register, &given);
        }
    }

    /// A warp stores a matrix, whose rows of 16 bytes are at these places.
    pub(crate) fn watch_matrix_stored(
        &mut self,
        all: &[Thread],
        rows: &[u64],
        registers: &[Operand],
        place: impl Fn(usize, usize, usize) -> (usize, usize),
    ) {
        if !self.may_have_undefined(all[0].warp) {
            return;
        }
        let mut without = vec![(0, None); rows.len()];
        for thread in all {
            let own = thread.alone();
            for (number, register) in registers.iter().enumerate() {
                let Some(bits) = self.undefined_of(own, register) else { continue };
                for at in (0..4).filter(|at| bits.lanes[thread.lane] >> (8 * at) & 0xff != 0) {
                    let (row, byte) = place(thread.lane, number, at);
                    without[row] = (without[row].0 | 1 << byte, Some(bits.origin));
                }
            }
        }
        let checks = self.checks.iter_mut();
        checks.for_each(|checks| {
            let rows = rows.iter().zip(&without);
            rows.for_each(|(row, (without, origin))| checks.stores_undefined(*row, 16, *without, *origin));
        });
    }
}
