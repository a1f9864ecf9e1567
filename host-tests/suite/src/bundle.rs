//! The suite as a folder that runs on a machine with a GPU and a driver and nothing else: a program, and its kernels as
//! machine code, packed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;

use super::corpus::make;
use super::entry::Entry;
use super::fault::Fault;
use super::image::{self, compile};
use super::kernels::{FAULTS, FORMS, Kernels, LITMUS, PTX, VALUES, WORKLOADS, file_of};
use super::litmus::Litmus;
use super::plan::{Kernel, Plan};
use super::stages::{PLAN, Part, USUAL};
use super::values;
use super::versions::Versions;
use host_tests::check::forms_check::every_form;
use lab::images;
use lab::program::place_of;
use workloads::image::{Image, keep_texts, kept};

use ptx_build::assemblers;
use ptx_build::command::{Command, Machine};
use ptx_build::cuda_tools::{CudaTools, FIRST_13};
use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;
use ptx_build::progress::Progress;
use ptx_build::ptxas::On;
use ptx_build::target::{Release, Sm};
use ptx_build::toolchain::DeviceToolchain;

/// GPUs whose machine code a bundle has unless it is told others: of each generation that has hints, the first, whose code the
/// others run. sm_110 is a GPU of small machines.
pub const GPUS: [u32; 4] = [80, 90, 100, 120];

/// A bundle is at most so large.
pub const LARGEST: u64 = 48_000_000;

/// The newest C library that the program may need: Debian 12's.
const GLIBC: (u32, u32) = (2, 36);

/// GPUs that get a second set of images, by an assembler that any driver of CUDA 13 was made for.
pub const TWICE: [u32; 1] = [90];

/// What a bundle has images of, and who makes them: for each GPU and its assembler.
const SECTIONS: [(&str, Maker); 5] =
    [(FORMS, forms), (LITMUS, litmus_tests), (FAULTS, faults), (WORKLOADS, workloads), (VALUES, instructions)];

type Maker = fn(&Wanted, &DeviceToolchain, &Progress) -> Result<Vec<Vec<Image>>>;

/// What a bundle is to have.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Of every so many parts of the kernels of forms, one: 1 for all of them.
    pub sample: usize,
    on: Vec<On>,
    sets: Vec<String>,
}

/// The kernels of forms that a GPU and the version of an assembler have, and that are in none of these images.
fn refused(plan: &Plan, images: &[Image], on: &On) -> BTreeSet<String> {
    let there: BTreeSet<&String> = images.iter().flat_map(|image| &image.kernels).collect();
    let missing = plan.kernels.iter().filter(|kernel| image::has(*kernel, on) && !there.contains(&kernel.name));
    missing.map(|kernel| kernel.name.clone()).collect()
}

fn forms(wanted: &Wanted, toolchain: &DeviceToolchain, progress: &Progress) -> Result<Vec<Vec<Image>>> {
    let plan = Plan::new(&every_form());
    match plan.unchecked.first() {
        Some(no_check) => Err(Error::new(no_check)),
        None => image::images(&of_some(plan, &wanted.on), wanted.sample, &wanted.on, toolchain, progress),
    }
}

/// The kernels that one of these GPUs has. What none of them has is not compiled.
fn of_some(plan: Plan, on: &[On]) -> Vec<Kernel> {
    plan.kernels.into_iter().filter(|kernel| on.iter().any(|on| image::has(kernel, on))).collect()
}

fn litmus_tests(wanted: &Wanted, toolchain: &DeviceToolchain, progress: &Progress) -> Result<Vec<Vec<Image>>> {
    compiled(LITMUS, &Litmus::all(), &wanted.on, toolchain, progress)
}

fn faults(wanted: &Wanted, toolchain: &DeviceToolchain, progress: &Progress) -> Result<Vec<Vec<Image>>> {
    compiled(FAULTS, &Fault::all(), &wanted.on, toolchain, progress)
}

/// All of a kind, compiled together.
fn compiled<E: Entry>(
    name: &str,
    entries: &[E],
    on: &[On],
    toolchain: &DeviceToolchain,
    progress: &Progress,
) -> Result<Vec<Vec<Image>>> {
    let _step = progress.step(format!("Compiling {} {name}", entries.len()));
    let part = compile(name, 0, entries, toolchain)?;
    on.iter().map(|on| part.assemble(on)).collect()
}

