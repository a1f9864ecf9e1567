//! GPU architectures and PTX ISA versions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A GPU architecture: `sm_90`, `sm_90a`, `sm_100f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sm {
    /// The number: ten times the major compute capability, plus the minor one.
    pub number: u32,
    /// `a` for what only this architecture has, `f` for what its family has.
    pub suffix: Option<char>,
}

/// A version of the PTX ISA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PtxVersion {
    /// The 8 of 8.7.
    pub major: u32,
    /// The 7 of 8.7.
    pub minor: u32,
}

/// Every architecture that one of our two assemblers takes (CUDA 12.9 has sm_50 to sm_72 and sm_101, CUDA 13.5
/// the others), in ascending order, with the PTX ISA version that rustc 1.97 and later emit for it if not told
/// another. rustc 1.96 still has those below sm_70, and starts lower up to sm_75.
const DEFAULTS: &[(u32, &str, (u32, u32))] = &[
    (50, "", (4, 0)),
    (52, "", (4, 1)),
    (53, "", (4, 2)),
    (60, "", (5, 0)),
    (61, "", (5, 0)),
    (62, "", (5, 0)),
    (70, "", (7, 0)),
    (72, "", (7, 0)),
    (75, "", (7, 0)),
    (80, "", (7, 0)),
    (86, "", (7, 1)),
    (87, "", (7, 4)),
    (88, "", (9, 0)),
    (89, "", (7, 8)),
    (90, "", (7, 8)),
    (90, "a", (8, 0)),
    (100, "", (8, 6)),
    (100, "a", (8, 6)),
    (100, "f", (8, 8)),
    (101, "", (8, 6)),
    (101, "a", (8, 6)),
    (101, "f", (8, 8)),
    (103, "", (8, 8)),
    (103, "a", (8, 8)),
    (103, "f", (8, 8)),
    // No rustc knows this family yet; 9.4 is the first version that ptxas takes it with.
    (107, "", (9, 4)),
    (107, "a", (9, 4)),
    (107, "f", (9, 4)),
    (110, "", (9, 0)),
    (110, "a", (9, 0)),
    (110, "f", (9, 0)),
    (120, "", (8, 7)),
    (120, "a", (8, 7)),
    (120, "f", (8, 8)),
    (121, "", (8, 8)),
    (121, "a", (8, 8)),
    (121, "f", (8, 8)),
];

/// Every architecture the harness knows, in ascending order.
pub const KNOWN_SMS: &[Sm] = &{
    let mut known = [Sm::new(0); DEFAULTS.len()];
    let mut at = 0;
    while at < known.len() {
        let (number, suffix, _) = DEFAULTS[at];
        let suffix = if suffix.is_empty() { None } else { Some(suffix.as_bytes()[0] as char) };
        known[at] = Sm { number, suffix };
        at += 1;
    }
    known
};

impl Sm {
    /// The architecture that has every form of the catalogue.
    pub const OF_EVERY_FORM: Self = Sm { number: 100, suffix: Some('a') };

    /// The architecture of that number, without a suffix.
    pub const fn new(number: u32) -> Self {
        Sm { number, suffix: None }
    }

    /// Whether a GPU of that number, 90 for sm_90, runs PTX for it: with an `a` that GPU alone, with an `f` the later ones of its
    /// family, else all later ones.
    pub fn runs_on(self, gpu: u32) -> bool {
        ptx_sass::target::runs_on(self.number, self.suffix, gpu)
    }

    /// Reads any architecture's name, known here or not, as the tools print it.
    pub fn read(text: &str) -> Option<Self> {
        let name = text.strip_prefix("sm_")?;
        let digits = name.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let mut suffix = name[digits.len()..].chars();
        let sm = Sm { number: digits.parse().ok()?, suffix: suffix.next() };
        (suffix.next().is_none() && sm.to_string() == text).then_some(sm)
    }
}

impl PtxVersion {
    /// The version that has every form of the catalogue.
    pub const OF_EVERY_FORM: Self = Self::new(9, 4);

