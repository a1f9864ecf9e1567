//! Instructions that read the clock.

use crate::machine::group::Group;
use crate::machine::stop::Result;
use crate::machine::{Action, Machine, Step};
use crate::ptx::operand::Operand;
use crate::ptx::special::Special;

/// What the clock goes on by where a thread waits for a time to come, and nothing else happens meanwhile.
const WAIT: u64 = 4096;

struct Clocked(Box<dyn Step>);

pub(crate) fn is_read(operands: &[Operand]) -> bool {
    operands.iter().any(|operand| matches!(operand, Operand::Special(Special::Clock(..))))
}

pub(crate) fn clocked(action: Action) -> Action {
    match action {
        Action::Straight(step) => Action::Straight(Box::new(Clocked(step))),
        other => other,
    }
}

impl Step for Clocked {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        machine.polls();
        if machine.gives_way {
            machine.waited += WAIT;
        }
        self.0.run(machine, group)
    }
}
