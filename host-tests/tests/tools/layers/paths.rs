//! The paths by which a file names others.

use super::code::Token;

/// A path by which a file names another.
pub(crate) struct Use {
    pub(crate) line: usize,
    pub(crate) names: Vec<String>,
}

/// The paths after `crate::`, `$crate::`, `self::` and `super::`, and those that begin with a module that the file declares; those in
/// braces one by one.
pub(crate) fn uses(file: &str, tokens: &[Token]) -> Vec<Use> {
    let mut own: Vec<String> = file.split('/').map(str::to_owned).collect();
    if own.last().is_some_and(|last| last == "mod") {
        own.pop();
    }
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let children: Vec<&str> =
        (0..tokens.len()).filter(|at| text(*at) == "mod" && text(at + 2) == ";").map(|at| text(at + 1)).collect();
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| text(at + 1) == "::" && (*at == 0 || text(at - 1) != "::")) {
        let mut next = at + 2;
        let mut from = match text(at) {
            "crate" => Vec::new(),
            "super" => own[..own.len() - 1].to_vec(),
            "self" => own.clone(),
            name if children.contains(&name) => {
                next = at;
                own.clone()
            }
            _ => continue,
        };
        while text(next) == "super" {
            from.pop();
            next += 2;
        }
        let mut paths = Vec::new();
        tree(&tokens[next..], &from, &mut paths);
        found.extend(paths.into_iter().map(|names| Use { line: tokens[at].line, names }));
    }
    found
}

/// Reads `a::b`, or `a::{b, c::d}`, and gives what follows.
fn tree<'t>(mut rest: &'t [Token], from: &[String], paths: &mut Vec<Vec<String>>) -> &'t [Token] {
    let mut names = from.to_vec();
    let is = |rest: &[Token], text: &str| rest.first().is_some_and(|token| token.text == text);
    loop {
        if is(rest, "{") {
            rest = &rest[1..];
            while !rest.is_empty() && !is(rest, "}") {
                rest = tree(rest, &names, paths);
                // An alias, or a `*`: the path is read.
                let next = rest.iter().position(|token| [",", "}"].contains(&token.text.as_str()));
                rest = &rest[next.unwrap_or(rest.len())..];
                rest = if is(rest, ",") { &rest[1..] } else { rest };
            }
            return rest.get(1..).unwrap_or_default();
        }
        let Some(name) = rest.first().filter(|token| token.is_name()) else { break };
        names.push(name.text.clone());
        rest = &rest[1..];
        if !is(rest, "::") {
            break;
        }
        rest = &rest[1..];
    }
    paths.push(names);
    rest
}

#[cfg(test)]
mod tests {
    use super::super::code::tokens;

    fn uses(file: &str, text: &str) -> Vec<(usize, String)> {
        super::uses(file, &tokens(text)).into_iter().map(|used| (used.line, used.names.join("::"))).collect()
    }

    #[test]
    fn paths_in_braces_are_read_one_by_one() {
        let text = "use crate::{a::{self, b as c}, d};\nuse super::super::e::F;\nlet x = $crate::g::h(self::i);";
        let expected = [(1, "a::self"), (1, "a::b"), (1, "d"), (2, "e::F"), (3, "g::h"), (3, "one::two::i")];
        assert_eq!(uses("one/two/mod", text), expected.map(|(line, names)| (line, names.to_owned())));
    }

    #[test]
    fn a_child_is_named_without_a_prefix() {
        let text = "mod child;\npub(crate) mod other;\nuse child::{A, b::C};\nlet x = other::f();\nlet y = my_child::z(a::child::w);";
        let expected = [(3, "one::child::A"), (3, "one::child::b::C"), (4, "one::other::f")];
        assert_eq!(uses("one/mod", text), expected.map(|(line, names)| (line, names.to_owned())));
    }
}
