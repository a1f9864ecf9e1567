//! The page `hints.md`, which is a page of the crate's documentation too: what each hint says, when it should pay, and what GPUs showed of that.

use std::fmt::Write;
use std::sync::LazyLock;

use lab::claims::Claim;
use lab::judge::{Finding, Paid, Verdict};
use lab::statistics::Estimate;

use super::judged::Judged;

/// A hint, or some that say the same.
#[derive(Default)]
struct Hint {
    /// The crate's names, separated by blanks. Links name them too.
    names: &'static str,
    /// Its words in PTX, separated by blanks.
    words: &'static str,
    /// What the ISA says.
    says: &'static str,
    /// Where it should pay, and where not.
    pays: &'static str,
    /// The laboratory's claims about it: their experiment, and what is in their text.
    claims: Vec<(char, &'static str)>,
    /// The kind of hints that the worked kernels are measured without.
    without: Option<&'static str>,
}

/// Every hint, from loads to prefetches.
static HINTS: LazyLock<Vec<Hint>> = LazyLock::new(|| {
    let blocks = include_str!("hints.txt").split("\n\n").filter(|block| !block.starts_with('#'));
    blocks.map(Hint::read).collect()
});

/// The page, of what all of these GPUs showed.
pub(super) fn page(measured: &[&Judged]) -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut line = |text: &str| writeln!(page, "{text}").expect("a string takes all");
    line("| Hint | In PTX | Measured |\n| --- | --- | --- |");
    for hint in HINTS.iter() {
        let words: Vec<String> = hint.words.split_whitespace().map(|word| format!("`{word}`")).collect();
        line(&format!(
            "| {} | {} | {} |",
            hint.named(|name| format!("[`{name}`](#{name})"), ", "),
            words.join(" "),
            hint.in_short(measured)
        ));
    }
    for hint in HINTS.iter() {
        let Hint { says, pays, .. } = hint;
        let anchors = hint.named(|name| format!("<a id=\"{name}\"></a>"), "");
        let title = hint.named(|name| format!("`{name}`"), ", ");
        line(&format!("\n{anchors}\n\n## {title}\n\n**It says:** {says}\n\n**It should pay:** {pays}\n"));
        hint.measured(measured, &mut line);
    }
    page
}

impl Hint {
    fn read(block: &'static str) -> Hint {
        let mut hint = Hint::default();
        for line in block.lines() {
            match line.split_once(": ") {
                Some(("names", names)) => hint.names = names,
                Some(("words", words)) => hint.words = words,
                Some(("says", says)) => hint.says = says,
                Some(("pays", pays)) => hint.pays = pays,
                Some(("without", without)) => hint.without = Some(without),
                Some(("claim", claim)) => {
                    let (experiment, text) = claim.split_at(1);
                    hint.claims.extend(experiment.chars().map(|experiment| (experiment, text.trim())));
                }
                _ => panic!("{line} says nothing of a hint"),
            }
        }
        hint
    }

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

const INTRODUCTION: &str = include_str!("introduction.md");

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
        assert!(missing.is_empty(), "hints.txt has nothing about {missing:?}");
    }

    #[test]
    fn names_differ_and_every_claim_of_a_hint_is_one_of_the_laboratory() {
        let names: Vec<&str> = HINTS.iter().flat_map(|hint| hint.names.split_whitespace()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for part in HINTS.iter().flat_map(|hint| &hint.claims) {
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
