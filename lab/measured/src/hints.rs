//! The page `hints.md`, which is a page of the crate's documentation too: what each hint says, when it should pay, and what GPUs showed of that.

use std::fmt::Write;

use lab::claims::Claim;
use lab::judge::{Finding, Paid, Verdict};
use lab::statistics::Estimate;

use super::judged::Judged;

/// A hint, or some that say the same.
pub(super) struct Hint {
    /// The crate's names, separated by blanks. Links name them too.
    names: &'static str,
    /// Its words in PTX, separated by blanks.
    words: &'static str,
    /// What the ISA says.
    says: &'static str,
    /// Where it should pay, and where not.
    pays: &'static str,
    /// The laboratory's claims about it: their experiment, and what is in their text.
    claims: &'static [(char, &'static str)],
    /// The kind of hints that the worked kernels are measured without.
    without: Option<&'static str>,
}

/// Every hint, from loads to prefetches.
pub(super) const HINTS: &[Hint] = &[
    Hint {
        names: "NoHint",
        words: "",
        says: "Nothing: the machine decides. A weak load goes through L1 and L2, and both keep the line.",
        pays: "Almost everywhere. Begin with it, and change it only if a measurement of your kernel says so.",
        claims: &[],
        without: Some("all"),
    },
    Hint {
        names: "NoAllocate",
        words: ".L1::no_allocate",
        says: "L1 should not keep the line. A load may still find the line there. L2 keeps it as usual.",
        pays: "For data that is read once, if the same multiprocessor reads other data again. If L1 has nothing useful, it \
               changes nothing. It costs time if neighbouring threads read parts of one line at different times.",
        claims: &[('B', "L1::no_allocate on the stream"), ('F', "L1::no_allocate on the stream")],
        without: Some("l1"),
    },
    Hint {
        names: "EvictFirst",
        words: ".L1::evict_first",
        says: "L1 evicts this line before others.",
        pays: "Like `no_allocate`, for lines that are used a few times within a short time and then not again.",
        claims: &[('F', "L1::evict_first on the stream")],
        without: Some("l1"),
    },
    Hint {
        names: "EvictLast",
        words: ".L1::evict_last",
        says: "L1 evicts this line after others.",
        pays: "For a small table that each block reads again and again while it also reads a stream. The tables of all blocks \
               on a multiprocessor have to fit into L1 together. Otherwise they evict each other.",
        claims: &[('F', "L1::evict_last on the hot set")],
        without: Some("l1"),
    },
    Hint {
        names: "EvictNormal",
        words: ".L1::evict_normal",
        says: "The priority that a line has without a hint.",
        pays: "If another access gave the line a priority that it should lose. Otherwise it is the same as no hint.",
        claims: &[],
        without: None,
    },
    Hint {
        names: "EvictUnchanged",
        words: ".L1::evict_unchanged",
        says: "The line keeps the priority that it has.",
        pays: "For a single access to data whose priority other accesses set.",
        claims: &[],
        without: None,
    },
    Hint {
        names: "Ca",
        words: ".ca",
        says: "All levels keep the line. L1 does not see what other multiprocessors write.",
        pays: "Rarely: a weak load without a hint does the same, and on many GPUs `ld.global.ca` is a strong load at the \
               scope of the multiprocessor.",
        claims: &[],
        without: None,
    },
    Hint {
        names: "Cg",
        words: ".cg",
        says: "Only L2 keeps the line.",
        pays: "For data that other multiprocessors write while the kernel runs, if no order is needed, and for data that is \
               read once. A store with it is the same as a store without it.",
        claims: &[],
        without: Some("stores"),
    },
    Hint {
        names: "Cs",
        words: ".cs",
        says: "The line is probably used once, so it is evicted first.",
        pays: "For output that nobody reads soon, so that it does not evict the input from L2.",
        claims: &[('H', "stores under cs")],
        without: Some("stores"),
    },
    Hint {
        names: "Lu",
        words: ".lu",
        says: "The line is read for the last time, and need not be written back. On global memory it is the same as `.cs`.",
        pays: "For what the compiler itself puts into local memory. In your own code hardly ever.",
        claims: &[],
        without: None,
    },
    Hint {
        names: "Cv",
        words: ".cv",
        says: "The copy of the line in a cache is old: fetch the line again.",
        pays: "For memory of the host that the host changes while the kernel runs. Each load goes to that memory, which is slow.",
        claims: &[],
        without: None,
    },
    Hint {
        names: "Wb",
        words: ".wb",
        says: "L2 writes the line back when it needs the space.",
        pays: "It is what a store does without a hint.",
        claims: &[('H', "lines that have to be written back")],
        without: None,
    },
    Hint {
        names: "Wt",
        words: ".wt",
        says: "The store goes through L2 to memory of the system.",
        pays: "For memory of the host. For the GPU's own memory it may cost bandwidth.",
        claims: &[],
        without: Some("stores"),
    },
    Hint {
        names: "L2EvictFirst",
        words: ".L2::evict_first",
        says: "L2 evicts this line before others.",
        pays: "For data that is read once, if other data fits into L2 and is read again. If everything fits, or nothing is \
               read again, it changes nothing.",
        claims: &[('B', "evict_first on the stream")],
        without: Some("policies"),
    },
    Hint {
        names: "L2EvictLast",
        words: ".L2::evict_last",
        says: "L2 evicts this line after others.",
        pays: "For data that is read again while the kernel also reads a stream, if a part of L2 is set aside for it \
               (`cuCtxSetLimit` with `CU_LIMIT_PERSISTING_L2_CACHE_SIZE`). The marked data has to fit into that part. Lines keep \
               their priority after the kernel, and may slow down the next one.",
        claims: &[
            ('B', "evict_last keeps"),
            ('C', "evict_last keeps"),
            ('C', "half set aside"),
            ('D', "evict_last for all lines"),
        ],
        without: Some("policies"),
    },
    Hint {
        names: "L2EvictNormal",
        words: ".L2::evict_normal",
        says: "The priority that a line has without a hint.",
        pays: "For the last access to lines that were marked `evict_last`.",
        claims: &[],
        without: None,
    },
    Hint {
        names: "L2EvictUnchanged",
        words: ".L2::evict_unchanged",
        says: "The line keeps the priority that it has in L2.",
        pays: "As the secondary priority of a policy whose primary priority is only for a part of the lines.",
        claims: &[],
        without: None,
    },
    Hint {
        names: "CachePolicy",
        words: ".L2::cache_hint",
        says: "A number that `createpolicy` makes: a priority in L2 for a fraction of the lines or for a range of addresses, \
               and another priority for the rest.",
        pays: "If the data that should stay is larger than L2. Then a fixed fraction of it stays, instead of changing parts. \
               Each access needs one or two more registers.",
        claims: &[('D', "a sixteenth more"), ('D', "a range keeps")],
        without: Some("policies"),
    },
    Hint {
        names: "Prefetch64 Prefetch128 Prefetch256",
        words: ".L2::64B .L2::128B .L2::256B",
        says: "When L2 has to fetch the sector of 32 bytes, it may fetch this many bytes, aligned to their number.",
        pays: "If this or another thread reads the other bytes soon. Otherwise it costs bandwidth, as in a gather of single \
               elements.",
        claims: &[('E', "L2::64B"), ('E', "L2::128B"), ('E', "L2::256B")],
        without: Some("sizes"),
    },
    Hint {
        names: "prefetch_l1 prefetch_l2 prefetch_global_l1 prefetch_global_l2",
        words: "",
        says: "Brings a line into a cache. Nothing waits for it.",
        pays: "If the address is known long before the value is needed, and there are too few registers to load the value \
               early. Loads that are all issued before the first use do the same without a prefetch.",
        claims: &[('I', "prefetch.L1"), ('I', "prefetch.L2 brings"), ('I', "prefetch.L2::evict_last")],
        without: Some("prefetches"),
    },
    Hint {
        names: "cp_async_bulk_prefetch_l2",
        words: "",
        says: "Brings many bytes into L2 with one instruction of one thread.",
        pays: "For blocks of data that a kernel reads later. It needs no register for each line.",
        claims: &[('I', "cp.async.bulk.prefetch.L2")],
        without: None,
    },
    Hint {
        names: "applypriority_l2_evict_normal applypriority_global_l2_evict_normal",
        words: "",
        says: "Gives a line of L2 the normal priority again.",
        pays: "At the end of a kernel that marked lines `evict_last`, before another one needs L2.",
        claims: &[('I', "applypriority")],
        without: None,
    },
    Hint {
        names: "discard_l2 discard_global_l2",
        words: "",
        says: "The content of a line is no longer needed, so L2 does not have to write it back.",
        pays: "For scratch memory that was written and read, and that nobody reads again.",
        claims: &[('H', "discard saves")],
        without: None,
    },
];

