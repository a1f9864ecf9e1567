//! What a user gets: the packages, and projects that are built from them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use host_tests::tools::command::Machine;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::files::write_whole;
use host_tests::tools::program::print;
use serde_json::Value;

use super::call::Cargo;

/// The crates that are published, each before those that depend on it.
pub(super) const PUBLISHED: [&str; 9] = [
    "ptx-cuda-oxide",
    "ptx-intrinsics",
    "ptx-driver",
    "ptx-kernel",
    "ptx-interpreter",
    "ptx-sass",
    "ptx-audit",
    "ptx-gpu",
    "ptx-build",
];

/// A test that adds up a million elements on the CPU, and fails if that takes two seconds.
const REDUCTION: &str = include_str!("reduction.rs.txt");

/// The projects under `examples/`.
const EXAMPLES: [&str; 2] = ["stream", "tiles"];

/// Packages the crates, unpacks them, and builds and runs what depends on them: the examples, and a project that
/// `cargo ptx new` of the package makes.
pub(super) fn run(machine: &Machine) -> Result<()> {
    // Far from this repository, whose settings cargo would find above the projects.
    let temporary =
        tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    let home = temporary.path().canonicalize().map_err(|error| Error::io("find", temporary.path(), error))?;
    let crates = package(machine, &home)?;
    let patch = |name: &str| format!("{name} = {{ path = {} }}\n", Value::from(text(&of(name, &crates))));
    // Above the projects: what they name by version is taken from there, by cargo and by the cargo that ptx-build calls.
    write_whole(&home.join(".cargo/config.toml"), format!("[patch.crates-io]\n{}", PUBLISHED.map(patch).concat()))?;
    let home = Home { machine, target: home.join("target"), crates };
    // First, while nothing is compiled: what a user waits for.
    let project = home.target.with_file_name("a new project für alle");
    home.lock(&of("ptx-build", &home.crates))?;
    let made = seconds(|| home.cargo_ptx(&home.crates).words("new").arg(&project).run())?;
    let [run, run_again, test, test_again] = home.try_out(&project)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    print(&format!(
        "A new project on {cores} cores, nothing compiled: cargo ptx new {made:.1} s, cargo run {run:.1} s, \
         cargo test {test:.1} s; again, cargo run {run_again:.1} s, cargo test {test_again:.1} s\n"
    ))?;
    home.reduce(&project)?;
    home.check(&project)?;
    for name in EXAMPLES {
        let project = home.target.with_file_name(name);
        copy(&machine.repository.join("examples").join(name), &project)?;
        home.try_out(&project)?;
    }
    Ok(())
}

/// The crates that the projects, their build scripts and their tests depend on.
const USED: [&str; 5] = ["ptx-intrinsics", "ptx-kernel", "ptx-driver", "ptx-build", "ptx-interpreter"];