fn workloads(wanted: &Wanted, toolchain: &DeviceToolchain, progress: &Progress) -> Result<Vec<Vec<Image>>> {
    wanted.on.iter().map(|on| workloads::images(on, toolchain, progress)).collect()
}

fn instructions(wanted: &Wanted, _: &DeviceToolchain, progress: &Progress) -> Result<Vec<Vec<Image>>> {
    let _step = progress.step("Assembling a kernel for each instruction");
    wanted.on.iter().map(values::images).collect()
}

/// What a bundle has: its bytes, and of each GPU and assembler how many kernels and images of each section.
#[derive(Clone, Debug)]
pub struct Made {
    /// Bytes of all files.
    pub bytes: u64,
    /// What it was made from.
    pub commit: String,
    /// In lines.
    pub contents: Vec<String>,
}

fn in_a_line(kernels: &Kernels, sm: Sm) -> String {
    let of = |(name, images): (&String, &Vec<Image>)| {
        let count: usize = images.iter().map(|image| image.kernels.len()).sum();
        format!("{name}: {count} kernels in {} images", images.len())
    };
    let sections: Vec<String> = kernels.sections.iter().map(of).collect();
    let refused = match kernels.refused.len() {
        0 => String::new(),
        refused => format!("; refused by this assembler: {refused}"),
    };
    format!("{sm} by ptxas {}: {}{refused}", kernels.set, sections.join(", "))
}

/// Makes a bundle for these GPUs. What was in that place is replaced when all is done.
pub fn make(
    out: &Path,
    gpus: &[u32],
    sample: usize,
    toolchain: &DeviceToolchain,
    tools: &CudaTools,
    progress: &Progress,
) -> Result<Made> {
    let is_empty = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    if out.exists() && !is_empty && !out.join("versions.json").is_file() {
        return Err(Error::new("this is something else than a bundle")
            .at(out.display())
            .fix("name a folder that is not there yet"));
    }
    let (sets, on): (Vec<String>, Vec<On>) = wanted(gpus, tools, progress)?.into_iter().unzip();
    let wanted = Wanted { sample, on, sets };
    let Wanted { on, sets, .. } = &wanted;
    let assemblers = sets.iter().cloned().collect::<BTreeSet<String>>().into_iter().rev().collect();
    // Before anything is written that git could see.
    let about = versions_here(out, assemblers, toolchain);
    let commit = about.commit.clone();
    let parent = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| Error::io("create the folder", parent, error))?;
    let scratch = tempfile::tempdir_in(parent).map_err(|error| Error::io("create a folder in", parent, error))?;
    let folder = scratch.path().join("bundle");
    let text = text_for(on);
    keep_texts(scratch.path().join("texts"), Some(text));
    let about = serde_json::to_string_pretty(&about).map_err(Error::new)?;
    write_whole(&folder.join("versions.json"), about + "\n")?;
    write_whole(&folder.join("README"), readme())?;
    let new = |(set, on): (&String, &On)| Kernels {
        set: set.clone(),
        ptx: on.version,
        sections: BTreeMap::new(),
        refused: BTreeSet::new(),
        part: sample > 1,
    };
    let mut kernels: Vec<Kernels> = sets.iter().zip(on).map(new).collect();
    program(&folder, toolchain.machine(), progress)?;
    fill(&mut kernels, &wanted, toolchain, progress)?;
    let plan = Plan::new(&every_form());
    for (kernels, on) in kernels.iter_mut().zip(on).filter(|_| sample == 1) {
        kernels.refused = refused(&plan, kernels.forms(), on);
        only_known(&plan, kernels)?;
    }
    let step = progress.step(format!("Packing {} sets of kernels", kernels.len()));
    let of_text =
        kernels.iter().zip(on).find(|(_, on)| on.sm == text).map(|(kernels, _)| in_ptx(kernels)).transpose()?;
    let pack = |(kernels, sm): (&Kernels, Sm)| write_whole(&file_of(&folder, &kernels.set, sm), kernels.pack()?);
    let packed =
        kernels.par_iter().zip(on.par_iter().map(|on| on.sm)).chain(of_text.as_ref().map(|kernels| (kernels, text)));
    packed.try_for_each(pack)?;
    drop(step);
    let of_corpus = make::write(&folder, sets, on, progress)?;
    laboratory(&folder, sets, on, toolchain, tools, progress)?;
    let bytes = bytes_in(&folder)?;
    if bytes > LARGEST {
        return Err(Error::new(format_args!("the bundle has {bytes} bytes, more than {LARGEST}"))
            .fix("name fewer GPUs: --sm 90"));
    }
    if out.exists() {
        std::fs::remove_dir_all(out).map_err(|error| Error::io("remove", out, error))?;
    }
    std::fs::rename(&folder, out).map_err(|error| Error::io("write", out, error))?;
    let contents = kernels.iter().zip(on).map(|(kernels, on)| in_a_line(kernels, on.sm)).chain(of_corpus).collect();
    Ok(Made { bytes, commit, contents })
}

