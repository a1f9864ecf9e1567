//! What a tool of `compute-sanitizer` wrote: its findings, by kernel.

use std::path::Path;

/// The program that has the tools.
pub const SANITIZER: &str = "compute-sanitizer";

/// How it ends if it has something to complain about.
pub const COMPLAINS: u8 = 86;

/// The text of a log, if there is one.
pub fn text_of(log: &Path) -> String {
    std::fs::read(log).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// What the lines of a log begin with.
const PREFIX: &str = "========= ";

/// Calls of ours that fail on purpose: the parameters of a kernel are asked for until there is none, and a stream until it is done.
const ON_PURPOSE: [&str; 2] = ["cuFuncGetParamInfo", "CUDA_ERROR_NOT_READY"];

/// A finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Its first line, and the one below it.
    pub text: String,
    /// Whether it is of a call into the driver that failed.
    pub is_call: bool,
    /// Whether it is a warning only.
    pub is_warning: bool,
    /// The places in sources that it names: `shared.cu:12`.
    pub places: Vec<(String, u32)>,
    /// The kernel that it names.
    pub kernel: Option<String>,
}

/// A log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The findings.
    pub findings: Vec<Finding>,
    /// Its last line, if it came to an end.
    pub summary: Option<String>,
    /// What else the tool says: that it has no process to look at.
    pub notes: Vec<String>,
}

/// A paragraph of a log: a line, and those that are indented below it.
struct Paragraph<'l> {
    first: &'l str,
    below: Vec<&'l str>,
}

fn paragraphs(log: &str) -> Vec<Paragraph<'_>> {
    let mut all: Vec<Paragraph<'_>> = Vec::new();
    for line in log.lines().filter_map(|line| line.strip_prefix(PREFIX)) {
        match (line.starts_with(' '), all.last_mut()) {
            _ if line.trim().is_empty() => {}
            (true, Some(last)) => last.below.push(line.trim()),
            _ => all.push(Paragraph { first: line.trim(), below: Vec::new() }),
        }
    }
    all
}

impl Log {
    /// Reads a log of a process that launched these kernels.
    pub fn read(log: &str, kernels: &[String]) -> Log {
        let mut read = Log::default();
        for paragraph in paragraphs(log) {
            let first = paragraph.first;
            if first.contains("SUMMARY: ") {
                read.summary = Some(first.to_owned());
            } else if let Some(finding) = paragraph.finding(kernels) {
                read.findings.extend(finding);
            } else if first != "COMPUTE-SANITIZER" {
                read.notes.push(first.to_owned());
            }
        }
        read
    }
}

impl Paragraph<'_> {
    /// The finding, if it is one: it names a kernel, or a call into the driver that failed. Nothing within, if it is of a call that
    /// fails on purpose.
    fn finding(&self, kernels: &[String]) -> Option<Option<Finding>> {
        let text = [&[self.first][..], &self.below].concat().join("\n");
        let kernel = kernels.iter().find(|kernel| names(&text, kernel)).cloned();
        let is_call = self.first.contains("Program hit ");
        // A place in a kernel, whoever launched that.
        if kernel.is_none() && !is_call && !text.contains("+0x") {
            return None;
        }
        if is_call && ON_PURPOSE.iter().any(|call| text.contains(call)) {
            return Some(None);
        }
        let below = self.below.first().map(|line| format!(" {line}")).unwrap_or_default();
        let is_warning = self.first.to_ascii_lowercase().starts_with("warning");
        Some(Some(Finding {
            text: format!("{}{below}", self.first),
            is_call,
            is_warning,
            places: places(&text),
            kernel,
        }))
    }
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text has a name as a whole word: `right_ring`, but not `right_ring_proxy`.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(is_of_a_word) && !behind.is_some_and(is_of_a_word)
    })
}

