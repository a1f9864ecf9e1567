//! The pairs as people and programs read them.

use std::fmt::Write;

use serde::Serialize;

use super::pairs::KERNELS;
use super::row::{Bounds, Row, Side};

/// What was measured, and with what.
#[derive(Clone, Debug, Serialize)]
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
    /// A line for each row, Rust before the stroke and CUDA C++ after it.
    pub fn table(&self) -> String {
        let mut lines: Vec<[String; 12]> = vec![HEADINGS.map(str::to_owned)];
        lines.extend(self.rows.iter().map(cells));
        let widths: [usize; 12] =
            std::array::from_fn(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or_default());
        let mut table = format!("Rust / CUDA C++. {}\n\n", self.made_with());
        for line in lines {
            let cells: Vec<_> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            table += cells.join("  ").trim_end();
            table.push('\n');
        }
        table + "\n" + &self.summary()
    }

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
pub const PREFACE: &str = "# Rust and CUDA C++, side by side

`cargo xtask parity` writes this page (`--markdown docs/parity.md`). Each kernel is in `kernels/parity` twice: in Rust with
`ptx-intrinsics`, and in CUDA C++ as an expert writes it. Both have the same algorithm and are unrolled alike. rustc and `nvcc -O3`
make PTX, and the same `ptxas -O3` makes machine code of both. The page counts machine instructions. What the pairs take on a GPU,
experiment K of [the laboratory](laboratory.md) measures; its times are at the end of the page, if there are any yet.

The name of a kernel that ends in `_first` is the kernel as one writes it first in both languages: a plain loop over the elements. From
sm_100 on `nvcc` puts two iterations of the loops of `q8_gemv_first` and `q4_gemv_first` into one by itself. rustc does not, so in Rust
these loops are `unrolled::<2>` of `ptx-kernel`, on every GPU. On sm_80 and sm_90 nvcc's are not unrolled, so there these two rows say
what unrolling gains, and not which compiler is better. The next kernel is the same one, tuned. These pairs are modelled on
public kernels of several kinds:

- rows that a warp copies, as experts get their tokens (`warp_copy`);
- products of a vector and a matrix of 8 or 4 bits (`q8_gemv`, `q4_gemv`);
- normalisation, the way back through it, and that of a sum in bf16 (`layer_norm`, `layer_norm_back`, `add_rms_norm`);
- sums that one block hands to the next, with one flag or with a flag in each packet (`relay`);
- a copy that goes from block to block in lines of 128 bytes with a flag in each (`ll128`);
- stream compaction (`compact`);
- rows gathered from pages (`paged_gather`);
- a product of matrices of bf16 by `mma.sync`, whose tiles come by tensor copies (`gemm`), and attention of all queries by the same
  instruction (`flash_attention`);
- sums of columns, which bulk copies add up across a cluster (`column_sums`), and a transposed matrix, of which the blocks of a cluster
  send each other tiles by `st.async` (`all_to_all`);
- rows of a cache, four of which are one tensor copy (`gather_rows`).

The columns:

- **hot loop**: the instructions of the shortest loop that has at least two fifths of the kernel's memory instructions. If no loop
  has so many, it is the loop with the most of them, and of several such loops the longest. A loop is a backward branch, with all
  instructions on the way from its target to it. A kernel without a loop is counted as a whole: \"(all)\".
- **bytes**: what the memory instructions of one thread move in that loop, in global and shared memory together. A bulk copy does not
  count, because its size is in a register. Local memory does not count: what a kernel moves through it is overhead, so its
  instructions are only instructions.
- **ratio**: instructions for each byte, Rust divided by CUDA C++. Below 1.00 Rust needs fewer. The ratio is by bytes, so loops can be
  compared even if one compiler unrolls further than the other. If neither loop moves a multiple of what the other does, the one that
  moves more is replaced by a loop of its kernel that moves as much as the other, if there is one. If there is none, a compiler wrote an
  access out twice. Then the ratio is at least that of the instructions alone. The instructions that ptxas adds for a warp
  whose threads have diverged at a shuffle do not count.
- **in flight**: the most global loads of a thread in the hot loop that are on their way at the same time. They are issued, and no
  instruction has read yet what they or a later load bring. Asynchronous copies do not count, because no register waits for them.
- **bounds**: what the kernel says about its launch, `.maxntid` and `.minnctapersm`. In Rust this is `#[launch_bounds(256, 2)]`, in CUDA
  C++ `__launch_bounds__(256, 2)`. Both kernels of a pair say the same.
- **stack frame**: bytes of local memory of a thread: arrays that are in no registers, and what is spilled.
- **kernel**: all instructions. **registers** of a thread. **shared** memory of a block and **spilled** bytes of a thread. Registers
  are given out in groups of eight, so 22 and 24 are the same.

In each cell Rust is first, and CUDA C++ second. [fast-kernels.md](fast-kernels.md) says how Rust came down to these numbers.
";

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
