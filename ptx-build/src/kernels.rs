//! What a build script calls: [`kernels`](crate::kernels()).

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Command, Machine};
use crate::cuda_tools::installed_assembler;
use crate::device_build::DeviceBuild;
use crate::error::{Error, Result};
use crate::files::write_whole;
use crate::launch_bounds;
use crate::ptx::Module;
use crate::ptxas::{Assembler, Rejected};
use crate::resources::{Frame, Resources};
use crate::target::{KNOWN_SMS, PtxVersion, Sm};
use crate::toolchain::{DeviceToolchain, ROUTE_VARIABLE};

/// A crate of kernels, to be compiled for some GPUs. Made by [`kernels`](crate::kernels()).
#[derive(Clone, Debug)]
#[must_use = "nothing is compiled before `build`"]
pub struct Kernels {
    folder: PathBuf,
    targets: BTreeSet<Sm>,
    ptx: Option<u32>,
    features: Vec<String>,
    registers: bool,
    lines: bool,
}

/// A crate of kernels in this folder; a relative one begins at the package whose build script this is.
///
/// ```no_run
/// // In build.rs:
/// ptx_build::kernels("../kernels").sm(80).sm(90).ptx_isa(80).build();
/// ```
///
/// In the program, `include!(concat!(env!("OUT_DIR"), "/kernels.rs"));` brings `IMAGES`, the PTX for each GPU with the SM
/// that it needs, the oldest first, and `image(sm)`, the PTX for a GPU: the newest that it runs. The file of an image is in
/// `OUT_DIR` too, and in the variable `KERNELS_SM_80`.
///
/// The crate of kernels is an ordinary library. It needs no `crate-type`, no panic handler, and no flags.
pub fn kernels(folder: impl AsRef<Path>) -> Kernels {
    Kernels {
        folder: folder.as_ref().to_owned(),
        targets: BTreeSet::new(),
        ptx: None,
        features: Vec::new(),
        registers: false,
        lines: true,
    }
}

/// PTX for one GPU and those after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The oldest GPU that runs it, 80 for sm_80.
    pub sm: u32,
    /// What it is compiled for. `sm_90a` runs on that GPU alone, `sm_100f` on the later ones of its family, `sm_80` on all later ones.
    pub target: Sm,
    /// Where it is.
    pub ptx: PathBuf,
    /// What cargo shows as warnings: the compiler's, the assembler's, and kernels that use local memory or lack
    /// launch bounds.
    pub warnings: Vec<String>,
}

impl Kernels {
    /// Makes PTX for this GPU, 80 for sm_80. A driver compiles it for newer ones too. May be called more than once.
    pub fn sm(mut self, sm: u32) -> Self {
        self.targets.insert(Sm::new(sm));
        self
    }

    /// Makes PTX for a target with a suffix, such as `sm_90a`: for that GPU alone, and with an `f` for the later ones of its family.
    /// They have instructions that no other target has. Ask for others too, by [`sm`](Kernels::sm): other GPUs run only those.
    ///
    /// # Panics
    /// If there is no such target.
    pub fn target(mut self, target: &str) -> Self {
        let target = target.parse().unwrap_or_else(|error| panic!("build.rs: {error}"));
        self.targets.insert(target);
        self
    }

    /// In this PTX ISA version, 80 for 8.0. Without it, in the version that the compiler takes for the GPU. A driver reads
    /// PTX up to a version of its own: 8.0 needs CUDA 12.0.
    pub fn ptx_isa(mut self, version: u32) -> Self {
        self.ptx = Some(version);
        self
    }

    /// With this cargo feature of the crate of kernels.
    pub fn feature(mut self, feature: impl Into<String>) -> Self {
        self.features.push(feature.into());
        self
    }

    /// Leaves the lines of the source out of the PTX, and the paths of its files. With them, `cargo ptx run` and NVIDIA's tools say where in
    /// the source something is; a call of `ptx-intrinsics` is of the line that calls it.
    pub fn without_lines(mut self) -> Self {
        self.lines = false;
        self
    }

    /// Says how many registers each kernel has, as a warning of cargo's. Spills and arrays in local memory are reported without it.
    pub fn report_registers(mut self) -> Self {
        self.registers = true;
        self
    }

