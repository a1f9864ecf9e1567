//! `cargo xtask forms`.

use std::sync::Arc;

use host_tests::check::forms;
use host_tests::check::forms_check::Check;
use host_tests::check::rust_cuda::{self, RustCuda};
use host_tests::show::{forms_list, tables::TABLES};
use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::Result;
use host_tests::tools::files::write_whole;
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::toolchain::{DeviceToolchain, Route};

#[derive(clap::Args)]
pub(crate) struct Forms {
    /// Print one JSON object per line
    #[arg(long, conflicts_with = "check")]
    json: bool,
    /// Compile every form in every syntax, in dev and in release, compare its PTX to the letter, and ask the assembler
    /// about it on every GPU. `--check ld.global.nc` does this for one instruction. All of them take most of an hour.
    /// What was assembled before is not assembled again
    #[arg(long, value_name = "INSTRUCTION", num_args = 0..=1)]
    check: Option<Option<String>>,
    /// List only the forms of this instruction: ld.global.nc
    #[arg(long, value_name = "NAME")]
    instruction: Option<String>,
    /// Write the table of instructions into docs/coverage.md, and the table of gates into docs/guide.md
    #[arg(long, conflicts_with_all = ["check", "json", "instruction"])]
    tables: bool,
    /// For --check: which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
    /// For --check: compile with another code generator, only for compute_100 and in release
    #[arg(long, value_name = "WHICH", requires = "check", conflicts_with = "toolchain")]
    backend: Option<Backend>,
    /// For --backend: take so many forms of each instruction, drawn by PTX_INTRINSICS_SEED
    #[arg(long, value_name = "N", requires = "backend")]
    sample: Option<usize>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Backend {
    /// The code generator of Rust-GPU, from the checkout that RUST_CUDA names
    RustCuda,
}

impl Forms {
    pub(crate) fn run(self) -> Result<()> {
        if self.tables {
            return TABLES.iter().try_for_each(|table| write_whole(&table.path(), table.pages()?[1].as_str()));
        }
        let named = self.check.as_ref().and_then(Option::as_deref).or(self.instruction.as_deref());
        let listed = forms_list::select(named)?;
        if self.check.is_some() {
            let forms: Vec<_> = listed.into_iter().map(Arc::new).collect();
            let progress = Progress::new();
            if let Some(Backend::RustCuda) = self.backend {
                let rust_cuda = RustCuda::find(&Machine::current(), &progress)?;
                let tools = CudaTools::find(&progress)?;
                let report = rust_cuda::check(&rust_cuda, &tools, rust_cuda::cases(&forms, self.sample)?, &progress)?;
                print(&report.table())?;
                return report.verify();
            }
            let toolchain = DeviceToolchain::find(Route::chosen(self.toolchain)?, &progress)?;
            let tools = CudaTools::find(&progress)?;
            let check = Check::new(&toolchain, &tools, &progress)?;
            let report = check.run(&forms, forms::cases(&forms), &progress)?;
            print(&report.table())?;
            report.verify()
        } else if self.json {
            listed.iter().try_for_each(|form| print(&(forms_list::json_line(form) + "\n")))
        } else {
            print(&forms_list::table(&listed))
        }
    }
}
