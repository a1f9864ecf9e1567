//! Which GPUs and drivers take an image.

use ptx_build::error::{Error, Result};
use ptx_driver::CudaVersion;

/// What an image was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Machine code: runs on this SM and later ones of the same generation.
    Cubin {
        /// 90 for `sm_90`.
        sm: u32,
    },
    /// A text that the driver assembles: runs on this SM and all later ones.
    Ptx {
        /// 90 for `sm_90`.
        sm: u32,
        /// The PTX ISA version, major and minor.
        version: (u32, u32),
    },
}

impl Target {
    /// Reads it from the image itself.
    pub fn of(image: &[u8]) -> Result<Target> {
        let target = if image.starts_with(b"\x7fELF") { Self::of_cubin(image) } else { Self::of_ptx(image) };
        target.ok_or_else(|| {
            Error::new("this is neither a cubin nor a PTX text with .version and .target")
                .at(format_args!("image of {} bytes", image.len()))
                .fix("pass what ptxas wrote with -o, or what rustc wrote with --emit=asm")
        })
    }

    fn of_cubin(image: &[u8]) -> Option<Target> {
        let abi_version = *image.get(8)?;
        let flags = u32::from_le_bytes(image.get(0x30..0x34)?.try_into().ok()?);
        // Since ABI version 8 the SM is in the second byte.
        let sm = if abi_version < 8 { flags & 0xff } else { flags >> 8 & 0xff };
        Some(Target::Cubin { sm })
    }

    fn of_ptx(image: &[u8]) -> Option<Target> {
        let text = std::str::from_utf8(image).ok()?;
        let directive = |name| text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
        let (major, minor) = directive(".version ")?.split_once('.')?;
        let target = directive(".target ")?.strip_prefix("sm_")?;
        let digits = target.find(|c: char| !c.is_ascii_digit()).unwrap_or(target.len());
        let version = (major.parse().ok()?, minor.parse().ok()?);
        Some(Target::Ptx { sm: target[..digits].parse().ok()?, version })
    }

    /// Whether a GPU of this SM under a driver of this CUDA version can run it.
    pub fn check(self, sm: u32, driver: CudaVersion) -> Result<()> {
        let (Target::Cubin { sm: needed } | Target::Ptx { sm: needed, .. }) = self;
        if needed > sm {
            return Err(Error::new(format_args!("the kernels were built for sm_{needed}; this GPU is older, sm_{sm}"))
                .fix(format_args!("build them for it: -Ctarget-cpu=sm_{sm}")));
        }
        match self {
            Target::Cubin { .. } if needed / 10 != sm / 10 => {
                Err(Error::new(format_args!("machine code for sm_{needed} does not run on this GPU's sm_{sm}"))
                    .fix(format_args!("assemble the PTX with `ptxas -arch sm_{sm}`, or load the PTX itself")))
            }
            Target::Cubin { .. } => Ok(()),
            Target::Ptx { version, .. } => check_version(version, sm, driver),
        }
    }
}

fn check_version(version: (u32, u32), sm: u32, driver: CudaVersion) -> Result<()> {
    let Some(newest) = newest_ptx(driver).filter(|newest| version > *newest) else {
        return Ok(());
    };
    let ((major, minor), (newest_major, newest_minor)) = (version, newest);
    Err(Error::new(format_args!(
        "the kernels are PTX {major}.{minor}; the driver (CUDA {driver}) takes {newest_major}.{newest_minor} at most"
    ))
    .fix("update the driver")
    .fix(format_args!("assemble the PTX with ptxas first: `ptxas -arch sm_{sm}`"))
    .fix(format_args!("build it older: -Ctarget-feature=+ptx{newest_major}{newest_minor}")))
}

/// The newest PTX that a driver of each CUDA version takes: "Release History" in NVIDIA's PTX ISA
/// manual. A version between two rows takes what the row before takes.
const NEWEST_PTX: [(i32, (u32, u32)); 25] = [
    (9000, (6, 0)),
    (9010, (6, 1)),
    (9020, (6, 2)),
    (10000, (6, 3)),
    (10010, (6, 4)),
    (10020, (6, 5)),
    (11000, (7, 0)),
    (11010, (7, 1)),
    (11020, (7, 2)),
    (11030, (7, 3)),
    (11040, (7, 4)),
    (11050, (7, 5)),
    (11060, (7, 6)),
    (11070, (7, 7)),
    (11080, (7, 8)),
    (12000, (8, 0)),
    (12010, (8, 1)),
    (12020, (8, 2)),
    (12030, (8, 3)),
    (12040, (8, 4)),
    (12050, (8, 5)),
    (12070, (8, 6)),
    (12080, (8, 7)),
    (12090, (8, 8)),
    (13000, (9, 0)),
];

/// The newest PTX ISA version that a driver takes; `None` if the driver is newer than this table.
pub fn newest_ptx(driver: CudaVersion) -> Option<(u32, u32)> {
    let CudaVersion(version) = driver;
    if version >= 14000 {
        return None;
    }
    let row = NEWEST_PTX.iter().rev().find(|(first, _)| *first <= version);
    Some(match row {
        // In all of CUDA 13 the minor versions agree.
        Some((13000, (major, _))) => (*major, (version % 1000 / 10) as u32),
        Some((_, ptx)) => *ptx,
        None => (5, 0),
    })
}
