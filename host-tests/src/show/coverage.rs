//! `docs/coverage.md`: what of the PTX ISA the crate has, and what it does not have.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use ptx_intrinsics::catalogue::{self, Form};

use crate::tools::command::Machine;
use crate::tools::target::{PtxVersion, Sm};

/// Instructions that move or order data in memory and that the crate does not have, and why.
const MISSING: &[(&str, &str)] = &[
    (
        "`tensormap.cp_fenceproxy`",
        "All threads of a warp execute it together, LLVM has no intrinsic for it, and LLVM may copy an `asm!` into branches. One thread \
         can store the 128 bytes in global memory and then call `fence_proxy_tensormap_generic_release`.",
    ),
    (
        "`cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor` with `.im2col_no_offs::w`",
        "`ptxas` takes them for sm_107f and sm_107a, which rustc does not know.",
    ),
    (
        "`mbarrier.check_layout`, and waits and copies with `.phase_type`, `.mbarrier::report` or `.override`",
        "They begin with PTX ISA 9.3 and 9.4. A CPU's barrier has no room for a report. To be added.",
    ),
    (
        "`st.async` and `red.async` to the shared memory of a generic address",
        "Memory of another block has a `SharedClusterPtr`.",
    ),
    (
        "`ldmatrix`, `stmatrix`, `movmatrix`, `mma`, `wgmma`, `tcgen05`",
        "They belong to matrix multiplication and not to the memory hierarchy. `ptx_kernel::matrix` has the first two and dense `mma.sync`.",
    ),
    (
        "`ld.global` and `st.global` with an immediate, a label or `[p + 4]` as the address",
        "An address is a register here. The assembler folds constants into the instruction.",
    ),
    (
        "`.weak`, `.shared::cta`, `.param` and `.tile` of a prefetch, where they say what is meant anyway",
        "`ptx!` takes them. The catalogue has each meaning once.",
    ),
    ("A sink `_` for lanes, `.unified`, and predicates", "`ptx!` has them all. They are not counted as forms."),
    (
        "What `ptxas` alone accepts",
        "See `host-tests/src/check/conformance/ptxas-alone.txt`: each spelling has its reason.",
    ),
];

/// What is known of an instruction.
struct Row {
    forms: usize,
    sm: u32,
    ptx: u32,
    section: &'static str,
}

/// The page.
pub fn page() -> String {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for form in catalogue::forms() {
        let row = rows.entry(form.instruction().to_owned()).or_insert_with(|| Row::new(&form));
        row.forms += 1;
        row.sm = row.sm.min(form.min_sm());
        row.ptx = row.ptx.min(form.min_ptx());
    }
    let forms: usize = rows.values().map(|row| row.forms).sum();
    let mut page = format!(
        "# Coverage\n\n`cargo xtask forms --coverage --write` writes this page from the catalogue. A test compares it.\n\n\
         The crate has {forms} forms of {} instructions. A form is one legal spelling: an instruction with all its qualifiers and \
         its type.\nThe table has the oldest SM and PTX ISA version of the forms of each instruction. A qualifier may need more:\n\
         `cargo xtask explain` says what one form needs.\n\n\
         | Instruction | Forms | First SM | First PTX ISA | Section of the PTX ISA |\n| --- | ---: | --- | --- | --- |\n",
        rows.len()
    );
    for (instruction, row) in &rows {
        row.write(instruction, &mut page);
    }
    page += "\n## What is not covered\n\n| Instruction | Why |\n| --- | --- |\n";
    for (what, why) in MISSING {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {what} | {why} |");
    }
    page
}

impl Row {
    fn new(form: &Form) -> Row {
        Row { forms: 0, sm: form.min_sm(), ptx: form.min_ptx(), section: form.section() }
    }

    fn write(&self, instruction: &str, page: &mut String) {
        let (sm, ptx) = (Sm::new(self.sm), PtxVersion::of_number(self.ptx));
        let short = self.section.rsplit_once("-instructions-").map_or(self.section, |(_, name)| name);
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| `{instruction}` | {} | {sm} | {ptx} | [{short}](https://docs.nvidia.com/cuda/parallel-thread-execution/#{}) |",
            self.forms, self.section
        );
    }
}

/// Where the page is.
pub fn path() -> PathBuf {
    Machine::current().repository.join("docs/coverage.md")
}
