//! The suite as a folder that runs on a machine with a GPU and a driver and nothing else: a program, and its kernels as
//! machine code, packed.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::image::{self, Image, compile};
use super::litmus::Litmus;
use super::plan::Plan;
use super::report::Versions;
use crate::command::{Command, Machine};
use crate::cuda_tools::CudaTools;
use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::forms_check::every_form;
use crate::progress::Progress;
use crate::ptxas::On;
use crate::target::Sm;
use crate::toolchain::DeviceToolchain;

/// GPUs whose machine code a bundle has; the others of a generation run that of the one before them.
pub const GPUS: [u32; 10] = [75, 80, 86, 89, 90, 100, 103, 110, 120, 121];

/// A bundle is at most so large.
pub const LARGEST: u64 = 48_000_000;

/// The newest C library that the program may need: Debian 12's.
const GLIBC: (u32, u32) = (2, 36);

/// The kernels of a GPU.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    /// Those that try forms.
    pub forms: Vec<Image>,
    /// Litmus tests, and accesses that have to fail.
    pub others: Vec<Image>,
}

/// What stands before the machine code in the file of a GPU.
#[derive(Serialize, Deserialize)]
struct Contents {
    forms: Vec<(Vec<String>, usize)>,
    others: Vec<(Vec<String>, usize)>,
}

/// Makes the kernels of these GPUs.
pub fn kernels(on: &[On], toolchain: &DeviceToolchain, progress: &Progress) -> Result<Vec<(Sm, Kernels)>> {
    let plan = Plan::new(&every_form());
    if let Some(no_check) = plan.unchecked.first() {
        return Err(Error::new(no_check));
    }
    let [litmus, faults] = [Litmus::all().len(), Fault::all().len()];
    let step = progress.step(format!("Compiling {litmus} litmus tests and {faults} faults"));
    let (litmus, faults) = (Litmus::all(), Fault::all());
    let (litmus, faults) = (compile("litmus", 0, &litmus, toolchain)?, compile("faults", 0, &faults, toolchain)?);
    drop(step);
    let forms = image::images(&plan.kernels, on, toolchain, progress)?;
    let all = on.iter().zip(forms).map(|(on, (sm, forms))| {
        let others = [litmus.assemble(on)?, faults.assemble(on)?].concat();
        Ok((sm, Kernels { forms, others }))
    });
    all.collect()
}

impl Kernels {
    /// Packs them.
    pub fn pack(&self) -> Result<Vec<u8>> {
        let listed = |images: &[Image]| images.iter().map(|image| (image.kernels.clone(), image.cubin.len())).collect();
        let contents = Contents { forms: listed(&self.forms), others: listed(&self.others) };
        let mut all = serde_json::to_vec(&contents).map_err(Error::new)?;
        all.push(b'\n');
        self.forms.iter().chain(&self.others).for_each(|image| all.extend(&image.cubin));
        let packed = || -> std::io::Result<Vec<u8>> {
            let mut encoder = zstd::Encoder::new(Vec::new(), 15)?;
            encoder.long_distance_matching(true)?;
            encoder.window_log(27)?;
            encoder.write_all(&all)?;
            encoder.finish()
        };
        packed().map_err(|error| Error::new(format_args!("could not pack the kernels: {error}")))
    }

    /// Unpacks them.
    pub fn unpack(packed: &[u8]) -> Result<Kernels> {
        let mut all = Vec::new();
        zstd::Decoder::new(packed)
            .and_then(|mut decoder| decoder.read_to_end(&mut all))
            .map_err(|error| damaged(error.to_string()))?;
        let end = all.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("it has no list".into()))?;
        let contents: Contents = serde_json::from_slice(&all[..end]).map_err(|error| damaged(error.to_string()))?;
        let mut rest = &all[end + 1..];
        let mut take = |(kernels, bytes): (Vec<String>, usize)| {
            let (cubin, behind) = rest.split_at_checked(bytes).ok_or_else(|| damaged("it ends early".into()))?;
            rest = behind;
            Ok(Image { kernels, cubin: cubin.to_vec() })
        };
        let forms = contents.forms.into_iter().map(&mut take).collect::<Result<_>>()?;
        let others = contents.others.into_iter().map(&mut take).collect::<Result<_>>()?;
        Ok(Kernels { forms, others })
    }
}

fn damaged(why: String) -> Error {
    Error::new("the file of kernels is damaged").because(why).fix("copy the bundle again, or make it anew")
}

/// Where the kernels of a GPU lie in a bundle.
fn file_of(folder: &Path, sm: Sm) -> PathBuf {
    folder.join("kernels").join(format!("{sm}.zst"))
}

