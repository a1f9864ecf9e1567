//! Functions that only constants call.

use std::fs;

use super::{repository, rust_files};

/// What is compiled for a CPU alone, or only under cuda-oxide, which compiles for the host.
const ON_THE_HOST: [&str; 3] = ["/cpu/", "/catalogue/", "emit/markers.rs"];

/// The `const fn`s of a source that are not `#[inline]`: a compiler would make code of them in each build for a GPU.
fn compiled(source: &str) -> Vec<&str> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_function =
        |line: &str| line.starts_with("const fn ") || line.starts_with("pub") && line.contains(" const fn ");
    let functions = lines.iter().enumerate().filter(|(_, line)| is_function(line));
    let plain = functions.filter(|(at, _)| {
        let attributes = lines[..*at]
            .iter()
            .rev()
            .take_while(|line| line.is_empty() || ["#[", "//"].iter().any(|begin| line.starts_with(begin)));
        !attributes.into_iter().any(|line| line.starts_with("#[inline") || *line == "#[cfg(not(ptx_device))]")
    });
    plain.map(|(_, line)| *line).collect()
}

#[test]
fn a_const_fn_is_inline() {
    let mut found = Vec::new();
    for file in rust_files(&repository().join("ptx-intrinsics/src"), true) {
        let path = file.to_string_lossy().into_owned();
        if ON_THE_HOST.iter().any(|folder| path.contains(folder)) {
            continue;
        }
        let source = fs::read_to_string(&file).expect("the source can be read");
        found.extend(compiled(&source).into_iter().map(|line| format!("{path}: {line}")));
    }
    assert_eq!(found, [""; 0], "add #[inline]: a build for a GPU compiles no function that only constants call");
}

#[test]
fn plain_functions_are_found() {
    let source = "#[inline]\npub const fn a() {}\n\nconst fn b() {}\n#[inline(always)]\n#[must_use]\npub(crate) const fn c() {}\n";
    assert_eq!(compiled(source), ["const fn b() {}"]);
}
