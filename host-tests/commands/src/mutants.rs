//! `cargo xtask mutants`.

use std::time::Duration;

use host_tests::check::mutants::{Kind, code, run};
use host_tests::tools::command::Machine;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::program::print;
use host_tests::tools::progress::Progress;
use host_tests::tools::toolchain::{DeviceToolchain, Route};

#[derive(clap::Args)]
pub(crate) struct Mutants {
    /// Try so many of them, drawn anew each time
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Draw the sample of an earlier run again
    #[arg(long, value_name = "S", requires = "sample")]
    seed: Option<u64>,
    /// Try only mutants of this kind
    #[arg(long, value_name = "KIND")]
    only: Vec<Kind>,
    /// Try only mutants whose line in the list contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Try only mutants that one build judges together, and only with the tests that take seconds
    #[arg(long)]
    together: bool,
    /// List them, and try none
    #[arg(long)]
    list: bool,
    /// Keep what an earlier run killed
    #[arg(long, conflicts_with = "sample")]
    resume: bool,
    /// After so many seconds, begin nothing more
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
    /// Work in so many copies of the checkout, side by side
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Which toolchain compiles for the GPU
    #[arg(long, value_name = "WHICH")]
    toolchain: Option<Route>,
}

impl Mutants {
    pub(crate) fn run(self) -> Result<()> {
        let progress = Progress::new();
        let kinds = if self.only.is_empty() { Kind::ALL.to_vec() } else { self.only };
        let machine = Machine::current();
        let mut mutants = run::every(&machine, &kinds)?;
        // A sample is over before cargo-mutants has copied the checkout.
        if kinds.contains(&Kind::Code) && self.sample.is_none() {
            match code::is_installed(&machine) || kinds.len() == 1 {
                true => mutants.extend(code::every(&machine)?),
                false => progress.note("No Rust code is mutated: that needs `cargo install cargo-mutants --locked`"),
            }
        }
        mutants.retain(|mutant| self.filter.as_ref().is_none_or(|text| mutant.to_string().contains(text)));
        if self.together {
            mutants.retain(run::is_together);
        }
        if let Some(count) = self.sample {
            let seed = self.seed.map_or_else(host_tests::check::forms_check::seed, Ok)?;
            progress.note(&format!("Mutants drawn with --sample {count} --seed {seed}"));
            mutants = run::sample(mutants, count, seed);
        }
        if self.list {
            let lines: String = mutants.iter().map(|mutant| format!("{mutant}\n")).collect();
            return print(&format!("{lines}{} mutants\n", mutants.len()));
        }
        let toolchain = DeviceToolchain::find(Route::chosen(self.toolchain)?, &progress)?;
        let effort = run::Effort {
            resume: self.resume,
            sample: self.sample.is_some(),
            together: self.together,
            limit: self.limit.map(Duration::from_secs),
            jobs: self.jobs.max(1),
        };
        let report = run::Runner::new(&toolchain, effort, &progress)?.run(&mutants)?;
        print(&format!("{}{}\n", report.table(), report.last_line()))?;
        match report.alive().count() {
            0 => Ok(()),
            alive => Err(Error::new(format_args!("no test notices {alive} mutants")).fix(
                "write a test that does, or list them with the reason in host-tests/src/check/mutants/equivalent.txt",
            )),
        }
    }
}
