//! What is done with values that are undefined.

use std::ops::Range;

use ptx_intrinsics::on_cpu::matrix::Operand as Matrix;

use crate::alu::{Sources, Type, moves_bits};
use crate::check::{Cause, Checks, Origin};
use crate::machine::exchange::Exchange;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes, lanes_of, lanes_where};
use crate::machine::stop::Result;
use crate::machine::undefined::{Bits, Region};
use crate::machine::{Action, Line, Machine, Warp};
use crate::memory::spaces::{Owner, owner};
use crate::ptx::operand::{Operand, Register};
use crate::ptx::text::{guarded, opcode};

/// What does not depend on anything else in its lane is looked at elsewhere, when all threads have come.
fn is_of_the_warp(words: &[&str]) -> bool {
    match words[0] {
        "shfl" | "vote" | "match" | "redux" | "ldmatrix" | "stmatrix" | "movmatrix" => true,
        "mma" => !words.contains(&"block_scale") && !words[1].starts_with("sp"),
        _ => false,
    }
}

fn computes(line: &Line) -> bool {
    matches!(&line.action, Action::Straight(step) if step.computes())
}

/// The lines between a branch and where its two ways meet, if all of them only compute: those that it leaves out, and the others.
fn until_they_meet(lines: &[Line], at: usize, target: usize) -> Option<Range<usize>> {
    let (first, last) =
        (lines.get(at + 1..target)?.split_last()).map_or((&[][..], None), |(last, first)| (first, Some(last)));
    if !first.iter().all(computes) {
        return None;
    }
    match last.map(|last| (&last.action, last.guard)) {
        None => Some(at + 1..target),
        Some(_) if last.is_some_and(computes) => Some(at + 1..target),
        Some((Action::Branch(end), None)) => lines.get(target..*end)?.iter().all(computes).then_some(at + 1..*end),
        Some(_) => None,
    }
}

impl Warp<'_> {
    /// Whether there are registers that have no value yet, or an undefined one.
    #[inline]
    pub(crate) fn has_no_value_in_some(&self) -> bool {
        !self.undefined.is_empty() || !self.tensor.loading.is_empty()
    }
}

