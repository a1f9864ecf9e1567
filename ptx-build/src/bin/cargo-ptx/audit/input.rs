//! What a file holds: PTX, machine code, or a fat binary with both; and what a folder holds, such as a compiler's cache.

use std::fs;
use std::path::{Path, PathBuf};

use ptx_build::error::{Error, Result};
use ptx_sass::cubin::{embedded, is_cubin};
use ptx_sass::fatbin::{self, Kind};

/// A part of a file that is audited by itself.
pub(crate) enum Part {
    /// PTX, which is assembled.
    Ptx(String),
    /// Machine code, which is read as it is.
    Cubin(Vec<u8>),
}

/// How the files of a compiler's cache end that hold PTX or machine code: Triton's, and CuTe's with its modules of MLIR.
const OF_A_CACHE: [&str; 7] = ["ptx", "cubin", "fatbin", "o", "obj", "mlir", "mlirbc"];

/// These files, and in the place of a folder those in it that hold PTX or machine code by their names.
pub(crate) fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in named {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let before = all.len();
        collect(path, &mut all)?;
        if all.len() == before {
            let ends = OF_A_CACHE.map(|end| format!(".{end}")).join(", ");
            return Err(Error::new("no file in this folder has PTX or machine code by its name")
                .at(path.display())
                .fix(format_args!("name the folder of a compiler's cache, whose files end in one of {ends}")));
        }
    }
    Ok(all)
}

fn collect(folder: &Path, all: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = entries.map_err(|error| Error::io("read the folder", folder, error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link may lead back to where it stands.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, all)?;
        } else if path.extension().and_then(|end| end.to_str()).is_some_and(|end| OF_A_CACHE.contains(&end)) {
            all.push(path);
        }
    }
    Ok(())
}

/// The parts of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Part>> {
    let bytes = fs::read(path).map_err(|error| {
        Error::new(error)
            .at(path.display())
            .fix("name a file of PTX, a cubin, an object, a program or a folder of these")
    })?;
    if is_cubin(&bytes) {
        return Ok(vec![Part::Cubin(bytes)]);
    }
    if let Some(text) = ptx(&bytes) {
        return Ok(vec![Part::Ptx(text)]);
    }
    let binaries = fatbin::find(&bytes);
    let images = binaries.iter().flat_map(|binary| fatbin::images(binary).unwrap_or_default());
    let parts = images.filter_map(|image| part(&image).transpose());
    let mut parts: Vec<Part> = parts
        .collect::<Result<_, _>>()
        .map_err(|error| Error::new(error).at(path.display()).fix("make the file again"))?;
    if binaries.is_empty() {
        // A module of MLIR has its machine code among its other bytes.
        parts.extend(embedded(&bytes).into_iter().map(|cubin| Part::Cubin(cubin.to_vec())));
    }
    if parts.is_empty() {
        return Err(Error::new("this is neither PTX nor machine code of a GPU, and no fat binary is in it")
            .at(path.display())
            .fix("name a file of PTX (it has a `.version`), a cubin, or an object or a program that nvcc made"));
    }
    Ok(parts)
}

/// An image of a fat binary, if it is PTX or machine code.
fn part(image: &fatbin::Image<'_>) -> std::result::Result<Option<Part>, fatbin::Unreadable> {
    Ok(match image.kind {
        Kind::Ptx => Some(Part::Ptx(image.text()?)),
        Kind::Cubin => Some(Part::Cubin(image.bytes()?)),
        Kind::Other(_) => None,
    })
}

/// The text, if it is PTX.
fn ptx(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.lines().any(|line| line.trim_start().starts_with(".version")).then(|| text.to_owned())
}
