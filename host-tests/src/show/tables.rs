//! Tables in pages for readers, each between two lines of its page, written from the catalogue and from `isa/gate.rs`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use ptx_intrinsics::catalogue;
use regex::Regex;

use crate::tools::command::Machine;
use crate::tools::error::{Error, Result};
use crate::tools::target::{PtxVersion, Sm};

/// A table, and where it is.
#[derive(Debug)]
pub struct Table {
    page: &'static str,
    name: &'static str,
    text: fn() -> String,
}

/// Every table.
pub const TABLES: [Table; 2] = [
    Table { page: "docs/coverage.md", name: "instructions", text: instructions },
    Table { page: "docs/guide.md", name: "gates", text: gates },
];

impl Table {
    /// Where its page is.
    pub fn path(&self) -> PathBuf {
        Machine::current().repository.join(self.page)
    }

    /// The page as it is, and with today's table in it.
    pub fn pages(&self) -> Result<[String; 2]> {
        let path = self.path();
        let page = std::fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
        let before = format!("<!-- {}: `cargo xtask forms --tables` writes this table -->\n", self.name);
        let after = format!("<!-- end of {} -->", self.name);
        let written = with_text(&page, &before, &after, &(self.text)()).ok_or_else(|| {
            Error::new(format_args!("the page has no place for the table of {}", self.name))
                .at(path.display())
                .fix(format_args!("write the lines `{}` and `{after}` where it shall be", before.trim_end()))
        })?;
        Ok([page, written])
    }
}

/// A page with another text between two others.
pub fn with_text(page: &str, begin: &str, end: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, behind) = rest.split_once(end)?;
    Some(format!("{before}{begin}{text}{end}{behind}"))
}

/// Of each instruction its forms, the oldest SM and PTX ISA version of these, and where the ISA has it.
fn instructions() -> String {
    let mut rows: BTreeMap<String, (usize, u32, u32, &str)> = BTreeMap::new();
    for form in catalogue::forms() {
        let row = rows.entry(form.instruction().to_owned()).or_insert((0, u32::MAX, u32::MAX, form.section()));
        *row = (row.0 + 1, row.1.min(form.min_sm()), row.2.min(form.min_ptx()), row.3);
    }
    let forms: usize = rows.values().map(|(forms, ..)| forms).sum();
    let row = |(instruction, (forms, sm, ptx, section)): (&String, &(usize, u32, u32, &str))| {
        let short = section.rsplit_once("-instructions-").map_or(*section, |(_, name)| name);
        let link = format!("[{short}](https://docs.nvidia.com/cuda/parallel-thread-execution/#{section})");
        let (sm, ptx) = (Sm::new(*sm), PtxVersion::of_number(*ptx));
        format!("| `{instruction}` | {forms} | {sm} | {ptx} | {link} |\n")
    };
    format!(
        "| Instruction | Forms | First SM | First PTX ISA | Section of the PTX ISA |\n| --- | ---: | --- | --- | --- |\n{}\
         | {} instructions | {forms} | | | |\n",
        rows.iter().map(row).collect::<String>(),
        rows.len(),
    )
}

/// What each gate is for, and where it begins.
fn gates() -> String {
    static GATE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"    /// (.+)\.\n    \w+ [A-Z0-9_]+ (sm_\d+|\[[^\]]+\]) ptx(\d+)(\d);")
            .expect("the pattern is valid")
    });
    let rows = GATE.captures_iter(include_str!("../../../ptx-intrinsics/src/isa/gate.rs")).map(|gate| {
        let (_, [what, sm, major, minor]) = gate.extract();
        let sms = sm.trim_matches(['[', ']']).replace("sm_", "").replace(' ', ", ");
        format!("| {what} | {sms} | {major}.{minor} |\n")
    });
    format!("| What | SM | PTX ISA |\n| --- | --- | --- |\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use ptx_intrinsics::features::Features;

    use super::*;

    #[test]
    fn pages_have_the_tables_of_today() {
        for table in TABLES {
            let [kept, written] = table.pages().unwrap_or_else(|error| panic!("{error}"));
            assert!(kept == written, "{} is old; run: cargo xtask forms --tables", table.page);
        }
        assert_eq!(
            gates().lines().count() - 2,
            Features::all().iter_names().count(),
            "gate.rs was not read as a whole"
        );
    }
}
