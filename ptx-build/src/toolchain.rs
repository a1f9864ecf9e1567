//! The Rust toolchain that compiles device code: it needs the source of `core`, and a compiler that may use
//! unstable features.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::command::{Command, Machine};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::target::{PtxVersion, Sm};

/// The environment variable that picks a route where no flag does.
pub const ROUTE_VARIABLE: &str = "PTX_INTRINSICS_TOOLCHAIN";

/// The oldest release whose 1.x number is enough.
const OLDEST: u32 = 95;

/// The first release that never copies a call into the branches after it. The call may be a barrier, a shuffle or a vote, which
/// all threads have to reach together.
const KEEPS_CALLS: u32 = 97;

/// What makes release 1.96 keep calls too: rustc's own pass copies them, and LLVM does not. (In 1.95 and in nightlies before it
/// LLVM does, and no flag helps.) `ptx-kernel` asks for the cfg.
const KEEP_CALLS: [&str; 2] = ["-Zmir-enable-passes=-JumpThreading", "--cfg=ptx_calls_are_kept"];

/// What to type where there is nothing to start from.
const INSTALL: &str = "rustup toolchain install stable --component rust-src";

const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// Of two that install, one waits.
const INSTALLING: [&str; 7] =
    ["install", "-y", "-oDPkg::Lock::Timeout=600", "--no-install-recommends", PACKAGES[0], PACKAGES[1], PACKAGES[2]];

/// Where the device toolchain comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arguments", derive(clap::ValueEnum))]
pub enum Route {
    /// The first of the others that works.
    Auto,
    /// What `rustc` resolves to in this repository, if it has the source of `core`.
    Active,
    /// The newest of rustup's toolchains that has it.
    Installed,
    /// What `rustc` resolves to, after `rustup component add rust-src`.
    Rustup,
    /// Debian's packages rustc-web, cargo-web and rust-web-src.
    Debian,
}

impl Route {
    /// The flag's route, else that of `PTX_INTRINSICS_TOOLCHAIN`, else [`Route::Auto`].
    pub fn chosen(flag: Option<Route>) -> Result<Route> {
        Route::chosen_on(&Machine::current(), flag)
    }

    /// As [`Route::chosen`], with that machine's environment.
    pub fn chosen_on(machine: &Machine, flag: Option<Route>) -> Result<Route> {
        match (flag, machine.var(ROUTE_VARIABLE)) {
            (Some(route), _) => Ok(route),
            (None, None) => Ok(Route::Auto),
            (None, Some(name)) => Route::named(&name.to_string_lossy()).ok_or_else(|| {
                Error::new(format_args!("`{}` is not a way to a toolchain", name.display()))
                    .at(format_args!("the environment variable {ROUTE_VARIABLE}"))
                    .fix("set it to auto, active, installed, rustup or debian, or unset it")
            }),
        }
    }

    fn named(name: &str) -> Option<Route> {
        match name {
            "auto" => Some(Route::Auto),
            "active" => Some(Route::Active),
            "installed" => Some(Route::Installed),
            "rustup" => Some(Route::Rustup),
            "debian" => Some(Route::Debian),
            _ => None,
        }
    }
}

/// A compiler, its cargo, and the source of its `core`.
#[derive(Clone, Debug)]
pub struct DeviceToolchain {
    /// The route it was found by; never [`Route::Auto`].
    pub route: Route,
    /// The compiler.
    pub rustc: PathBuf,
    /// The cargo that belongs to it.
    pub cargo: PathBuf,
    /// Its own line about itself: `rustc 1.96.0 (…)`.
    pub version: String,
    minor: u32,
    cpus: BTreeSet<String>,
    features: BTreeSet<String>,
    machine: Machine,
}

impl DeviceToolchain {
    /// Finds a toolchain by `route`, installing what that route is allowed to install.
    pub fn find(route: Route, progress: &Progress) -> Result<DeviceToolchain> {
        DeviceToolchain::find_on(&Machine::current(), route, progress)
    }