/// The page, of what all of these GPUs showed.
pub(super) fn page(measured: &[&Judged]) -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut line = |text: &str| writeln!(page, "{text}").expect("a string takes all");
    line("| Hint | In PTX | Measured |\n| --- | --- | --- |");
    for hint in HINTS {
        let words: Vec<String> = hint.words.split_whitespace().map(|word| format!("`{word}`")).collect();
        line(&format!(
            "| {} | {} | {} |",
            hint.named(|name| format!("[`{name}`](#{name})"), ", "),
            words.join(" "),
            hint.in_short(measured)
        ));
    }
    for hint in HINTS {
        let Hint { says, pays, .. } = hint;
        let anchors = hint.named(|name| format!("<a id=\"{name}\"></a>"), "");
        let title = hint.named(|name| format!("`{name}`"), ", ");
        line(&format!("\n{anchors}\n\n## {title}\n\n**It says:** {says}\n\n**It should pay:** {pays}\n"));
        hint.measured(measured, &mut line);
    }
    page
}

impl Hint {
    fn named(&self, each: impl Fn(&str) -> String, between: &str) -> String {
        self.names.split_whitespace().map(each).collect::<Vec<_>>().join(between)
    }

    fn findings<'j>(&self, judged: &'j Judged) -> Vec<&'j Finding> {
        let is_of = |finding: &&Finding| self.claims.iter().any(|part| is_about(&finding.claim, part));
        judged.findings.iter().filter(is_of).collect()
    }

    fn paid<'j>(&self, judged: &'j Judged) -> Vec<&'j Paid> {
        judged.paid.iter().filter(|row| self.without == Some(&row.without)).collect()
    }

    fn is_measured(&self) -> bool {
        !self.claims.is_empty() || self.without.is_some()
    }

    /// On how many GPUs, and how it ended there.
    fn in_short(&self, measured: &[&Judged]) -> String {
        let of = |judged: &&Judged| {
            let (gpu, paid) = (&judged.results.run.gpu, self.paid(judged));
            let count = |verdict| paid.iter().filter(|row| row.verdict == verdict).count();
            let kernels = format!(
                "pays in {} of {} cases, costs in {}",
                count(Verdict::Proved),
                paid.len(),
                count(Verdict::Refuted)
            );
            let findings = self.findings(judged);
            let proved = findings.iter().filter(|finding| finding.verdict == Verdict::Proved).count();
            let told = format!("{proved} of {} expectations proved", findings.len());
            let all = [(paid.is_empty(), kernels), (findings.is_empty(), told)];
            let all: Vec<String> = all.into_iter().filter(|(empty, _)| !empty).map(|(_, text)| text).collect();
            (!all.is_empty()).then(|| format!("{gpu}: {}", all.join("; ")))
        };
        let all: Vec<String> = measured.iter().filter_map(of).collect();
        if all.is_empty() { NOT_YET.into() } else { all.join("<br>") }
    }

    fn measured(&self, measured: &[&Judged], line: &mut impl FnMut(&str)) {
        if !self.is_measured() {
            return line("No experiment of the laboratory is about it alone.");
        }
        let mut any = false;
        for judged in measured {
            let (gpu, findings, paid) = (&judged.results.run.gpu, self.findings(judged), self.paid(judged));
            if findings.len() + paid.len() > 0 {
                line(&format!("On {gpu}:\n\n| | Where | Found | |\n| --- | --- | ---: | --- |"));
                any = true;
            }
            for finding in &findings {
                let of: Vec<_> =
                    finding.of.iter().map(|(label, value)| format!("{} {value}", label.replace('_', " "))).collect();
                let found = finding.found.map_or(String::new(), interval);
                line(&format!("| {} | {} | {found} | {} |", finding.claim.says, of.join(", "), finding.verdict));
            }
            for Paid { kernel, size, ratio, verdict, .. } in &paid {
                let says = match verdict {
                    Verdict::Proved => "pays",
                    Verdict::Refuted => "costs",
                    Verdict::NotDistinguishable | Verdict::NotMeasured => "no difference seen",
                };
                line(&format!(
                    "| time of {kernel} without it, by that with it | {size} × L2 | {} | {says} |",
                    interval(*ratio)
                ));
            }
        }
        if !any {
            line(&format!("**Measured:** {NOT_YET}."));
        }
    }
}

