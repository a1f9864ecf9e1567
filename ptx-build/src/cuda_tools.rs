//! NVIDIA's assembler and disassembler: those of an installed CUDA toolkit, else those of NVIDIA's wheels on PyPI.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::command::{Command, Machine};
use crate::error::{Error, Result};
use crate::nvcc::Nvcc;
use crate::progress::Progress;
use crate::ptxas::{Assembler, On};
use crate::target::{Release, Sm};

/// One wheel on PyPI.
#[derive(Debug)]
pub struct Wheel {
    /// Its name there.
    pub name: &'static str,
    /// The version to ask pip for.
    pub version: &'static str,
    /// What its file has to be: for x86-64, for 64-bit Arm.
    pub sha256: &'static [&'static str],
    /// A file that it must bring.
    pub file: &'static str,
}

/// Wheels that are unpacked into one folder, because their programs look for each other there.
#[derive(Debug)]
pub struct WheelSet {
    /// The folder, under `target/cuda`.
    pub folder: &'static str,
    /// What goes into it.
    pub wheels: &'static [Wheel],
    /// Whether only the files that are named are kept.
    pub pruned: bool,
}

/// CUDA 13: the assembler and the disassembler of sm_75 and later.
pub const CUDA_13: WheelSet = WheelSet {
    folder: "13.5",
    wheels: &[
        Wheel {
            name: "nvidia-cuda-nvcc",
            version: "13.5.37",
            sha256: &[
                "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
                "588eda18eb5076ae859fe272844b526459228af22df0b117f54eec3aa82bc9c8",
            ],
            file: "nvidia/cu13/bin/ptxas",
        },
        Wheel {
            name: "nvidia-cuda-nvdisasm",
            version: "13.5.37",
            sha256: &[
                "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca",
                "a3a8248074edb9fba63b74c38a5416b712a91ab09e70b8ab37186c3d293fc605",
            ],
            file: "nvidia/cu13/bin/nvdisasm",
        },
    ],
    pruned: false,
};

/// CUDA 13.0: what every driver of CUDA 13 was made for.
pub const CUDA_13_0: WheelSet = WheelSet {
    folder: "13.0",
    wheels: &[Wheel {
        name: "nvidia-cuda-nvcc",
        version: "13.0.88",
        sha256: &[
            "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
            "c7ff28f86a24effdc6c034fa15230c549a273e4771b10a7fec14996f8cf3307f",
        ],
        file: "nvidia/cu13/bin/ptxas",
    }],
    pruned: true,
};

/// The first release of CUDA 13.
pub const FIRST_13: Release = (13, 0);

/// CUDA 12: the last assembler of sm_50 to sm_72.
pub const CUDA_12: WheelSet = WheelSet {
    folder: "12.9",
    wheels: &[Wheel {
        name: "nvidia-cuda-nvcc-cu12",
        version: "12.9.86",
        sha256: &[
            "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0",
            "44e1eca4d08926193a558d2434b1bf83d57b4d5743e0c431c0c83d51da1df62b",
        ],
        file: "nvidia/cuda_nvcc/bin/ptxas",
    }],
    pruned: false,
};

/// The compiler of CUDA C++, with the headers that it includes by itself.
pub const CUDA_13_COMPILER: WheelSet = WheelSet {
    folder: "13.5-compiler",
    wheels: &[
        Wheel {
            name: "nvidia-cuda-nvcc",
            version: "13.5.37",
            sha256: &[
                "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
                "588eda18eb5076ae859fe272844b526459228af22df0b117f54eec3aa82bc9c8",
            ],
            file: NVCC,
        },
        Wheel {
            name: "nvidia-nvvm",
            version: "13.5.37",
            sha256: &[
                "c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070",
                "b659bd3115b7ac7ec8931e67d0e2c0dd09cd35b08a6a7372df6f8f22c67da80a",
            ],
            file: "nvidia/cu13/nvvm/bin/cicc",
        },
        Wheel {
            name: "nvidia-cuda-crt",
            version: "13.5.37",
            sha256: &[
                "e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29",
                "9ed2c565fdf3244fa6719769a80a466b85bfd4b1467ea339353bc91c971d09e0",
            ],
            file: "nvidia/cu13/include/crt/host_config.h",
        },
        Wheel {
            name: "nvidia-cuda-runtime",
            version: "13.5.37",
            sha256: &[
                "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
                "de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d",
            ],
            file: "nvidia/cu13/include/cuda_runtime.h",
        },
    ],
    pruned: false,
};

