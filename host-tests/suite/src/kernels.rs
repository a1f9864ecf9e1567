//! The kernels of a bundle: packed, unpacked, and found for a GPU.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::versions::Versions;
use ptx_build::error::{Error, Result};
use ptx_build::target::{PtxVersion, Sm};
use workloads::image::Image;

/// The set of kernels that are no machine code.
pub const PTX: &str = "ptx";

/// Kernels that try forms.
pub const FORMS: &str = "forms";

/// Litmus tests.
pub const LITMUS: &str = "litmus";

/// Accesses that have to fail.
pub const FAULTS: &str = "faults";

/// The worked kernels.
pub const WORKLOADS: &str = "workloads";

/// A kernel for each instruction and type.
pub const VALUES: &str = "values";

/// The kernels of a GPU, by one assembler.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// The release of the assembler: 13.5.
    pub set: String,
    /// The newest PTX ISA version that it reads. What needs a newer one is not there.
    pub ptx: PtxVersion,
    /// By section.
    pub sections: BTreeMap<String, Vec<Image>>,
    /// Kernels that the assembler refused although its version has them: an older one than today's may.
    pub refused: BTreeSet<String>,
    /// Whether it has a part of the kernels of forms only.
    pub part: bool,
}

/// What comes before the machine code in a file of kernels.
#[derive(Serialize, Deserialize)]
struct Contents {
    set: String,
    ptx: PtxVersion,
    sections: BTreeMap<String, Vec<(Vec<String>, usize)>>,
    refused: BTreeSet<String>,
    #[serde(default)]
    part: bool,
}

impl Kernels {
    /// The images of a section.
    pub fn section(&self, name: &str) -> &[Image] {
        self.sections.get(name).map_or(&[], Vec::as_slice)
    }

    /// The images that try forms.
    pub fn forms(&self) -> &[Image] {
        self.section(FORMS)
    }

    /// The image of a section that has a kernel.
    pub fn image_of(&self, section: &str, kernel: &str) -> Result<&Image> {
        let found = self.section(section).iter().find(|image| image.kernels.iter().any(|name| name == kernel));
        found.ok_or_else(|| Error::new(format_args!("no image of the bundle has the kernel {kernel}")).at(section))
    }

    /// Packs them.
    pub fn pack(&self) -> Result<Vec<u8>> {
        let listed =
            |images: &Vec<Image>| images.iter().map(|image| (image.kernels.clone(), image.cubin.len())).collect();
        let sections = self.sections.iter().map(|(name, images)| (name.clone(), listed(images))).collect();
        let contents =
            Contents { set: self.set.clone(), ptx: self.ptx, sections, refused: self.refused.clone(), part: self.part };
        let mut all = serde_json::to_vec(&contents).map_err(Error::new)?;
        all.push(b'\n');
        self.sections.values().flatten().for_each(|image| all.extend(&image.cubin));
        let packed = || -> std::io::Result<Vec<u8>> {
            let mut encoder = zstd::Encoder::new(Vec::new(), 15)?;
            encoder.long_distance_matching(true)?;
            encoder.window_log(27)?;
            encoder.write_all(&all)?;
            encoder.finish()
        };
        packed().map_err(|error| Error::new(format_args!("could not pack the kernels: {error}")))
    }

    /// Unpacks them.
    pub fn unpack(packed: &[u8]) -> Result<Kernels> {
        let mut all = Vec::new();
        zstd::Decoder::new(packed)
            .and_then(|mut decoder| decoder.read_to_end(&mut all))
            .map_err(|error| damaged(error.to_string()))?;
        let end = all.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("it has no list".into()))?;
        let contents: Contents = serde_json::from_slice(&all[..end]).map_err(|error| damaged(error.to_string()))?;
        let mut rest = &all[end + 1..];
        let mut take = |(kernels, bytes): (Vec<String>, usize)| {
            let (cubin, behind) = rest.split_at_checked(bytes).ok_or_else(|| damaged("it ends early".into()))?;
            rest = behind;
            Ok(Image { kernels, cubin: cubin.to_vec() })
        };
        let mut section = |(name, images): (String, Vec<_>)| {
            Ok((name, images.into_iter().map(&mut take).collect::<Result<Vec<_>>>()?))
        };
        let Contents { set, ptx, refused, part, sections } = contents;
        let sections = sections.into_iter().map(&mut section).collect::<Result<_>>()?;
        Ok(Kernels { set, ptx, sections, refused, part })
    }
}

fn damaged(why: String) -> Error {
    Error::new("the file of kernels is damaged").because(why).fix("copy the bundle again, or make it anew")
}

/// Where the kernels of a GPU lie in a bundle.
pub(super) fn file_of(folder: &Path, set: &str, sm: Sm) -> PathBuf {
    folder.join("kernels").join(set).join(format!("{sm}.zst"))
}

/// Kernels of a bundle for a GPU, by one assembler.
#[derive(Clone, Debug)]
pub struct Set {
    /// The release of the assembler: 13.5.
    pub name: String,
    file: PathBuf,
}

impl Set {
    /// Unpacks them.
    pub fn read(&self) -> Result<Kernels> {
        let packed = std::fs::read(&self.file).map_err(|error| Error::io("read", &self.file, error))?;
        Kernels::unpack(&packed).map_err(|error| error.at(self.file.display()))
    }

    /// The file for the same GPU and assembler in another folder, which may not be there.
    pub(super) fn beside(&self, folder: &Path) -> Option<PathBuf> {
        Some(folder.join(&self.name).join(self.file.file_name()?))
    }
}

/// The sets of kernels that this GPU runs, of the newest assembler first: of its own generation, and none that is newer.
pub fn sets(folder: &Path, sm: u32) -> Result<Vec<Set>> {
    let kernels = folder.join("kernels");
    let mut names: Vec<(u32, u32, String)> = Vec::new();
    for entry in std::fs::read_dir(&kernels).map_err(|error| Error::io("read", &kernels, error))? {
        let name =
            entry.map_err(|error| Error::io("read", &kernels, error))?.file_name().to_string_lossy().into_owned();
        let number = name.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        names.extend(number.map(|(major, minor)| (major, minor, name)));
    }
    names.sort();
    // A GPU runs the code of its own generation, of itself or of one that is older.
    let set = |(.., name): (u32, u32, String)| {
        let mut files = (sm / 10 * 10..=sm).map(|known| file_of(folder, &name, Sm::new(known)));
        Some(Set { file: files.rfind(|file| file.is_file())?, name })
    };
    let mut sets: Vec<Set> = names.into_iter().rev().filter_map(set).collect();
    if sets.is_empty() {
        // The driver compiles PTX for every newer GPU.
        let file = (0..=sm).map(|known| file_of(folder, PTX, Sm::new(known))).rfind(|file| file.is_file());
        sets.extend(file.map(|file| Set { name: PTX.into(), file }));
    }
    if sets.is_empty() {
        return Err(Error::new(format_args!("this bundle has no kernels for sm_{sm}"))
            .at(kernels.display())
            .fix(format_args!("make one that has: `cargo xtask bundle OUT --sm {sm}`")));
    }
    Ok(sets)
}

/// The versions that a bundle was made with.
pub fn versions(folder: &Path) -> Result<Versions> {
    let file = folder.join("versions.json");
    let text = std::fs::read(&file).map_err(|error| Error::io("read", &file, error))?;
    serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()).at(file.display()))
}
