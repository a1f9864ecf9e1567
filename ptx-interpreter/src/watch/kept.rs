//! Values that are undefined in memory: what is loaded, stored and copied.

use crate::check::{Cause, Origin};
use crate::machine::Machine;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes, lanes_of, lanes_where};
use crate::machine::undefined::Bits;
use crate::memory::spaces::{Owner, owner};
use crate::ptx::operand::Operand;

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

    /// Which of some bytes that a thread has read have no value, and why. If all are written, it may still be undefined what was stored.
    fn without_value(
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
        (without != 0).then(|| (without, kept.unwrap_or(Origin { cause, is_computed })))
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
        let are_written = !self.checks.as_mut().is_some_and(|checks| checks.brings_unwritten());
        to.iter().for_each(|to| self.set_undefined(group, to, None));
        for thread in group.threads() {
            let read = (addresses[thread.lane], bytes * to.len());
            let Some((without, origin)) = self.without_value(thread, read, are_written) else { continue };
            let mut begin = 0;
            for to in to {
                let own = (0..bytes).filter(|at| without >> (begin + at) & 1 == 1);
                let own = own.fold(0u128, |bits, at| bits | 0xff << (8 * at));
                begin += bytes;
                let is_extended = is_signed && own >> (8 * bytes - 1) & 1 == 1;
                let own = if is_extended { own | u128::MAX << (8 * bytes - 1) } else { own };
                self.give_undefined(thread, to, own, origin);
            }
        }
    }

    /// A thread has exchanged what was there, and nobody may have written it.
    pub(crate) fn watch_exchanged(&mut self, thread: Thread, address: u64, bytes: usize, to: Option<&Operand>) {
        let brings = self.checks.as_mut().is_some_and(|checks| checks.brings_unwritten());
        if let Some(to) = to.filter(|_| brings) {
            let (reader, site) = (self.actor(thread), self.site);
            let cause = Cause::Unwritten { reader, site, begin: address, bytes, at: address };
            self.give_undefined(thread, to, u128::MAX, Origin { cause, is_computed: true });
        }
    }

    /// A register of one thread has bits that are undefined.
    pub(super) fn give_undefined(&mut self, thread: Thread, to: &Operand, bits: u128, origin: Origin) {
        self.follows = true;
        for (number, (at, width)) in to.places().enumerate() {
            let mut lanes = [0; LANES];
            lanes[thread.lane] = (bits >> (64 * number)) as u64 & (u64::MAX >> (64 - width));
            let undefined = &mut self.warp_mut(thread.warp).undefined;
            undefined.set((thread.frame, at), 1 << thread.lane, Some(&Bits { lanes, origin }));
        }
    }

    /// Each thread stores elements of `bytes` bytes.
    #[inline]
    pub(crate) fn watch_stored(&mut self, group: Group, addresses: &Lanes, bytes: usize, from: &[Operand]) {
        if self.may_have_undefined(group.warp) {
            self.follow_stored(group, addresses, bytes, from);
        }
    }

    /// It is a finding to store in global memory what was computed. What is a copy, or is stored elsewhere, is undefined there.
    #[cold]
    fn follow_stored(&mut self, group: Group, addresses: &Lanes, bytes: usize, from: &[Operand]) {
        for (number, from) in from.iter().enumerate() {
            let all: Vec<Option<Bits>> = from.places().map(|(at, _)| self.undefined(group, at)).collect();
            let without = |lane: usize| {
                let parts = all.iter().enumerate().filter_map(|(place, bits)| Some((place, bits.as_ref()?)));
                let own = parts.fold(0, |all, (place, bits)| all | u128::from(bits.lanes[lane]) << (64 * place));
                (0..bytes).filter(|at| own >> (8 * at) & 0xff != 0).fold(0, |all, at| all | 1u64 << at)
            };
            let first = all.iter().flatten().next().copied();
            let mut wrong = None;
            if let Some(bits) = first.filter(|bits| bits.origin.is_computed) {
                let mask = lanes_where(group.mask, |lane| without(lane) != 0 && self.is_global(addresses[lane]));
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
                    "stores it",
                );
            }
        }
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
        let are_written = !self.checks.as_mut().is_some_and(|checks| checks.brings_unwritten());
        let row = |machine: &mut Self, (thread, address): &(Thread, u64)| {
            machine.without_value(*thread, (*address, 16), are_written)
        };
        let rows: Vec<Option<(u64, Origin)>> = rows.iter().map(|named| row(self, named)).collect();
        for thread in all {
            for (number, register) in registers.iter().enumerate() {
                let (mut bits, mut why) = (0, None);
                for at in 0..4 {
                    let (row, byte) = place(thread.lane, number, at);
                    if let Some((_, origin)) = rows[row].filter(|(without, _)| without >> byte & 1 == 1) {
                        bits |= 0xff << (8 * at);
                        why = Some(origin);
                    }
                }
                let group = thread.alone();
                self.set_undefined(group, register, None);
                if let Some(origin) = why {
                    self.give_undefined(*thread, register, bits, origin);
                }
            }
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
