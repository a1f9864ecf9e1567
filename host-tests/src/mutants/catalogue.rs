//! The catalogue of a mutated crate against the catalogue of this one, on the host.
//!
//! Tests hold this one against the ISA's syntax and every GPU's assembler: `catalogue_is_the_isa`, `text_release`,
//! `accepted_…`, `refused_…`, `ptx_isa_versions`. So what differs from it is what those tests complain about, and they
//! need not be asked again.

use std::collections::BTreeMap;

use ptx_intrinsics::catalogue::{self, Form};

use super::tree::Tree;
use crate::command::Finished;
use crate::error::Result;
use crate::toolchain::DeviceToolchain;

/// Prints a form a line: what [`line`] makes of it here.
const DUMP: &str = "\
fn main() {
    for form in ptx_intrinsics::catalogue::forms() {
        let signature = form.signature();
        let operands = signature.map_or(\"\", |own| own.operands);
        let unified = form.unified().map(|(_, sm, ptx)| (sm, ptx));
        println!(\"{}\\t{}\\t{}\\t{} {}\\t{:?}\", form.rust(), form.told(), operands, form.min_sm(), form.min_ptx(), unified);
    }
}
";

fn line(form: &Form) -> Row {
    let operands = form.signature().map_or("", |own| own.operands).to_owned();
    Row {
        told: form.told(),
        operands,
        needs: format!("{} {}", form.min_sm(), form.min_ptx()),
        unified: format!("{:?}", form.unified().map(|(_, sm, ptx)| (sm, ptx))),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    told: String,
    operands: String,
    needs: String,
    unified: String,
}

/// How a catalogue differs from this crate's.
#[derive(Debug, Default)]
pub struct Differences {
    /// Form by form: the Rust expression, what was expected, what was found.
    pub forms: Vec<(String, String, String)>,
}

/// What the mutated crate's catalogue is; the compiler's complaints, if it does not compile.
pub fn differences(tree: &Tree, toolchain: &DeviceToolchain) -> Result<std::result::Result<Differences, Finished>> {
    let library = tree.root.join("ptx-intrinsics");
    tree.write(
        "target/dump/Cargo.toml",
        &format!(
            "[package]\nname = \"dump\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nptx-intrinsics = {{ path = {library:?} }}\n\n\
             [profile.dev]\ndebug = false\nopt-level = 0\nincremental = false\n\n[workspace]\n"
        ),
    )?;
    tree.write("target/dump/src/main.rs", DUMP)?;
    let folder = tree.root.join("target/dump");
    let cargo = toolchain.cargo().dir(&folder).args(["run", "--quiet", "--offline"]);
    let finished = cargo.finish()?;
    if !finished.status.success() {
        return Ok(Err(finished));
    }
    let mut expected: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for form in catalogue::forms() {
        expected.entry(form.rust().to_owned()).or_default().push(line(&form));
    }
    let mut differences = Differences::default();
    for text in finished.stdout.lines() {
        let mut parts = text.split('\t').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        let rust = part();
        let found = Row { told: part(), operands: part(), needs: part(), unified: part() };
        let same = expected
            .get_mut(&rust)
            .and_then(|rows| rows.iter().position(|row| *row == found).map(|at| rows.swap_remove(at)));
        if same.is_none() {
            differences.forms.push((rust, String::new(), format!("{found:?}")));
        }
    }
    for (rust, rows) in expected {
        for row in rows {
            match differences.forms.iter_mut().find(|(own, old, _)| *own == rust && old.is_empty()) {
                Some((_, old, _)) => *old = format!("{row:?}"),
                None => differences.forms.push((rust.clone(), format!("{row:?}"), String::new())),
            }
        }
    }
    Ok(Ok(differences))
}