/// Makes the kernels of the laboratory, by each assembler. The others of a generation run the code of its first one.
fn laboratory(
    folder: &Path,
    sets: &[String],
    on: &[On],
    toolchain: &DeviceToolchain,
    tools: &CudaTools,
    progress: &Progress,
) -> Result<()> {
    let known = || sets.iter().zip(on).filter(|(_, on)| on.sm >= images::OLDEST);
    let mut first: BTreeMap<u32, Sm> = BTreeMap::new();
    for (_, on) in known() {
        let of_generation = first.entry(on.sm.number / 10).or_insert(on.sm);
        *of_generation = on.sm.min(*of_generation);
    }
    let all: Vec<Sm> = first.into_values().collect();
    all.par_iter().try_for_each(|sm| {
        let sources = images::all(*sm, toolchain, tools, progress)?;
        known().filter(|(_, on)| on.sm == *sm).try_for_each(|(set, on)| {
            let images: Vec<_> = sources.par_iter().map(|source| source.assemble(on)).collect::<Result<_>>()?;
            write_whole(&place_of(folder, set, sm.number), images::pack(&images)?)
        })
    })
}

/// The first GPU that has every form.
const OF_EVERY_FORM: Sm = Sm::new(100);

/// The GPU whose kernels a bundle has as PTX too, for newer GPUs that are not known yet: the newest up to [`OF_EVERY_FORM`].
fn text_for(on: &[On]) -> Sm {
    let all = || on.iter().map(|on| on.sm);
    all().filter(|sm| *sm <= OF_EVERY_FORM).max().or(all().min()).unwrap_or(OF_EVERY_FORM)
}

/// The kernels as PTX.
fn in_ptx(kernels: &Kernels) -> Result<Kernels> {
    let text = |image: &Image| Ok(Image { kernels: image.kernels.clone(), cubin: kept(&image.cubin)?.into_bytes() });
    let texts = |(name, images): (&String, &Vec<Image>)| {
        Ok((name.clone(), images.iter().map(text).collect::<Result<Vec<_>>>()?))
    };
    let sections = kernels.sections.iter().map(texts).collect::<Result<_>>()?;
    Ok(Kernels { set: PTX.into(), sections, ..kernels.clone() })
}

/// Instructions that CUDA 13.0's assembler refuses, although its PTX ISA has them. They are alone in their kernels, but for
/// others of the same needs.
const REFUSED_BY_OLDER: [&str; 1] = ["membar.proxy"];

/// A kernel that is refused for another reason is no small thing: its forms would not be tried.
fn only_known(plan: &Plan, kernels: &Kernels) -> Result<()> {
    let refused = plan.kernels.iter().filter(|kernel| kernels.refused.contains(&kernel.name));
    let is_known = |kernel: &&super::Kernel| {
        kernel.trials.iter().any(|case| REFUSED_BY_OLDER.iter().any(|known| case.form.ptx().starts_with(known)))
    };
    let unknown: Vec<String> = refused.filter(|kernel| !is_known(kernel)).map(|kernel| kernel.name.clone()).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Error::new(format_args!("ptxas {} refuses kernels that it should take: {}", kernels.set, unknown.join(" ")))
        .fix("see what it says of them, and name the instruction in REFUSED_BY_OLDER if it cannot be helped"))
}

