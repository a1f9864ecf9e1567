//! A pair of kernels as a bundle has it: how they are launched, and what the interpreter says of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::pairs::numbers;
use ptx_build::error::{Error, Result};
use ptx_build::target::Sm;

/// The section of the images.
pub const CORPUS: &str = "corpus";

/// The words before the name of a pair: the two kernels.
pub const SIDES: [&str; 2] = ["wrong", "right"];

/// A pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The name that the two kernels share.
    pub name: String,
    /// What is wrong with the wrong one: `race`.
    pub kind: String,
    /// Its source: `shared.cu`.
    pub file: String,
    /// The lines of the source that a finding has to name.
    pub lines: BTreeSet<u32>,
    /// What the source was compiled for.
    pub target: Sm,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// What the kernels take.
    pub arguments: Vec<Given>,
    /// What the right kernel leaves in its buffers.
    pub expected: Vec<Expected>,
    /// How many findings the interpreter has for the wrong kernel, and for the right one.
    pub here: [usize; 2],
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// A pointer to this number of bytes, which [`numbers`] gives.
    Numbers(usize),
    /// A pointer to this number of zeros.
    Zeros(usize),
    /// A pointer to this number of bytes, which nobody has written.
    Unwritten(usize),
    /// The pointer of an earlier argument.
    Same(usize),
    /// A pointer to memory of the host.
    Host,
    /// A number.
    U32(u32),
    /// A number.
    U64(u64),
}

/// A buffer after the launch of the right kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The number of its argument.
    pub argument: usize,
    /// Its bytes. None where orders of the threads leave different ones.
    pub bytes: Vec<Option<u8>>,
}

/// What came of a comparison with the expected bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Bytes that were compared.
    pub bytes: usize,
    /// Bytes that are not what they should be.
    pub wrong: usize,
    /// The first of them, in words.
    pub first: Option<String>,
}

impl Given {
    /// The bytes of its buffer, if it has one that begins with a content.
    pub fn content(&self) -> Option<Vec<u8>> {
        match self {
            Given::Numbers(bytes) => Some(numbers(*bytes)),
            Given::Zeros(bytes) => Some(vec![0; *bytes]),
            _ => None,
        }
    }
}

impl Case {
    /// The name of one of its kernels.
    pub fn kernel(&self, side: &str) -> String {
        format!("{side}_{}", self.name)
    }

    /// Compares the buffers that a launch left, by the numbers of their arguments.
    pub fn compare(&self, left: &[(usize, Vec<u8>)]) -> Compared {
        let mut compared = Compared::default();
        for Expected { argument, bytes } in &self.expected {
            let found = left.iter().find(|(at, _)| at == argument).map_or(&[][..], |(_, found)| found);
            for (at, expected) in bytes.iter().enumerate().filter_map(|(at, byte)| Some((at, (*byte)?))) {
                compared.bytes += 1;
                if found.get(at) != Some(&expected) {
                    compared.wrong += 1;
                    compared.first.get_or_insert_with(|| {
                        let found = found.get(at).map_or("missing".into(), ToString::to_string);
                        format!("byte {at} of argument {argument} is {found}, expected {expected}")
                    });
                }
            }
        }
        compared
    }
}

/// The side of a kernel, and the name of its pair.
pub fn pair_of(kernel: &str) -> (&str, &str) {
    kernel.split_once('_').unwrap_or_default()
}

/// Where the images for a GPU lie in a bundle.
pub fn place(folder: &Path, set: &str, sm: Sm) -> PathBuf {
    folder.join(CORPUS).join(set).join(format!("{sm}.zst"))
}

fn place_of_cases(folder: &Path) -> PathBuf {
    folder.join(CORPUS).join("cases.zst")
}

/// The pairs of a bundle.
pub fn read(folder: &Path) -> Result<Vec<Case>> {
    let file = place_of_cases(folder);
    let packed = std::fs::read(&file).map_err(|error| Error::io("read", &file, error))?;
    let damaged = |why: String| Error::new("the file of pairs is damaged").at(file.display()).because(why);
    let text = zstd::decode_all(&packed[..]).map_err(|error| damaged(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))
}

/// Puts the pairs into a bundle.
pub fn write(folder: &Path, cases: &[Case]) -> Result<()> {
    let text = serde_json::to_vec(cases).map_err(Error::new)?;
    let packed = zstd::encode_all(&text[..], 15).map_err(Error::new)?;
    ptx_build::files::write_whole(&place_of_cases(folder), packed)
}
