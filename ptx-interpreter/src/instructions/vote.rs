//! `vote.sync` and `activemask`.

use super::together::collective;
use crate::alu::Type;
use crate::machine::exchange::Exchange;
use crate::machine::group::Group;
use crate::machine::lanes::{LANES, Lanes, each, lanes_of};
use crate::machine::stop::Result;
use crate::machine::{Machine, Step};
use crate::ptx::operand::Operand;

enum How {
    All,
    Any,
    Uniform,
    Ballot,
}

struct Vote {
    how: How,
    to: Operand,
    holds: Operand,
}

struct Active(Operand);

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    if words[0] == "activemask" {
        return Some(Box::new(Active(operands.into_iter().next()?)));
    }
    // ptxas takes `vote.ballot.sync` too, which CUB writes.
    let (["vote", "sync", how, of_type] | ["vote", how, "sync", of_type]) = words else { return None };
    let how = match (*how, *of_type) {
        ("all", "pred") => How::All,
        ("any", "pred") => How::Any,
        ("uni", "pred") => How::Uniform,
        ("ballot", "b32") => How::Ballot,
        _ => return None,
    };
    let [to, holds, mask] = operands.try_into().ok()?;
    collective(mask, Vote { how, to, holds: holds.of_type(Type::PRED) })
}

impl Exchange for Vote {
    fn reads(&self) -> [Option<&Operand>; 3] {
        [Some(&self.holds), None, None]
    }

    fn writes(&self) -> [Option<&Operand>; 2] {
        [Some(&self.to), None]
    }

    fn exchange(&self, [holds, ..]: &[Lanes; 3], here: u32, _: u32) -> [Lanes; 2] {
        let holding = here & (0..LANES).fold(0, |all, lane| all | u32::from(holds[lane] == 1) << lane);
        let value: u32 = match self.how {
            How::All => (holding == here).into(),
            How::Any => (holding != 0).into(),
            How::Uniform => (holding == 0 || holding == here).into(),
            How::Ballot => holding,
        };
        [[value.into(); LANES]; 2]
    }

    fn depends(&self, on: u32, _: bool) -> u64 {
        if let How::Ballot = self.how { on.into() } else { u64::MAX }
    }
}

/// So often the threads that are behind go on first, and then they are not waited for: one of them may wait for those that are here.
const PATIENCE: u32 = 1024;

impl Step for Active {
    /// Threads that a GPU would have here at the same time should be: those that are behind come first.
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let warp = machine.warp_mut(group.warp);
        let here = warp.at[group.first().lane];
        let is_behind = |lane: usize| warp.at[lane].0 > here.0 || warp.at[lane].0 == here.0 && warp.at[lane].1 < here.1;
        if lanes_of(warp.running & !group.mask).any(is_behind) && warp.patience < PATIENCE {
            warp.patience += 1;
            each(group.mask, |lane| warp.at[lane].1 -= 1);
            return Ok(());
        }
        warp.patience = 0;
        machine.set_operand(group, &self.0, &[group.mask.into(); LANES])
    }
}
