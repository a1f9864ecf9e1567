//! Experiment K: the kernels of each pair give the same in both languages.

use std::collections::BTreeSet;
use std::path::Path;

use lab::images::{Image, Language, all, pack, unpack};
use lab::judge::{Results, judge_all};
use lab::line::{Line, read};
use lab::paired::paired;
use lab::program::Laboratory;
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
    let sources = all(Sm::new(90), &toolchain, &CudaTools::find(&progress)?, &progress)?.into_iter();
    let images = sources.map(|source| Image { about: source.about, cubin: source.ptx.into_bytes() });
    let packed = pack(&images.collect::<Vec<_>>())?;
    std::fs::write(folder.join(IMAGES), packed).expect("a temporary folder takes it");
    Ok(())
}

fn images() -> Vec<Image> {
    let ptx = std::env::var_os(super::PTX_VARIABLE).expect("the file");
    unpack(&std::fs::read(Path::new(&ptx).with_file_name(IMAGES)).expect("it was prepared")).expect("they are images")
}

/// What a dry run of K with these kernels comes to.
fn run(images: &[Image]) -> (Summary, Vec<Line>) {
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

/// Changes the image of a language that has a kernel.
fn change(images: &mut [Image], language: Language, kernel: &str, change: impl Fn(&str) -> String) {
    let is_its =
        |image: &&mut Image| image.about.language == language && image.about.kernels.iter().any(|own| own == kernel);
    let image = images.iter_mut().find(is_its).expect("there is such a kernel");
    let text = change(std::str::from_utf8(&image.cubin).unwrap());
    assert_ne!(text.as_bytes(), image.cubin, "{kernel} is changed");
    image.cubin = text.into_bytes();
}

/// A kernel that writes something else, one that writes nothing, and one that is not there are named; the others are measured.
pub(crate) fn a_pair_that_differs_is_named(_: &str) {
    let mut images = images();
    change(&mut images, Language::Cuda, "triad", |ptx| ptx.replace("mul.rn.f32", "add.rn.f32"));
    change(&mut images, Language::Cuda, "softmax", |ptx| ptx.replacen("{\n", "{\n\tret;\n", 1));
    // Of this one nothing is left, in either language.
    change(&mut images, Language::Rust, "transpose", |ptx| ptx.replace(".entry transpose(", ".entry other("));
    images.retain(|image| !["all_to_all", "transpose"].iter().any(|kernel| image.about.kernels == [*kernel]));
    let (summary, lines) = run(&images);
    let failed = |kernel: &str| {
        let is_its = |case: &str| case.starts_with(&format!("kernel={kernel} language=cuda "));
        summary.failures.iter().find(|(_, case, _)| is_its(case)).map_or("", |(.., why)| why.as_str())
    };
    assert!(failed("triad").starts_with("word 0 of its output is 0x"), "{:?}", summary.failures);
    assert_eq!(failed("softmax"), "it wrote nothing");
    assert_eq!(failed("all_to_all"), "there is no kernel all_to_all in Cuda without nothing for this GPU");
    // Once for each case: Rust is measured twice.
    let of_transpose = summary.failures.iter().filter(|(_, case, _)| case.contains("kernel=transpose ")).count();
    assert_eq!((of_transpose, summary.failures.len(), summary.done), (3, 3 + 3, vec!['K']));
    let results = Results::of(&lines);
    let measured = results.cases.iter().filter(|case| results.samples(case, "seconds").len() == 2).count();
    assert_eq!(measured, results.cases.len() - 6);
    // What is told of each pair is of both; the copies by the driver are beside them.
    let rows = paired(&results, &judge_all(&results));
    assert_eq!(rows.len(), 39 - 4);
    assert!(rows.iter().all(|row| row.rates[0].is_some() && row.rates[1].is_some()), "{rows:?}");
    assert_eq!(rows.iter().filter(|row| row.rates[2].is_some()).count(), 5);
}

/// When its time is over, it begins no other pair.
pub(crate) fn it_ends_when_its_time_is_over(_: &str) {
    let options = Options { experiments: "K".into(), quick: true, deadline: Some(0), ..Options::default() };
    let (gpu, mut text) = (Gpu::find().unwrap(), Vec::new());
    let summary = lab::run(&gpu, &images(), &options, "a test", &mut text, &Progress::kept()).unwrap();
    assert_eq!(summary.cut_short, [('K', "its time was over".to_owned())]);
    let lines = read(std::str::from_utf8(&text).unwrap()).unwrap();
    assert!(!lines.iter().any(|line| matches!(line, Line::Case(_))), "no pair was begun");
}

/// A profiler has nothing to count there, and says so before anything runs.
pub(crate) fn a_profiler_is_not_asked(_: &str) {
    #[derive(clap::Parser)]
    struct Told {
        #[command(flatten)]
        laboratory: Laboratory,
    }
    let told = |letters: &str| <Told as clap::Parser>::try_parse_from(["lab", "--ncu", letters]);
    assert_eq!(told("AJ").unwrap_or_else(|error| panic!("{error}")).laboratory.ncu.as_deref(), Some("AJ"));
    let Err(error) = told("JK") else { panic!("K is counted") };
    assert!(error.to_string().contains("experiment K has nothing that a profiler counts: leave it out"), "{error}");
}
