//! The linker: texts of PTX that belong together become one text.

use std::collections::{HashMap, HashSet};

use crate::ptx::text::{body, is_of_name, plain};

/// Links texts that were compiled apart, as `nvlink` links what nvcc made with `-rdc=true`. Of what several define for all the first
/// definition counts, and one that is not `.weak` or `.common` before others. What a text has for itself alone keeps its name in the first one that
/// has it, and `.loc` names the files of its own text.
///
/// ```
/// use ptx_interpreter::{Program, link};
///
/// let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
/// let one = format!("{head}.extern .func twice(); .visible .entry kernel() {{ call twice, (); ret; }}");
/// let other = format!("{head}.visible .func twice() {{ ret; }}");
/// assert_eq!(Program::parse(&link(&[one, other])).kernels(), ["kernel"]);
/// ```
pub fn link(units: &[String]) -> String {
    let plain: Vec<String> = units.iter().map(|unit| plain(unit)).collect();
    let units: Vec<Vec<Piece<'_>>> = units.iter().zip(&plain).map(|(unit, plain)| pieces(unit, plain)).collect();
    let defined = definitions(&units);
    let mut taken: HashSet<&str> = defined.keys().copied().collect();
    let (mut linked, mut files) = (String::new(), 0);
    for (number, unit) in units.iter().enumerate() {
        let own = unit.iter().filter(|piece| piece.linkage == Linkage::Own && !piece.name.is_empty());
        let own: HashSet<&str> = own.map(|piece| piece.name).collect();
        let renamed: Vec<&str> = own.iter().copied().filter(|name| taken.contains(name)).collect();
        let renamed = renamed.into_iter().map(|name| (name, format!("{name}$unit{}", number + 1))).collect();
        let unit_files = unit.iter().filter_map(Piece::file).max().unwrap_or_default();
        for (at, piece) in unit.iter().enumerate() {
            let is_other = |place: &Place| (place.unit, place.at) != (number, at);
            let is_defined_elsewhere = piece.linkage != Linkage::Own && defined.get(piece.name).is_some_and(is_other);
            if !is_defined_elsewhere && !(number > 0 && piece.is_head()) {
                write(&mut linked, piece.text, &renamed, files);
            }
        }
        linked.push('\n');
        taken.extend(own);
        files += unit_files;
    }
    linked
}

/// Who knows a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Linkage {
    /// Its text alone; or the text declares nothing.
    Own,
    /// It is declared, and defined elsewhere.
    Declared,
    Weak,
    Visible,
}

/// A directive, a variable or a function.
struct Piece<'a> {
    text: &'a str,
    /// Empty, if it has none.
    name: &'a str,
    linkage: Linkage,
}

/// Where the definition is that counts.
struct Place {
    unit: usize,
    at: usize,
    linkage: Linkage,
}

impl Piece<'_> {
    /// Whether a text begins so, of which there is one.
    fn is_head(&self) -> bool {
        [".version", ".target", ".address_size"].iter().any(|word| self.text.trim_start().starts_with(word))
    }

    /// The number of a file.
    fn file(&self) -> Option<u32> {
        self.text.trim_start().strip_prefix(".file")?.split_whitespace().next()?.parse().ok()
    }
}

/// The definitions that count, of what all texts know.
fn definitions<'a>(units: &[Vec<Piece<'a>>]) -> HashMap<&'a str, Place> {
    let mut defined: HashMap<&str, Place> = HashMap::new();
    for (unit, pieces) in units.iter().enumerate() {
        for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.linkage != Linkage::Own) {
            let known = defined.get(piece.name).map(|place| place.linkage);
            if known.is_none_or(|known| known < piece.linkage) {
                defined.insert(piece.name, Place { unit, at, linkage: piece.linkage });
            }
        }
    }
    defined
}

