//! Which Rust each line of PTX came from: rustc's line table, read and taken out of the text.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::debug_info::{self, Place, Scope};

/// A place in a Rust source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// PTX without its line table, and what the table said.
#[derive(Clone, Debug)]
pub struct Located {
    /// The PTX, every line where it was.
    pub ptx: String,
    files: HashMap<u32, PathBuf>,
    locations: Vec<Location>,
    /// Empty where the locations themselves say what was inlined where.
    inlined: Vec<Scope>,
    /// For each line of PTX, the last location before it.
    by_line: Vec<Option<usize>>,
}

/// A `.loc`.
#[derive(Clone, Debug)]
struct Location {
    place: Place,
    /// The location that it was inlined into.
    parent: Option<usize>,
}

impl Located {
    /// Reads PTX with a line table and blanks it out: ptxas refuses the debug sections that LLVM writes, and needs
    /// the lines itself to say which line of PTX an instruction came from.
    pub fn read(text: &str) -> Self {
        let mut ptx = String::with_capacity(text.len());
        let (mut reader, mut by_line) = (Reader::default(), Vec::new());
        for line in text.lines().take_while(|line| !line.trim_start().starts_with(".section")) {
            let directive = line.trim_start();
            let is_table = [".loc", ".file"].contains(&directive.split_whitespace().next().unwrap_or_default());
            if is_table {
                reader.location(directive);
            } else {
                ptx += if directive.starts_with(".target") { line.trim_end_matches(", debug") } else { line };
            }
            reader.follows_location = is_table;
            ptx.push('\n');
            by_line.push(reader.locations.len().checked_sub(1));
        }
        let chained = reader.locations.iter().any(|location| location.parent.is_some());
        let inlined = if chained { Vec::new() } else { debug_info::scopes(text) };
        Located { ptx, files: files(text), locations: reader.locations, inlined, by_line }
    }

    /// The place in a file of that folder that a line of PTX came from, however deep it was inlined; several, the
    /// likeliest first, if the compiler does not say exactly.
    pub fn sites(&self, ptx_line: u32, folder: &Path) -> Vec<Site> {
        let before = ptx_line.checked_sub(1).and_then(|line| *self.by_line.get(line as usize)?);
        let chain = std::iter::successors(before, |at| self.locations[*at].parent);
        let mut chain = chain.filter_map(|at| self.in_folder(self.locations[at].place, folder));
        chain.next().map_or_else(|| self.sites_by_debug_info(ptx_line, folder), |site| vec![site])
    }

    /// The calls whose lines hold that line, the narrowest first.
    fn sites_by_debug_info(&self, ptx_line: u32, folder: &Path) -> Vec<Site> {
        let holds = |scope: &&Scope| scope.lines.contains(&u64::from(ptx_line));
        let mut scopes: Vec<&Scope> = self.inlined.iter().filter(holds).collect();
        scopes.sort_by_key(|scope| scope.lines.end - scope.lines.start);
        scopes.iter().filter_map(|scope| self.in_folder(scope.call?, folder)).collect()
    }

    fn in_folder(&self, (number, line, column): Place, folder: &Path) -> Option<Site> {
        let file = self.files.get(&number).filter(|file| file.starts_with(folder))?;
        Some(Site { file: file.clone(), line, column })
    }
}

/// The `.file` directives come after the code that names them.
pub(crate) fn files(text: &str) -> HashMap<u32, PathBuf> {
    let files = text.lines().filter_map(|line| line.trim_start().strip_prefix(".file"));
    files
        .filter_map(|file| {
            let (number, path) = file.trim_start().split_once(" \"")?;
            Some((number.parse().ok()?, unescaped(path.strip_suffix('"')?)))
        })
        .collect()
}

/// A path as LLVM writes it: a byte that is not printable ASCII is three octal digits after a backslash.
fn unescaped(text: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, others @ ..] = rest {
        let octal =
            |digits: &[u8]| digits.iter().try_fold(0_u32, |sum, digit| Some(sum * 8 + (*digit as char).to_digit(8)?));
        rest = match (first, others) {
            (b'\\', [a, b, c, others @ ..]) if octal(&[*a, *b, *c]).is_some_and(|byte| byte < 256) => {
                bytes.extend(octal(&[*a, *b, *c]).map(|byte| byte as u8));
                others
            }
            (b'\\', [escaped, others @ ..]) => {
                bytes.push(*escaped);
                others
            }
            _ => {
                bytes.push(*first);
                others
            }
        };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// The three numbers that a text begins with.
pub(crate) fn three(text: &str) -> Option<Place> {
    let mut numbers = text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[derive(Default)]
struct Reader {
    locations: Vec<Location>,
    latest_at: HashMap<Place, usize>,
    /// For an inlined function and the place it was inlined at: which location that place was.
    latest_parent: HashMap<(String, Place), usize>,
    follows_location: bool,
}

impl Reader {
    /// A function inlined at two places is distinguished by what is before it: LLVM writes the whole chain,
    /// outermost first, when it comes to a call for the first time, and later only the innermost.
    fn location(&mut self, directive: &str) {
        let Some(place) = directive.strip_prefix(".loc").and_then(three) else { return };
        let parent = directive.split_once(", function_name ").and_then(|(_, inlined)| {
            let (function, at) = inlined.split_once(", inlined_at ")?;
            self.parent(function, three(at)?)
        });
        self.latest_at.insert(place, self.locations.len());
        self.locations.push(Location { place, parent });
    }

    fn parent(&mut self, function: &str, place: Place) -> Option<usize> {
        let key = (function.to_owned(), place);
        let last = self
            .locations
            .len()
            .checked_sub(1)
            .filter(|last| self.follows_location && self.locations[*last].place == place);
        if let Some(last) = last {
            self.latest_parent.insert(key, last);
            return Some(last);
        }
        self.latest_parent.get(&key).or_else(|| self.latest_at.get(&place)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_blanked_out_and_an_array_in_local_memory_stays() {
        let text = "\t.file\t1 \"k.cu\"\n\t.loc\t1 2 3\n\t.local .align 16 .b8 \t__local_depot0[256];\n";
        assert_eq!(Located::read(text).ptx, "\n\n\t.local .align 16 .b8 \t__local_depot0[256];\n");
    }

    #[test]
    fn a_path_with_letters_that_are_not_ascii() {
        let text = ".file 1 \"/a b/\\303\\244\\\"\\\\/\\303\\274.rs\"\n.loc 1 7 3\nret;\n";
        let located = Located::read(text);
        let expected = Site { file: PathBuf::from("/a b/ä\"\\/ü.rs"), line: 7, column: 3 };
        assert_eq!(located.sites(3, Path::new("/a b/ä\"\\")), [expected]);
    }
}