    /// As [`DeviceToolchain::find`], on a given machine.
    pub fn find_on(machine: &Machine, route: Route, progress: &Progress) -> Result<DeviceToolchain> {
        match route {
            Route::Auto => first_that_works(machine, progress),
            Route::Active => examine(machine, Route::Active, &active_sysroot(machine)?),
            Route::Installed => installed(machine),
            Route::Rustup => with_rustup(machine, progress),
            Route::Debian => with_debian(machine, progress),
        }
    }

    /// The toolchain that a build script uses: one that is there. Nothing is installed, unless the user names a route that
    /// does in `PTX_INTRINSICS_TOOLCHAIN`.
    pub fn present_on(machine: &Machine) -> Result<DeviceToolchain> {
        let progress = Progress::new();
        if machine.var(ROUTE_VARIABLE).is_some() {
            return DeviceToolchain::find_on(machine, Route::chosen_on(machine, None)?, &progress);
        }
        let of = |route| DeviceToolchain::find_on(machine, route, &progress).and_then(DeviceToolchain::for_kernels);
        of(Route::Active).or_else(|active| of(Route::Installed).map_err(|_| active))
    }

    /// All of rustup's toolchains that have the source of `core`, in the order of their folders.
    pub fn installed_on(machine: &Machine) -> Vec<DeviceToolchain> {
        sysroots(machine).1.iter().filter_map(|sysroot| examine(machine, Route::Installed, sysroot).ok()).collect()
    }

    /// Fails if the compiler copies a barrier, a shuffle or a vote into branches that only some threads take.
    pub fn for_kernels(self) -> Result<DeviceToolchain> {
        if self.flags_that_keep_calls().is_some() {
            return Ok(self);
        }
        Err(Error::new(format_args!("`{}` copies barriers, shuffles and votes into branches", self.version))
            .at(self.rustc.display())
            .fix(format_args!("install Rust 1.{KEEPS_CALLS} or later: {INSTALL}")))
    }

    /// The flags with which barriers, shuffles and votes stay where they are; none where no flag does that.
    pub(crate) fn flags_that_keep_calls(&self) -> Option<&'static [&'static str]> {
        match self.minor {
            KEEPS_CALLS.. => Some(&[]),
            96 if !unstable_allowed(&self.version) => Some(&KEEP_CALLS),
            _ => None,
        }
    }

    /// Its cargo, in an environment that holds nothing of another toolchain's.
    pub fn cargo(&self) -> Command {
        self.clean(self.machine.command(&self.cargo)).env("RUSTC", &self.rustc)
    }

    /// Its compiler, in the same environment.
    pub fn rustc(&self) -> Command {
        self.clean(self.machine.command(&self.rustc))
    }

    /// The PTX ISA version that this compiler emits for `sm` if not told another.
    pub fn default_ptx(&self, sm: Sm) -> PtxVersion {
        match sm.number {
            70 if self.minor < 97 => PtxVersion::new(6, 0),
            72 if self.minor < 97 => PtxVersion::new(6, 1),
            75 if self.minor < 97 => PtxVersion::new(6, 3),
            _ => PtxVersion::default_for(sm),
        }
    }

    /// The machine it was found on.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Fails unless the compiler can emit this architecture and version; rustc itself would only ignore them.
    pub fn check_target(&self, sm: Sm, ptx: Option<PtxVersion>) -> Result<()> {
        if !self.cpus.contains(&sm.to_string()) {
            let known: Vec<_> = crate::target::KNOWN_SMS.iter().map(Sm::to_string).collect();
            let here: Vec<_> = known.into_iter().filter(|sm| self.cpus.contains(sm)).collect();
            return Err(Error::new(format_args!("this compiler cannot emit {sm}"))
                .at(format_args!("{} ({})", self.rustc.display(), self.version))
                .fix(format_args!("use one of {}", here.join(" ")))
                .fix("or another toolchain: those up to 1.96 go down to sm_20, newer ones add newer GPUs"));
        }
        let Some(ptx) = ptx else { return Ok(()) };
        let place = format!("{} ({})", self.rustc.display(), self.version);
        if !self.features.contains(&ptx.feature()) {
            return Err(Error::new(format_args!("this compiler cannot emit PTX ISA {ptx}"))
                .at(place)
                .fix(format_args!("use one that it knows: {}", self.versions().join(" "))));
        }
        if ptx < self.default_ptx(sm) {
            let least = self.default_ptx(sm);
            return Err(Error::new(format_args!("{sm} needs PTX ISA {least}, not {ptx}"))
                .at(place)
                .fix(format_args!("ask for {least} or later, or for an older GPU")));
        }
        Ok(())
    }

    fn versions(&self) -> Vec<String> {
        let numbers = self.features.iter().filter_map(|feature| feature.strip_prefix("ptx")?.parse().ok());
        let mut versions: Vec<PtxVersion> = numbers.collect();
        versions.sort();
        versions.iter().map(PtxVersion::to_string).collect()
    }

    fn clean(&self, command: Command) -> Command {
        let folder = self.rustc.parent().map(Path::to_owned);
        let path = folder.into_iter().chain(self.machine.path());
        // A PATH entry that cannot be joined again cannot have come out of PATH.
        let path = std::env::join_paths(path).expect("entries of PATH hold no colon");
        let command = command.env_without(of_another_toolchain).env("PATH", path).env("RUST_BACKTRACE", "0");
        let command =
            if self.route == Route::Debian { command.env_without(|name| name == "LD_LIBRARY_PATH") } else { command };
        if unstable_allowed(&self.version) { command } else { command.env("RUSTC_BOOTSTRAP", "1") }
    }
}

