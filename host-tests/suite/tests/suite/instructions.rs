//! The stage that compares what instructions compute: a few of its kernels, on a GPU that is right and on one with a wrong bit.

use ::values::{Case, find, header};
use ptx_build::files::write_whole;
use ptx_build::target::PtxVersion;
use suite::kernels::{FAULTS, Kernels, VALUES};
use suite::versions::Versions;
use workloads::image::Image;

use crate::Scenario;
use crate::bundle::{Left, interpreted, left};
use crate::slice::{Slice, kernels};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "instructions_compute_what_they_should", sm: "90", run: all_are_right },
    Scenario { name: "a_wrong_bit_of_an_instruction_is_named", sm: "90", run: a_wrong_bit },
    Scenario { name: "an_instruction_that_hangs_is_named", sm: "90", run: one_hangs },
    Scenario { name: "an_instruction_that_is_not_launched_is_named", sm: "90", run: one_is_refused },
    Scenario { name: "one_instruction_runs_alone", sm: "90", run: one_alone },
    Scenario { name: "a_gpu_without_the_instructions_is_no_failure", sm: "100", run: another_generation },
];

const SOME: [&str; 4] =
    ["sub_u64", "cvt_rn_f16_f32", "rcp_approx_f32", "mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32"];

/// The module of these kernels.
pub(crate) fn text() -> String {
    let cases = SOME.map(|name| find(name).expect("a kernel"));
    header("9.0", "sm_90") + &cases.map(Case::text).concat()
}

/// A run of a bundle whose kernels are in a section for a GPU.
fn run_of(sm: u32, section: &str, settings: &[(&str, String)], arguments: &[&str]) -> Left {
    let folder = tempfile::tempdir().unwrap();
    let image = Image { kernels: SOME.map(str::to_owned).into(), cubin: text().into_bytes() };
    let kernels: Kernels = kernels(PtxVersion::new(9, 0), [(section, vec![image])]);
    write_whole(&folder.path().join(format!("kernels/13.5/sm_{sm}.zst")), kernels.pack().unwrap()).unwrap();
    let versions = serde_json::to_string(&Versions::default()).unwrap();
    write_whole(&folder.path().join("versions.json"), versions).unwrap();
    let arguments = [&["--quick", "--launch-limit", "2"], arguments].concat();
    let output = interpreted(folder.path(), settings, &arguments).output().unwrap();
    left(folder, output)
}

fn run(settings: &[(&str, String)]) -> Left {
    run_of(90, VALUES, settings, &["--only", VALUES])
}

impl Left {
    /// The kernels that the stage found wrong.
    fn wrong(&self) -> Vec<&str> {
        let stage = self.report.stages.iter().find(|stage| stage.name == VALUES).unwrap();
        let lost = || stage.lost.iter().filter(|lost| lost.part.is_none());
        assert_eq!(stage.results.len() + lost().count(), SOME.len(), "{}", self.text);
        let wrong = stage.results.iter().filter(|row| !row.passed).map(|row| row.item.as_str());
        wrong.chain(lost().map(|lost| lost.item.as_str())).collect()
    }

    /// The kernels whose launch together with those after them failed.
    fn together(&self) -> Vec<&str> {
        let stage = self.report.stages.iter().find(|stage| stage.name == VALUES).unwrap();
        stage.lost.iter().filter(|lost| lost.part.is_some()).map(|lost| lost.item.as_str()).collect()
    }
}

fn all_are_right(_: &Slice) {
    let left = run(&[]);
    assert_eq!((left.wrong(), left.together(), left.code), (Vec::new(), Vec::new(), Some(0)), "{}", left.text);
}

fn a_wrong_bit(_: &Slice) {
    // The reciprocal is that of 0, and is no number now.
    for names in SOME.chunks(2) {
        let left = run(&[("FAKE_FLIP", names.join(","))]);
        let rows = left.report.stages.iter().flat_map(|stage| &stage.results);
        let bits = rows.filter(|row| names.contains(&row.item.as_str())).map(|row| &row.data["bits"]);
        assert!(bits.eq([1, 1]), "{}", left.text);
        assert_eq!((left.wrong(), left.code), (names.to_vec(), Some(1)), "{}", left.text);
    }
}

/// Launched together, they say no more than that one of them hangs. Then each is launched alone.
fn one_hangs(_: &Slice) {
    let left = run(&[("FAKE_HANG", SOME[1].into())]);
    assert_eq!((left.wrong(), left.together()), (vec![SOME[1]], vec![SOME[0]]), "{}", left.text);
    assert_eq!(left.code, Some(1));
}

/// The same in one process, since the GPU goes on.
fn one_is_refused(_: &Slice) {
    let left = run(&[("FAKE_LAUNCH", format!("{}=701", SOME[2]))]);
    assert_eq!((left.wrong(), left.together()), (vec![SOME[2]], vec![SOME[0]]), "{}", left.text);
    assert_eq!(left.code, Some(1));
}

/// The items are those of the stage, and not of the stages of every run.
fn one_alone(_: &Slice) {
    let left = run_of(90, VALUES, &[], &["--only", VALUES, "--items", SOME[0]]);
    let stage = left.report.stages.iter().find(|stage| stage.name == VALUES).unwrap();
    let names: Vec<&str> = stage.results.iter().map(|row| row.item.as_str()).collect();
    assert_eq!((names, stage.lost.len(), left.code), (vec![SOME[0]], 0, Some(0)), "{}", left.text);
}

fn another_generation(_: &Slice) {
    let left = run_of(100, FAULTS, &[], &["--only", VALUES]);
    let stage = left.report.stages.iter().find(|stage| stage.name == VALUES).unwrap();
    assert_eq!(stage.missing.as_deref(), Some("kernel of an instruction for sm_100"), "{}", left.text);
    assert_eq!(left.code, Some(0), "{}", left.text);
}