    /// Compiles, and tells cargo what came of it. An error ends the build script.
    pub fn build(self) {
        let (inputs, images) = self.compile();
        let images = images.unwrap_or_else(|error| {
            // cargo shows all that a failed build script printed, and runs it again in any case: the error is alone.
            eprintln!("error: {error}");
            std::process::exit(1);
        });
        inputs.tell();
        for image in &images {
            let name = image.target.to_string().to_uppercase();
            println!("cargo::rustc-env=KERNELS_{name}={}", image.ptx.display());
        }
        // The compiler says the same of a line for each GPU.
        let mut said = BTreeSet::new();
        for warning in images.iter().flat_map(|image| &image.warnings).filter(|warning| said.insert(*warning)) {
            warning.lines().for_each(|line| println!("cargo::warning={line}"));
        }
    }

    /// Compiles, and gives the images, of the oldest GPU first. Tells cargo only of which files they are made.
    pub fn try_build(&self) -> Result<Vec<Image>> {
        let (inputs, images) = self.compile();
        inputs.tell();
        images
    }

    /// The images, and what they are made of, as far as it is known.
    fn compile(&self) -> (Inputs, Result<Vec<Image>>) {
        let mut inputs = Inputs::default();
        let images = self.images(&mut inputs);
        (inputs, images)
    }

    fn images(&self, inputs: &mut Inputs) -> Result<Vec<Image>> {
        let out = folder_of("OUT_DIR")?;
        let folder = folder_of("CARGO_MANIFEST_DIR")?.join(&self.folder);
        if !folder.join("Cargo.toml").is_file() {
            return Err(Error::new("there is no crate of kernels")
                .at(folder.display())
                .fix("name the folder of its Cargo.toml, from the folder of this package's: kernels(\"../kernels\")"));
        }
        if self.targets.is_empty() {
            return Err(Error::new("no GPU is named").at("build.rs").fix("say for which one, such as .sm(80)"));
        }
        let machine = machine(&out);
        let described = describe(&machine, &folder)?;
        let package = Package { name: described["name"].as_str().unwrap_or_default().to_owned(), folder };
        inputs.read(&machine, &package.folder, described)?;
        let target = machine.target();
        std::fs::create_dir_all(&target).map_err(|error| {
            Error::io("create the folder", &target, error).fix("name a folder that may be written to: CARGO_TARGET_DIR")
        })?;
        let toolchain = DeviceToolchain::present_on(&machine)?;
        // Mistakes are reported before anything is compiled.
        for &target in &self.targets {
            let asked = self.ptx.map_or(String::new(), |ptx| format!(".ptx_isa({ptx})"));
            let checked = toolchain.check_target(target, self.ptx.map(PtxVersion::of_number));
            checked.map_err(|error| error.of(format_args!("build.rs asks for {}{asked}", call(target))))?;
        }
        let assembler = installed_assembler(&machine).ok();
        let images: Vec<Image> = self
            .targets
            .iter()
            .map(|&target| self.image(target, &package, &toolchain, assembler.as_ref(), &out))
            .collect::<Result<_>>()?;
        write_whole(&out.join("kernels.rs"), list(&images))?;
        Ok(images)
    }

    fn image(
        &self,
        target: Sm,
        package: &Package,
        toolchain: &DeviceToolchain,
        assembler: Option<&Assembler>,
        out: &Path,
    ) -> Result<Image> {
        let build = DeviceBuild::new(&package.folder, &package.name, target);
        let ptx = self.ptx.map(PtxVersion::of_number);
        let build =
            DeviceBuild { ptx, features: self.features.clone(), by_build_script: true, lines: self.lines, ..build };
        let (made, warnings) = build.build_quietly(toolchain).map_err(|error| raise(error, &build, toolchain))?;
        let text = std::fs::read_to_string(&made).map_err(|error| Error::io("read", &made, error))?;
        let file = out.join(format!("{}.{target}.ptx", package.name));
        write_whole(&file, &text)?;
        // An empty line is between two of the compiler's.
        let warnings = warnings.split("\n\n").filter(|warning| !warning.trim().is_empty());
        let mut warnings: Vec<String> = warnings.map(str::to_owned).collect();
        let frames = Frame::of_module(&Module::parse(&text)?);
        warnings.extend(self.resources(assembler, &file, &text, build.sm, frames)?);
        Ok(Image { sm: target.number, target, ptx: file, warnings })
    }