/// The places in sources: `in shared.cu:12`.
fn places(text: &str) -> Vec<(String, u32)> {
    let place = |(at, _): (usize, &str)| {
        let file = text[..at].rsplit(|c: char| !is_of_a_word(c)).next()?;
        let rest = text[at..].strip_prefix(".cu:")?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some((format!("{file}.cu"), rest[..end].parse().ok()?))
    };
    text.match_indices(".cu:").filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = include_str!("../../tests/logs/made-up.log");

    #[test]
    fn findings_have_their_kernels() {
        let kernels = ["right_ring", "right_ring_proxy", "right_other"].map(String::from);
        let log = Log::read(LOG, &kernels);
        let named: Vec<Option<&str>> = log.findings.iter().map(|finding| finding.kernel.as_deref()).collect();
        assert_eq!(named, [Some("right_ring"), None, Some("right_ring_proxy")]);
        let [beyond, _, race] = &log.findings[..] else { panic!("{:?}", log.findings) };
        assert_eq!(beyond.text, "Invalid __global__ read of size 4 bytes at right_ring+0x90 in bulk.cu:8");
        assert!(race.is_warning);
        assert_eq!(race.places, [("bulk.cu".to_owned(), 12), ("bulk.cu".to_owned(), 14)]);
        let nobodys: Vec<&Finding> = log.findings.iter().filter(|finding| finding.kernel.is_none()).collect();
        assert!(nobodys.len() == 1 && nobodys[0].text.contains("error 719"), "{nobodys:?}");
        assert_eq!(log.summary.as_deref(), Some("ERROR SUMMARY: 3 errors"));
        assert_eq!(log.notes, ["Target application returned an error"]);
    }

    #[test]
    fn a_log_that_was_cut_off_has_no_summary() {
        let half = LOG.split("ERROR SUMMARY").next().expect("the first part");
        assert_eq!(Log::read(half, &[]).summary, None);
        assert_eq!(Log::read("", &[]), Log::default());
    }

    /// What follows is from logs of an H100, by compute-sanitizer 2025.3.1.
    const OF_RACECHECK: &str = include_str!("../../tests/logs/racecheck.log");

    const OF_MEMCHECK: &str = include_str!("../../tests/logs/memcheck.log");

    const OF_SYNCCHECK: &str = include_str!("../../tests/logs/synccheck.log");

    fn read(log: &str, kernels: &[&str]) -> Log {
        Log::read(log, &kernels.iter().map(|kernel| (*kernel).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn racecheck_names_kernels_and_lines() {
        let kernels = ["wrong_pipeline_tail", "wrong_next_reduction", "wrong_cluster_scope", "wrong_product_early"];
        let log = read(OF_RACECHECK, &kernels);
        let found: Vec<(Option<&str>, bool, Vec<u32>)> = log
            .findings
            .iter()
            .map(|finding| {
                let lines = finding.places.iter().map(|(_, line)| *line).collect();
                (finding.kernel.as_deref(), finding.is_warning, lines)
            })
            .collect();
        let [tail, next, scope, early] = kernels.map(Some);
        let expected = [
            (tail, false, vec![106, 104]),
            (next, true, vec![157, 151]),
            (scope, false, vec![89, 93]),
            (early, false, vec![154]),
        ];
        assert_eq!(found, expected);
        assert!(log.findings.iter().all(|finding| !finding.is_call));
        assert_eq!(log.findings[3].places[0].0, "product.cu");
        assert!(
            log.notes.len() == 1 && log.notes[0].starts_with("Warning: Detected possible deadlock"),
            "{:?}",
            log.notes
        );
    }

    #[test]
    fn memcheck_names_what_it_sees_and_calls_that_fail() {
        let log = read(OF_MEMCHECK, &["wrong_packed_atomic", "tensor_shared_3890"]);
        let text: Vec<(&str, bool)> = log.findings.iter().map(|one| (one.text.as_str(), one.is_call)).collect();
        let call = "Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to \"unspecified launch failure\" on CUDA API call to cuStreamQuery.";
        let atomic = "Invalid __global__ atomic of size 4 bytes at wrong_packed_atomic+0xc0 in values.cu:197";
        let illegal = "Illegal instruction at tensor_shared_3890+0x270";
        assert_eq!(text, [(atomic, false), (illegal, false), (call, true)]);
        assert_eq!(log.findings[2].kernel, None);
        assert_eq!((log.summary.as_deref(), log.notes.len()), (Some("ERROR SUMMARY: 3 errors"), 1));
        // A kernel that nobody asked about is nobody's, and is seen all the same.
        assert_eq!(read(OF_MEMCHECK, &["other"]).findings.len(), 3);
    }

    #[test]
    fn synccheck_names_a_barrier() {
        let log = read(OF_SYNCCHECK, &["shared_1481", "shared_148"]);
        assert_eq!(log.findings.len(), 1);
        assert_eq!(log.findings[0].text, "Barrier error detected. Missing wait. at shared_1481+0x1f70");
        assert_eq!(log.findings[0].kernel.as_deref(), Some("shared_1481"));
    }
}
