//! What the types say of a spelling.

use std::collections::HashMap;
use std::sync::LazyLock;

use ptx_intrinsics::catalogue;
use ptx_intrinsics::grammar::access::{Lanes, judge};
use ptx_intrinsics::grammar::atomic::judge_atomic;
use ptx_intrinsics::grammar::multimem::judge_multimem;

use crate::check::conformance::grammar::{Operands, Spelling};

/// What the types say of a spelling: the oldest SM and PTX ISA version that have it, 80 and 74 for sm_80 and 7.4.
pub fn types_say(spelling: &Spelling) -> Option<(u32, u32)> {
    static OTHERS: LazyLock<HashMap<String, (u32, u32)>> = LazyLock::new(|| {
        let others =
            catalogue::forms().filter(|form| form.element().is_none() && !form.is_atomic() && !form.is_multimem());
        // No target without a suffix has the others, and the grammars are asked about those alone: `forms` asks about the others.
        let others = others.filter(|form| form.targets().is_empty());
        others.map(|form| (form.full_ptx(), (form.min_sm(), form.min_ptx()))).collect()
    });
    if spelling.is_atomic() {
        let judged = judge_atomic(&spelling.ptx, spelling.takes_policy());
        return judged.ok().map(|(_, needs)| (needs.sm(), needs.ptx()));
    }
    if spelling.is_multimem() {
        let judged = judge_multimem(&spelling.ptx).ok().filter(|(_, needs)| needs.targets().is_empty());
        return judged.map(|(_, needs)| (needs.sm(), needs.ptx()));
    }
    if !spelling.moves() {
        return OTHERS.get(&spelling.full_ptx()).copied();
    }
    let mut named = [spelling.operands != Operands::AllSinks; 16];
    named[0] = false;
    let lanes = match spelling.operands {
        Operands::Plain | Operands::Unified => Lanes::All,
        Operands::OneSink | Operands::AllSinks => Lanes::Some(&named[..spelling.lanes()]),
    };
    let unified = spelling.operands == Operands::Unified;
    judge(&spelling.ptx, spelling.takes_policy(), unified, lanes).ok().map(|(_, needs)| (needs.sm(), needs.ptx()))
}