    /// What is to be said of registers, spills, arrays in local memory and loads in flight, and the assembler's warnings; a refusal is an error.
    fn resources(
        &self,
        assembler: Option<&Assembler>,
        ptx: &Path,
        text: &str,
        sm: Sm,
        mut frames: Vec<Frame>,
    ) -> Result<Vec<String>> {
        let mut said = Vec::new();
        if let Some(assembler) = assembler
            && assembler.supported_sms()?.contains(&sm)
        {
            let assembled = assembler.clone().option("-v").assemble(ptx, sm, &ptx.with_extension("cubin"))?;
            let cubin = assembled.map_err(|refused| refusal(assembler, &refused))?;
            let kernels = Resources::read(&cubin.printed);
            said.extend(kernels.iter().filter(|kernel| self.registers || kernel.spilled > 0).map(Resources::message));
            frames = frames.into_iter().filter_map(|frame| frame.assembled(&kernels)).collect();
            let warned = cubin.printed.lines().filter_map(|line| line.strip_prefix("ptxas warning : "));
            said.extend(warned.map(str::to_owned));
            said.extend(launch_bounds::warnings(assembler, text, &cubin)?);
        }
        said.extend(frames.iter().map(Frame::message));
        Ok(said.into_iter().map(|text| format!("{sm}: {text}")).collect())
    }
}

/// Says how a build script asks for the target that the kernels need: the newest GPU and PTX ISA version of those that the
/// compiler's messages name.
fn raise(error: Error, build: &DeviceBuild, toolchain: &DeviceToolchain) -> Error {
    let said = error.to_string();
    let newest = |before: &str| {
        let numbers = said.split(before).skip(1);
        numbers.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()).max()
    };
    let (sm, ptx) = (newest(" needs sm_"), newest("PTX ISA ptx").map(PtxVersion::of_number));
    // What needs a target with a suffix says how to ask for it.
    if said.contains(" needs the target ") {
        return error
            .fix("or leave it out where the target lacks it, by #[cfg(…)] or a feature of the crate of kernels");
    }
    if sm.is_none() && ptx.is_none() {
        return error;
    }
    let sm = build.sm.max(Sm::new(sm.unwrap_or_default()));
    let least = toolchain.default_ptx(sm);
    let emitted = build.ptx.map_or(least, |ptx| ptx.max(least));
    let call =
        ptx.filter(|needed| *needed > emitted).map_or(String::new(), |ptx| format!(".ptx_isa({})", ptx.number()));
    error.fix(format_args!("or ask for a target that has it, in build.rs: .sm({}){call}", sm.number))
}

/// How a build script asks for a target.
fn call(target: Sm) -> String {
    if target.suffix.is_some() { format!(".target(\"{target}\")") } else { format!(".sm({})", target.number) }
}

/// What the user reads if the assembler of an installed toolkit refuses the kernels.
fn refusal(assembler: &Assembler, refused: &Rejected) -> Error {
    let said: Vec<&str> = refused.messages.iter().map(|message| message.text.as_str()).collect();
    let too_much = said.iter().any(|text| text.contains("too much shared data"));
    let error = Error::new(refused).at(assembler.path().display());
    match too_much {
        true => error.fix("hold less in shared!, or take dynamic_shared, whose size the launch says"),
        false => error.fix("correct the kernel that it names, or ask for another .sm(…) or .ptx_isa(…) in build.rs"),
    }
}

/// A folder that cargo names to build scripts.
fn folder_of(variable: &str) -> Result<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).ok_or_else(|| {
        Error::new(format_args!("{variable} is not set")).fix("call this in a build script: cargo sets it there")
    })
}

/// This machine, with a folder of its own for what is compiled.
fn machine(out: &Path) -> Machine {
    let mut machine = Machine { repository: out.join("device"), ..Machine::current() };
    // It says what a check on the host is for, and the images say themselves.
    machine.vars.remove("PTX_INTRINSICS_TARGET".as_ref() as &std::ffi::OsStr);
    machine
}

/// A crate of kernels as cargo describes it.
struct Package {
    name: String,
    folder: PathBuf,
}

