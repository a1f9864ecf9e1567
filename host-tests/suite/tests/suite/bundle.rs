//! A bundle of the slice, a run of its program, and what the run left.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_build::files::write_whole;
use ptx_build::target::PtxVersion;
use ptx_driver::DRIVER_VARIABLE;
use ptx_intrinsics::catalogue::Form;
use suite::fault::Fault;
use suite::journal::{Event, Journal};
use suite::kernels::{FAULTS, FORMS, Kernels, LITMUS, PTX};
use suite::litmus::Litmus;
use suite::report::{Lost, Report};
use suite::versions::Versions;
use suite::{Entry, Kernel};
use workloads::image::Image;

use crate::slice::{self, Slice, kernels};

/// Set to the folder of a bundle, it makes this the bundle's program.
pub(crate) const BUNDLE_VARIABLE: &str = "SUITE_BUNDLE";

/// Kernels of an image in the bundles here.
pub(crate) const OF_AN_IMAGE: usize = 10;

/// A module: what is before its kernels, and each of them.
struct Split<'a> {
    head: &'a str,
    kernels: HashMap<&'a str, &'a str>,
}

impl<'a> Split<'a> {
    fn of(ptx: &'a str) -> Split<'a> {
        const ENTRY: &str = ".visible .entry ";
        let starts: Vec<usize> = ptx.match_indices(ENTRY).map(|(at, _)| at).chain([ptx.len()]).collect();
        let kernels = starts.windows(2).map(|bounds| &ptx[bounds[0]..bounds[1]]);
        let named = |kernel: &'a str| Some((kernel[ENTRY.len()..].split_once('(')?.0, kernel));
        Split { head: &ptx[..starts[0]], kernels: kernels.filter_map(named).collect() }
    }

    /// The module with these kernels.
    fn with(&self, kernels: &[String]) -> String {
        let text = |name: &String| *self.kernels.get(name.as_str()).expect("the kernel is there");
        self.head.to_owned() + &kernels.iter().map(text).collect::<String>()
    }
}

/// The folder of a bundle: the slice's kernels in images of a few, by two assemblers and as text. What they make differs in nothing
/// but a mark, and the older one has refused the last kernel.
pub(crate) fn bundle(slice: &Slice) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for set in ["13.5", "13.0", PTX] {
        let file = folder.path().join("kernels").join(set).join("sm_100.zst");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::copy(packed(slice, set), file).unwrap();
    }
    let versions = serde_json::to_string(&Versions::default()).unwrap();
    std::fs::write(folder.path().join("versions.json"), versions).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_gpu-suite"), folder.path().join("run")).unwrap();
    folder
}

/// A set of kernels in a file, which the scenarios share: to pack it takes longer than to run it.
fn packed(slice: &Slice, set: &str) -> PathBuf {
    let file = slice::folder().join(format!("{set}-{}.zst", slice.plan.kernels.len()));
    if !file.is_file() {
        let kernels = set_of(slice, set);
        let packed = kernels.pack().unwrap();
        let unpacked = Kernels::unpack(&packed).unwrap();
        assert_eq!((&unpacked.set, unpacked.ptx), (&kernels.set, kernels.ptx));
        assert_eq!(unpacked.refused, kernels.refused);
        assert_eq!(unpacked.sections.keys().collect::<Vec<_>>(), [FAULTS, FORMS, LITMUS]);
        assert_eq!(unpacked.section(LITMUS)[0].cubin, kernels.section(LITMUS)[0].cubin);
        assert!(Kernels::unpack(&packed[..packed.len() / 2]).is_err());
        write_whole(&file, packed).unwrap();
    }
    file
}

/// The kernels of a set.
fn set_of(slice: &Slice, set: &str) -> Kernels {
    let [of_forms, of_litmus, of_faults] = [&slice.ptx, &slice.litmus, &slice.faults].map(|ptx| Split::of(ptx));
    let image = |names: Vec<String>, module: &Split<'_>, mark: &str| Image {
        cubin: format!("// {set} {mark}.\n{}", module.with(&names)).into_bytes(),
        kernels: names,
    };
    let mut names: Vec<String> = slice.plan.kernels.iter().map(|kernel| kernel.name.clone()).collect();
    let refused: BTreeSet<String> = if set == "13.0" { names.pop().into_iter().collect() } else { [].into() };
    let forms = names.chunks(OF_AN_IMAGE).enumerate();
    let forms = forms.map(|(number, names)| image(names.to_vec(), &of_forms, &format!("image {number}"))).collect();
    let litmus = Litmus::all().iter().flat_map(Entry::functions).collect();
    let faults = Fault::all().into_iter().map(|fault| fault.name).collect();
    let litmus = vec![image(litmus, &of_litmus, "litmus")];
    let faults = vec![image(faults, &of_faults, "faults")];
    let sections = [(FORMS, forms), (LITMUS, litmus), (FAULTS, faults)];
    Kernels { set: set.into(), refused, ..kernels(PtxVersion::OF_EVERY_FORM, sections) }
}

