//! The arms of macros: how much each captures.

use std::fs;

use proc_macro2::{TokenStream, TokenTree};

use super::code::{Token, flatten};
use super::{repository, rust_files};

/// What an arm may capture, so that a reader can hold it.
const MOST: usize = 10;

/// The arms of all macros in a source: the macro, and how much the arm captures.
fn arms(source: TokenStream) -> Vec<(String, usize)> {
    let trees: Vec<TokenTree> = source.into_iter().collect();
    let mut found = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        let TokenTree::Group(group) = tree else { continue };
        let name = |before: usize| Some(trees.get(at.checked_sub(before)?)?.to_string());
        if let (Some("macro_rules"), Some(of)) = (name(3).as_deref(), name(1)) {
            let of_macro: Vec<TokenTree> = group.stream().into_iter().collect();
            let patterns = of_macro.windows(2).filter_map(|two| match two {
                [TokenTree::Group(pattern), TokenTree::Punct(mark)] if mark.as_char() == '=' => Some(pattern.stream()),
                _ => None,
            });
            found.extend(patterns.map(|pattern| (of.clone(), captures(pattern))));
        }
        found.extend(arms(group.stream()));
    }
    found
}

/// How many `$name:fragment` a pattern has.
fn captures(pattern: TokenStream) -> usize {
    let mut tokens = Vec::new();
    flatten(pattern, &mut tokens);
    let is_capture =
        |four: &&[Token]| four[0].text == "$" && four[1].is_name() && four[2].text == ":" && four[3].is_name();
    tokens.windows(4).filter(is_capture).count()
}

#[test]
fn no_arm_captures_much() {
    let (mut longer, mut count) = (Vec::<String>::new(), 0);
    for package in ["ptx-intrinsics/src", "ptx-kernel/src"] {
        for file in rust_files(&repository().join(package), true) {
            let source = fs::read_to_string(&file).expect("the source can be read");
            let arms = arms(source.parse().expect("the source is Rust"));
            count += arms.len();
            longer.extend(arms.into_iter().filter(|(_, captures)| *captures > MOST).map(|(of, _)| of));
        }
    }
    longer.sort();
    longer.dedup();
    println!("{count} arms of macros");
    assert!(count > 500, "only {count} arms are read");
    assert_eq!(
        longer, [""; 0],
        "more than {MOST} captures: pass what belongs together as one `tt`, and take it apart later"
    );
}

#[test]
fn captures_are_counted() {
    let source =
        "macro_rules! a {\n    (@b $c:tt [$($d:ident = $e:expr)?]) => { f($c) };\n    () => {};\n}\nfn g() { h($i); }";
    assert_eq!(arms(source.parse().expect("Rust")), [("a".to_owned(), 3), ("a".to_owned(), 0)]);
}
