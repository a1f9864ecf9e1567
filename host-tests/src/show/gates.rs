//! The table of gates in `docs/guide.md`, written from `isa/gate.rs`.

use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;

use crate::tools::command::Machine;
use crate::tools::error::{Error, Result};

/// Where the gates are defined.
const GATES: &str = include_str!("../../../ptx-intrinsics/src/isa/gate.rs");

/// The lines of the guide around its table.
const AROUND: [&str; 2] =
    ["<!-- gates: `cargo xtask forms --coverage --write` writes this table -->\n", "<!-- end of gates -->"];

/// The table: what each gate is for, and where it begins.
pub fn table() -> String {
    static GATE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"    /// (.+)\.\n    \w+ [A-Z0-9_]+ (sm_\d+|\[[^\]]+\]) ptx(\d+)(\d);")
            .expect("the pattern is valid")
    });
    let rows = GATE.captures_iter(GATES).map(|gate| {
        let (_, [what, sm, major, minor]) = gate.extract();
        let sms = sm.trim_matches(['[', ']']).replace("sm_", "").replace(' ', ", ");
        format!("| {what} | {sms} | {major}.{minor} |\n")
    });
    format!("| What | SM | PTX ISA |\n| --- | --- | --- |\n{}", rows.collect::<String>())
}

/// The guide with today's table in it.
pub fn guide() -> Result<String> {
    let path = path();
    let guide = std::fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
    let [before, after] = AROUND;
    let parts = guide.split_once(before).and_then(|(head, rest)| Some((head, rest.split_once(after)?.1)));
    let (head, tail) = parts.ok_or_else(|| {
        Error::new("the guide has no place for the table of gates")
            .at(path.display())
            .fix(format_args!("write the lines `{}` and `{after}` where it shall be", before.trim_end()))
    })?;
    Ok(format!("{head}{before}{}{after}{tail}", table()))
}

/// Where the guide is.
pub fn path() -> PathBuf {
    Machine::current().repository.join("docs/guide.md")
}
