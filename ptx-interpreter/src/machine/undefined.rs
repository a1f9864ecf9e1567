//! Registers whose values are undefined, since a shuffle gave them the register of a lane that was not there, and what is computed with
//! such values.

use crate::check::Actor;
use crate::ptx::operand::{Operand, Register};

/// The shuffle by which a value came to be undefined.
#[derive(Clone, Copy)]
pub(crate) struct Absent {
    pub(crate) reader: Actor,
    pub(crate) site: u32,
    /// The lane that was read, and whether it has ended; else the mask lacks it.
    pub(crate) lane: usize,
    pub(crate) has_ended: bool,
}

struct Value {
    frame: usize,
    register: usize,
    /// The lanes in which it is undefined.
    mask: u32,
    from: Absent,
}

/// Those of a warp. Mostly there are none.
#[derive(Default)]
pub(crate) struct Undefined(Vec<Value>);

impl Undefined {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lanes in which a register is undefined, and why.
    pub(crate) fn of(&self, frame: usize, register: usize) -> Option<(u32, Absent)> {
        let mut own = self.0.iter().filter(|value| value.frame == frame && value.register == register);
        own.next().map(|value| (value.mask, value.from))
    }

    /// Registers get new values in the lanes `written`. With `from` they are undefined.
    pub(crate) fn set(&mut self, frame: usize, to: &Operand, written: u32, from: Option<Absent>) {
        for Register { at, .. } in to.registers() {
            let own = |value: &Value| value.frame == frame && value.register == at;
            let mut place = self.0.iter().position(own);
            if let Some(number) = place {
                let value = &mut self.0[number];
                value.mask &= !written;
                if value.mask == 0 {
                    self.0.swap_remove(number);
                    place = None;
                }
            }
            match (from, place) {
                (Some(_), Some(number)) => self.0[number].mask |= written,
                (Some(from), None) => self.0.push(Value { frame, register: at, mask: written, from }),
                (None, _) => {}
            }
        }
    }

    /// A function begins, and its registers with it.
    pub(crate) fn forget(&mut self, frame: usize) {
        self.0.retain(|value| value.frame != frame);
    }
}