    /// Version `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        PtxVersion { major, minor }
    }

    /// What rustc 1.97 and later emit for `-Ctarget-cpu=<sm>` alone; an architecture outside of [`KNOWN_SMS`] is
    /// taken for the next lower one. A given toolchain's answer is `DeviceToolchain::default_ptx`.
    pub fn default_for(sm: Sm) -> Self {
        let below = KNOWN_SMS.partition_point(|known| *known <= sm).max(1) - 1;
        let (.., (major, minor)) = DEFAULTS[below];
        PtxVersion { major, minor }
    }

    /// 8.7 of 87.
    pub const fn of_number(number: u32) -> Self {
        PtxVersion { major: number / 10, minor: number % 10 }
    }

    /// 87 of 8.7.
    pub fn number(self) -> u32 {
        10 * self.major + self.minor
    }

    /// The name of rustc's target feature: `ptx87`.
    pub fn feature(self) -> String {
        format!("ptx{}{}", self.major, self.minor)
    }
}

impl fmt::Display for Sm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(out, "{suffix}"))
    }
}

impl FromStr for Sm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = || KNOWN_SMS.iter().map(Sm::to_string).collect::<Vec<_>>().join(" ");
        Sm::read(text).filter(|sm| KNOWN_SMS.contains(sm)).ok_or_else(|| {
            Error::new(format_args!("`{text}` is not a GPU architecture")).fix(format_args!("use one of {}", known()))
        })
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for PtxVersion {
    type Err = Error;

    /// Reads `7.4` and `74`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let parts = text.split_once('.').or_else(|| text.split_at_checked(text.len().saturating_sub(1)));
        let version = parts.and_then(|(major, minor)| Some(PtxVersion::new(digits(major)?, digits(minor)?)));
        version.ok_or_else(|| {
            Error::new(format_args!("`{text}` is not a PTX ISA version")).fix("write it as in `8.7` or `87`")
        })
    }
}

impl From<Sm> for String {
    fn from(sm: Sm) -> String {
        sm.to_string()
    }
}

impl TryFrom<String> for Sm {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<PtxVersion> for String {
    fn from(version: PtxVersion) -> String {
        version.to_string()
    }
}

impl TryFrom<String> for PtxVersion {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

/// A CUDA tool's release, as in 13.5.
pub type Release = (u32, u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_read_back_as_written() {
        assert!(KNOWN_SMS.is_sorted());
        for sm in KNOWN_SMS {
            assert_eq!(sm.to_string().parse::<Sm>().unwrap(), *sm);
        }
        assert_eq!("sm_90a".parse::<Sm>().unwrap(), Sm { number: 90, suffix: Some('a') });
        for bad in ["", "90", "sm_", "sm_91", "sm_90b", "compute_90", "sm_090", "SM_90"] {
            assert!(bad.parse::<Sm>().is_err(), "{bad}");
        }
    }

    #[test]
    fn versions_read_with_and_without_a_point() {
        assert_eq!("7.4".parse::<PtxVersion>().unwrap(), PtxVersion::new(7, 4));
        assert_eq!("74".parse::<PtxVersion>().unwrap(), PtxVersion::new(7, 4));
        assert_eq!("10.0".parse::<PtxVersion>().unwrap(), PtxVersion::new(10, 0));
        for bad in ["", "7", "7.", ".4", "+7.4", "7.x", "seven"] {
            assert!(bad.parse::<PtxVersion>().is_err(), "{bad}");
        }
    }

    #[test]
    fn defaults_are_rustcs() {
        let default = |sm: &str| PtxVersion::default_for(sm.parse().unwrap()).to_string();
        assert_eq!(default("sm_80"), "7.0");
        assert_eq!(default("sm_90"), "7.8");
        assert_eq!(default("sm_90a"), "8.0");
        assert_eq!(default("sm_121f"), "8.8");
        assert_eq!(PtxVersion::default_for(Sm::new(42)), PtxVersion::new(4, 0));
    }
}