/// How long it takes.
fn seconds(what: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    what()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Where a package is, as cargo unpacks those of a registry: none finds another beside it by its name alone.
fn of(name: &str, crates: &Path) -> PathBuf {
    crates.join(format!("{name}-{}", env!("CARGO_PKG_VERSION")))
}

/// The packages, unpacked.
fn package(machine: &Machine, home: &Path) -> Result<PathBuf> {
    let made = machine.target().join("packages");
    // They are compiled below, as what they are for.
    let words = "package --allow-dirty --no-verify --quiet --target-dir";
    let package = Cargo::new(machine, &machine.repository).words(words).arg(&made);
    package.words(&PUBLISHED.map(|name| format!("--package {name}")).join(" ")).run()?;
    let crates = home.join("crates");
    for name in PUBLISHED {
        let folder = of(name, &crates);
        fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", &folder, error))?;
        let file = made.join("package").join(format!("{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        let unpack =
            Command::new("tar").arg("-xzf").arg(&file).args(["--strip-components=1", "-C"]).arg(&folder).status();
        if !unpack.is_ok_and(|status| status.success()) {
            return Err(Error::new("could not unpack a package with tar").at(file.display()).fix("install tar"));
        }
    }
    Ok(crates)
}

/// Where the projects are tried: they share what they compile, and the packages.
struct Home<'m> {
    machine: &'m Machine,
    target: PathBuf,
    crates: PathBuf,
}

impl Home<'_> {
    /// Builds, runs and tests a project, and sees that its crates are those of the packages. Gives how many seconds `cargo run`
    /// takes, again, and `cargo test`, again.
    fn try_out(&self, project: &Path) -> Result<[f64; 4]> {
        self.lock(project)?;
        let cargo = |words: &str| self.cargo(project).words(words);
        let run = || is_right(cargo("run --quiet"), project);
        let test = || cargo("test --quiet").run();
        let times = [seconds(run)?, seconds(run)?, seconds(test)?, seconds(test)?];
        cargo("fmt --all --check").run()?;
        // Of other platforms nothing was downloaded.
        let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let described = cargo("metadata --format-version 1 --offline --filter-platform").arg(platform).output()?;
        let described: Value = serde_json::from_str(&described).map_err(Error::new)?;
        let packages = described["packages"].as_array().cloned().unwrap_or_default();
        for name in USED {
            let from = packages.iter().find(|package| package["name"] == name).map(|package| &package["manifest_path"]);
            if from.and_then(Value::as_str) != Some(&text(&of(name, &self.crates).join("Cargo.toml"))) {
                let from = from.map_or("nowhere".into(), Value::to_string);
                let what = format_args!("{name} is not the packaged one, but that of {from}").to_string();
                return Err(Error::new(what).at(project.display()));
            }
        }
        Ok(times)
    }

    /// Sees that the profile of a new project optimises what runs its kernels on the CPU.
    fn reduce(&self, project: &Path) -> Result<()> {
        write_whole(&project.join("kernels/tests/reduction.rs"), REDUCTION)?;
        self.cargo(project).words("test --quiet --test reduction").run()
    }

    /// Sees that `cargo ptx check` compiles the packaged library, and runs the project's program with it.
    fn check(&self, project: &Path) -> Result<()> {
        let cache = self.target.with_file_name("cache");
        let library = of("ptx-gpu", &cache.join("cargo-ptx"));
        fs::create_dir_all(&library).map_err(|error| Error::io("create the folder", &library, error))?;
        self.lock(&library)?;
        is_right(self.cargo_ptx(project).env("XDG_CACHE_HOME", &cache).words("check -- cargo run --quiet"), project)
    }

    /// `cargo ptx` of the package, in a folder.
    fn cargo_ptx(&self, folder: &Path) -> Cargo {
        let manifest = of("ptx-build", &self.crates).join("Cargo.toml");
        self.cargo(folder).words("run --quiet --bin cargo-ptx --manifest-path").arg(manifest).words("-- ptx")
    }

    /// cargo in a project.
    fn cargo(&self, project: &Path) -> Cargo {
        Cargo::new(self.machine, project).env("CARGO_TARGET_DIR", &self.target)
    }

    /// Gives a project the versions of this workspace, which are here already.
    fn lock(&self, project: &Path) -> Result<()> {
        let lock = self.machine.repository.join("Cargo.lock");
        fs::copy(&lock, project.join("Cargo.lock")).map(drop).map_err(|error| Error::io("copy", &lock, error))
    }
}

/// Runs a project's program, which says that its results are right.
fn is_right(program: Cargo, project: &Path) -> Result<()> {
    if program.printed()?.contains(" elements are right.") {
        return Ok(());
    }
    Err(Error::new("the program does not say that its results are right").at(project.display()))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Copies a project without what was built in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(|error| Error::io("create the folder", to, error))?;
    let entries = fs::read_dir(from).map_err(|error| Error::io("read", from, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("read", from, error))?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if name != "target" {
                copy(&path, &to.join(name))?;
            }
        } else {
            fs::copy(&path, to.join(name)).map_err(|error| Error::io("copy", &path, error))?;
        }
    }
    Ok(())
}
