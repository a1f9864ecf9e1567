//! `cargo ptx doctor`.

use std::fmt::Write;
use std::process::ExitCode;

use console::style;
use ptx_build::command::Machine;
use ptx_build::cuda_tools::installed_assembler;
use ptx_build::error::{Error, Result};
use ptx_build::program::print;
use ptx_build::toolchain::DeviceToolchain;

#[derive(clap::Args)]
pub(crate) struct Doctor {}

/// The oldest Rust that compiles the program beside the kernels, 1.95: that of ptx-build.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Something that is looked for, and what was found.
struct Finding {
    what: &'static str,
    /// Whether kernels cannot be compiled, and run on the CPU, without it.
    needed: bool,
    found: Result<String>,
}

impl Doctor {
    /// Ends with 1 if something is missing that is needed.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let findings = examine();
        let lacks = findings.iter().any(|finding| finding.needed && finding.found.is_err());
        let mut page: String = findings.iter().map(|finding| finding.text() + "\n").collect();
        page += match lacks {
            true => "\nKernels cannot be built here yet.\n",
            false => "\nKernels can be built here, and run on the CPU.\n",
        };
        print(&page)?;
        Ok(ExitCode::from(u8::from(lacks)))
    }
}

/// What is needed and not there, and how it is brought; empty if nothing is.
pub(crate) fn missing() -> String {
    let lacking = examine().into_iter().filter(|finding| finding.needed && finding.found.is_err());
    lacking.fold(String::new(), |mut text, finding| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", finding.text());
        text
    })
}

impl Finding {
    fn text(&self) -> String {
        let Finding { what, needed, found } = self;
        match found {
            Ok(found) => format!("{}  {what}: {found}", style("found   ").green()),
            Err(error) if *needed => format!("{}  {what}: {error}", style("MISSING ").red().bold()),
            Err(error) => format!("{}  {what}: {error}", style("not here").yellow()),
        }
    }
}

fn examine() -> Vec<Finding> {
    let mut machine = Machine::current();
    // Which toolchain is active depends on the folder.
    if let Ok(here) = std::env::current_dir() {
        machine.repository = here;
    }
    let toolchain = DeviceToolchain::present_on(&machine);
    vec![
        Finding { what: "Rust for the host", needed: true, found: host_compiler(&machine) },
        Finding {
            what: "Rust for the GPU",
            needed: true,
            found: toolchain.map(|toolchain| format!("{} at {}", toolchain.version, toolchain.rustc.display())),
        },
        Finding { what: "linker", needed: true, found: linker(&machine) },
        Finding { what: "NVIDIA's assembler", needed: false, found: assembler(&machine) },
        Finding {
            what: "GPU",
            needed: false,
            found: ptx_driver::gpu().map(|gpu| format!("{} (sm_{})", gpu.name, gpu.sm)).map_err(Error::new),
        },
    ]
}

fn host_compiler(machine: &Machine) -> Result<String> {
    let ask = machine.command("rustc").arg("--version").dir(&machine.repository).env("RUSTUP_AUTO_INSTALL", "0");
    let version = ask.run()?.stdout.trim().to_owned();
    let minor = |version: &str| version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    if minor(&version) < minor(OLDEST) {
        return Err(Error::new(format_args!("{version} is older than {OLDEST}")).at("PATH").fix("rustup update"));
    }
    Ok(version)
}

fn linker(machine: &Machine) -> Result<String> {
    let cc = machine.which("cc").ok_or_else(|| {
        Error::new("there is no `cc`, which rustc links programs with")
            .at("PATH")
            .fix("apt-get install gcc (on Debian), or set a linker in ~/.cargo/config.toml")
    })?;
    Ok(cc.display().to_string())
}

fn assembler(machine: &Machine) -> Result<String> {
    let assembler = installed_assembler(machine).map_err(|passed_over| {
        Error::new(
            "no CUDA toolkit of 13 or later, so what it refuses shows when the kernels are loaded, and spills do not",
        )
        .at("CUDA_HOME, CUDA_PATH and PATH")
        .because(passed_over.join("\n"))
        .fix("if you want that at each build, install NVIDIA's CUDA toolkit, and set CUDA_HOME to its folder")
        .fix("or only its assembler: pip install --no-deps --target=cuda nvidia-cuda-nvcc && export CUDA_HOME=$PWD/cuda/nvidia/cu13")
    })?;
    Ok(assembler.path().display().to_string())
}
