//! Experiment K: the kernels of each pair give the same in both languages.

use std::collections::BTreeSet;
use std::path::Path;

use lab::images::{Image, pack, pairs, sources, unpack};
use lab::judge::Results;
use lab::line::{Line, read};
use lab::{Options, Summary, beside};
use launch::gpu::Gpu;
use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::Result;
use ptx_build::progress::Progress;
use ptx_build::target::Sm;
use ptx_build::toolchain::{DeviceToolchain, Route};

/// Where the kernels of both languages are, beside the laboratory's own.
const IMAGES: &str = "beside.zst";

/// Compiles the kernels of both languages. They stay PTX.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let (tools, sm) = (CudaTools::find(&progress)?, Sm::new(90));
    let all = [sources(sm, &toolchain, &tools, &progress)?, pairs(sm, &tools, &progress)?].concat();
    let images: Vec<Image> =
        all.into_iter().map(|source| Image { about: source.about, cubin: source.ptx.into_bytes() }).collect();
    std::fs::write(folder.join(IMAGES), pack(&images)?).expect("a temporary folder takes it");
    Ok(())
}

fn images() -> Vec<Image> {
    let ptx = std::env::var_os(super::PTX_VARIABLE).expect("the file");
    unpack(&std::fs::read(Path::new(&ptx).with_file_name(IMAGES)).expect("it was prepared")).expect("they are images")
}

/// What a dry run of K with these kernels comes to.
fn run(images: &[Image]) -> (Summary, Vec<Line>) {
    fake_driver::run_each_module();
    let options = Options { experiments: "K".into(), seed: Some(7), quick: true, ..Options::default() };
    let (gpu, mut text) = (Gpu::find().unwrap(), Vec::new());
    let summary = lab::run(&gpu, images, &options, "a test", &mut text, &Progress::kept()).unwrap();
    (summary, read(std::str::from_utf8(&text).unwrap()).unwrap())
}

/// Every pair of the GPU runs, and nothing differs.
pub(crate) fn every_pair_gives_the_same(_: &str) {
    let (summary, lines) = run(&images());
    assert_eq!(summary.failures, []);
    assert_eq!((summary.done, summary.cut_short), (vec!['K'], vec![]));
    let results = Results::of(&lines);
    let measured: BTreeSet<&str> = results.cases.iter().map(|case| case.labels["kernel"].as_str()).collect();
    assert_eq!(measured, beside::names().collect());
    for case in &results.cases {
        assert_eq!(results.samples(case, "seconds").len(), 2, "{case:?}");
    }
    // Both languages of each, Rust twice; and five copies by the driver.
    assert_eq!((measured.len(), results.cases.len()), (39, 3 * 39 + 5));
}