/// What cargo, rustup and a user's shell set for another toolchain or another target.
fn of_another_toolchain(name: &str) -> bool {
    let cargos = ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_TERM_", "CARGO_SOURCE_"];
    let kept = cargos.iter().any(|prefix| name.starts_with(prefix));
    let foreign = ["CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTUP_TOOLCHAIN"];
    !kept && foreign.iter().any(|prefix| name.starts_with(prefix))
}

fn unstable_allowed(version: &str) -> bool {
    version.contains("-nightly") || version.contains("-dev")
}

fn first_that_works(machine: &Machine, progress: &Progress) -> Result<DeviceToolchain> {
    let mut failures = String::new();
    for route in [Route::Active, Route::Installed, Route::Rustup, Route::Debian] {
        match DeviceToolchain::find_on(machine, route, progress) {
            Ok(toolchain) => return Ok(toolchain),
            Err(error) if crate::command::interrupted() => return Err(error),
            Err(error) => {
                // The user should know of it though another way may work.
                if route == Route::Active && active_sysroot(machine).is_ok_and(|sysroot| is_damaged(&sysroot)) {
                    progress.note(&format!("Passing over the active toolchain: {error}"));
                }
                failures += &format!("{route:?}: {error}\n");
            }
        }
    }
    Err(Error::new("no Rust toolchain here can compile for the GPU")
        .because(failures)
        .fix("do what one of these asks for; `rustup component add rust-src` is the usual way"))
}

/// What the `rustc` of this repository resolves to; rustup must not download a toolchain only because it was asked.
fn active_sysroot(machine: &Machine) -> Result<PathBuf> {
    let ask = machine.command(machine.which("rustc").unwrap_or_else(|| "rustc".into()));
    let ask = ask.args(["--print", "sysroot"]).env("RUSTUP_AUTO_INSTALL", "0").env("RUST_BACKTRACE", "0");
    let answer =
        ask.dir(&machine.repository).run().map_err(|error| error.fix(format_args!("install Rust: {INSTALL}")))?;
    Ok(PathBuf::from(answer.stdout.trim()))
}

/// The newest toolchain in rustup's folder that is complete.
fn installed(machine: &Machine) -> Result<DeviceToolchain> {
    // Of two with one number, the same one each time.
    DeviceToolchain::installed_on(machine).into_iter().max_by_key(|toolchain| toolchain.minor).ok_or_else(|| {
        let folder = sysroots(machine).0;
        Error::new("rustup has no other toolchain with the source of core").at(folder.display()).fix(INSTALL)
    })
}

