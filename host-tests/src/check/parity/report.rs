//! The pairs as people and programs read them.

use std::fmt::Write;

use super::pairs::KERNELS;
use super::row::{Bounds, Row, Side};

/// What was measured, and with what.
#[derive(Clone, Debug)]
pub struct Report {
    /// The compiler of Rust.
    pub rustc: String,
    /// The assembler of both.
    pub ptxas: String,
    /// The compiler of CUDA C++.
    pub nvcc: String,
    /// A row for each kernel on each GPU.
    pub rows: Vec<Row>,
}

const HEADINGS: [&str; 12] = [
    "kernel",
    "GPU",
    "hot loop",
    "bytes",
    "bytes/access",
    "ratio",
    "in flight",
    "kernel",
    "registers",
    "bounds",
    "stack frame",
    "shared, spilled",
];

impl Report {
    /// The page that `docs/parity.md` is.
    pub fn markdown(&self) -> String {
        let mut page = format!("{PREFACE}\n{}\n\n", self.made_with());
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {} |\n|{}", HEADINGS.join(" | "), " --- |".repeat(HEADINGS.len()));
        self.rows.iter().for_each(|row| page += &(markdown_line(row) + "\n"));
        page + "\n" + &self.summary() + &self.reasons()
    }

    /// Where Rust is behind, and why.
    fn reasons(&self) -> String {
        let mut reasons = String::new();
        for pair in &KERNELS {
            let behind = self.rows.iter().filter(|row| row.kernel == pair.kernel && row.is_behind());
            let gpus: Vec<String> = behind.map(|row| row.sm.to_string()).collect();
            if !gpus.is_empty() {
                let why = pair.why.unwrap_or("Nobody knows why.");
                // Writing to a string cannot fail.
                let _ = writeln!(reasons, "- `{}` on {}: {why}", pair.kernel, gpus.join(", "));
            }
        }
        if reasons.is_empty() { reasons } else { format!("\n## Where Rust is behind\n\n{reasons}") }
    }

    /// The tools, in a sentence.
    pub fn made_with(&self) -> String {
        format!("Made with {}, nvcc {} and ptxas {}.", self.rustc, self.nvcc, self.ptxas)
    }

    /// The worst of it.
    fn summary(&self) -> String {
        let fewer = self.rows.iter().filter(|row| row.rust.in_flight < row.cuda.in_flight).count();
        let slower = self.rows.iter().filter(|row| row.ratio() > 1.0).count();
        let larger = self.rows.iter().filter(|row| row.rust.needs.registers > row.cuda.needs.registers).count();
        let local = self.rows.iter().filter(|row| row.rust.needs.stack > row.cuda.needs.stack).count();
        let worst = self.rows.iter().map(Row::ratio).fold(0.0, f64::max);
        format!(
            "{} rows: {slower} above 1.00 in the hot loop, {fewer} with fewer loads in flight, {local} with a larger stack frame, \
             {larger} with more registers; the highest ratio is {worst:.2}.\n",
            self.rows.len()
        )
    }
}

/// The heading of the page's last part, which has times; `cargo xtask measured` writes it.
pub const TIMES: &str = "## Time on a GPU\n";

/// The page with another such part, or without one if it is empty.
pub fn with_times(page: &str, times: &str) -> String {
    let before = page.split_once(&format!("\n{TIMES}")).map_or(page, |(before, _)| before).trim_end();
    if times.is_empty() { format!("{before}\n") } else { format!("{before}\n\n{times}") }
}

/// The page with the times of an older one.
pub fn with_times_of(page: &str, older: &str) -> String {
    let times = older.split_once(&format!("\n{TIMES}")).map_or(String::new(), |(_, times)| format!("{TIMES}{times}"));
    with_times(page, &times)
}

/// A row as a line of the page.
pub fn markdown_line(row: &Row) -> String {
    format!("| {} |", cells(row).join(" | "))
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.threads, self.blocks) {
            (Some(threads), Some(blocks)) => write!(f, "{threads}, {blocks}"),
            (Some(threads), None) => write!(f, "{threads}"),
            (None, Some(blocks)) => write!(f, "-, {blocks}"),
            (None, None) => f.write_str("-"),
        }
    }
}

fn cells(row: &Row) -> [String; 12] {
    let both = |of: fn(&Side) -> String| format!("{} / {}", of(&row.rust), of(&row.cuda));
    [
        row.kernel.clone(),
        row.sm.to_string(),
        both(|side| format!("{}{}", side.hot.instructions, if side.has_loop { "" } else { " (all)" })),
        both(|side| side.hot.bytes.to_string()),
        both(|side| format!("{:.1}", f64::from(side.hot.bytes) / side.hot.accesses.max(1) as f64)),
        format!("{:.2}", row.ratio()),
        both(|side| side.in_flight.to_string()),
        both(|side| side.kernel.instructions.to_string()),
        both(|side| side.needs.registers.to_string()),
        both(|side| side.bounds.to_string()),
        both(|side| side.needs.stack.to_string()),
        both(|side| format!("{}, {}", side.needs.shared, side.needs.spilled)),
    ]
}

/// What the page says before its table.
pub const PREFACE: &str = include_str!("preface.md");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_one_part_with_times_and_keeps_it() {
        let page = "# Pairs\n\ntext\n";
        let times = format!("{TIMES}\nnumbers\n");
        let with = with_times(page, &times);
        assert_eq!(with, format!("{page}\n{times}"));
        assert_eq!(with_times(&with, &times), with);
        assert_eq!(with_times(&with, ""), page);
        assert_eq!(with_times_of("# Other\n", &with), format!("# Other\n\n{times}"));
        assert_eq!(with_times_of("# Other\n", page), "# Other\n");
    }
}
