//! `cargo xtask sass`.

use host_tests::check::sass::pages::{self, Pages};
use host_tests::check::sass::{self, Reader, versions};
use host_tests::tools::assemblers;
use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::target::{Release, Sm};

#[derive(clap::Args)]
pub(crate) struct Sass {
    /// Show only these GPUs, separated by commas: sm_80,sm_90
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sm: Vec<Sm>,
    /// Compare everything with docs/sass
    #[arg(long, conflicts_with_all = ["write", "sm", "forms"])]
    check: bool,
    /// Write docs/sass again; of the named instructions alone, if some are named, and without no-trace.md. With --matrix, its
    /// page of the versions and the table that `explain` reads
    #[arg(long, visible_alias = "bless")]
    write: bool,
    /// Compare the assemblers of CUDA 13.0 to 13.4 with docs/sass. They are downloaded when first asked for
    #[arg(long, conflicts_with_all = ["check", "forms"])]
    matrix: bool,
    /// For --matrix: only these releases, separated by commas: 13.1,13.3
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "matrix", value_parser = release)]
    assembler: Vec<Release>,
    /// Spellings, with or without a type, or instructions: ld.global.nc.L1::evict_last, prefetch. Without any, all of
    /// them
    #[arg(value_name = "FORM")]
    forms: Vec<String>,
}

impl Sass {
    pub(crate) fn run(self) -> Result<()> {
        let progress = Progress::new();
        let tools = CudaTools::find(&progress)?;
        let sms = pages::chosen(&self.sm, sass::gpus(&tools)?)?;
        if self.write && !self.matrix && !self.sm.is_empty() {
            return Err(Error::new("docs/sass tells of every GPU").at("--sm").fix("leave out --sm, or --write"));
        }
        if self.matrix {
            return self.matrix(&tools, &sms, &progress);
        }
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

    fn matrix(&self, tools: &CudaTools, sms: &[Sm], progress: &Progress) -> Result<()> {
        let known: Vec<Release> = assemblers::RELEASES.iter().map(|(release, _)| *release).collect();
        let wanted = |release: &Release| self.assembler.is_empty() || self.assembler.contains(release);
        if let Some((major, minor)) = self.assembler.iter().find(|named| !known.contains(named)) {
            return assemblers::fetched((*major, *minor), &Machine::current()).map(|_| ());
        }
        let releases: Vec<Release> = known.iter().copied().filter(|one| *one < tools.release && wanted(one)).collect();
        let accesses = versions::one_of_each_width(sass::accesses());
        let seen = versions::seen_by_releases(&releases, tools, &accesses, sms, progress)?;
        let differences = versions::differences(&pages::kept()?, &accesses, &seen)?;
        let table = versions::table(&accesses, &differences);
        let text = versions::text(&table, &seen);
        if !self.write {
            return print(&text);
        }
        let documentation = versions::documentation(&table, &seen, tools.release);
        versions::write(&documentation, &text)?;
        print(&format!("{} differences of forms on GPUs by {} assemblers\n", differences.len(), releases.len()))
    }
}

/// `13.1`.
fn release(text: &str) -> std::result::Result<Release, String> {
    let read = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    read.ok_or_else(|| format!("`{text}` is no release: write 13.1"))
}
