//! Source as tokens: without its comments and without what is in its texts.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A token: a name, a bracket, `::`, or another mark.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    /// Whether it is a name.
    pub(crate) fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The tokens of a source, in order.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    flatten(source.parse().expect("the source is Rust"), &mut tokens);
    tokens
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    let mut is_second = false;
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |text: &str| tokens.push(Token { text: text.to_owned(), line });
        let is_colon = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == ':');
        match tree {
            TokenTree::Ident(name) => push(&name.to_string()),
            TokenTree::Punct(_) if is_second && is_colon => {}
            TokenTree::Punct(mark) if is_colon && mark.spacing() == Spacing::Joint => {
                push("::");
                is_second = true;
                continue;
            }
            TokenTree::Punct(mark) => push(&mark.as_char().to_string()),
            TokenTree::Literal(_) => push(""),
            TokenTree::Group(group) => {
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                push(open);
                flatten(group.stream(), tokens);
                tokens.push(Token { text: close.to_owned(), line: group.span_close().start().line });
            }
        }
        is_second = false;
    }
}

#[test]
fn texts_and_comments_are_left_out() {
    let source = "a(\"b::c \\\" d\", 'e', '\\'', r#\"f\"g\"#); // h\nfor<'i> $j::k(\"l\nm\");";
    let found: Vec<String> = tokens(source).into_iter().map(|token| token.text).collect();
    assert_eq!(found.join(" "), "a (  ,  ,  ,  ) ; for < ' i > $ j :: k (  ) ;");
}