/// Rustup's folder of toolchains, and what is in it.
fn sysroots(machine: &Machine) -> (PathBuf, Vec<PathBuf>) {
    let home = machine.var("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(machine.var("HOME")?).join(".rustup"))).unwrap_or_default();
    let folder = home.join("toolchains");
    let mut sysroots: Vec<PathBuf> = folder.read_dir().into_iter().flatten().flatten().map(|one| one.path()).collect();
    sysroots.sort();
    (folder, sysroots)
}

fn with_rustup(machine: &Machine, progress: &Progress) -> Result<DeviceToolchain> {
    let sysroot = active_sysroot(machine)?;
    if has_core(&sysroot) {
        return examine(machine, Route::Rustup, &sysroot);
    }
    let rustup = machine.which("rustup").ok_or_else(|| {
        Error::new(format_args!("the active toolchain lacks the source of core, and there is no rustup to add it"))
            .at(sysroot.display())
            .fix("install rustup, or set PTX_INTRINSICS_TOOLCHAIN=debian on a Debian machine")
    })?;
    // A toolchain of rustup's lies in a folder of its name.
    let name = sysroot.file_name().unwrap_or_default();
    progress.note(&format!("Installing rust-src for {} into {}", name.display(), sysroot.display()));
    let _step = progress.step("rustup component add rust-src");
    let add = machine.command(rustup).args(["component", "add", "rust-src", "--toolchain"]).arg(name);
    add.env("RUSTUP_AUTO_INSTALL", "0").env("RUST_BACKTRACE", "0").run().map_err(|error| {
        error.fix("check the network, or use another route: set PTX_INTRINSICS_TOOLCHAIN=debian on a Debian machine")
    })?;
    examine(machine, Route::Rustup, &sysroot)
}

fn with_debian(machine: &Machine, progress: &Progress) -> Result<DeviceToolchain> {
    let found = || examine(machine, Route::Debian, &machine.usr);
    found().or_else(|_| {
        let apt = may_install_packages(machine)?;
        progress.note(&format!("Installing {} into {} with apt-get", PACKAGES.join(", "), machine.usr.display()));
        // The lists may be missing, or so old that they know no such package or only an old release of it: fetch them, then
        // try once more.
        apt_get(machine, &apt, &INSTALLING, progress).and_then(|()| found()).or_else(|first| {
            if crate::command::interrupted() {
                return Err(first);
            }
            apt_get(machine, &apt, &["update"], progress)?;
            apt_get(machine, &apt, &INSTALLING, progress)?;
            found()
        })
    })
}

/// The apt-get of a machine on which this user may install.
fn may_install_packages(machine: &Machine) -> Result<PathBuf> {
    let apt = machine.which("apt-get").ok_or_else(|| {
        Error::new("Debian's Rust packages are not installed, and this is not a Debian system: it has no apt-get")
            .at(machine.usr.display())
            .fix(format_args!("use rustup: {INSTALL}"))
    })?;
    if machine.uid != 0 {
        return Err(Error::new(format_args!("only root may install Debian packages; this is user {}", machine.uid))
            .at(machine.usr.display())
            .fix(format_args!("type: sudo sh -c '{}'", typed())));
    }
    Ok(apt)
}

fn apt_get(machine: &Machine, apt: &Path, words: &[&str], progress: &Progress) -> Result<()> {
    let shown: Vec<&str> = words.iter().filter(|word| !word.starts_with('-')).copied().collect();
    let _step = progress.step(format!("apt-get {}", shown.join(" ")));
    let run = machine.command(apt).env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C").args(words);
    run.run().map(drop).map_err(|error| {
        error
            .fix(format_args!("type it yourself to see more: {}", typed()))
            .fix("the packages are in bookworm-security and later")
    })
}

fn typed() -> String {
    format!("apt-get update && apt-get install --no-install-recommends {}", PACKAGES.join(" "))
}

fn library(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib/src/rust/library")
}

fn has_core(sysroot: &Path) -> bool {
    library(sysroot).join("core").is_dir()
}

fn is_damaged(sysroot: &Path) -> bool {
    has_core(sysroot) && missing(sysroot).is_some()
}

/// A file that cargo needs of the source of `core`, and that is not there: a rustup that was interrupted, or of which two
/// ran at once, leaves some out.
fn missing(sysroot: &Path) -> Option<PathBuf> {
    let library = library(sysroot);
    let read = |file: PathBuf| std::fs::read_to_string(file).unwrap_or_default();
    let workspace = read(library.join("Cargo.toml"));
    let manifests = packages(&workspace).map(|name| library.join(name).join("Cargo.toml"));
    let list = read(sysroot.join("lib/rustlib/manifest-rust-src"));
    let listed = list.lines().filter_map(|line| line.strip_prefix("file:")).map(|file| sysroot.join(file));
    let needed = [library.join("Cargo.toml"), library.join("core/src/lib.rs")];
    needed.into_iter().chain(manifests).chain(listed).find(|file| !file.is_file())
}

/// The folders of the packages without which cargo does not read this workspace: members and patches.
fn packages(workspace: &str) -> impl Iterator<Item = &str> {
    let (_, members) = workspace.split_once("members = [").unwrap_or_default();
    let members = members.split(']').next().unwrap_or_default().split(',');
    let patches = workspace.split("{ path = ").skip(1).filter_map(|rest| rest.split('}').next());
    members.chain(patches).map(|name| name.trim().trim_matches(['"', '\''])).filter(|name| !name.is_empty())
}

/// The commands that bring the source of `core` into a toolchain that lacks it, and into one that has a part of it:
/// `rustup component remove` stops where a file is missing.
fn remedies(machine: &Machine, sysroot: &Path) -> [String; 2] {
    if sysroot == machine.usr {
        return ["", "--reinstall "].map(|how| format!("apt-get install {how}{}", PACKAGES[2]));
    }
    let name = sysroot.file_name().unwrap_or_default().display();
    let again = format!("rustup toolchain uninstall {name} && rustup toolchain install {name} --component rust-src");
    [format!("rustup component add rust-src --toolchain {name}"), again]
}

/// The toolchain in `sysroot`, if it is complete and new enough.
fn examine(machine: &Machine, route: Route, sysroot: &Path) -> Result<DeviceToolchain> {
    let (rustc, cargo) = (sysroot.join("bin/rustc"), sysroot.join("bin/cargo"));
    for file in [&rustc, &cargo] {
        if !file.is_file() {
            return Err(Error::new("this toolchain is not complete: a program is missing")
                .at(file.display())
                .fix("install it again, or use another toolchain"));
        }
    }
    let [add, repair] = remedies(machine, sysroot);
    if !has_core(sysroot) {
        return Err(Error::new("this toolchain lacks the source of core, which has to be compiled for the GPU")
            .at(library(sysroot).join("core").display())
            .fix(add));
    }
    if let Some(file) = missing(sysroot) {
        return Err(Error::new("this toolchain's source of core is incomplete: a file is missing")
            .at(file.display())
            .fix(repair));
    }
    let bare = DeviceToolchain {
        route,
        rustc,
        cargo,
        version: String::new(),
        minor: 0,
        cpus: BTreeSet::new(),
        features: BTreeSet::new(),
        machine: machine.clone(),
    };
    interrogate(bare)
}

fn interrogate(mut toolchain: DeviceToolchain) -> Result<DeviceToolchain> {
    toolchain.version = toolchain.rustc().arg("--version").run()?.stdout.trim().to_owned();
    toolchain.minor = minor(&toolchain.version).filter(|minor| *minor >= OLDEST).ok_or_else(|| {
        Error::new(format_args!("`{}` is not a Rust 1.{OLDEST} or later", toolchain.version))
            .at(toolchain.rustc.display())
            .fix(format_args!("install a newer one: {INSTALL}"))
    })?;
    let print = |what: &str, words: &str| -> Result<BTreeSet<String>> {
        let ask = toolchain.rustc().args(["--print", what, "--target", "nvptx64-nvidia-cuda"]);
        let printed = ask.run()?.stdout;
        let words = Regex::new(words).expect("the patterns below are valid");
        Ok(words.find_iter(&printed).map(|word| word.as_str().to_owned()).collect())
    };
    let (cpus, features) = (print("target-cpus", r"\bsm_\d+[a-z]?\b")?, print("target-features", r"\bptx\d+\b")?);
    Ok(DeviceToolchain { cpus, features, ..toolchain })
}

fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}