const NVCC: &str = "nvidia/cu13/bin/nvcc";

/// The tools, found and known to run.
#[derive(Clone, Debug)]
pub struct CudaTools {
    /// The assembler.
    pub ptxas: PathBuf,
    /// The disassembler.
    pub nvdisasm: PathBuf,
    /// The release of both.
    pub release: Release,
    machine: Machine,
}

impl CudaTools {
    /// Looks in `$CUDA_HOME/bin`, `$CUDA_PATH/bin` and `PATH`, then in `target/cuda`, and fills the latter if need be.
    pub fn find(progress: &Progress) -> Result<CudaTools> {
        CudaTools::find_on(&Machine::current(), progress)
    }

    /// As [`CudaTools::find`], on a given machine.
    pub fn find_on(machine: &Machine, progress: &Progress) -> Result<CudaTools> {
        for (origin, folder) in toolkits(machine) {
            let [ptxas, nvdisasm] = [folder.join("ptxas"), folder.join("nvdisasm")];
            if !(ptxas.exists() && nvdisasm.exists()) {
                continue;
            }
            let advice = format!("repair that toolkit, or take it out of {origin}: the tools are then downloaded");
            let found = [("ptxas", &ptxas), ("nvdisasm", &nvdisasm)].map(|(name, file)| release(machine, name, file));
            let [assembler, disassembler] = found;
            let release = assembler.and_then(|one| Ok(one.min(disassembler?))).map_err(|error| error.fix(advice))?;
            if release.0 >= 13 {
                return Ok(CudaTools { ptxas, nvdisasm, release, machine: machine.clone() });
            }
            let (major, minor) = release;
            progress.note(&format!("Passing over CUDA {major}.{minor} in {}: 13 is needed", folder.display()));
        }
        let folder = CUDA_13.provide(machine, progress)?;
        let [ptxas, nvdisasm] = [0, 1].map(|at| folder.join(CUDA_13.wheels[at].file));
        let release = release_of_wheel(machine, "ptxas", &ptxas, &folder, 13)?;
        release_of_wheel(machine, "nvdisasm", &nvdisasm, &folder, 13)?;
        Ok(CudaTools { ptxas, nvdisasm, release, machine: machine.clone() })
    }

    /// CUDA 12's ptxas, which is downloaded when first asked for.
    pub fn ptxas12(&self, progress: &Progress) -> Result<PathBuf> {
        let folder = CUDA_12.provide(&self.machine, progress)?;
        let ptxas = folder.join(CUDA_12.wheels[0].file);
        release_of_wheel(&self.machine, "ptxas", &ptxas, &folder, 12)?;
        Ok(ptxas)
    }

    /// The compiler of CUDA C++: that of the toolkit if it is whole, else it is downloaded when first asked for.
    pub fn nvcc(&self, progress: &Progress) -> Result<Nvcc> {
        if self.machine.which("g++").is_none() {
            return Err(Error::new("nvcc cannot read CUDA C++ without a g++ for its preprocessor")
                .at("PATH")
                .fix("install it (on Debian: apt-get install g++)"));
        }
        let toolkit = self.ptxas.ancestors().nth(2).unwrap_or(Path::new("/"));
        let parts = ["bin/nvcc", "nvvm/bin/cicc", "include/crt/host_config.h", "include/cuda_runtime.h"];
        let path = if parts.iter().all(|part| toolkit.join(part).is_file()) {
            toolkit.join(parts[0])
        } else {
            CUDA_13_COMPILER.provide(&self.machine, progress)?.join(NVCC)
        };
        let advice = "point CUDA_HOME at a whole CUDA 13 toolkit, or unset it: the compiler is then downloaded";
        let release = release(&self.machine, "nvcc", &path).map_err(|error| error.fix(advice))?;
        Ok(Nvcc { path, release, machine: self.machine.clone() })
    }

