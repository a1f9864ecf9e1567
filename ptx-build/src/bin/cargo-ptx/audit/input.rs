//! What a file holds: PTX, machine code, or a fat binary with both.

use std::fs;
use std::path::Path;

use ptx_build::error::{Error, Result};
use ptx_sass::cubin::is_cubin;
use ptx_sass::fatbin::{self, Kind};

/// A part of a file that is audited by itself.
pub(crate) enum Part {
    /// PTX, which is assembled.
    Ptx(String),
    /// Machine code, which is read as it is.
    Cubin(Vec<u8>),
}

/// The parts of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Part>> {
    let bytes = fs::read(path).map_err(|error| {
        Error::new(error).at(path.display()).fix("name a file of PTX, a cubin, an object or a program")
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
    let parts: Vec<Part> = parts
        .collect::<Result<_, _>>()
        .map_err(|error| Error::new(error).at(path.display()).fix("make the file again"))?;
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