impl Machine<'_> {
    /// A group is about to execute an instruction, and some registers of its warp have no value yet, or an undefined one.
    #[cold]
    pub(crate) fn watch_registers(&mut self, group: Group, line: &Line, at: usize) -> Result<()> {
        self.watch_loading(group);
        let region = self.warp_mut(group.warp).undefined.at(group.frame, group.mask, at);
        let undefined = &self.warp(group.warp).undefined;
        let is_followed = |register: Register| undefined.has(group.frame, register.at);
        let guard = line.guard.map(|(at, _)| Register { at, bits: 1 });
        if region.is_none()
            && !guard.is_some_and(is_followed)
            && !line.operands.iter().any(|operand| operand.any_register(&is_followed))
        {
            return Ok(());
        }
        let text = self.program.sites[self.site as usize].text.as_str();
        let words: Vec<&str> = opcode(guarded(text).1).0.split('.').collect();
        let Some(group) = self.watch_guard(group, line, at) else { return Ok(()) };
        if !computes(line) {
            return self.watch_used(group, &words, &line.operands);
        }
        self.watch_computed(group, &words, &line.operands)?;
        if let Some((mask, origin)) = region {
            self.all_undefined(Group { mask: mask & group.mask, ..group }, line, origin);
        }
        Ok(())
    }

    /// What a line gives its register is undefined.
    fn all_undefined(&mut self, group: Group, line: &Line, origin: Origin) {
        let bits = Bits { lanes: [u64::MAX; LANES], origin: Origin { is_computed: true, ..origin } };
        line.operands.first().into_iter().for_each(|to| self.set_undefined(group, to, Some(&bits)));
    }

    /// Threads branch by a value that is undefined. If both ways do nothing but compute until they meet, what they compute is undefined.
    fn chooses(&mut self, group: Group, (at, target): (usize, usize), origin: Origin) -> bool {
        let code = self.frame(group).code;
        let Some(lines) = until_they_meet(&code.lines, at, target) else { return false };
        for line in &code.lines[lines.clone()] {
            if computes(line) {
                self.all_undefined(group, line, origin);
            }
        }
        let region = Region { frame: group.frame, lines, mask: group.mask, origin };
        self.warp_mut(group.warp).undefined.regions.push(region);
        true
    }

    /// The undefined bits of a register in the lanes of a group.
    fn undefined(&self, group: Group, register: usize) -> Option<Bits> {
        let mut bits = *self.warp(group.warp).undefined.of(group.frame, register)?;
        (0..LANES).filter(|lane| group.mask >> lane & 1 == 0).for_each(|lane| bits.lanes[lane] = 0);
        (bits.mask() != 0).then_some(bits)
    }

    /// Of an operand those of its first register that has some.
    fn undefined_of(&self, group: Group, operand: &Operand) -> Option<Bits> {
        operand.places().find_map(|(at, _)| self.undefined(group, at))
    }

    fn set_undefined(&mut self, group: Group, to: &Operand, bits: Option<&Bits>) {
        let undefined = &mut self.warp_mut(group.warp).undefined;
        to.places().for_each(|(at, _)| undefined.set((group.frame, at), group.mask, bits));
    }

    /// Those who execute a line, by its guard. If a branch depends on a value that is undefined, that is a finding; what another
    /// instruction gives its register is undefined.
    fn watch_guard(&mut self, group: Group, line: &Line, at: usize) -> Option<Group> {
        let Some((register, holds)) = line.guard else { return Some(group) };
        let active = group.mask & self.holding(group, register, holds);
        let Some(bits) = self.undefined(group, register) else {
            return (active != 0).then_some(Group { mask: active, ..group });
        };
        let mask = bits.mask();
        let unsure = Group { mask, ..group };
        let chooses = matches!(line.action, Action::Branch(target) if self.chooses(unsure, (at, target), bits.origin));
        if computes(line) {
            self.all_undefined(unsure, line, bits.origin);
        } else if !chooses {
            let guard = Operand::Register(Register { at: register, bits: 1 });
            self.use_undefined(group, &bits, &guard, "decides by it what to do");
        }
        let mask = active & !mask;
        (mask != 0).then_some(Group { mask, ..group })
    }

    fn watch_computed(&mut self, group: Group, words: &[&str], operands: &[Operand]) -> Result<()> {
        let Some((to, from)) = operands.split_first() else { return Ok(()) };
        let origins =
            from.iter().flat_map(Operand::places).filter_map(|(at, _)| Some(self.undefined(group, at)?.origin));
        let Some(mut origin) =
            origins.reduce(|one, other| Origin { is_computed: one.is_computed | other.is_computed, ..one })
        else {
            self.set_undefined(group, to, None);
            return Ok(());
        };
        let is_whole = |operand: &Operand| !matches!(operand, Operand::Vector(_)) && operand.places().count() < 2;
        if words[0] == "mov" && !operands.iter().all(is_whole) {
            let bits = words.last().and_then(|ty| Type::parse(ty)).map_or(64, |ty| ty.bits);
            self.watch_moved(group, bits, [to, &from[0]], origin);
            return Ok(());
        }
        origin.is_computed |= !moves_bits(words);
        let values: Vec<Lanes> = from.iter().map(|operand| self.lanes(group, operand).unwrap_or([0; LANES])).collect();
        let undefined =
            from.iter().map(|operand| self.undefined_of(group, operand).map_or([0; LANES], |bits| bits.lanes));
        let undefined: Vec<Lanes> = undefined.collect();
        let width = to.places().next().map_or(64, |(_, bits)| bits);
        let lane = |lane: usize| {
            let of = |all: &[Lanes]| all.iter().map(|one| one[lane]).collect::<Vec<u64>>();
            Sources { words, values: &of(&values), undefined: &of(&undefined) }.result(width)
        };
        let lanes = std::array::from_fn(lane);
        self.set_undefined(group, to, Some(&Bits { lanes, origin }));
        Ok(())
    }

    /// `mov` between registers of so many bits in all.
    fn watch_moved(&mut self, group: Group, bits: u32, [to, from]: [&Operand; 2], origin: Origin) {
        let parts = |operand: &Operand| operand.clone().lanes();
        let (mut whole, all) = ([0u128; LANES], parts(from));
        let part = bits / all.len() as u32;
        for (number, operand) in all.iter().enumerate() {
            for (half, (at, _)) in operand.places().enumerate() {
                let begin = part * number as u32 + 64 * half as u32;
                if let Some(undefined) = self.undefined(group, at) {
                    lanes_of(group.mask).for_each(|lane| whole[lane] |= u128::from(undefined.lanes[lane]) << begin);
                }
            }
        }
        let all = parts(to);
        let part = bits / all.len() as u32;
        for (number, operand) in all.iter().enumerate() {
            for (half, (at, _)) in operand.places().enumerate() {
                let begin = part * number as u32 + 64 * half as u32;
                let lanes = whole.map(|whole| (whole >> begin) as u64 & (u64::MAX >> (64 - part.min(64))));
                let undefined = &mut self.warp_mut(group.warp).undefined;
                undefined.set((group.frame, at), group.mask, Some(&Bits { lanes, origin }));
            }
        }
    }

    /// An instruction does something else than to compute.
    fn watch_used(&mut self, group: Group, words: &[&str], operands: &[Operand]) -> Result<()> {
        let gives = !matches!(
            words[0],
            "st" | "red" | "wgmma" | "mbarrier" | "cp" | "bar" | "barrier" | "nanosleep" | "stmatrix"
        );
        let to = operands.first().filter(|first| gives && !matches!(first, Operand::Address(..)));
        for operand in &operands[usize::from(to.is_some())..] {
            let is_address = matches!(operand, Operand::Address(..));
            if is_of_the_warp(words) && !is_address || words[0] == "st" && !is_address {
                continue;
            }
            if let Some(bits) = self.undefined_of(group, operand) {
                let what = match words[0] {
                    _ if is_address => "takes it as an address",
                    "red" | "atom" => "changes memory by it",
                    _ => "uses it",
                };
                self.use_undefined(group, &bits, operand, what);
            }
        }
        if let Some(to) = to.filter(|_| !is_of_the_warp(words)) {
            self.set_undefined(group, to, None);
        }
        Ok(())
    }

    /// It is a finding, once.
    fn use_undefined(&mut self, group: Group, bits: &Bits, operand: &Operand, what: &str) {
        let (site, mask) = (self.site, bits.mask() & group.mask);
        let thread = group.thread(mask.trailing_zeros() as usize);
        self.tell(|checks, machine| checks.uses_undefined(bits.origin.cause, (machine.actor(thread), site), what));
        self.set_undefined(Group { mask, ..group }, operand, None);
    }

    fn may_have_undefined(&self, warp: usize) -> bool {
        let is_kept = |checks: &Checks| !checks.undefined.is_empty() || checks.brings_unwritten;
        self.checks.as_ref().is_some_and(|checks| is_kept(checks)) || !self.warp(warp).undefined.is_empty()
    }

    /// Whether what is read from now on goes to registers, where it is followed.
    pub(crate) fn brings_to_registers(&mut self, brings: bool) {
        self.checks.iter_mut().for_each(|checks| checks.brings_to_registers = brings);
    }

    /// Which of some bytes that a thread has read have no value, and why.
    fn without_value(&mut self, thread: Thread, address: u64, bytes: usize) -> Option<(u64, Origin)> {
        let (reader, site) = (self.actor(thread), self.site);
        let written = match owner(address, self.cluster) {
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

    /// Threads have loaded elements of so many bytes to registers.
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
        self.checks.iter_mut().for_each(|checks| checks.brings_unwritten = false);
        to.iter().for_each(|to| self.set_undefined(group, to, None));
        for thread in group.threads() {
            let Some((without, origin)) = self.without_value(thread, addresses[thread.lane], bytes * to.len()) else {
                continue;
            };
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
        let brings = self.checks.as_mut().is_some_and(|checks| std::mem::take(&mut checks.brings_unwritten));
        if let Some(to) = to.filter(|_| brings) {
            let (reader, site) = (self.actor(thread), self.site);
            let cause = Cause::Unwritten { reader, site, begin: address, bytes, at: address };
            self.give_undefined(thread, to, u128::MAX, Origin { cause, is_computed: true });
        }
    }

    /// A register of one thread has bits that are undefined.
    fn give_undefined(&mut self, thread: Thread, to: &Operand, bits: u128, origin: Origin) {
        self.follows = true;
        for (number, (at, width)) in to.places().enumerate() {
            let mut lanes = [0; LANES];
            lanes[thread.lane] = (bits >> (64 * number)) as u64 & (u64::MAX >> (64 - width));
            let undefined = &mut self.warp_mut(thread.warp).undefined;
            undefined.set((thread.frame, at), 1 << thread.lane, Some(&Bits { lanes, origin }));
        }
    }

    /// Threads store elements of so many bytes.
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
            let own = |lane: usize| {
                let parts = all.iter().enumerate().filter_map(|(place, bits)| Some((place, bits.as_ref()?)));
                parts.fold(0, |all, (place, bits)| all | u128::from(bits.lanes[lane]) << (64 * place))
            };
            let without = |lane: usize| {
                (0..bytes).filter(|at| own(lane) >> (8 * at) & 0xff != 0).fold(0, |all, at| all | 1u64 << at)
            };
            let first = all.iter().flatten().next().copied();
            let is_outside = |lane: &usize| {
                matches!(owner(addresses[*lane], self.cluster).0, Owner::Outside | Owner::Module | Owner::Heap)
            };
            let mut wrong = None;
            if let Some(bits) = first.filter(|bits| bits.origin.is_computed) {
                let mask = lanes_where(group.mask, |lane| without(lane) != 0 && is_outside(&lane));
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
        self.checks.iter_mut().for_each(|checks| checks.brings_unwritten = false);
        let row = |machine: &mut Self, (thread, address): &(Thread, u64)| machine.without_value(*thread, *address, 16);
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
                let group = Group { warp: thread.warp, frame: thread.frame, mask: 1 << thread.lane };
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
            let own = Group { warp: thread.warp, frame: thread.frame, mask: 1 << thread.lane };
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

    /// A warp has multiplied matrices: a row of the result depends on that of A, and a column on that of B. `place` gives the rows and
    /// columns of the elements that a register has.
    pub(crate) fn watch_registers_product(
        &mut self,
        all: &[Thread],
        registers: [(Matrix, &[Operand]); 4],
        places: impl Fn(Matrix, usize, usize) -> Vec<(usize, usize)>,
    ) {
        let Some(first) = all.first() else { return };
        if self.warp(first.warp).undefined.is_empty() {
            return;
        }
        let own = |thread: &Thread| Group { warp: thread.warp, frame: thread.frame, mask: 1 << thread.lane };
        let [(_, d), (_, a), (_, b), (_, c)] = registers;
        let (mut rows, mut columns, mut why) = (Vec::new(), Vec::new(), None);
        for thread in all {
            for (number, register) in a.iter().enumerate() {
                if let Some(bits) = self.undefined_of(own(thread), register) {
                    why = why.or(Some(bits.origin));
                    rows.extend(places(Matrix::A, thread.lane, number).into_iter().map(|(row, _)| row));
                }
            }
            for (number, register) in b.iter().enumerate() {
                if let Some(bits) = self.undefined_of(own(thread), register) {
                    why = why.or(Some(bits.origin));
                    columns.extend(places(Matrix::B, thread.lane, number).into_iter().map(|(column, _)| column));
                }
            }
        }
        for thread in all {
            for (number, register) in d.iter().enumerate() {
                let of_c = c.get(number).and_then(|register| self.undefined_of(own(thread), register));
                let elements = places(Matrix::D, thread.lane, number);
                let width = if elements.len() == 2 { 16 } else { 64 };
                let mut bits = of_c.map_or(0, |bits| u128::from(bits.lanes[thread.lane]));
                for (at, (row, column)) in elements.iter().enumerate() {
                    let is_of_ab = rows.contains(row) || columns.contains(column);
                    bits |= if is_of_ab { u128::from(u64::MAX >> (64 - width)) << (width * at) } else { 0 };
                }
                let origin = of_c.map(|bits| bits.origin).or(why).filter(|_| bits != 0);
                self.set_undefined(own(thread), register, None);
                if let Some(origin) = origin {
                    self.give_undefined(*thread, register, bits, Origin { is_computed: true, ..origin });
                }
            }
        }
    }

    /// Threads of a warp have exchanged something, each by its instruction. Of a shuffle each has the value of a lane, or should have.
    pub(crate) fn watch_exchange(&mut self, all: &[(Thread, &dyn Exchange)], from: Option<[usize; LANES]>, mask: u32) {
        let Some((Thread { warp, .. }, _)) = all.first() else { return };
        let here = all.iter().fold(0, |here, (thread, _)| here | 1u32 << thread.lane);
        let are_there = from.is_none_or(|from| all.iter().all(|(thread, _)| here >> from[thread.lane] & 1 == 1));
        if self.checks.is_none() || self.warp(*warp).undefined.is_empty() && are_there {
            return;
        }
        let given: Vec<Option<(u64, Origin)>> = match from {
            Some(from) => {
                all.iter().map(|(thread, what)| self.undefined_of_lane((*thread, *what), all, &from, mask)).collect()
            }
            None => self.undefined_of_all(all),
        };
        for ((thread, what), given) in all.iter().zip(given) {
            let own = Group { warp: thread.warp, frame: thread.frame, mask: 1 << thread.lane };
            what.writes().into_iter().flatten().for_each(|to| self.set_undefined(own, to, None));
            let gets = what.writes().into_iter().take(if from.is_some() { 1 } else { 2 }).flatten();
            if let Some((bits, origin)) = given {
                gets.for_each(|to| self.give_undefined(*thread, to, bits.into(), origin));
            }
        }
    }

    /// The undefined bits that a thread gives to an exchange as one of its numbers.
    fn given(&self, (thread, what): (Thread, &dyn Exchange), number: usize) -> Option<(u64, Origin)> {
        let own = Group { warp: thread.warp, frame: thread.frame, mask: 1 << thread.lane };
        let bits = what.reads()[number].and_then(|value| self.undefined_of(own, value))?;
        Some((bits.lanes[thread.lane], bits.origin))
    }

    /// Those of what a thread gets by a shuffle: of the lane that it reads, if that is there and it is known which one it is.
    fn undefined_of_lane(
        &self,
        own: (Thread, &dyn Exchange),
        all: &[(Thread, &dyn Exchange)],
        from: &[usize; LANES],
        mask: u32,
    ) -> Option<(u64, Origin)> {
        if let Some((_, origin)) = self.given(own, 1) {
            return Some((u64::MAX, origin));
        }
        let (site, lane) = (self.site, from[own.0.lane]);
        match all.iter().find(|(other, _)| other.lane == lane) {
            Some(other) => self.given(*other, 0),
            None => {
                let has_ended = mask >> lane & 1 == 1;
                let cause = Cause::Absent { reader: self.actor(own.0), site, lane, has_ended };
                Some((u64::MAX, Origin { cause, is_computed: true }))
            }
        }
    }

    /// Those of what threads get that vote, look for equal numbers, or reduce theirs.
    fn undefined_of_all(&self, all: &[(Thread, &dyn Exchange)]) -> Vec<Option<(u64, Origin)>> {
        let given: Vec<Option<(u64, Origin)>> = all.iter().map(|one| self.given(*one, 0)).collect();
        let with = all.iter().zip(&given).filter(|(_, given)| given.is_some());
        let lanes = with.fold(0, |lanes, ((thread, _), _)| lanes | 1u32 << thread.lane);
        let origin = given.iter().flatten().next().map(|(_, origin)| Origin { is_computed: true, ..*origin });
        let gets = |((_, what), own): (&(Thread, &dyn Exchange), &Option<_>)| {
            Some((what.depends(lanes, own.is_some()), origin?))
        };
        all.iter().zip(&given).map(gets).collect()
    }
}
