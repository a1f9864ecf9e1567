//! The Rust expression at a place in a source file.

/// The call whose method or function name begins at that line and column, both from 1, with what it is called on,
/// on one line.
pub fn call_at(source: &str, line: u32, column: u32) -> Option<String> {
    let start = offset(source, line, column)?;
    let open = start + source[start..].find('(')?;
    let end = open + matching(&source[open..])?;
    let begin = receiver(source, start);
    Some(one_line(&source[begin..end]))
}

/// The line that defines the constant which that expression begins with.
pub fn policy_of(source: &str, expression: &str) -> Option<String> {
    let end = expression.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(expression.len());
    let name = &expression[..end];
    let constant = name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains(char::is_lowercase);
    let definition = constant.then(|| format!("const {name}:"))?;
    let begin = source.find(&definition)?;
    let end = begin + source[begin..].find(';')? + 1;
    Some(one_line(&source[begin..end]))
}

/// rustc counts columns in characters.
fn offset(source: &str, line: u32, column: u32) -> Option<usize> {
    let text = source.split_inclusive('\n').nth(line.checked_sub(1)? as usize)?;
    let (within, _) = text.char_indices().nth(column.checked_sub(1)? as usize)?;
    Some(text.as_ptr() as usize - source.as_ptr() as usize + within)
}

/// The length of the text up to the bracket that closes its first one.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// Where the expression begins that a method whose name is at `name` is called on; `name` itself for a function.
fn receiver(source: &str, name: usize) -> usize {
    let (mut begin, mut depth) = (name, 0);
    for (at, c) in source[..name].char_indices().rev() {
        let after_dot = source[begin..].trim_start().starts_with('.');
        match c {
            ')' | ']' | '>' => depth += 1,
            '(' | '[' | '<' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '.' | ':' | '_' => {}
            _ if c.is_alphanumeric() => {}
            _ if c.is_whitespace() && after_dot => {}
            _ => break,
        }
        begin = at;
    }
    begin + source[begin..].len() - source[begin..].trim_start().len()
}

/// On one line, as it would stand there.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(" .", ".").replace("( ", "(").replace(" )", ")").replace(",)", ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
const T: LdGlobalNc<EvictLast, Prefetch256> =
    ld_global_nc();
let a = unsafe { T.read(p.add(from[k] as usize * (ROW + 1))) };
unsafe { ld_global_nc::<(EvictFirst, L2EvictLast), NoPrefetch>().read_if(a < b, p, 0) }
T
    .read(
        q,
    );
    prefetch_l2(table.add(home(batch[k], bits)));
";

    #[test]
    fn a_call_reads_as_it_stands() {
        let at = |line: u32, name: &str| {
            let text = SOURCE.lines().nth(line as usize - 1).unwrap();
            call_at(SOURCE, line, text.find(name).unwrap() as u32 + 1)
        };
        assert_eq!(at(3, "read").unwrap(), "T.read(p.add(from[k] as usize * (ROW + 1)))");
        let inline = "ld_global_nc::<(EvictFirst, L2EvictLast), NoPrefetch>().read_if(a < b, p, 0)";
        assert_eq!(at(4, "read_if").unwrap(), inline);
        assert_eq!(at(6, "read").unwrap(), "T.read(q)");
        assert_eq!(at(9, "prefetch").unwrap(), "prefetch_l2(table.add(home(batch[k], bits)))");
        assert_eq!(call_at(SOURCE, 40, 1), None);
        assert_eq!(call_at(SOURCE, 0, 0), None);
    }

    #[test]
    fn a_policy_is_found_by_its_name() {
        let policy = "const T: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();";
        assert_eq!(policy_of(SOURCE, "T.read(p)").as_deref(), Some(policy));
        assert_eq!(policy_of(SOURCE, "st_global::<Cs>().write(p, v)"), None);
        assert_eq!(policy_of(SOURCE, "U.read(p)"), None);
    }
}