    /// Every GPU and its assembler: today's, and CUDA 12's for those that it dropped.
    pub fn every_gpu(&self, progress: &Progress) -> Result<Vec<On>> {
        On::every(Assembler::new(&self.ptxas), Assembler::new(self.ptxas12(progress)?))
    }

    /// Every target of today's assembler that has a suffix: `sm_90a`, `sm_100f`.
    pub fn every_suffix(&self) -> Result<Vec<On>> {
        On::suffixed(&Assembler::new(&self.ptxas))
    }

    /// The assembler that knows `sm`.
    pub fn assembler(&self, sm: Sm, progress: &Progress) -> Result<Assembler> {
        let current = Assembler::new(&self.ptxas);
        if current.supported_sms()?.contains(&sm) {
            return Ok(current);
        }
        let older = Assembler::new(self.ptxas12(progress)?);
        let known = older.supported_sms()?;
        if known.contains(&sm) {
            return Ok(older);
        }
        Err(Error::new(format_args!("neither CUDA {}.{} nor 12.9 assembles for {sm}", self.release.0, self.release.1))
            .at(self.ptxas.display())
            .fix("pick another GPU, or point CUDA_HOME at a toolkit that knows this one"))
    }
}

impl WheelSet {
    /// The folder with these wheels unpacked in it, downloaded if it is not there yet.
    pub fn provide(&self, machine: &Machine, progress: &Progress) -> Result<PathBuf> {
        if let Some(folder) = self.provided(machine) {
            return Ok(folder);
        }
        let home = machine.target().join("cuda");
        let folder = home.join(self.folder);
        fs::create_dir_all(&home).map_err(|error| Error::io("create the folder", &home, error))?;
        let _lock = lock(&home.join("lock"), progress)?;
        // Another process may have been at it while this one waited.
        if !self.is_complete(&folder) {
            sweep(&home, self.folder)?;
            self.install(machine, &home, progress)?;
        }
        Ok(folder)
    }

    /// The folder, if these wheels were unpacked in it before.
    pub fn provided(&self, machine: &Machine) -> Option<PathBuf> {
        Some(machine.target().join("cuda").join(self.folder)).filter(|folder| self.is_complete(folder))
    }

    /// Whether `folder` has the stamp of exactly these wheels, which is written last, and their files.
    fn is_complete(&self, folder: &Path) -> bool {
        let stamped = fs::read_to_string(folder.join("stamp")).is_ok_and(|stamp| stamp == self.stamp());
        stamped && self.wheels.iter().all(|wheel| folder.join(wheel.file).is_file())
    }

    fn stamp(&self) -> String {
        self.requirements().iter().map(|wheel| format!("{wheel}\n")).collect()
    }

    /// The wheels with what their files have to be, as pip reads it.
    fn pinned(&self) -> String {
        let hashes =
            |wheel: &Wheel| wheel.sha256.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect::<String>();
        self.wheels.iter().map(|wheel| format!("{}=={}{}\n", wheel.name, wheel.version, hashes(wheel))).collect()
    }

    fn requirements(&self) -> Vec<String> {
        self.wheels.iter().map(|wheel| format!("{}=={}", wheel.name, wheel.version)).collect()
    }