/// The GPUs and their assemblers, each with the assembler's release.
fn wanted(gpus: &[u32], tools: &CudaTools, progress: &Progress) -> Result<Vec<(String, On)>> {
    let all = tools.every_gpu(progress)?;
    let release = |(major, minor): Release| format!("{major}.{minor}");
    let of_today = |sm: &u32| {
        let on = all.iter().find(|on| on.sm == Sm::new(*sm)).cloned();
        let on = on.ok_or_else(|| Error::new(format_args!("no assembler here knows sm_{sm}")).at("--sm"))?;
        Ok((release(tools.release), on))
    };
    let mut wanted: Vec<(String, On)> = gpus.iter().map(of_today).collect::<Result<_>>()?;
    let twice: Vec<u32> = gpus.iter().copied().filter(|sm| TWICE.contains(sm)).collect();
    if !twice.is_empty() && tools.release > FIRST_13 {
        let assembler = assemblers::of(FIRST_13, &Machine::current(), progress)?;
        let version = assembler.newest_version()?;
        let on = |sm| (release(FIRST_13), On { sm: Sm::new(sm), assembler: assembler.clone(), version });
        wanted.extend(twice.into_iter().map(on));
    }
    Ok(wanted)
}

/// What the folder itself says of its use: the commands of the half hour, part by part.
fn readme() -> String {
    let part = |(at, part): (usize, &Part)| {
        let command = format!("./run --plan {} --out part-{0}", at + 1);
        format!("    {command:<28}    at most {} s: {}\n", part.limit, part.stages.join(", "))
    };
    let parts: String = PLAN.iter().enumerate().map(part).collect();
    let folders: Vec<String> = (1..=PLAN.len()).map(|part| format!("part-{part}")).collect();
    README.replace("PARTS", &parts).replace("FOLDERS", &folders.join(" ")).replace("USUAL", &USUAL.join(", "))
}

const README: &str = include_str!("bundle-readme.txt");

/// Makes the images of each section, the small ones beside the large one.
fn fill(kernels: &mut [Kernels], wanted: &Wanted, toolchain: &DeviceToolchain, progress: &Progress) -> Result<()> {
    let made = std::thread::scope(|scope| {
        let sections = SECTIONS.map(|(name, make)| (name, scope.spawn(move || make(wanted, toolchain, progress))));
        sections.map(|(name, section)| (name, section.join().expect("a section does not panic")))
    });
    for (name, images) in made {
        for (kernels, images) in kernels.iter_mut().zip(images?) {
            kernels.sections.insert(name.into(), images);
        }
    }
    Ok(())
}

/// Builds the program and copies it. The dev profile has compiled the harness already, for whoever makes the bundle; what takes
/// time on a GPU's machine is optimised in it too.
fn program(folder: &Path, machine: &Machine, progress: &Progress) -> Result<()> {
    let step = progress.step("Compiling the program");
    let cargo = machine.var("CARGO").unwrap_or("cargo".as_ref());
    let build = ["rustc", "--quiet", "--package", "suite", "--bin", "gpu-suite", LABORATORY, "--target-dir"];
    let build = Command::new(cargo).args(build).arg(machine.target()).args(["--", "-Cstrip=symbols"]);
    build.dir(&machine.repository).run()?;
    drop(step);
    let built = machine.target().join("debug/gpu-suite");
    let program = std::fs::read(&built).map_err(|error| Error::io("read", &built, error))?;
    let needed = newest_glibc(&program);
    if needed > GLIBC {
        return Err(Error::new(format_args!("the program needs glibc {}.{}", needed.0, needed.1))
            .at(built.display())
            .fix("make the bundle on Debian 12, or on a system as old"));
    }
    let run = folder.join("run");
    write_whole(&run, program)?;
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&run, executable).map_err(|error| Error::io("make executable", &run, error))
}

/// Tests do not need it, and compile in less time without.
const LABORATORY: &str = "--config=profile.dev.package.lab.opt-level=1";

/// The newest version of the C library that a program names.
pub fn newest_glibc(program: &[u8]) -> (u32, u32) {
    let version = regex::bytes::Regex::new(r"GLIBC_(\d+)\.(\d+)").expect("the pattern is valid");
    let number = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX);
    version.captures_iter(program).map(|found| (number(&found[1]), number(&found[2]))).max().unwrap_or_default()
}