/// Runs the program of a bundle; its exit code, and what it printed.
pub(crate) fn program(folder: &Path, driver: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(folder.join("run")).args(arguments).env(DRIVER_VARIABLE, driver).output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (output.status.code(), text)
}

/// The program of a bundle, to be run on a GPU with faults.
pub(crate) fn interpreted(bundle: &Path, settings: &[(&str, String)], arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--seed", "7"]).args(arguments).env(BUNDLE_VARIABLE, bundle).envs(settings.iter().cloned());
    command
}

/// What a run left.
pub(crate) struct Left {
    pub(crate) _folder: tempfile::TempDir,
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
    pub(crate) report: Report,
    pub(crate) events: Vec<Event>,
}

pub(crate) fn left(folder: tempfile::TempDir, output: std::process::Output) -> Left {
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    let report = std::fs::read(folder.path().join("report.json")).unwrap_or_else(|error| panic!("{error}: {text}"));
    let report = serde_json::from_slice(&report).unwrap();
    let events = Journal::open(&folder.path().join("results.jsonl")).unwrap().events().unwrap();
    Left { _folder: folder, code: output.status.code(), text, report, events }
}

pub(crate) fn hostile(slice: &Slice, settings: &[(&str, String)], arguments: &[&str]) -> Left {
    let folder = bundle(slice);
    let output = interpreted(folder.path(), settings, arguments).output().unwrap();
    left(folder, output)
}

impl Left {
    /// The forms that failed, by their PTX, and why.
    pub(crate) fn failures(&self) -> Vec<(&str, &str)> {
        let failures = &self.report.forms[0].failures;
        failures.iter().map(|failure| (failure.ptx.as_str(), failure.failure.what.as_str())).collect()
    }

    /// What has no result in the stage of forms.
    pub(crate) fn lost(&self) -> &[Lost] {
        &self.report.stages.iter().find(|stage| stage.name == "forms").unwrap().lost
    }

    /// Nothing is lost but these kernels: each of their forms failed and says why, and every other one passed.
    pub(crate) fn only_these_failed(&self, slice: &Slice, kernels: &[(&Kernel, &str)]) {
        let text = &self.text;
        assert_eq!(self.code, Some(if kernels.is_empty() { 0 } else { 1 }), "{text}");
        assert!(self.report.complete, "{text}");
        let wrong: BTreeSet<String> = kernels.iter().flat_map(|(kernel, _)| forms_of(kernel)).collect();
        let named: BTreeSet<String> = self.failures().iter().map(|(form, _)| (*form).to_owned()).collect();
        assert_eq!(named, wrong, "{text}");
        for (kernel, why) in kernels {
            let own: BTreeSet<String> = forms_of(kernel).into_iter().collect();
            let said = || self.failures().into_iter().filter(|(form, _)| own.contains(*form));
            assert!(said().any(|(_, what)| what.contains(why)), "{} {why}: {:?}", kernel.name, said().next());
        }
        let counts = &self.report.forms[0].counts;
        assert_eq!(counts.catalogue, slice.forms.len());
        let of_older = self.report.forms[0].set == "13.0";
        let refused = if of_older { refused(slice) } else { [].into() };
        let right = |told: String| !wrong.contains(&told) && !refused.contains(&told);
        let gpu = format!("sm_{}a", self.report.machine.sm);
        let is_there = |form: &Form| form.targets().is_empty() || form.is_on(&gpu, u32::MAX);
        let expected = slice.forms.iter().filter(|form| is_there(form) && right(form.full_ptx()));
        assert_eq!(counts.bytes_right, expected.count());
    }
}

/// The forms that the older assembler of a bundle here refused.
pub(crate) fn refused(slice: &Slice) -> BTreeSet<String> {
    slice.plan.kernels.last().into_iter().flat_map(forms_of).collect()
}

pub(crate) fn forms_of(kernel: &Kernel) -> Vec<String> {
    kernel.trials.iter().map(|case| case.form.full_ptx()).collect()
}

/// The first kernel of the second image.
pub(crate) fn of_second_image(slice: &Slice) -> &Kernel {
    &slice.plan.kernels[OF_AN_IMAGE]
}
