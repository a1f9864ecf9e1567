//! What the environment says, read once. A setting is a number or a text; or entries that are separated by commas, each of
//! them a kernel, a call or a text, `=`, and what happens to it.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

static SETTINGS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let own =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    own.filter(|(name, _)| name.starts_with("FAKE_")).collect()
});

/// A setting.
pub(crate) fn of(setting: &str) -> Option<&'static str> {
    SETTINGS.get(setting).map(String::as_str)
}

/// A setting that is a number.
pub(crate) fn number<T: FromStr>(setting: &str) -> Option<T> {
    of(setting).map(parsed)
}

fn parsed<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// What a setting says of the first entry that is meant.
pub(crate) fn said_of(setting: &str, is_meant: impl Fn(&str) -> bool) -> Option<&'static str> {
    let entries = of(setting)?.split(',').map(|entry| entry.rsplit_once('=').expect("an entry has two parts"));
    entries.into_iter().find(|(what, _)| is_meant(what)).map(|(_, said)| said)
}

/// The code that a setting has for the first entry that is meant.
pub(crate) fn code_of(setting: &str, is_meant: impl Fn(&str) -> bool) -> Option<u32> {
    said_of(setting, is_meant).map(parsed)
}
