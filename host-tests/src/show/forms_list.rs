//! The catalogue as people and programs read it.

use std::collections::HashSet;
use std::fmt::Write;

use ptx_intrinsics::catalogue::{self, Form};
use serde_json::json;

use crate::tools::error::{Error, Result};
use crate::tools::target::{PtxVersion, Sm};

/// Every form, or those of one instruction.
pub fn select(instruction: Option<&str>) -> Result<Vec<Form>> {
    let wanted = |form: &Form| instruction.is_none_or(|name| form.instruction() == name);
    let forms: Vec<Form> = catalogue::forms().filter(wanted).collect();
    match instruction {
        Some(name) if forms.is_empty() => Err(Error::new(format_args!("there is no instruction `{name}`"))
            .at("--instruction")
            .fix(format_args!("use one of {}", names(&catalogue::forms().collect::<Vec<_>>()).join(" ")))),
        _ => Ok(forms),
    }
}

/// The instructions of these forms, each once, in their order.
fn names(forms: &[Form]) -> Vec<&str> {
    let mut seen = HashSet::new();
    forms.iter().map(Form::instruction).filter(|name| seen.insert(*name)).collect()
}

/// A form as one line of JSON.
pub fn json_line(form: &Form) -> String {
    json!({
        "instruction": form.instruction(),
        "rust": form.rust(),
        "ptx": form.ptx(),
        "min_sm": form.min_sm(),
        "min_ptx": version(form.min_ptx()),
        "rust_if": form.rust_if(),
        "unified": form.unified().map(|(rust, sm, ptx)| json!({ "rust": rust, "min_sm": sm, "min_ptx": version(ptx) })),
    })
    .to_string()
}

/// 74 is 7.4.
fn version(number: u32) -> String {
    PtxVersion::of_number(number).to_string()
}

/// A row for each form, then a count for each instruction.
pub fn table(forms: &[Form]) -> String {
    let width = forms.iter().map(|form| form.ptx().len()).max().unwrap_or_default();
    let mut table = String::new();
    let mut row = |ptx: &str, sm: &str, isa: &str, rust: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{ptx:width$}  {sm:6}  {isa:>4}  {rust}");
    };
    row("PTX", "SM", "ISA", "Rust");
    for form in forms {
        row(form.ptx(), &Sm::new(form.min_sm()).to_string(), &version(form.min_ptx()), form.rust());
    }
    table.push('\n');
    for name in names(forms) {
        let count = forms.iter().filter(|form| form.instruction() == name).count();
        let _ = writeln!(table, "{count:>6}  {name}");
    }
    let _ = writeln!(table, "{:>6}  forms", forms.len());
    table
}
