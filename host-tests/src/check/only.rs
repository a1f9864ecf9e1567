//! The forms that `cargo xtask test --only` names: the tests of forms then look at no others.

use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{self, Form};

use crate::tools::error::{Error, Result};

/// Names mnemonics or beginnings of them, separated by commas: `st.async,red.async`.
pub const VARIABLE: &str = "PTX_INTRINSICS_ONLY";

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    named.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
});

/// Whether some forms are named. Then numbers that count all forms are not compared.
pub fn is_set() -> bool {
    !NAMES.is_empty()
}

/// Whether a form is looked at.
pub fn has(form: &Form) -> bool {
    names(form.instruction(), form.ptx())
}

/// Whether what has this instruction and this text is looked at.
pub fn names(instruction: &str, ptx: &str) -> bool {
    NAMES.is_empty() || NAMES.iter().any(|name| begins(instruction, name) || begins(ptx, name))
}

/// Whether all spellings that begin with one of these words may be named: `st.async` for `st.async.release`, and `mbarrier.arrive` for
/// `mbarrier`. Of several heads that begin a name, the longest counts.
pub fn reaches(heads: &[&str], all: &[&[&str]]) -> bool {
    let longest =
        |name: &str| all.iter().copied().flatten().filter(|head| begins(name, head)).map(|head| head.len()).max();
    let is_reached = |name: &String| {
        heads.iter().any(|head| begins(head, name) || begins(name, head) && longest(name) == Some(head.len()))
    };
    NAMES.is_empty() || NAMES.iter().any(is_reached)
}

/// Whether a text begins with all the words of another one.
fn begins(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ']))
}

/// An error for a name that no form has.
pub fn check(named: &[String]) -> Result<()> {
    let has = |name: &str| catalogue::forms().any(|form| begins(form.instruction(), name) || begins(form.ptx(), name));
    match named.iter().find(|name| !has(name)) {
        None => Ok(()),
        Some(name) => Err(Error::new(format_args!("no form begins with `{name}`"))
            .at("--only")
            .fix(format_args!("ask `cargo xtask explain {name}` what is near; a word is written whole: `st.async`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(begins("st.async.release", "st.async") && begins("cp.async [%s]", "cp.async") && begins("st", "st"));
        assert!(!begins("st.asynchronous", "st.async") && !begins("st", "st.async"));
    }

    #[test]
    fn a_name_without_forms_is_an_error() {
        assert!(check(&["st.async".to_owned(), "atom.add".to_owned()]).is_ok());
        let error = check(&["st.asyn".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no form begins with `st.asyn`"), "{error}");
    }
}
