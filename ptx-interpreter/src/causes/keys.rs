//! What findings of one cause have in common.

use super::places::Span;
use crate::check::{
    BEGINS_EARLY, BLOCK_ENDS, Finding, IN_A_BLOCK, IN_A_WARP, Kind, NARROW, NO_WAIT_FOR_GRID, Place, READ_BEFORE_COPY,
};

/// What a finding has in common with others of its cause.
pub(super) fn keys(finding: &Finding, help: &str, span: &Span) -> Vec<String> {
    let Finding { kind, title, places, .. } = finding;
    let keys = |places: &[Place], with_calls: bool| {
        places.iter().map(|place| place.line_key(with_calls)).collect::<Vec<_>>().join(" ")
    };
    let alike = format!("{kind:?} {title} {help}");
    // Who reads too early may come before the copy begins.
    let copy = usize::from(title == READ_BEFORE_COPY);
    let copy = || format!("a copy that nobody waits for: {}", places[copy].ptx_line);
    match span {
        Span::Between(_, [after, before]) => {
            let is_in_one = places[0].is_called_as(&places[1]);
            let [after, before] = [after, before].map(|at| &places[*at]);
            let help = if help == IN_A_WARP { IN_A_BLOCK } else { help };
            let between = [after, before].map(|place| place.line_key(!is_in_one));
            let mut all = vec![format!("{kind:?} {help} {between:?}")];
            // Where no barrier brings two threads together, there is no telling which turn each of them was in.
            let is_either = between[0] == between[1] || places[0].block != places[1].block;
            all.extend(finding.line_key().filter(|_| is_either));
            // One wait before the use of what copies bring is enough for all of them.
            all.extend((*kind == Kind::Async).then(|| format!("{alike} before {}", before.line_key(true))));
            all.extend((*kind == Kind::Async).then(copy));
            all
        }
        Span::Beside => {
            let each = (0..2).map(|at| format!("{alike} {at} {}", places[at].line_key(true)));
            each.chain((*kind == Kind::Async).then(copy)).collect()
        }
        Span::Weak => vec![format!("{alike} by {}", keys(&places[2..], true))],
        Span::Other if *kind == Kind::Async && title.starts_with(BLOCK_ENDS) => {
            finding.line_key().into_iter().chain([copy()]).collect()
        }
        // Whatever is done by a value, it is the same that has none.
        Span::Other if *kind == Kind::Uninitialised && !places.is_empty() => {
            finding.line_key().into_iter().chain([format!("{alike} at {}", places[0].ptx_line)]).collect()
        }
        Span::Own if *kind == Kind::Async => finding.line_key().into_iter().chain([copy()]).collect(),
        Span::Own | Span::Other => finding.line_key().into_iter().collect(),
    }
}

/// What has one cause although it is of other lines, or is told otherwise.
pub(super) fn of_many_lines(finding: &Finding) -> Vec<String> {
    let Finding { kind, title, places, .. } = finding;
    let lines = |places: &[Place]| {
        let mut lines: Vec<String> = places.iter().map(|place| place.line_key(true)).collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    match &places[..] {
        // Once its thread knows of a wait, it may use all.
        [_] if title == NO_WAIT_FOR_GRID => vec![title.clone()],
        // Who should have come first is told by who did.
        [one, other] if *kind == Kind::Async && (one.begins_copy() || other.begins_copy()) => {
            let early = other.begins_copy().then(|| format!("{BEGINS_EARLY}: {}", other.line_key(true)));
            early.into_iter().chain([format!("a copy and its use: {}", lines(places))]).collect()
        }
        // A scope that is too narrow for the flag is so for what the flag tells.
        [_, _] if title.starts_with(NARROW) => vec![format!("a flag: {}", lines(places))],
        [_, _, flag @ ..] if *kind == Kind::Order && flag.len() == 2 => vec![format!("a flag: {}", lines(flag))],
        _ => vec![],
    }
}