/// The pieces of a text, which `plain` is without comments.
fn pieces<'a>(text: &'a str, plain: &'a str) -> Vec<Piece<'a>> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    while from < plain.len() {
        let begin = from + plain[from..].len() - plain[from..].trim_start().len();
        let end = begin + length(&plain[begin..]);
        let (name, linkage) = declared(&plain[begin..end]);
        pieces.push(Piece { text: &text[from..end], name, linkage });
        from = end;
    }
    pieces
}

/// How long the first piece is.
fn length(plain: &str) -> usize {
    let is_of_a_line = [".version", ".target", ".address_size", ".file"].iter().any(|word| plain.starts_with(word));
    let Some(end) = plain.find(if is_of_a_line { &['\n'][..] } else { &[';', '{'][..] }) else { return plain.len() };
    if !plain[end..].starts_with('{') {
        return end + 1;
    }
    if plain[..end].contains('=') {
        return plain[end..].find(';').map_or(plain.len(), |more| end + more + 1);
    }
    (end + 1 + body(&plain[end + 1..]) + 1).min(plain.len())
}

/// What a piece declares, and who knows it.
fn declared(plain: &str) -> (&str, Linkage) {
    let has_body = plain.ends_with('}');
    let head = plain.split(['{', '=', ';']).next().unwrap_or_default();
    let has = |word: &str| head.split_whitespace().any(|other| other.starts_with(word));
    let is_function = has(".func") || has(".entry");
    if !is_function && ![".global", ".const", ".shared"].into_iter().any(has) {
        return ("", Linkage::Own);
    }
    let linkage = match () {
        () if has(".extern") || is_function && !has_body => Linkage::Declared,
        () if has(".weak") || has(".common") => Linkage::Weak,
        () if has(".visible") => Linkage::Visible,
        () => Linkage::Own,
    };
    (if is_function { name_of_function(head) } else { name_of_variable(head) }, linkage)
}

/// `.visible .func (.param .b32 result) name (.param .b32 one)`
fn name_of_function(head: &str) -> &str {
    let rest = head.split_once(".func").or_else(|| head.split_once(".entry")).map_or("", |(_, rest)| rest).trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(results) => results.split_once(')').map_or("", |(_, rest)| rest).trim_start(),
        None => rest,
    };
    rest.split(|c| !is_of_name(c)).next().unwrap_or_default()
}

/// `.global .align 4 .b8 name[4][2]`
fn name_of_variable(head: &str) -> &str {
    let head = head.split('[').next().unwrap_or_default().trim_end();
    head.rsplit(|c| !is_of_name(c)).next().unwrap_or_default()
}

/// Writes a piece with other names, and with the numbers that its files have in the whole text.
fn write(linked: &mut String, piece: &str, renamed: &HashMap<&str, String>, files: u32) {
    for line in piece.split_inclusive('\n') {
        let words = line.trim_start();
        if files > 0 && (words.starts_with(".loc") || words.starts_with(".file")) {
            *linked += &with_files(line, files);
        } else if renamed.is_empty() {
            *linked += line;
        } else {
            rename(linked, line, renamed);
        }
    }
}

/// `.file 1 "name"`, `.loc 1 20 3, function_name $L, inlined_at 2 7 1`
fn with_files(line: &str, files: u32) -> String {
    let mut is_number = false;
    let mut words = String::with_capacity(line.len() + 8);
    for word in line.split_inclusive([' ', '\t']) {
        let bare = word.trim();
        match bare.parse::<u32>() {
            Ok(number) if is_number => words += &word.replacen(bare, &(number + files).to_string(), 1),
            _ => words += word,
        }
        is_number = matches!(bare, ".loc" | ".file" | "inlined_at") || is_number && bare.is_empty();
    }
    words
}

fn rename(linked: &mut String, line: &str, renamed: &HashMap<&str, String>) {
    let mut rest = line;
    while let Some(begin) = rest.find(is_of_name) {
        let (before, from) = rest.split_at(begin);
        let (word, after) = from.split_at(from.find(|c| !is_of_name(c)).unwrap_or(from.len()));
        *linked += before;
        *linked += renamed.get(word).map_or(word, String::as_str);
        rest = after;
    }
    *linked += rest;
}
