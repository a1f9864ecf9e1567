//! A machine of a test's own: a folder with fake programs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ptx_build::command::{Command, Machine};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::progress::Progress;
use ptx_build::toolchain::{DeviceToolchain, Route};

pub(super) struct Fake {
    pub(super) folder: tempfile::TempDir,
    pub(super) machine: Machine,
}

impl Fake {
    pub(super) fn new() -> Fake {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["bin", "repository", "usr"] {
            fs::create_dir(at(name)).unwrap();
        }
        let vars = BTreeMap::from([(OsString::from("PATH"), at("bin").into_os_string())]);
        let machine = Machine { vars, uid: 1000, repository: at("repository"), usr: at("usr") };
        Fake { folder, machine }
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a shell script; in it, `$HERE` is the machine's folder.
    pub(super) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let here = self.folder.path().display();
        fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin HERE='{here}'\n{body}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A pip that logs each install and then does `body`; in it, `$to` is the folder to install into.
    pub(super) fn pip(&self, body: &str) {
        let script = "[ \"$3\" = --version ] && { echo pip 26.0; exit; }
            while [ \"$1\" != --target ]; do shift; done; to=$2; echo install >> $HERE/pip.log
            [ \"$RUSTUP_AUTO_INSTALL\" = 0 ] || { echo 'pip starts rustc, which may install' >&2; exit 9; }\n";
        self.script("bin/python3", &format!("{script}{body}"));
    }

    /// A toolchain in that folder: a compiler of that version, its cargo, and the source of `core` or not.
    pub(super) fn toolchain(&self, folder: &str, version: &str, core: bool) {
        self.script(&format!("{folder}/bin/rustc"), &rustc(version));
        self.script(&format!("{folder}/bin/cargo"), "exit 1");
        if core {
            self.script(&format!("{folder}-core"), &format!("cd $HERE/{folder}\n{CORE}"));
            Command::new(self.at(&format!("{folder}-core"))).run().unwrap();
        }
    }

    /// The `rustc` in `PATH`, which resolves to that toolchain.
    pub(super) fn active(&self, folder: &str) {
        self.script("bin/rustc", &format!("[ $RUSTUP_AUTO_INSTALL = 0 ] && echo $HERE/{folder}"));
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.machine.vars.insert(name.into(), value.into());
    }

    pub(super) fn find_tools(&self) -> (Result<CudaTools, String>, Vec<String>) {
        let progress = Progress::kept();
        let found = CudaTools::find_on(&self.machine, &progress);
        (found.map_err(|error| self.relative(&error)), progress.lines())
    }

    pub(super) fn find_toolchain(&self, route: Route) -> (Result<DeviceToolchain, String>, Vec<String>) {
        let progress = Progress::kept();
        let found = DeviceToolchain::find_on(&self.machine, route, &progress);
        (
            found.map_err(|error| self.relative(&error)),
            progress.lines().iter().map(|line| self.relative(line)).collect(),
        )
    }

    /// A text in which the machine's own folder is called `@`.
    pub(super) fn relative(&self, text: impl std::fmt::Display) -> String {
        text.to_string().replace(&self.folder.path().display().to_string(), "@")
    }

    /// What lies in `target/cuda`.
    pub(super) fn cuda(&self) -> Vec<String> {
        listing(&self.machine.target().join("cuda"))
    }

    pub(super) fn log(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }
}

pub(super) fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Shell lines that make a tool which says that it is of that release.
pub(super) fn tool(name: &str, release: &str) -> String {
    format!("echo '{name}: NVIDIA (R) fake'; echo 'Cuda compilation tools, release {release}, V{release}.1'")
}

/// Shell lines that install working tools into `$to`.
pub(super) fn good_wheels() -> String {
    let write = |name: &str| {
        let tool = tool(name, "13.5");
        format!("f=$to/nvidia/cu13/bin/{name}; echo '#!/bin/sh' > $f; cat >> $f <<'END'\n{tool}\nEND\nchmod +x $f\n")
    };
    format!("mkdir -p $to/nvidia/cu13/bin\n{}{}", write("ptxas"), write("nvdisasm"))
}

/// Shell lines that are a compiler of that version.
pub(super) fn rustc(version: &str) -> String {
    format!(
        "case \"$*\" in --version) echo 'rustc {version} (0000 2026-01-01)';;
         *target-cpus*) echo ' sm_80 sm_90';; *target-features*) echo ' ptx70 ptx74 ptx78 x';;
         *bootstrap*) echo $RUSTC_BOOTSTRAP;; esac"
    )
}

/// Shell lines that put the source of `core` into a toolchain's folder.
pub(super) const CORE: &str = "to=lib/rustlib/src/rust/library; mkdir -p $to/core/src $to/std $to/windows-sys
echo 'members = [\n  \"std\",\n]\nwindows-sys = { path = '\"'windows-sys' }\" > $to/Cargo.toml
touch $to/core/src/lib.rs $to/std/Cargo.toml $to/windows-sys/Cargo.toml";

pub(super) const LOAD: &str = "\
.version 7.4
.target sm_80
.address_size 64

.visible .entry _RNvCs1234_4demo4load(.param .u64 from)
{
	.reg .b32 	%r<2>;
	.reg .b64 	%rd<2>;
	ld.param.u64 	%rd1, [from];
	ld.global.nc.L1::evict_last.f32 	%r1, [%rd1];
	st.global.b32 	[%rd1+4], %r1;
	ret;
}
";
