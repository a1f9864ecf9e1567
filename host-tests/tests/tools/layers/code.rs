//! Source without its comments and without what is in its texts.

/// The code of a file, line by line as it was.
pub(crate) fn code(source: &str) -> String {
    let (mut code, mut rest) = (String::new(), source);
    while let Some(next) = rest.chars().next() {
        let skipped = match next {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => text(&rest[1..]) + 1,
            'r' if !code.ends_with(|c: char| c.is_alphanumeric() || c == '_') => raw(rest),
            '\'' => character(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            code.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            rest = &rest[skipped..];
        }
    }
    code
}

/// The length of a text after its first quotation mark, with the last one.
fn text(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a raw text, if it is one.
fn raw(rest: &str) -> usize {
    let marks = rest[1..].chars().take_while(|c| *c == '#').count();
    let Some(inner) = rest[1 + marks..].strip_prefix('"') else { return 0 };
    let end = format!("\"{}", "#".repeat(marks));
    inner.find(&end).map_or(rest.len(), |at| 2 + marks + at + end.len())
}

/// The length of a character, if it is one and no lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest[1..].char_indices();
    let Some((_, first)) = characters.next() else { return 0 };
    if first == '\\' {
        return rest[3..].find('\'').map_or(0, |at| 3 + at + 1);
    }
    characters.next().filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 2)
}

#[test]
fn texts_and_comments_are_left_out() {
    let source = "a(\"b::c \\\" d\", 'e', '\\'', r#\"f\"g\"#); // h\nfor<'i> j(\"k\nl\");";
    assert_eq!(code(source), "a(, , , ); \nfor<'i> j(\n);");
}
