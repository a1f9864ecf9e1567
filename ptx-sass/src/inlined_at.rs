//! LLVM's line table, written so that everybody can read it.
//!
//! LLVM 22 says only in debug sections which function was inlined where. `ptxas` refuses these, and hardly a tool looks there. PTX has
//! words for it since 7.2: `.loc 2 15 9, function_name $name, inlined_at 1 83 28`.

mod finder;
mod writer;

use finder::{Chain, Finder, is_label, is_location, place};
use writer::Writer;

use crate::debug_info::{Place, scopes};
use crate::line_table::files;

/// The module without debug sections, its `.loc` with the calls that were inlined around them, if its version of PTX has `inlined_at`. The
/// place of an instruction in a `hidden` file is replaced by that of the call that leads there. A module without debug sections, or with
/// `inlined_at`, stays as it is.
pub fn with_inlined_at(text: &str, hidden: impl Fn(&str) -> bool) -> String {
    if !text.contains(".debug_info") || text.contains(", inlined_at ") {
        return text.to_owned();
    }
    let (scopes, files) = (scopes(text), files(text));
    let is_hidden = |file: u32| files.get(&file).is_none_or(|file| hidden(&file.to_string_lossy()));
    let mut finder = Finder::new(text, &scopes);
    let mut writer = Writer::new(has_inlined_at(text));
    let mut made = String::with_capacity(text.len() / 2);
    let code = text.lines().take_while(|line| !line.trim_start().starts_with(".section"));
    for (number, line) in (1..).zip(code) {
        let trimmed = line.trim();
        if let Some(place) = place(trimmed) {
            writer.write(&mut made, shown(finder.chain(number, place), &is_hidden));
        } else if !is_location(trimmed) && !is_label(trimmed) {
            if line == "{" {
                writer.begin_function();
            }
            made += if trimmed.starts_with(".target") { line.trim_end_matches(", debug") } else { line };
            made.push('\n');
        }
    }
    made + &writer.names()
}

/// Whether the module's version of PTX has `inlined_at`.
fn has_inlined_at(text: &str) -> bool {
    let version = text.lines().find_map(|line| line.trim().strip_prefix(".version "));
    let numbers = version.and_then(|version| version.trim().split_once('.'));
    let numbers = numbers.and_then(|(major, minor)| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?)));
    numbers >= Some((7, 2))
}

/// What of a chain is shown.
fn shown<'a>(mut chain: Chain<'a>, is_hidden: &dyn Fn(u32) -> bool) -> Chain<'a> {
    let is_shown = |(place, _): &(Place, &str)| !is_hidden(place.0);
    if chain.iter().any(is_shown) {
        chain.retain(is_shown);
    }
    // Two functions that a macro has written around one of the source: both calls are where the macro is called.
    if let [.., last, (caller, _), (root, _)] = &chain[..]
        && caller == root
        && last.0 != *caller
    {
        chain.truncate(chain.len() - 2);
    }
    chain
}
