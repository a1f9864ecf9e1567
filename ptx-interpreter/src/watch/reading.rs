//! Registers that a product of `wgmma` still reads.

use crate::machine::group::{Group, Thread};
use crate::machine::reading::Reading;
use crate::machine::{Code, Line, Machine, Program};
use crate::ptx::operand::Operand;
use crate::ptx::read::gives;
use crate::ptx::text::{guarded, opcode};

impl Program {
    fn opcode(&self, site: u32) -> &str {
        opcode(guarded(&self.sites[site as usize].text).1).0
    }

    fn moves(&self, code: &Code) -> Vec<(usize, usize)> {
        let moves = code.lines.iter().filter(|line| self.opcode(line.site).starts_with("mov."));
        let places = |line: &Line| match line.operands[..] {
            [Operand::Register(to), Operand::Register(from)] => Some((to.number, from.number)),
            _ => None,
        };
        moves.filter_map(places).collect()
    }
}

impl Machine<'_> {
    /// A warp begins a product of which these registers are a factor.
    pub(crate) fn watch_factor(&mut self, thread: Thread, factor: &[Operand]) {
        if self.checks.is_none() || factor.is_empty() {
            return;
        }
        let registers: Vec<usize> = factor.iter().flat_map(Operand::numbers).map(|(number, _)| number).collect();
        let (site, program) = (self.site, self.program);
        let warp = self.warp_mut(thread.warp);
        let code = warp.frames[thread.frame].code;
        let moves =
            code.moves.get_or_init(|| if program.may_join_factors { program.moves(code) } else { vec![] }).iter();
        let sources = moves.filter(|(to, _)| registers.contains(to)).map(|(_, from)| *from).collect();
        let group = 1 + warp.multiplied;
        warp.reading.push(Reading { frame: thread.frame, group, site, registers, sources });
        self.follows = true;
    }

    /// A warp has waited for its products up to a group.
    pub(crate) fn watch_factors_read(&mut self, warp: usize, done: u32) {
        self.warp_mut(warp).reading.retain(|product| product.group > done);
    }

    /// Whether an instruction writes registers that a product of an earlier turn of a loop still reads. Within one turn ptxas gives
    /// what is written other registers, or waits.
    pub(super) fn watch_overwritten(&mut self, group: Group, line: &Line) {
        let Some(to) = line.operands.first().filter(|first| !matches!(first, Operand::Address(..))) else { return };
        let site = self.site;
        let is_earlier = |product: &&Reading| product.frame == group.frame && site < product.site;
        let is_read = |product: &Reading| {
            let is_in = |all: &[usize]| to.any_register(|register| all.contains(&register.number));
            let is_moved = !is_in(&product.registers);
            (!is_moved || is_in(&product.sources)).then_some((product.site, is_moved))
        };
        let Some((product, is_moved)) = self.warp(group.warp).reading.iter().filter(is_earlier).find_map(is_read)
        else {
            return;
        };
        let words: Vec<&str> = self.program.opcode(site).split('.').collect();
        let active =
            line.guard.map_or(group.mask, |(register, holds)| group.mask & self.holding(group, register, holds));
        // Products are done in their order.
        if words[0] == "wgmma" || !gives(&words) || active == 0 {
            return;
        }
        let thread = group.thread(active.trailing_zeros() as usize);
        self.tell(|checks, machine| checks.overwrites_factor(machine.actor(thread), product, site, is_moved));
    }
}