/// What cargo says of the package in this folder.
fn describe(machine: &Machine, folder: &Path) -> Result<Value> {
    let manifest = folder.join("Cargo.toml");
    let cargo = machine.var("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
    let metadata: Command = machine.command(cargo).args(["metadata", "--no-deps", "--format-version", "1"]);
    let finished = metadata.arg("--manifest-path").arg(&manifest).run()?;
    let all: Value = serde_json::from_str(&finished.stdout).map_err(Error::new)?;
    let packages = all["packages"].as_array().cloned().unwrap_or_default();
    let manifest = manifest.canonicalize().map_err(|error| Error::io("find", &manifest, error))?;
    let is_it = |package: &Value| package["manifest_path"].as_str().map(Path::new) == Some(manifest.as_path());
    packages.into_iter().find(is_it).ok_or_else(|| {
        Error::new("this is a workspace and no package").at(folder.display()).fix("name the folder of a package in it")
    })
}

/// The files that the images are made of: those of the crate and of all that it takes from this disk.
#[derive(Default)]
struct Inputs(Vec<PathBuf>);

impl Inputs {
    fn read(&mut self, machine: &Machine, folder: &Path, described: Value) -> Result<()> {
        let mut seen = BTreeSet::from([folder.to_owned()]);
        let mut next = vec![(folder.to_owned(), described)];
        while let Some((folder, package)) = next.pop() {
            let parts = ["Cargo.toml", "build.rs", "src"].map(|part| folder.join(part));
            self.0.extend(parts.into_iter().filter(|part| part.exists()));
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            for path in dependencies.filter_map(|dependency| dependency["path"].as_str()).map(PathBuf::from) {
                if seen.insert(path.clone()) {
                    let described = describe(machine, &path)?;
                    next.push((path, described));
                }
            }
        }
        Ok(())
    }

    /// Has cargo run the build script again when they change.
    fn tell(&self) {
        for variable in [ROUTE_VARIABLE, "RUSTUP_TOOLCHAIN", "CUDA_HOME", "CUDA_PATH"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        println!("cargo::rerun-if-changed=build.rs");
        for file in &self.0 {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
}

/// The Rust that a program includes.
fn list(images: &[Image]) -> String {
    let mut text = String::from(
        "/// The kernels' PTX, each with the oldest GPU that runs it, 80 for sm_80; the oldest first.\n\
         pub static IMAGES: &[(u32, &str)] = &[\n",
    );
    let (plain, named): (Vec<&Image>, Vec<&Image>) = images.iter().partition(|image| image.target.suffix.is_none());
    for Image { sm, ptx, .. } in plain {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    ({sm}, include_str!({:?})),", ptx.display().to_string());
    }
    text += "];\n\n/// The PTX for a GPU, 86 for sm_86: the newest that it runs.\n#[allow(dead_code)]\n\
             pub fn image(sm: u32) -> Option<&'static str> {\n";
    if !named.is_empty() {
        text += "    #[allow(unreachable_patterns)]\n    match sm {\n";
        // What is for one GPU alone comes before what is for its family.
        for suffix in ['a', 'f'] {
            for Image { target, ptx, .. } in named.iter().rev().filter(|image| image.target.suffix == Some(suffix)) {
                let gpus = KNOWN_SMS.iter().filter(|gpu| gpu.suffix.is_none() && target.runs_on(gpu.number));
                let gpus: Vec<String> = gpus.map(|gpu| gpu.number.to_string()).collect();
                let ptx = ptx.display().to_string();
                let _ = writeln!(text, "        {} => return Some(include_str!({ptx:?})),", gpus.join(" | "));
            }
        }
        text += "        _ => {}\n    }\n";
    }
    text += "    IMAGES.iter().rev().find(|(oldest, _)| *oldest <= sm).map(|(_, ptx)| *ptx)\n}\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_the_newest_image_that_runs() {
        let image = |name: &str| {
            let target: Sm = name.parse().unwrap();
            Image { sm: target.number, target, ptx: format!("/out/kernels.{name}.ptx").into(), warnings: Vec::new() }
        };
        let text = list(&[image("sm_80"), image("sm_90")]);
        let expected = "    (80, include_str!(\"/out/kernels.sm_80.ptx\")),\n    (90, include_str!(\"/out/kernels.sm_90.ptx\")),\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn what_is_for_one_gpu_alone_comes_before_what_is_for_its_family() {
        let image = |name: &str| {
            let target: Sm = name.parse().unwrap();
            Image { sm: target.number, target, ptx: format!("/{name}").into(), warnings: Vec::new() }
        };
        let text = list(&["sm_80", "sm_90a", "sm_100a", "sm_100f"].map(image));
        let expected = "    match sm {\n        100 => return Some(include_str!(\"/sm_100a\")),\n        \
                        90 => return Some(include_str!(\"/sm_90a\")),\n        \
                        100 | 103 | 107 => return Some(include_str!(\"/sm_100f\")),\n        _ => {}\n    }\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("IMAGES: &[(u32, &str)] = &[\n    (80, include_str!(\"/sm_80\")),\n];"), "{text}");
    }
}
