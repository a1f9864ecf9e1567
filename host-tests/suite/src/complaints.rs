//! What the tools of `compute-sanitizer` say of kernels of forms that are right, and why that is no fault of theirs.

use super::corpus::log::{Finding, Log};
use super::plan::Kernel;

/// Bytes of an mbarrier.
const BARRIER: usize = 8;

/// A complaint that is known.
struct Known {
    tool: &'static str,
    is_it: fn(&Finding, &Kernel) -> bool,
    why: &'static str,
}

const KNOWN: [Known; 2] = [
    // The write is where the barrier is initialised, and the read where the same thread arrives at it: the assembler marks both places
    // by a `NOP`. Each block has one such barrier, although each of its threads does the same to one of its own.
    Known {
        tool: "racecheck",
        is_it: |finding, kernel| {
            let of_one_barrier = format!("[{} hazards]", BARRIER * kernel.room.blocks());
            finding.is_warning
                && finding.text.contains("Race reported between Write access at ")
                && finding.text.ends_with(&of_one_barrier)
                && kernel.has_statement("mbarrier_init(")
        },
        why: "a thread initialises a barrier and uses it alone: initialisations of a warp are done in a loop over its threads, and the \
              tool takes one for another thread's",
    },
    // On an H100 a test of the barrier before that arrival says that the phase is not complete, and the trial compares the answer.
    Known {
        tool: "synccheck",
        is_it: |finding, kernel| {
            let arrives = |form: &str| form.starts_with("cp.async.mbarrier.arrive.") && !form.contains(".noinc");
            finding.text.starts_with("Barrier error detected. Missing wait.")
                && kernel.trials.iter().any(|case| arrives(case.form.ptx()))
        },
        why: "`cp.async.mbarrier.arrive` without `.noinc` adds an arrival before it arrives, which the tool does not count, so that the \
              next arrival seems to be of a later phase; the tool ends the kernel",
    },
];

/// What a tool said of some kernels.
#[derive(Clone, Debug, Default)]
pub(super) struct Complaints {
    /// What is new.
    pub(super) new: Vec<Finding>,
    /// What is known, with its reason.
    pub(super) known: Vec<(Finding, &'static str)>,
}

impl Complaints {
    /// Those of a log, about these kernels.
    pub(super) fn of(tool: &str, log: &str, kernels: &[&Kernel]) -> Complaints {
        let names: Vec<String> = kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let mut complaints = Complaints::default();
        for finding in Log::read(log, &names).findings {
            let kernel = kernels.iter().find(|kernel| finding.kernel.as_ref() == Some(&kernel.name));
            let known = KNOWN.iter().filter(|known| known.tool == tool);
            let known = kernel.and_then(|kernel| known.into_iter().find(|known| (known.is_it)(&finding, kernel)));
            match known {
                Some(known) => complaints.known.push((finding, known.why)),
                None => complaints.new.push(finding),
            }
        }
        complaints
    }

    /// Adds others.
    pub(super) fn extend(&mut self, others: Complaints) {
        self.new.extend(others.new);
        self.known.extend(others.known);
    }

    /// Whether a kernel was ended for what is known.
    pub(super) fn ended(&self, kernel: &str) -> bool {
        let of_kernel = |finding: &&Finding| finding.kernel.as_deref() == Some(kernel);
        let new = self.new.iter().any(|finding| of_kernel(&finding));
        !new && self.known.iter().any(|(finding, _)| of_kernel(&finding) && !finding.is_warning)
    }

    /// In words, if there are some.
    pub(super) fn text(&self) -> Option<String> {
        let mut reasons: Vec<&str> = self.known.iter().map(|(_, why)| *why).collect();
        let known = reasons.len();
        reasons.sort_unstable();
        reasons.dedup();
        let new = self.new.first().map(|first| format!("{} new complaints: {}", self.new.len(), first.text));
        let known = (known > 0).then(|| format!("{known} known complaints: {}", reasons.join("; ")));
        let text = new.into_iter().chain(known).collect::<Vec<_>>().join("; ");
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use host_tests::check::forms_check::every_form;

    use super::*;
    use crate::plan::Plan;

    /// From an H100 with compute-sanitizer 2025.3.1. The names of the kernels are put in.
    const RACES: &str = include_str!("../tests/logs/races.log");

    const WAITS: &str = include_str!("../tests/logs/waits.log");

    #[test]
    fn known_complaints_are_told_from_new_ones() {
        let forms = every_form();
        let of = |names: [&str; 3]| {
            let own = forms.iter().filter(|form| names.contains(&form.ptx())).cloned().collect::<Vec<_>>();
            Plan::new(&own).kernels.into_iter().next().expect("a kernel")
        };
        let arrival = "cp.async.mbarrier.arrive.shared.b64";
        let with = of([arrival, "mbarrier.init.shared.b64", "mbarrier.inval.shared.b64"]);
        let without = of(["ld.shared.u32", "st.shared.u32", "ld.shared.u64"]);
        let count = |tool: &str, log: &str, kernel: &Kernel| {
            let complaints = Complaints::of(tool, &log.replace("KERNEL", &kernel.name), &[kernel]);
            (complaints.new.len(), complaints.known.len(), complaints.ended(&kernel.name))
        };
        assert_eq!(count("racecheck", RACES, &with), (0, 2, false));
        assert_eq!(count("racecheck", RACES, &without), (2, 0, false));
        assert_eq!(count("racecheck", &RACES.replace("[8 hazards]", "[16 hazards]"), &with), (2, 0, false));
        assert_eq!(count("racecheck", &RACES.replace("Warning: ", "Error: "), &with), (2, 0, false));
        assert_eq!(count("synccheck", WAITS, &with), (0, 1, true));
        assert_eq!(count("synccheck", WAITS, &without), (1, 0, false));
        assert_eq!(count("memcheck", WAITS, &with), (1, 0, false));
        let complaints = Complaints::of("synccheck", &WAITS.replace("KERNEL", &with.name), &[&with]);
        let text = complaints.text().expect("there is one");
        assert!(text.starts_with("1 known complaints: `cp.async.mbarrier.arrive` without"), "{text}");
        assert_eq!(Complaints::of("synccheck", "", &[]).text(), None);
    }
}
