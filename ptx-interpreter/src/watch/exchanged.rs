//! Values that are undefined, and that a warp multiplies or exchanges.

use ptx_intrinsics::on_cpu::matrix::Operand as Matrix;

use crate::check::{Absence, Cause, Origin};
use crate::machine::Machine;
use crate::machine::exchange::Exchange;
use crate::machine::group::Thread;
use crate::machine::lanes::{LANES, Lanes};
use crate::ptx::operand::Operand;

/// A register by which a row of A is decided, or a column of B, besides those with its elements: metadata, or scales.
pub(crate) struct Deciding<'o> {
    pub(crate) matrix: Matrix,
    pub(crate) line: usize,
    pub(crate) lane: usize,
    pub(crate) register: &'o Operand,
    /// Those of its bits that do so.
    pub(crate) bits: u64,
}

impl Machine<'_> {
    /// A warp has multiplied matrices: a row of the result depends on that of A, and a column on that of B. `places` gives the rows and
    /// columns of the elements that a register has.
    pub(crate) fn watch_registers_product(
        &mut self,
        all: &[Thread],
        [d, a, b, c]: [&[Operand]; 4],
        deciding: &[Deciding<'_>],
        places: impl Fn(Matrix, usize, usize) -> Vec<(usize, usize)>,
    ) {
        let Some(first) = all.first() else { return };
        if self.warp(first.warp).undefined.is_empty() {
            return;
        }
        let mut why = None;
        // The rows of A, or the columns of B, in which something is undefined.
        let mut lines = |machine: &Self, matrix: Matrix, registers: &[Operand]| {
            let mut lines = Vec::new();
            for thread in all {
                for (number, register) in registers.iter().enumerate() {
                    if let Some(bits) = machine.undefined_of(thread.alone(), register) {
                        why = why.or(Some(bits.origin));
                        lines.extend(places(matrix, thread.lane, number).into_iter().map(|(line, _)| line));
                    }
                }
            }
            for one in deciding.iter().filter(|one| one.matrix == matrix) {
                let undefined = machine.undefined_of(all[one.lane].alone(), one.register);
                if let Some(bits) = undefined.filter(|bits| bits.lanes[one.lane] & one.bits != 0) {
                    why = why.or(Some(bits.origin));
                    lines.push(one.line);
                }
            }
            lines
        };
        let (rows, columns) = (lines(self, Matrix::A, a), lines(self, Matrix::B, b));
        for (number, register) in d.iter().enumerate() {
            let of_thread = |thread: &Thread| {
                let of_c = c.get(number).and_then(|register| self.undefined_of(thread.alone(), register));
                let elements = places(Matrix::D, thread.lane, number);
                let width = if elements.len() == 2 { 16 } else { 64 };
                let own = of_c.map_or(0, |bits| bits.lanes[thread.lane]);
                let mut bits = 0;
                for (at, (row, column)) in elements.iter().enumerate() {
                    let element = u64::MAX >> (64 - width) << (width * at);
                    let depends = own & element != 0 || rows.contains(row) || columns.contains(column);
                    bits |= if depends { element } else { 0 };
                }
                let why = of_c.map(|bits| bits.origin).or(why).filter(|_| bits != 0)?;
                Some((bits.into(), Origin { is_computed: true, ..why }))
            };
            let given: Vec<_> = all.iter().map(of_thread).collect();
            self.all_get(all, register, &given);
        }
    }

    /// A warp has moved the bits of a register to other places of other lanes.
    pub(crate) fn watch_transposed(
        &mut self,
        all: &[Thread],
        [to, from]: [&Operand; 2],
        moves: impl Fn(&Lanes) -> Lanes,
    ) {
        if self.warp(all[0].warp).undefined.is_empty() {
            return;
        }
        let (mut lanes, mut why) = ([0; LANES], None);
        for thread in all {
            if let Some(bits) = self.undefined_of(thread.alone(), from) {
                lanes[thread.lane] = bits.lanes[thread.lane];
                why = Some(bits.origin);
            }
        }
        let lanes = moves(&lanes);
        let given: Vec<_> = all.iter().map(|thread| Some((lanes[thread.lane].into(), why?))).collect();
        self.all_get(all, to, &given);
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
            let own = thread.alone();
            what.writes().into_iter().flatten().for_each(|to| self.set_undefined(own, to, None));
            let gets = what.writes().into_iter().take(if from.is_some() { 1 } else { 2 }).flatten();
            if let Some((bits, origin)) = given {
                gets.for_each(|to| self.give_undefined(*thread, to, bits.into(), origin));
            }
        }
    }

    /// The undefined bits that a thread gives to an exchange as one of its numbers.
    fn given(&self, (thread, what): (Thread, &dyn Exchange), number: usize) -> Option<(u64, Origin)> {
        let own = thread.alone();
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
                let why = self.absence(Thread { lane, ..own.0 }, mask);
                let cause = Cause::Absent { reader: self.actor(own.0), site, lane, why };
                Some((u64::MAX, Origin::new(cause, true)))
            }
        }
    }

    /// Why a thread is not there for a shuffle of the lanes in a mask.
    fn absence(&self, thread: Thread, mask: u32) -> Absence {
        if mask >> thread.lane & 1 == 0 {
            return Absence::NotInMask;
        }
        if self.number_of(thread) < self.threads { Absence::HasEnded } else { Absence::NotInBlock }
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
