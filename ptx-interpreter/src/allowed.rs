//! Findings that somebody has looked at and allows, with a reason: in a file, or in a comment beside the line.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use crate::check::{Finding, Kind, Place};

/// What a comment begins with that allows a finding: `// ptx: allow(race) every thread writes the same value`.
const COMMENT: &str = "ptx: allow(";

/// Findings that are allowed, and which of them were found.
///
/// ```
/// use ptx_interpreter::{Allowed, Program, Trial};
///
/// let text = "
/// .version 8.0
/// .target sm_80
/// .visible .entry all(.param .u64 to) {
///     .reg .b64 %p;
///     .reg .b32 %lane;
///     ld.param.u64 %p, [to];
///     mov.u32 %lane, %tid.x;
///     st.global.u32 [%p], %lane;
///     ret;
/// }";
/// let program = Program::parse(text);
/// let mut report = Trial::new(&program, "all").unwritten(4)?.check();
/// assert_eq!(report.findings.len(), 1);
/// let mut allowed = Allowed::parse("race all any of the values will do").unwrap();
/// allowed.silence("all", &mut report.findings);
/// assert!(report.is_clean() && allowed.silenced() == 1 && allowed.warnings().is_empty());
/// # Ok::<(), ptx_interpreter::Stop>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    entries: Vec<Entry>,
    /// The lines of files of source, as far as they were looked at.
    sources: HashMap<String, Vec<String>>,
    silenced: BTreeSet<(String, Kind, Vec<u32>)>,
    /// Comments without a reason.
    without: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    line: usize,
    kind: Kind,
    place: String,
    is_used: bool,
}

impl Allowed {
    /// Reads a file: in each line a kind, a place and a reason. A place is a kernel, or a file and a line, as `scan.cu:41`; `ptx:41` is
    /// a line of the PTX. `#` begins a comment. Errors: a line has no known kind, or gives no reason.
    pub fn parse(text: &str) -> Result<Allowed, String> {
        let mut allowed = Allowed::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let Some(word) = words.next() else { continue };
            let at = format!("line {}", number + 1);
            let kind = Kind::parse(word).ok_or_else(|| format!("{at}: `{word}` is no kind of finding"))?;
            let place = words.next().ok_or_else(|| format!("{at}: no kernel or line is named"))?.to_owned();
            if words.next().is_none() {
                return Err(format!("{at}: no reason is given"));
            }
            allowed.entries.push(Entry { line: number + 1, kind, place, is_used: false });
        }
        Ok(allowed)
    }

    /// Takes the findings of a kernel away that are allowed, in the file or by a comment at one of their places or right above it. Of several
    /// that have one cause the others stay.
    pub fn silence(&mut self, kernel: &str, findings: &mut Vec<Finding>) {
        findings.retain_mut(|finding| {
            let mut allowed = None;
            let pairs = finding.take_apart().into_iter().filter(|one| {
                let is_allowed = self.is_listed(kernel, one) | self.is_commented(one);
                if is_allowed && allowed.is_none() {
                    let mut lines: Vec<u32> = one.places.iter().take(2).map(Place::line).collect();
                    lines.sort_unstable();
                    allowed = Some((kernel.to_owned(), one.kind, lines));
                }
                !is_allowed
            });
            let left = Finding::of_one_cause(pairs.collect());
            self.silenced.extend(allowed);
            left.map(|left| *finding = left).is_some()
        });
    }

    /// How many different findings were taken away.
    pub fn silenced(&self) -> usize {
        self.silenced.len()
    }

    /// Entries of the file that matched nothing, and comments without a reason.
    pub fn warnings(&self) -> Vec<String> {
        let unused = self.entries.iter().filter(|entry| !entry.is_used);
        let unused = unused.map(|entry| {
            format!("line {}: nothing of the kind `{}` is found at {}", entry.line, entry.kind.word(), entry.place)
        });
        unused
            .chain(self.without.iter().map(|at| format!("{at}: the comment allows a finding without a reason")))
            .collect()
    }

    fn is_listed(&mut self, kernel: &str, finding: &Finding) -> bool {
        let mut is_listed = false;
        for entry in self.entries.iter_mut().filter(|entry| entry.kind == finding.kind) {
            if entry.place == kernel || finding.places.iter().any(|place| is_at(place, &entry.place)) {
                (entry.is_used, is_listed) = (true, true);
            }
        }
        is_listed
    }

    fn is_commented(&mut self, finding: &Finding) -> bool {
        let mut is_allowed = false;
        for place in &finding.places {
            let in_ptx = place.comments.iter().map(|comment| (format!("PTX line {}", place.ptx_line), comment.clone()));
            let mut comments: Vec<(String, String)> = in_ptx.collect();
            for (file, line) in place.lines() {
                let lines = self.sources.entry(file.clone()).or_insert_with(|| lines_of(file));
                comments.extend(beside(lines, *line).into_iter().map(|comment| (format!("{file}:{line}"), comment)));
            }
            for (at, comment) in comments {
                let Some((kind, reason)) = comment.split_once(')') else { continue };
                if Kind::parse(kind.trim()) != Some(finding.kind) {
                    continue;
                }
                if reason.trim_matches([' ', ':', '*', '/', '-']).is_empty() {
                    self.without.insert(at);
                } else {
                    is_allowed = true;
                }
            }
        }
        is_allowed
    }
}

/// Whether a thread is at that place: a function, `FILE:LINE`, or `ptx:LINE`.
fn is_at(place: &Place, name: &str) -> bool {
    if place.function == name {
        return true;
    }
    let Some((file, line)) = name.rsplit_once(':') else { return false };
    let Ok(line) = line.parse::<u32>() else { return false };
    let is_source = |(path, own): &(String, u32)| *own == line && std::path::Path::new(path).ends_with(file);
    file == "ptx" && place.ptx_line == line || place.lines().any(is_source)
}

fn lines_of(file: &str) -> Vec<String> {
    let text = fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The comments that allow something at a line, from 1: in it, or alone in the lines right above. Each begins with the kind.
pub(crate) fn beside<T: AsRef<str>>(lines: &[T], line: u32) -> Vec<String> {
    let comment = |at: usize, alone: bool| {
        let (code, comment) = lines.get(at)?.as_ref().split_once(COMMENT)?;
        let is_alone = code.trim().chars().all(|letter| "/*#".contains(letter));
        let is_comment = ["//", "/*", "#"].iter().any(|begin| code.contains(begin));
        (is_comment && (!alone || is_alone)).then(|| comment.to_owned())
    };
    let at = line.saturating_sub(1) as usize;
    let above = (0..at).rev().map_while(|above| comment(above, true));
    comment(at, false).into_iter().chain(above).collect()
}

/// Whether a text has such comments.
pub(crate) fn has_any(text: &str) -> bool {
    text.contains(COMMENT)
}
