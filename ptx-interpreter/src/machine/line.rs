//! An instruction, decoded.

use crate::machine::Machine;
use crate::machine::exchange::Exchange;
use crate::machine::group::Group;
use crate::machine::stop::Result;
use crate::ptx::operand::Operand;

/// An instruction.
pub(crate) struct Line {
    /// A register, and what it has to be.
    pub(crate) guard: Option<(usize, bool)>,
    /// Its place in [`Program::sites`].
    pub(crate) site: u32,
    pub(crate) action: Action,
    pub(crate) operands: Box<[Operand]>,
    /// Whether other threads can see that it was executed, or when.
    pub(crate) is_seen: bool,
}

/// What an instruction does.
pub(crate) enum Action {
    /// After it comes the next one.
    Straight(Box<dyn Step>),
    Branch(usize),
    /// It decides itself where its threads go on, or whether they wait.
    Control(Box<dyn Step>),
    /// The interpreter does not know it.
    Unknown(String),
    /// It is no instruction.
    Malformed(String),
}

/// An instruction, decoded.
pub(crate) trait Step: Send + Sync {
    /// Does it for all threads of a group.
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()>;

    /// Whether it does nothing but compute the value of its first operand.
    fn computes(&self) -> bool {
        false
    }

    /// The mask and the rest of it, if threads of a warp exchange something.
    fn exchange(&self) -> Option<(&Operand, &dyn Exchange)> {
        None
    }
}
