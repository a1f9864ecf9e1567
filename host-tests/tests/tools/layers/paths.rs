//! The paths by which a file names others.

/// A path by which a file names another.
pub(crate) struct Use {
    pub(crate) line: usize,
    pub(crate) names: Vec<String>,
}

/// The paths after `crate::`, `$crate::`, `self::` and `super::`, with those in braces one by one.
pub(crate) fn uses(file: &str, text: &str) -> Vec<Use> {
    let mut own: Vec<&str> = file.split('/').collect();
    if own.last() == Some(&"mod") {
        own.pop();
    }
    let mut found = of_children(&own, text);
    for (at, word) in ["crate::", "super::", "self::"].iter().flat_map(|word| text.match_indices(word)) {
        // The second `super` of a chain is read with the first.
        let before = &text[..at];
        if before.ends_with("super::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let mut from = match word {
            "crate::" => Vec::new(),
            "super::" => own[..own.len() - 1].to_vec(),
            _ => own.clone(),
        };
        let mut rest = &text[at + word.len()..];
        while let Some(after) = rest.strip_prefix("super::") {
            from.pop();
            rest = after;
        }
        let mut paths = Vec::new();
        tree(rest, &from.iter().map(ToString::to_string).collect::<Vec<_>>(), &mut paths);
        let line = text[..at].matches('\n').count() + 1;
        found.extend(paths.into_iter().map(|names| Use { line, names }));
    }
    found
}

/// The names of the modules that a file declares, where it names them without a prefix: `child::name`.
fn of_children(own: &[&str], text: &str) -> Vec<Use> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let declared = text.lines().filter_map(|line| {
        let name = line
            .trim_start()
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ");
        name.strip_prefix("mod ")?.strip_suffix(';')
    });
    let mut found = Vec::new();
    for child in declared {
        for (at, _) in text.match_indices(&format!("{child}::")) {
            let before = &text[..at];
            if before.ends_with("::") || before.ends_with(word) || before.ends_with("r#") {
                continue;
            }
            let mut paths = Vec::new();
            tree(&text[at..], &own.iter().map(ToString::to_string).collect::<Vec<_>>(), &mut paths);
            let line = before.matches('\n').count() + 1;
            found.extend(paths.into_iter().map(|names| Use { line, names }));
        }
    }
    found
}

/// Reads `a::b`, or `a::{b, c::d}`, and gives what follows.
fn tree<'t>(text: &'t str, from: &[String], paths: &mut Vec<Vec<String>>) -> &'t str {
    let mut names = from.to_vec();
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if end > 0 {
            names.push(rest[..end].to_owned());
        }
        rest = &rest[end..];
        if let Some(group) = rest.strip_prefix('{') {
            rest = group.trim_start();
            while !rest.is_empty() && !rest.starts_with('}') {
                let after = tree(rest, &names, paths).trim_start();
                // An alias, or a `*`: the path is read.
                let next = after.find([',', '}']).unwrap_or(after.len());
                rest = after[next..].trim_start_matches(',').trim_start();
            }
            return rest.strip_prefix('}').unwrap_or(rest);
        }
        match rest.strip_prefix("::") {
            Some(after) if end > 0 => rest = after,
            _ => break,
        }
    }
    paths.push(names);
    rest
}

#[test]
fn paths_in_braces_are_read_one_by_one() {
    let text = "use crate::{a::{self, b as c}, d};\nuse super::super::e::F;\nlet x = $crate::g::h(self::i);";
    let found = uses("one/two/mod", text);
    let found: Vec<(usize, String)> = found.into_iter().map(|used| (used.line, used.names.join("::"))).collect();
    let expected = [(1, "a::self"), (1, "a::b"), (1, "d"), (3, "g::h"), (2, "e::F"), (3, "one::two::i")];
    assert_eq!(found, expected.map(|(line, names)| (line, names.to_owned())));
}

#[test]
fn a_child_is_named_without_a_prefix() {
    let text = "mod child;\npub(crate) mod other;\nuse child::{A, b::C};\nlet x = other::f();\nlet y = my_child::z(a::child::w);";
    let found: Vec<(usize, String)> =
        uses("one/mod", text).into_iter().map(|used| (used.line, used.names.join("::"))).collect();
    let expected = [(3, "one::child::A"), (3, "one::child::b::C"), (4, "one::other::f")];
    assert_eq!(found, expected.map(|(line, names)| (line, names.to_owned())));
}
