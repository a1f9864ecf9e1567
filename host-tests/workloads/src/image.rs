//! Machine code of kernels, and where its text is kept.

use std::path::PathBuf;
use std::sync::OnceLock;

use ptx_build::error::Result;
use ptx_build::files::write_whole;

/// Machine code of some kernels.
#[derive(Clone, Debug)]
pub struct Image {
    /// The kernels' names.
    pub kernels: Vec<String>,
    /// The cubin.
    pub cubin: Vec<u8>,
}

/// Where texts are kept.
static KEPT: OnceLock<PathBuf> = OnceLock::new();

/// From here on, the text of each image is kept in this folder, for an interpreter that is given the images.
pub fn keep_texts(folder: PathBuf) {
    KEPT.get_or_init(|| folder);
}

/// Keeps the text of an image, if texts are kept: under a name that the image's bytes make (FNV-1a), as `fake-gpu` looks for it.
pub fn keep(cubin: &[u8], text: &str) -> Result<()> {
    let Some(folder) = KEPT.get() else { return Ok(()) };
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let name = cubin.iter().fold(0xcbf2_9ce4_8422_2325, add);
    write_whole(&folder.join(format!("{name:016x}.ptx")), text)
}
