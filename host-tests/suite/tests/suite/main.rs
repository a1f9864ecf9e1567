//! The suite without a GPU: its kernels are compiled, assembled, and launched on `fake-gpu`;
//! what they do is what an interpreter of their PTX makes of them. So all but the machine is as it is on a GPU.
//!
//! A process opens one driver, once; so every scenario is a process of its own.

mod bundle;
mod catalogue;
mod forms;
mod hostile;
mod instructions;
mod runs;
mod slice;

use std::path::Path;
use std::process::{Command, ExitCode};

use fake_gpu_client::{SM_VARIABLE, library};
use host_tests::check::{only, whole};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_build::error::Result;
use ptx_build::program::conclude;
use ptx_driver::DRIVER_VARIABLE;
use suite::program::{self, Options};
use suite::report::Report;

use crate::bundle::BUNDLE_VARIABLE;
use crate::catalogue::every_form_is_launched_or_has_a_reason;
use crate::forms::{
    a_fault_is_named, a_known_fault_is_told_from_others, a_lost_kernel_is_missed, a_stray_write, a_wrong_copy_is_named,
    a_wrong_form_is_named, an_older_gpu, every_form_passes, faulty_accesses_fail,
};
use crate::runs::{
    a_gpu_that_does_nothing, a_whole_run, an_argument_of_another_size, each_fault_is_named, interrupted, no_gpu,
    the_deadline, the_second_set,
};
use crate::slice::{FOLDER_VARIABLE, Slice, TEXTS, of_a_bundle, prepare};

struct Scenario {
    name: &'static str,
    sm: &'static str,
    run: fn(&Slice),
}

impl Scenario {
    /// What it runs on: where a driver or a process fails, a few forms are enough.
    fn slice(&self) -> Slice {
        if SCENARIOS.iter().any(|one| one.name == self.name) { Slice::read() } else { Slice::few() }
    }
}

/// On the whole slice.
const SCENARIOS: &[Scenario] = &[
    Scenario { name: "every_form_passes", sm: "100", run: every_form_passes },
    Scenario { name: "an_older_gpu_says_what_it_lacks", sm: "80", run: an_older_gpu },
    Scenario { name: "a_wrong_form_is_named", sm: "100", run: a_wrong_form_is_named },
    Scenario { name: "a_wrong_copy_is_named", sm: "100", run: a_wrong_copy_is_named },
];

/// On a few of its forms.
const OF_FEW: &[Scenario] = &[
    Scenario { name: "faulty_accesses_fail", sm: "100", run: faulty_accesses_fail },
    Scenario { name: "a_gpu_that_does_nothing_fails", sm: "100", run: a_gpu_that_does_nothing },
    Scenario { name: "a_known_fault_is_told_from_others", sm: "100", run: a_known_fault_is_told_from_others },
    Scenario { name: "a_lost_kernel_is_missed", sm: "100", run: a_lost_kernel_is_missed },
    Scenario { name: "no_gpu_has_its_own_code", sm: "100", run: no_gpu },
    Scenario { name: "a_fault_is_named", sm: "100", run: a_fault_is_named },
    Scenario { name: "an_argument_of_another_size_is_named", sm: "100", run: an_argument_of_another_size },
    Scenario { name: "a_stray_write_is_seen", sm: "100", run: a_stray_write },
    Scenario { name: "a_whole_run_is_complete", sm: "100", run: a_whole_run },
    Scenario { name: "each_fault_is_named", sm: "100", run: each_fault_is_named },
    Scenario { name: "the_second_set_runs_if_the_first_is_refused", sm: "100", run: the_second_set },
    Scenario { name: "the_deadline_ends_everything", sm: "100", run: the_deadline },
    Scenario { name: "an_interrupted_run_keeps_what_it_found", sm: "100", run: interrupted },
];

const SCENARIO_VARIABLE: &str = "SUITE_SCENARIO";

#[derive(clap::Parser)]
struct ProgramArguments {
    #[command(flatten)]
    options: Options,
}

/// What `run` of a bundle does, with the slice in the catalogue's place.
fn as_program(folder: &Path) -> ExitCode {
    let arguments = <ProgramArguments as clap::Parser>::parse();
    conclude(program::main(&arguments.options, folder, of_a_bundle))
}

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(BUNDLE_VARIABLE) {
        return as_program(Path::new(&folder));
    }
    if let Ok(name) = std::env::var(SCENARIO_VARIABLE) {
        let scenario = SCENARIOS
            .iter()
            .chain(OF_FEW)
            .chain(hostile::SCENARIOS)
            .chain(instructions::SCENARIOS)
            .find(|scenario| scenario.name == name)
            .expect("a scenario's name");
        (scenario.run)(&scenario.slice());
        println!("{name} done");
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let prepared = if arguments.list { Ok(()) } else { prepare(folder.path()).map_err(|error| error.to_string()) };
    let scenario = |scenario: &'static Scenario| {
        let (folder, prepared) = (folder.path().to_owned(), prepared.clone());
        Trial::test(scenario.name, move || {
            prepared.map_err(Failed::from).and_then(|()| in_a_process(scenario, &folder))
        })
    };
    // The whole catalogue takes a quarter of an hour to compile, and some minutes to interpret: once is enough.
    let first_alone = whole::is_set() || only::is_set();
    let scenarios = SCENARIOS.iter().chain(OF_FEW).chain(hostile::SCENARIOS).chain(instructions::SCENARIOS);
    let scenarios = scenarios.take(if first_alone { 1 } else { usize::MAX });
    let mut trials: Vec<Trial> = scenarios.map(scenario).collect();
    trials.push(Trial::test("items_are_counted", || hostile::items_are_counted().map_err(Failed::from)));
    trials.push(Trial::test("what_was_under_way_is_named", || {
        hostile::what_was_under_way_is_named().map_err(Failed::from)
    }));
    trials.push(Trial::test("a_report_becomes_a_page", || a_report_becomes_a_page().map_err(Failed::from)));
    trials.push(Trial::test("every_form_is_launched_or_has_a_reason", every_form_is_launched_or_has_a_reason));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn in_a_process(scenario: &Scenario, folder: &Path) -> Result<(), Failed> {
    let output = Command::new(std::env::current_exe()?)
        .env(SCENARIO_VARIABLE, scenario.name)
        .env(FOLDER_VARIABLE, folder)
        .env(DRIVER_VARIABLE, library())
        .env(SM_VARIABLE, scenario.sm)
        .env("FAKE_PTX", folder.join(TEXTS))
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && stdout.ends_with(&format!("{} done\n", scenario.name)) {
        return Ok(());
    }
    Err(format!("{}\n{stdout}{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

/// The page of a report, to the letter. The report is made up; it is nobody's measurement.
fn a_report_becomes_a_page() -> Result<(), String> {
    let report: Report = serde_json::from_str(include_str!("report.json")).map_err(|error| error.to_string())?;
    assert!(!report.passed());
    let page = report.page();
    if page == include_str!("report.md") { Ok(()) } else { Err(format!("the page is now:\n{page}")) }
}