/// What a bundle that goes into `out` is made with.
fn versions_here(out: &Path, ptxas: Vec<String>, toolchain: &DeviceToolchain) -> Versions {
    let commit = commit_of(&toolchain.machine().repository, out);
    let ptx_intrinsics = env!("CARGO_PKG_VERSION").to_owned();
    Versions { ptx_intrinsics, commit, rustc: toolchain.version.clone(), ptxas }
}

/// The commit of a repository, and whether its files are that commit's. An older bundle at `out` is no change of them.
fn commit_of(repository: &Path, out: &Path) -> String {
    let git = |arguments: &[&str]| {
        let finished = Command::new("git").args(arguments).dir(repository).run().ok()?;
        Some(finished.stdout.trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "HEAD"]) else { return "commit unknown".into() };
    let inside = std::fs::canonicalize(out).ok().and_then(|out| Some(out.strip_prefix(repository).ok()?.to_owned()));
    let beside = inside.map(|inside| format!(":(exclude,top){}", inside.display()));
    let asked: Vec<&str> = ["status", "--porcelain", "--", ":/"].into_iter().chain(beside.as_deref()).collect();
    let state = match git(&asked) {
        Some(changes) if changes.is_empty() => "clean",
        Some(_) => "changed",
        None => "perhaps changed",
    };
    format!("{commit}, {state}")
}

fn bytes_in(folder: &Path) -> Result<u64> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io("read", folder, error))?;
    let mut bytes = 0;
    for entry in entries {
        let path = entry.map_err(|error| Error::io("read", folder, error))?.path();
        bytes += if path.is_dir() { bytes_in(&path)? } else { path.metadata().map_or(0, |file| file.len()) };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use ptx_build::target::PtxVersion;

    use ptx_build::ptxas::Assembler;

    use super::*;

    fn on(sm: u32) -> On {
        On { sm: Sm::new(sm), assembler: Assembler::new("ptxas"), version: PtxVersion::OF_EVERY_FORM }
    }

    #[test]
    fn what_no_gpu_of_a_bundle_has_is_not_compiled() {
        let forms: Vec<_> = every_form().into_iter().step_by(101).collect();
        let of = |gpus: &[On]| of_some(Plan::new(&forms), gpus);
        let (all, hopper) = (Plan::new(&forms).kernels.len(), of(&[on(90)]));
        assert!(hopper.iter().all(|kernel| kernel.needs().0 <= 90) && !hopper.is_empty());
        assert!(hopper.len() < all, "{} of {all}", hopper.len());
        assert_eq!(of(&[on(90), on(100)]).len(), all);
    }

    #[test]
    fn the_text_is_for_the_first_gpu_that_has_every_form() {
        for (gpus, expected) in [(&[80, 90, 100, 120][..], 100), (&[90], 90), (&[90, 80], 90), (&[120, 121], 120)] {
            let on: Vec<On> = gpus.iter().map(|sm| on(*sm)).collect();
            assert_eq!(text_for(&on), Sm::new(expected), "{gpus:?}");
        }
    }

    fn git(repository: &Path, arguments: &[&str]) {
        let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.com"];
        Command::new("git").args(author).args(arguments).dir(repository).run().expect("git does it");
    }

    fn write(path: &Path) {
        write_whole(path, "text").expect("the folder can be written to");
    }

    #[test]
    fn a_bundle_says_which_commit_it_is_made_of_and_whether_that_is_all() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = std::fs::canonicalize(scratch.path()).expect("it is there");
        let [origin, clone] = ["origin", "clone"].map(|name| folder.join(name));
        let bundle = clone.join("out");
        assert_eq!(commit_of(&folder, &bundle), "commit unknown");
        write(&origin.join("source"));
        git(&origin, &["init", "--quiet"]);
        git(&origin, &["add", "."]);
        git(&origin, &["commit", "--quiet", "--message", "first"]);
        git(&folder, &["clone", "--quiet", "origin", "clone"]);
        let is = |state: &str| {
            let told = commit_of(&clone, &bundle);
            let (commit, told) = told.split_once(", ").expect("a commit and its state");
            assert_eq!((commit.len(), told), (40, state));
        };
        is("clean");
        write(&bundle.join("versions.json"));
        is("clean");
        write(&clone.join("other"));
        is("changed");
        std::fs::remove_file(clone.join("other")).expect("it is there");
        std::fs::write(clone.join("source"), "another text").expect("it can be written");
        is("changed");
    }
}
