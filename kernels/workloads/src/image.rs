//! Machine code of kernels, and where its text is kept.

use std::path::PathBuf;
use std::sync::OnceLock;

use ptx_build::error::{Error, Result};
use ptx_build::files::write_whole;
use ptx_build::ptxas::{On, Rejected};
use ptx_build::target::Sm;

/// Machine code of some kernels.
#[derive(Clone, Debug)]
pub struct Image {
    /// The kernels' names.
    pub kernels: Vec<String>,
    /// The cubin.
    pub cubin: Vec<u8>,
}

/// Where texts are kept, and of which GPU, if not of all.
static KEPT: OnceLock<(PathBuf, Option<Sm>)> = OnceLock::new();

/// From here on, the text of each image is kept in this folder, or of those for one GPU, unless another folder was named before.
pub fn keep_texts(folder: PathBuf, of: Option<Sm>) {
    KEPT.get_or_init(|| (folder, of));
}

/// Where the text of an image is kept: under a name that the image's bytes make (FNV-1a), as `fake-gpu` looks for it.
fn place(cubin: &[u8]) -> Option<PathBuf> {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let name = cubin.iter().fold(0xcbf2_9ce4_8422_2325, add);
    KEPT.get().map(|(folder, _)| folder.join(format!("{name:016x}.ptx")))
}

/// The machine code of a text, whose text is kept if such texts are. Or why the assembler refuses it.
pub fn assembled(text: &str, target: Sm, on: &On) -> Result<Result<Vec<u8>, Rejected>> {
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    let cubin = match on.assembler.assemble_text(text, target, &scratch.path().join("kernels.cubin"))? {
        Ok(cubin) => cubin,
        Err(rejected) => return Ok(Err(rejected)),
    };
    let cubin = std::fs::read(&cubin.path).map_err(|error| Error::io("read", &cubin.path, error))?;
    keep(&cubin, text, on.sm)?;
    Ok(Ok(cubin))
}

/// Keeps the text of an image for a GPU, if such texts are kept.
fn keep(cubin: &[u8], text: &str, sm: Sm) -> Result<()> {
    let wanted = KEPT.get().is_some_and(|(_, of)| of.is_none_or(|of| of == sm));
    place(cubin).filter(|_| wanted).map_or(Ok(()), |place| write_whole(&place, text))
}

/// The text of an image, which was kept.
pub fn kept(cubin: &[u8]) -> Result<String> {
    let place = place(cubin).ok_or_else(|| Error::new("the texts of images are not kept"))?;
    std::fs::read_to_string(&place).map_err(|error| Error::io("read", &place, error))
}