    /// Unpacks into a temporary beside the folder and renames it, so that an interrupted install leaves no folder.
    fn install(&self, machine: &Machine, home: &Path, progress: &Progress) -> Result<()> {
        let folder = home.join(self.folder);
        let pip = pip(machine)?;
        let wanted = self.requirements();
        progress.note(&format!("Installing {} from PyPI into {}", wanted.join(" "), folder.display()));
        let fresh = tempfile::Builder::new().prefix(&temporary(self.folder)).tempdir_in(home);
        let fresh = fresh.map_err(|error| Error::io("create a folder in", home, error))?;
        crate::command::catch_interrupts();
        {
            let _step = progress.step(format!("pip install {}", wanted.join(" ")));
            let (unpacked, scratch) = (fresh.path().join("unpacked"), fresh.path().join("scratch"));
            fs::create_dir(&scratch).map_err(|error| Error::io("create the folder", &scratch, error))?;
            let pinned = fresh.path().join("requirements.txt");
            fs::write(&pinned, self.pinned()).map_err(|error| Error::io("write", &pinned, error))?;
            let install = pip
                .args(PIP_INSTALL)
                .arg(&unpacked)
                .args(["--require-hashes", "--requirement"])
                .arg(&pinned)
                .env("TMPDIR", &scratch)
                .env("PIP_USER", "0");
            install.run().map_err(|error| {
                if error.to_string().contains("DO NOT MATCH THE HASHES") {
                    return Error::new("a wheel is not the file that was pinned, so nothing is installed")
                        .at(wanted.join(" "))
                        .because(error)
                        .fix("see whether a proxy or mirror changes files: pip config list")
                        .fix("or install NVIDIA's CUDA toolkit 13 and set CUDA_HOME to its folder");
                }
                error
                    .fix("check the network, and pip's settings if a proxy or mirror is needed: pip config list")
                    .fix("or install NVIDIA's CUDA toolkit 13 and set CUDA_HOME to its folder")
            })?;
        }
        let unpacked = fresh.path().join("unpacked");
        for wheel in self.wheels {
            let file = unpacked.join(wheel.file);
            if !file.is_file() {
                return Err(Error::new(format_args!("the wheel {}=={} lacks a file", wheel.name, wheel.version))
                    .at(wheel.file)
                    .fix("install NVIDIA's CUDA toolkit 13 and set CUDA_HOME to its folder"));
            }
        }
        let unpacked = if self.pruned { self.prune(fresh.path(), &unpacked)? } else { unpacked };
        let stamp = unpacked.join("stamp");
        fs::write(&stamp, self.stamp()).map_err(|error| Error::io("write", &stamp, error))?;
        fs::rename(&unpacked, &folder).map_err(|error| Error::io("rename the new folder to", &folder, error))
    }
}

impl WheelSet {
    /// Moves the files that are named into a folder of their own.
    fn prune(&self, fresh: &Path, unpacked: &Path) -> Result<PathBuf> {
        let pruned = fresh.join("pruned");
        for wheel in self.wheels {
            let file = pruned.join(wheel.file);
            let folder = file.parent().unwrap_or(&pruned);
            fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
            fs::rename(unpacked.join(wheel.file), &file).map_err(|error| Error::io("move to", &file, error))?;
        }
        Ok(pruned)
    }
}

const PIP_INSTALL: [&str; 11] = [
    "install",
    "--no-deps",
    "--no-compile",
    "--only-binary=:all:",
    "--disable-pip-version-check",
    "--no-input",
    "--retries=2",
    "--progress-bar=off",
    "--quiet",
    "--root-user-action=ignore",
    "--target",
];

/// The assembler of an installed toolkit that is CUDA 13 or newer, if there is one; else why those that are there were passed
/// over. Nothing is downloaded.
pub fn installed_assembler(machine: &Machine) -> Result<Assembler, Vec<String>> {
    let mut passed_over = Vec::new();
    for (origin, folder) in toolkits(machine) {
        let ptxas = folder.join("ptxas");
        if !ptxas.is_file() {
            if origin != "PATH" {
                passed_over.push(format!("{origin}: there is no ptxas in {}", folder.display()));
            }
            continue;
        }
        match release(machine, "ptxas", &ptxas) {
            Ok((13.., _)) => return Ok(Assembler::new(ptxas)),
            Ok((major, minor)) => passed_over.push(format!("{} is of CUDA {major}.{minor}", ptxas.display())),
            Err(error) => passed_over.push(error.to_string()),
        }
    }
    Err(passed_over)
}

