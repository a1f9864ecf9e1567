//! `cargo xtask sass`.

use host_tests::check::sass::pages::{self, Pages};
use host_tests::check::sass::{self, Reader, ldg};
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::Result;
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;

#[derive(clap::Args)]
pub(crate) struct Sass {
    /// Show only these GPUs, separated by commas: sm_80,sm_90
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sm: Vec<Sm>,
    /// Compare everything with docs/sass
    #[arg(long, conflicts_with_all = ["write", "sm", "forms"])]
    check: bool,
    /// Write docs/sass again; of the named instructions alone, if some are named, and without no-trace.md
    #[arg(long, visible_alias = "bless", conflicts_with = "sm")]
    write: bool,
    /// Write docs/sass-ldg.md again: the page of LDG on sm_50, row by row. With --check, compare it
    #[arg(long, conflicts_with_all = ["sm", "forms"])]
    ldg: bool,
    /// Spellings, with or without a type, or instructions: ld.global.nc.L1::evict_last, prefetch. Without any, all of
    /// them
    #[arg(value_name = "FORM")]
    forms: Vec<String>,
}

impl Sass {
    pub(crate) fn run(self) -> Result<()> {
        let progress = Progress::new();
        let tools = CudaTools::find(&progress)?;
        if self.ldg {
            let page = ldg::Page::see(&tools, &progress)?;
            return if self.check { page.compare() } else { page.write() }.and_then(|()| print(&page.summary()));
        }
        let sms = pages::chosen(&self.sm, sass::gpus(&tools)?)?;
        let wanted = pages::select(&self.forms)?;
        let seen = sass::see(&Reader::new(&tools), &pages::with_bases(&wanted), &sms, &progress)?;
        let pages = Pages::of(&wanted, &seen, tools.release);
        if self.write && !self.forms.is_empty() {
            pages.write_some(&wanted, &seen)?;
        } else if self.write {
            pages.write(&wanted, &seen)?;
        } else if self.check {
            pages.compare()?;
        } else {
            return print(&pages.lines());
        }
        print(&pages.summary())
    }
}
