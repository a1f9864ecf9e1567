//! The words of an opcode in another order than the ISA's page has them: `ptxas` takes each order.

use crate::machine::{Action, Line};
use crate::ptx::text::{self, Statement};

/// More words have too many orders.
const MOST: usize = 6;

/// Instructions whose words say by their order what is meant, or stand for one word together.
const BY_ORDER: [&str; 16] = [
    "bar",
    "barrier",
    "clusterlaunchcontrol",
    "cp",
    "createpolicy",
    "cvta",
    "fence",
    "mbarrier",
    "mma",
    "multimem",
    "tcgen05",
    "tensormap",
    "tex",
    "tld4",
    "wgmma",
    "wmma",
];

/// The statements that only become known in another order of their words: where they are, and what they are then.
pub(crate) fn in_known_order(
    statements: &[&Statement],
    lines: &[Line],
    mut is_known: impl FnMut(&Statement) -> bool,
) -> Vec<(usize, Statement)> {
    let unknown = lines.iter().enumerate().filter(|(_, line)| matches!(line.action, Action::Unknown(_)));
    let known = |(at, _): (usize, &Line)| {
        let statement = statements[at];
        let mut other = others(&statement.text).into_iter().map(|text| Statement { text, ..statement.clone() });
        Some((at, other.find(&mut is_known)?))
    };
    unknown.filter_map(known).collect()
}

/// The statement with the words of its opcode in all other orders. Types stay in their own.
fn others(statement: &str) -> Vec<String> {
    let (opcode, rest) = text::opcode(text::guarded(statement).1);
    let before = &statement[..statement.len() - opcode.len() - rest.len()];
    let words: Vec<&str> = opcode.split('.').collect();
    let (name, words) = (words[0], &words[1..]);
    let is_bulk = words.iter().any(|word| matches!(*word, "async" | "bulk"));
    if BY_ORDER.contains(&name) || is_bulk || words.len() > MOST {
        return Vec::new();
    }
    let types =
        |words: &[&str]| words.iter().copied().filter(|word| is_type(word)).map(str::to_owned).collect::<Vec<_>>();
    let kept = types(words);
    let orders = orders(words).into_iter().filter(|order| types(order) == kept);
    orders.map(|order| format!("{before}{name}.{}{rest}", order.join("."))).collect()
}

fn is_type(word: &str) -> bool {
    word.starts_with(['b', 'e', 'f', 's', 't', 'u']) && word.contains(|letter: char| letter.is_ascii_digit())
}

fn orders<'a>(words: &[&'a str]) -> Vec<Vec<&'a str>> {
    if words.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let others = [&words[..at], &words[at + 1..]].concat();
        orders(&others).into_iter().map(move |order| [&[words[at]], &order[..]].concat())
    };
    (0..words.len()).flat_map(first).collect()
}