/// Whether a claim is of that experiment and has that in its text.
fn is_about(claim: &Claim, (experiment, text): &(char, &str)) -> bool {
    claim.experiment == *experiment && claim.says.contains(text)
}

fn interval(found: Estimate) -> String {
    format!("{:.3} [{:.3}, {:.3}]", found.middle, found.low, found.high)
}

const NOT_YET: &str = "not measured yet";

const INTRODUCTION: &str = "\
# When each hint pays

`cargo xtask measured` writes this page from what the laboratory (`docs/laboratory.md`) measured on GPUs (`docs/measured`). \"Not
measured yet\" means that the text is only an expectation, from the ISA and from how caches work.

A hint changes no value. The machine may follow it or not, and the ISA promises nothing about speed. So the rule is: write the
kernel without hints, measure it, change one hint, and measure again. Most kernels that read everything once gain nothing.
Hints can pay if two kinds of data compete for a cache: data that is read again, and data that is read once.

- **The size decides.** Data that fits into L2 with everything else needs no hint. Data that is many times larger than L2 does not stay
  there with a hint either.
- **Mark what should go rather than what should stay.** A stream that is evicted first harms nothing. Lines that should stay take space
  from all other data, even after the kernel.
- **An order is not a hint.** `.relaxed`, `.acquire` and `.volatile` skip L1 because they have to.

