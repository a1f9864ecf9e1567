//! The condition.

use super::locations::Locations;
use super::unread::{Read, outside, wrong};
use super::words::{is_of_name, number, register_of, thread_number};
use crate::condition::{Condition, Quantifier, Term, Test};
use crate::program::Thread;
use crate::value::Compare;

/// Reads what is asked of the end of these threads.
pub(super) fn condition(text: &str, threads: &[Thread], locations: &mut Locations) -> Read<Condition> {
    let text = text.trim();
    if text.starts_with("filter") || text.starts_with("final") {
        return outside("`filter` and `final`");
    }
    let text = match text.strip_prefix("locations") {
        Some(listed) => listed.split_once(']').map_or(listed, |(_, rest)| rest).trim_start(),
        None => text,
    };
    let denied = text.strip_prefix('~').or_else(|| text.strip_prefix("not ")).map(str::trim_start);
    let quantified = [
        (Quantifier::NotExists, denied.and_then(|text| text.strip_prefix("exists"))),
        (Quantifier::Exists, text.strip_prefix("exists")),
        (Quantifier::Forall, text.strip_prefix("forall")),
    ];
    let Some((quantifier, Some(asked))) = quantified.into_iter().find(|(_, asked)| asked.is_some()) else {
        return wrong("there is no condition: exists, ~exists or forall");
    };
    let tokens = tokens(asked.trim_end().trim_end_matches(';'))?;
    let mut tokens = tokens.as_slice();
    let test = Asked { threads, locations }.any(&mut tokens)?;
    match tokens {
        [] => Ok(Condition { quantifier, test }),
        [left, ..] => wrong(format_args!("`{left}` is left over in the condition")),
    }
}

/// Of whose registers, and of which memory, something is asked.
struct Asked<'r> {
    threads: &'r [Thread],
    locations: &'r mut Locations,
}

impl Asked<'_> {
    /// What `\/` joins: `/\` binds closer.
    fn any(&mut self, tokens: &mut &[String]) -> Read<Test> {
        let mut test = self.all(tokens)?;
        while eat(tokens, "\\/") {
            test = Test::Or(Box::new(test), Box::new(self.all(tokens)?));
        }
        Ok(test)
    }

    fn all(&mut self, tokens: &mut &[String]) -> Read<Test> {
        let mut test = self.single(tokens)?;
        while eat(tokens, "/\\") {
            test = Test::And(Box::new(test), Box::new(self.single(tokens)?));
        }
        Ok(test)
    }

    fn single(&mut self, tokens: &mut &[String]) -> Read<Test> {
        if eat(tokens, "~") || eat(tokens, "not") {
            return Ok(Test::Not(Box::new(self.single(tokens)?)));
        }
        if eat(tokens, "(") {
            let test = self.any(tokens)?;
            return if eat(tokens, ")") { Ok(test) } else { wrong("a `(` of the condition is not closed") };
        }
        let left = self.term(tokens)?;
        let compare = match take(tokens)?.as_str() {
            "=" | "==" => Compare::Equal,
            "!=" => Compare::NotEqual,
            "<" => Compare::Less,
            "<=" => Compare::LessOrEqual,
            ">" => Compare::Greater,
            ">=" => Compare::GreaterOrEqual,
            other => return wrong(format_args!("`{other}` does not compare")),
        };
        Ok(Test::Compare(compare, left, self.term(tokens)?))
    }

    fn term(&mut self, tokens: &mut &[String]) -> Read<Term> {
        if eat(tokens, "[") {
            let name = take(tokens)?;
            return if eat(tokens, "]") {
                self.locations.physical(&name).map(Term::Memory)
            } else {
                wrong("a `[` of the condition is not closed")
            };
        }
        let word = take(tokens)?;
        if eat(tokens, ":") {
            let (number, register) = (thread_number(&word)?, register_of(&take(tokens)?)?);
            return match self.threads.iter().position(|thread| thread.number == number) {
                Some(thread) => Ok(Term::Register(thread, register)),
                None => wrong(format_args!("there is no thread P{number}")),
            };
        }
        number(&word).map(Term::Constant).or_else(|_| self.locations.physical(&word).map(Term::Memory))
    }
}

fn tokens(text: &str) -> Read<Vec<String>> {
    const SIGNS: [&str; 16] = ["/\\", "\\/", "==", "!=", "<=", ">=", "=", "<", ">", "(", ")", "[", "]", ":", "~", ";"];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).map(|sign| sign.len());
        let word = rest.find(|char: char| !is_of_name(char) && char != '-').unwrap_or(rest.len());
        let Some(length) = sign.or((word > 0).then_some(word)) else {
            return wrong(format_args!("the condition has a strange sign: `{rest}`"));
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn eat(tokens: &mut &[String], token: &str) -> bool {
    let is_it = tokens.first().is_some_and(|first| first == token);
    *tokens = &tokens[usize::from(is_it)..];
    is_it
}

fn take(tokens: &mut &[String]) -> Read<String> {
    let Some((first, rest)) = tokens.split_first() else { return wrong("the condition ends early") };
    *tokens = rest;
    Ok(first.clone())
}
