//! Orders that the deadline cut off.

use ptx_interpreter::Record;

/// How many times the instructions of an order that ends an order has to take before it is one that may not end.
const LONGER: u64 = 10;

/// Whether the deadline cut the order off.
fn is_late(record: &Record) -> bool {
    record.findings.iter().any(|finding| finding.is_late())
}

/// The orders, and how many came to their end. That the deadline cut one off is a finding if it began before all others, as `first` did if
/// none has ended before, or if it took many more instructions than any that ended: the others merely had no time. `longest` is
/// the longest of those that ended before.
pub(super) fn without_late(mut records: Vec<Record>, longest: Option<u64>, first: u64) -> (Vec<Record>, u64) {
    let ended = records.iter().filter(|record| !is_late(record));
    let (count, own) = ended.fold((0, None), |(count, own), record| (count + 1, own.max(Some(record.instructions))));
    let longest_of_all = own.max(longest);
    for record in &mut records {
        let began_first = record.seed == first && longest.is_none();
        let is_endless = longest_of_all.is_some_and(|longest| record.instructions / LONGER > longest);
        if !began_first && !is_endless {
            record.findings.retain(|finding| !finding.is_late());
        }
    }
    (records, count)
}
