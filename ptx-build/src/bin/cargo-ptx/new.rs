//! `cargo ptx new`.

use std::fs;
use std::path::{Path, PathBuf};

use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;
use ptx_build::program::print;

use crate::doctor;

#[derive(clap::Args)]
pub(crate) struct New {
    /// The folder to make
    dir: PathBuf,
    /// Take the crates from this checkout of their repository, instead of crates.io
    #[arg(long, value_name = "REPOSITORY")]
    path: Option<PathBuf>,
}

/// The files of a project. A manifest has the project's name as `@name@`, and what follows the name of one of [`CRATES`] as
/// that name between the same signs.
const FILES: [(&str, &str); 10] = [
    ("Cargo.toml", include_str!("../../../template/workspace.toml")),
    ("README.md", include_str!("../../../template/README.md")),
    (".gitignore", "/target\n"),
    (".cargo/config.toml", include_str!("../../../template/config.toml")),
    // An empty archive: it satisfies `-lcuda`, and ptx-driver has the functions.
    (".cargo/cuda/lib64/libcuda.a", "!<arch>\n"),
    ("kernels/Cargo.toml", include_str!("../../../template/kernels.toml")),
    ("kernels/src/lib.rs", include_str!("../../../template/kernels.rs")),
    ("host/Cargo.toml", include_str!("../../../template/host.toml")),
    ("host/build.rs", include_str!("../../../template/build.rs")),
    ("host/src/main.rs", include_str!("../../../template/host.rs")),
];

/// The crates that a project depends on.
const CRATES: [&str; 5] = ["ptx-intrinsics", "ptx-kernel", "ptx-driver", "ptx-build", "ptx-interpreter"];

impl New {
    pub(crate) fn run(self) -> Result<()> {
        let New { dir, path } = self;
        if dir.symlink_metadata().is_ok() {
            return Err(Error::new("there is something of that name already")
                .at(dir.display())
                .fix("name a folder that does not exist yet"));
        }
        let source = path.as_deref().map(repository).transpose()?;
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !parent.is_dir() {
            return Err(Error::new("there is no such folder to make the project in")
                .at(parent.display())
                .fix(format_args!("make it: mkdir -p '{}'", parent.display())));
        }
        write(&dir, parent, source.as_deref())?;
        print(&format!(
            "Made {0}: the kernel is kernels/src/lib.rs, the program that launches it host/src/main.rs.\n\n  \
             cd '{0}'\n  cargo run     # on a GPU, or on the CPU where there is none; every element is checked\n  \
             cargo test\n",
            dir.display()
        ))?;
        let missing = doctor::missing();
        if !missing.is_empty() {
            eprintln!("\nBefore that:\n\n{missing}");
        }
        Ok(())
    }
}

/// Writes everything beside the folder and renames it, so that it is whole or not there.
fn write(dir: &Path, parent: &Path, source: Option<&str>) -> Result<()> {
    let fresh = tempfile::Builder::new().prefix(".cargo-ptx-").tempdir_in(parent);
    let fresh = fresh.map_err(|error| {
        Error::io("create a folder in", parent, error).fix("name a folder in a place that you may write to")
    })?;
    let project = fresh.path().join("project");
    let named = name(dir);
    for (name, text) in FILES {
        let text = CRATES.iter().fold(text.replace("@name@", &named), |text, name| {
            text.replace(&format!("@{name}@"), &dependency(name, source))
        });
        write_whole(&project.join(name), text)?;
    }
    fs::rename(&project, dir).map_err(|error| Error::io("rename the new folder to", dir, error))
}

/// How the packages' names begin: as the folder's, as far as cargo and rustc take that. Two projects with names of their own may
/// share a target folder.
fn name(dir: &Path) -> String {
    let folder = dir.file_name().unwrap_or_default().to_string_lossy();
    let words = folder.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    // rustc warns of capitals in the name of a library.
    let name = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    match name.chars().next() {
        Some('a'..='z') => name,
        Some(_) => format!("gpu-{name}"),
        None => "gpu".into(),
    }
}

/// What a manifest says after the name of one of [`CRATES`].
fn dependency(name: &str, source: Option<&str>) -> String {
    let from = match source {
        None if name != "ptx-build" => return format!("{:?}", env!("CARGO_PKG_VERSION")),
        None => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
        // What is a string in JSON is one in TOML.
        Some(repository) => format!("path = {}", serde_json::Value::from(format!("{repository}/{name}"))),
    };
    // A build script has no use for `cargo ptx`.
    let features = if name == "ptx-build" { ", default-features = false" } else { "" };
    format!("{{ {from}{features} }}")
}

/// The full path of a checkout, if it is one.
fn repository(path: &Path) -> Result<String> {
    let wrong = |what: String| Error::new(what).at(path.display()).fix("name the folder that holds ptx-intrinsics");
    let full = path.canonicalize().map_err(|error| wrong(format!("there is no such folder: {error}")))?;
    if let Some(missing) = CRATES.iter().find(|name| !full.join(name).join("Cargo.toml").is_file()) {
        return Err(wrong(format!("this is no checkout of the crates' repository: it has no {missing}/Cargo.toml")));
    }
    full.into_os_string().into_string().map_err(|_| wrong("a manifest cannot hold a path that is not UTF-8".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_names_that_cargo_takes() {
        let cases = [
            ("hello", "hello"),
            ("a/b/my-kernels_2", "my-kernels_2"),
            ("ein Projekt für alle", "ein-projekt-f-r-alle"),
            ("3d", "gpu-3d"),
            ("核", "gpu"),
            ("..", "gpu"),
        ];
        for (dir, expected) in cases {
            assert_eq!(name(Path::new(dir)), expected, "{dir}");
        }
    }
}