/// The folders that may hold a toolkit's programs, each with the variable that names it.
fn toolkits(machine: &Machine) -> Vec<(&'static str, PathBuf)> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter();
    let named = named.filter_map(|name| Some((name, Path::new(machine.var(name)?).join("bin"))));
    named.chain(machine.path().into_iter().map(|folder| ("PATH", folder))).collect()
}

/// The first pip that answers.
fn pip(machine: &Machine) -> Result<Command> {
    let ways: [&[&str]; 4] = [&["python3", "-m", "pip"], &["pip3"], &["pip"], &["python", "-m", "pip"]];
    for way in ways {
        let Some(program) = machine.which(way[0]) else {
            continue;
        };
        // pip asks `rustc` for its version and kills it after half a second. A rustup that began to install something then
        // would leave a toolchain half done.
        let command = || machine.command(&program).args(&way[1..]).env("RUSTUP_AUTO_INSTALL", "0");
        if command().arg("--version").run().is_ok() {
            return Ok(command());
        }
    }
    Err(Error::new("the CUDA tools are not installed, and there is no pip to download them with")
        .at("PATH, where python3, pip3, pip and python were tried")
        .fix("install pip (on Debian: apt-get install python3-pip)")
        .fix("or install NVIDIA's CUDA toolkit 13 and set CUDA_HOME to its folder"))
}

/// Waits until no other process installs. The lock goes with the file handle, so a killed process leaves none.
fn lock(path: &Path, progress: &Progress) -> Result<File> {
    let failed = |error| Error::io("lock", path, error);
    let file = File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
        Err(TryLockError::WouldBlock) => {}
    }
    let _step = progress.step(format!("waiting for the process that holds {}", path.display()));
    file.lock().map_err(failed)?;
    Ok(file)
}

fn temporary(folder: &str) -> String {
    format!(".new-{folder}-")
}

/// Removes what a killed install left, and a folder that is not what it should be.
fn sweep(home: &Path, folder: &str) -> Result<()> {
    let failed = |error| Error::io("clean up", home, error);
    for entry in fs::read_dir(home).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == folder || name.starts_with(&temporary(folder)) {
            fs::remove_dir_all(&path).map_err(|error| Error::io("remove", &path, error))?;
        }
    }
    Ok(())
}

fn release_of_wheel(machine: &Machine, name: &str, file: &Path, folder: &Path, major: u32) -> Result<Release> {
    let advice = format!("delete {} and run this again; or set CUDA_HOME to a CUDA 13 toolkit", folder.display());
    let found = release(machine, name, file).and_then(|found| {
        if found.0 == major {
            return Ok(found);
        }
        let said = format!("it is of CUDA {}.{}, not {major}", found.0, found.1);
        Err(Error::new(format_args!("{name} has the wrong version: {said}")).at(file.display()))
    });
    found.map_err(|error| error.fix(advice))
}

/// Runs the tool, which proves that it works, and reads its release.
fn release(machine: &Machine, name: &str, file: &Path) -> Result<Release> {
    let broken = |what: &str| Error::new(format_args!("{name} does not work: {what}")).at(file.display());
    let finished =
        machine.command(file).arg("--version").limited()?.finish().map_err(|error| broken(&error.to_string()))?;
    let printed = format!("{}{}", finished.stdout, finished.stderr);
    if !finished.status.success() {
        return Err(broken(&format!("it {}", finished.ending())).because(crate::command::tail(&printed)));
    }
    let pattern = Regex::new(r"(?s)^(\w+): NVIDIA.* release (\d+)\.(\d+),").expect("the pattern is valid");
    let parts = pattern.captures(&printed).filter(|parts| &parts[1] == name);
    let parts = parts.and_then(|parts| Some((parts[2].parse().ok()?, parts[3].parse().ok()?)));
    parts.ok_or_else(|| {
        broken("asked for its version, it printed something else").because(crate::command::tail(&printed))
    })
}
