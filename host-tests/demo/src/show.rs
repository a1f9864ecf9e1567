//! The demo on a terminal or in a pipe.

use console::{Term, style};
use demo::Access;
use workloads::{Figures, Workload};

/// Where the text of a line begins, after its label.
const TEXT: usize = 13;

pub(super) fn head(rows: [(&str, String); 3]) -> String {
    rows.iter().map(|(name, value)| line(&format!("{:11}", style(name).dim()), value)).collect()
}

pub(super) fn accesses(workload: &dyn Workload, accesses: &[Access]) -> String {
    let title = style(workload.name()).bold().cyan();
    let head = format!("\n{title}  {}\n{}\n", plain(workload.facts().about), style(workload.source()).dim());
    accesses.iter().fold(head, |text, access| text + &one(access))
}

fn one(access: &Access) -> String {
    let rust = format!("{}  {}", style(&access.rust).green(), style(&access.place).dim());
    let mut text = format!("\n{}", line("  ", &rust));
    text += &row("PTX", &times(access.ptx.trim_end_matches(';'), access.count));
    for sass in &access.sass {
        let label = sass.sm.to_string();
        let code = |(at, (opcode, count)): (usize, (&String, &usize))| {
            row(if at == 0 { &label } else { "" }, &times(opcode, *count))
        };
        text += &sass.opcodes.iter().enumerate().map(code).collect::<String>();
        text += &sass.notes.iter().map(|note| row("", &style(note).yellow().to_string())).collect::<String>();
    }
    text
}

pub(super) fn verdict(run: &Figures) -> String {
    let verdict = if run.mismatches == 0 { style("verified").green().bold() } else { style("FAILED").red().bold() };
    let figures = format!(
        "{verdict} on {}: {} elements, {} mismatches, {} bytes in {:.4} s, {:.2} GB/s",
        run.place,
        grouped(run.elements as u64),
        grouped(run.mismatches as u64),
        grouped(run.useful_bytes),
        run.seconds,
        run.gigabytes_per_second,
    );
    format!("\n{}", line("  ", &figures))
}

pub(super) fn foot(runs: &[Figures], accesses: usize, seconds: f64) -> String {
    let verified = runs.iter().filter(|run| run.mismatches == 0).count();
    format!("\n{verified} of {} kernels verified, {accesses} accesses shown, {seconds:.1} s\n", runs.len())
}

/// A label and its text.
fn row(label: &str, text: &str) -> String {
    let padding = " ".repeat(TEXT.saturating_sub(4 + label.len()));
    line(&format!("    {}{padding}", style(label).dim()), text)
}

/// A line, which goes on below its own text where the terminal ends.
fn line(begin: &str, text: &str) -> String {
    let width = Term::stdout().size_checked().map_or(usize::MAX, |(_, columns)| columns as usize);
    let indent = console::measure_text_width(begin);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let length = lines.last().map_or(0, |line| console::measure_text_width(line));
        let fits = indent + length + 1 + console::measure_text_width(word) <= width;
        match lines.last_mut() {
            Some(line) if length == 0 => line.push_str(word),
            Some(line) if fits => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    format!("{begin}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// The text in letters that every file and every pipe can take, unless a person reads it.
fn plain(text: &str) -> String {
    if console::user_attended() { text.to_owned() } else { text.replace('·', "*").replace('×', "x") }
}

/// The text, and how many of it there are.
fn times(text: &str, count: usize) -> String {
    let sign = plain("×");
    if count == 1 { text.to_owned() } else { format!("{text}  {}", style(format!("{sign}{count}")).yellow()) }
}

/// 1234567 as 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let group = |(at, digit): (usize, char)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(group).collect()
}