";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lab::claims::CLAIMS;
    use ptx_intrinsics::catalogue;

    use super::*;

    /// The words of an instruction that are about caches alone.
    fn is_hint(word: &str) -> bool {
        let operators = ["ca", "cg", "cs", "lu", "cv", "wb", "wt"];
        operators.contains(&word) || word.starts_with("L1::") || word.starts_with("L2::")
    }

    #[test]
    fn every_hint_of_a_load_or_a_store_is_told_of() {
        let told: BTreeSet<&str> = HINTS.iter().flat_map(|hint| hint.words.split_whitespace()).collect();
        let moves = |form: &catalogue::Form| form.element().is_some();
        let missing: BTreeSet<String> = catalogue::forms()
            .filter(moves)
            .flat_map(|form| {
                form.ptx().split('.').filter(|word| is_hint(word)).map(|word| format!(".{word}")).collect::<Vec<_>>()
            })
            .filter(|word| !told.contains(word.as_str()))
            .collect();
        assert!(missing.is_empty(), "HINTS has nothing about {missing:?}");
    }

    #[test]
    fn names_differ_and_every_claim_of_a_hint_is_one_of_the_laboratory() {
        let names: Vec<&str> = HINTS.iter().flat_map(|hint| hint.names.split_whitespace()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for part in HINTS.iter().flat_map(|hint| hint.claims) {
            assert!(CLAIMS.iter().any(|claim| is_about(claim, part)), "no claim is about {part:?}");
        }
    }

    #[test]
    fn without_a_gpu_nothing_is_said_to_be_measured() {
        let page = page(&[]);
        let hints = HINTS.iter().filter(|hint| hint.is_measured()).count();
        assert_eq!(page.matches("**Measured:** not measured yet.").count(), hints);
        assert!(hints > 15 && !page.contains("pays in"));
    }
}
