//! What a tool of `compute-sanitizer` wrote: its findings, by kernel.

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
    /// The place in the source that it names first: `shared.cu:12`.
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
        if kernel.is_none() && !is_call && !self.first.contains(" memory access") {
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

    const LOG: &str = "\
========= COMPUTE-SANITIZER
a line of the program
========= Invalid __global__ read of size 4 bytes
=========     at right_ring+0x90 in bulk.cu:8
=========     by thread (31,0,0) in block (0,0,0)
=========     Access at 0x7f is out of bounds
========= 
========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to \"invalid argument\" on CUDA API call to cuFuncGetParamInfo.
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to \"unspecified launch failure\" on CUDA API call to cuStreamQuery.
=========
========= Warning: Race reported between Write access at right_ring_proxy+0x40 in bulk.cu:12
=========     and Read access at right_ring_proxy+0x50 in bulk.cu:14 [32 hazards]
=========
========= Target application returned an error
========= ERROR SUMMARY: 3 errors
";

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
}