/// Reads the kernels that this GPU runs: of its own generation, and none that is newer.
pub fn read(folder: &Path, sm: u32) -> Result<Kernels> {
    let fits = GPUS.into_iter().filter(|&known| known / 10 == sm / 10 && known <= sm);
    let mut files = fits.map(|known| file_of(folder, Sm::new(known))).chain([file_of(folder, Sm::new(sm))]);
    let file = files.rfind(|file| file.is_file()).ok_or_else(|| {
        Error::new(format_args!("this bundle has no kernels for sm_{sm}"))
            .at(folder.join("kernels").display())
            .fix(format_args!("make one that has: `cargo xtask bundle OUT --sm {sm}`"))
    })?;
    let packed = std::fs::read(&file).map_err(|error| Error::io("read", &file, error))?;
    Kernels::unpack(&packed).map_err(|error| error.at(file.display()))
}

/// The versions that a bundle was made with.
pub fn versions(folder: &Path) -> Result<Versions> {
    let file = folder.join("versions.json");
    let text = std::fs::read(&file).map_err(|error| Error::io("read", &file, error))?;
    serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()).at(file.display()))
}

/// Makes a bundle for these GPUs, and gives its size in bytes. What was in that place is replaced when all is done.
pub fn make(
    out: &Path,
    gpus: &[u32],
    toolchain: &DeviceToolchain,
    tools: &CudaTools,
    progress: &Progress,
) -> Result<u64> {
    let is_empty = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    if out.exists() && !is_empty && !out.join("versions.json").is_file() {
        return Err(Error::new("this is something else than a bundle")
            .at(out.display())
            .fix("name a folder that is not there yet"));
    }
    let all = On::every(tools, progress)?;
    let on: Vec<On> = gpus
        .iter()
        .map(|sm| {
            let on = all.iter().find(|on| on.sm == Sm::new(*sm)).cloned();
            on.ok_or_else(|| Error::new(format_args!("no assembler here knows sm_{sm}")).at("--sm"))
        })
        .collect::<Result<_>>()?;
    let parent = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| Error::io("create the folder", parent, error))?;
    let scratch = tempfile::tempdir_in(parent).map_err(|error| Error::io("create a folder in", parent, error))?;
    let folder = scratch.path().join("bundle");
    program(&folder, toolchain.machine(), progress)?;
    let about = versions_here(toolchain, tools)?;
    let about = serde_json::to_string_pretty(&about).map_err(Error::new)?;
    write_whole(&folder.join("versions.json"), about + "\n")?;
    write_whole(&folder.join("README"), README)?;
    for (sm, kernels) in kernels(&on, toolchain, progress)? {
        let step = progress.step(format!("Packing the kernels for {sm}"));
        write_whole(&file_of(&folder, sm), kernels.pack()?)?;
        drop(step);
    }
    let bytes = bytes_in(&folder)?;
    if bytes > LARGEST {
        return Err(Error::new(format_args!("the bundle has {bytes} bytes, more than {LARGEST}"))
            .fix("name fewer GPUs: --sm 90"));
    }
    if out.exists() {
        std::fs::remove_dir_all(out).map_err(|error| Error::io("remove", out, error))?;
    }
    std::fs::rename(&folder, out).map_err(|error| Error::io("write", out, error))?;
    Ok(bytes)
}

const README: &str = "\
Every form of ptx-intrinsics on the GPU of this machine. NVIDIA's driver (580 or newer) is all that it needs.

    ./run               runs everything, prints a table, writes report.json here
    ./run --help        says what else there is
    ./run --sanitize    runs a part of it under compute-sanitizer, which has to be in PATH

It ends with 0 if all is right, 1 if something is wrong, 2 if it was called wrongly, 3 if there is no GPU.
";

/// Builds the program and copies it.
fn program(folder: &Path, machine: &Machine, progress: &Progress) -> Result<()> {
    let step = progress.step("Compiling the program");
    let cargo = machine.var("CARGO").unwrap_or("cargo".as_ref());
    let build = ["build", "--quiet", "--release", "--package", "host-tests", "--bin", "gpu-suite", "--target-dir"];
    Command::new(cargo).args(build).arg(machine.target()).dir(&machine.repository).run()?;
    drop(step);
    let built = machine.target().join("release/gpu-suite");
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

/// The newest version of the C library that a program names.
pub fn newest_glibc(program: &[u8]) -> (u32, u32) {
    let version = regex::bytes::Regex::new(r"GLIBC_(\d+)\.(\d+)").expect("the pattern is valid");
    let number = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX);
    version.captures_iter(program).map(|found| (number(&found[1]), number(&found[2]))).max().unwrap_or_default()
}

fn versions_here(toolchain: &DeviceToolchain, tools: &CudaTools) -> Result<Versions> {
    let git = |arguments: &[&str]| Command::new("git").args(arguments).dir(&toolchain.machine().repository).run();
    let commit = git(&["rev-parse", "HEAD"]).map(|finished| finished.stdout.trim().to_owned());
    let changed = git(&["status", "--porcelain"]).is_ok_and(|finished| !finished.stdout.trim().is_empty());
    let commit = commit.unwrap_or_else(|_| "unknown".into()) + if changed { "-changed" } else { "" };
    let (major, minor) = tools.release;
    Ok(Versions {
        ptx_intrinsics: env!("CARGO_PKG_VERSION").to_owned(),
        commit,
        rustc: toolchain.version.clone(),
        ptxas: format!("{major}.{minor}"),
    })
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
