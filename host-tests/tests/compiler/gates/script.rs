//! The build script of the crate, compiled and run as cargo does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use host_tests::tools::command::Machine;

/// The build script, compiled and run as cargo does.
pub(super) struct BuildScript {
    program: PathBuf,
    pub(super) folder: PathBuf,
}

/// The build script, compiled once.
pub(super) static SCRIPT: LazyLock<BuildScript> = LazyLock::new(BuildScript::compile);

/// The gates that a build script opened.
#[derive(Debug, PartialEq)]
pub(super) struct Opened {
    pub(super) sm: BTreeSet<u32>,
    pub(super) targets: BTreeSet<String>,
    pub(super) ptx: BTreeSet<u32>,
}

impl BuildScript {
    fn compile() -> BuildScript {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build-script");
        std::fs::create_dir_all(&folder).expect("cargo makes the folder around it for tests");
        let program = folder.join("build-script");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let source = Machine::current().repository.join("ptx-intrinsics/build.rs");
        let status = Command::new(rustc).args(["--edition", "2024", "-o"]).arg(&program).arg(source).status();
        assert!(status.expect("rustc can be run").success(), "build.rs does not compile");
        BuildScript { program, folder }
    }

    pub(super) fn run(&self, vars: &[(&str, &str)]) -> String {
        self.run_in(Path::new("."), vars)
    }

    /// As `run`, in this folder: cargo starts it in that of the package, and gives each run a folder of its own to write to.
    pub(super) fn run_in(&self, package: &Path, vars: &[(&str, &str)]) -> String {
        let out = tempfile::tempdir_in(&self.folder).expect("a folder can be made here");
        let mut script = Command::new(&self.program);
        script.current_dir(package).env_clear().env("OUT_DIR", out.path()).envs(vars.iter().copied());
        let output = script.output().expect("it was just compiled");
        assert!(output.status.success(), "the build script failed: {output:?}");
        String::from_utf8(output.stdout).expect("the build script writes text")
    }

    /// What it opens, or the error it gives cargo.
    pub(super) fn gates(&self, vars: &[(&str, &str)]) -> Result<Opened, String> {
        BuildScript::read(&self.run(vars))
    }

    pub(super) fn read(said: &str) -> Result<Opened, String> {
        let errors: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("cargo::error=")).collect();
        if !errors.is_empty() {
            return Err(errors.join("\n"));
        }
        let opened = |cfg: &str| {
            let prefix = format!("cargo::rustc-cfg={cfg}=");
            said.lines().filter_map(|line| Some(line.strip_prefix(&prefix)?.trim_matches('"').to_owned())).collect()
        };
        let numbers = |cfg: &str| {
            let opened: Vec<String> = opened(cfg);
            opened.iter().map(|text| number(text)).collect()
        };
        Ok(Opened {
            sm: numbers("ptx_sm"),
            targets: opened("ptx_target").into_iter().collect(),
            ptx: numbers("ptx_isa"),
        })
    }

    /// Every gate there is, as declared to rustc.
    pub(super) fn declared(&self, cfg: &str) -> BTreeSet<u32> {
        self.declared_texts(cfg).iter().map(|text| number(text)).collect()
    }

    pub(super) fn declared_texts(&self, cfg: &str) -> BTreeSet<String> {
        let said = self.run(&[]);
        let prefix = format!("cargo::rustc-check-cfg=cfg({cfg}, values(");
        let line = said.lines().find_map(|line| line.strip_prefix(&prefix)).expect("every gate is declared");
        line.trim_end_matches(')').split(", ").map(|text| text.trim_matches('"').to_owned()).collect()
    }
}

pub(super) fn number(quoted: &str) -> u32 {
    quoted.trim_matches('"').parse().expect("a gate is a number")
}
