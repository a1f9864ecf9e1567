//! Results of a GPU that are kept, so that later work can model its units.

use serde_json::{Value, json};

use crate::case::Case;

/// Pairs of operands and results that are kept of an approximate instruction.
const PAIRS: usize = 4096;

/// Numbers in hex, each with as many digits as its type has, in one text.
fn hex(case: &Case, from: &[u64], found: &[u64]) -> String {
    let mut text = String::new();
    let operands = case.operands.iter().zip(from);
    let results = case.results.iter().zip(found);
    for (ty, value) in operands.chain(results) {
        let digits = ty.width() as usize / 4;
        text += &format!("{value:0digits$x}", value = value & crate::float::mask(ty.width()));
    }
    text
}

/// Operands and results of some threads.
pub(crate) fn pairs(case: &Case, from: &[u64], found: &[u64]) -> Value {
    if from.len() == 1 << 16 && case.operands[0].width() == 16 {
        // Of all 65,536 operands, in their order.
        let text: String = found.iter().map(|result| format!("{:04x}", result & 0xffff)).collect();
        return json!({ "digits": [4], "of": text });
    }
    let step = (from.len() / case.reads() / PAIRS).max(1);
    told(case, tuples(case, from, found).step_by(step).take(PAIRS))
}

/// All operands and results of the first threads.
pub(crate) fn first(case: &Case, threads: usize, from: &[u64], found: &[u64]) -> Value {
    told(case, tuples(case, from, found).take(threads))
}

fn tuples<'a>(case: &Case, from: &'a [u64], found: &'a [u64]) -> impl Iterator<Item = (&'a [u64], &'a [u64])> {
    from.chunks(case.reads()).zip(found.chunks(case.writes()))
}

fn told<'a>(case: &Case, tuples: impl Iterator<Item = (&'a [u64], &'a [u64])>) -> Value {
    let digits: Vec<u32> = case.operands.iter().chain(&case.results).map(|ty| ty.width() / 4).collect();
    let text: String = tuples.map(|(from, found)| hex(case, from, found)).collect();
    json!({ "digits": digits, "of": text })
}
