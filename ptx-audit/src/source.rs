//! The place in the source that a line of PTX came from.

use std::collections::BTreeMap;
use std::path::Path;

use ptx_sass::line_table::Located;
use serde::{Deserialize, Serialize};

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if the compiler does not say it.
    pub column: u32,
}

/// PTX as it is assembled, and where its lines came from.
#[derive(Debug)]
pub struct Text {
    /// The PTX without its line table: the machine code then tells lines of PTX. Every line is where it was.
    pub ptx: String,
    located: Located,
}

impl Text {
    /// Reads PTX with or without a line table.
    pub fn read(text: &str) -> Self {
        let located = Located::read(text);
        Text { ptx: located.ptx.clone(), located }
    }

    /// The places of these lines of PTX.
    pub(crate) fn places(&self, lines: impl Iterator<Item = u32>) -> BTreeMap<u32, Place> {
        let place = |line: u32| {
            let site = self.located.sites(line, Path::new("")).into_iter().next()?;
            // Line 0 is what the compiler made by itself.
            let named = (site.line > 0).then_some(site)?;
            let file = named.file.display().to_string();
            Some((line, Place { file, line: named.line, column: named.column }))
        };
        lines.filter_map(place).collect()
    }
}
