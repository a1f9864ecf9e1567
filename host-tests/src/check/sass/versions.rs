//! What the assemblers of CUDA 13 make of a form otherwise than today's, whose machine code `docs/sass` tells.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::sass::classes::{is_atomic, moves};
use crate::check::sass::golden::{Page, template, type_names};
use crate::check::sass::text::{ranges, runs, stem};
use crate::check::sass::{AT_A_TIME, Access, GPUS, MachineCode, NOTHING, Reader, Seen, Shape, trace};
use crate::tools::assemblers;
use crate::tools::command::Machine;
use crate::tools::cuda_tools::CudaTools;
use crate::tools::disassembler::Disassembler;
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::progress::{Bar, Progress};
use crate::tools::ptxas::Assembler;
use crate::tools::target::{PtxVersion, Release, Sm};

/// Of each spelling without its type one form of each width; of an atomic one of each width and kind of number.
pub fn one_of_each_width(accesses: Vec<Access>) -> Vec<Access> {
    let mut known = BTreeSet::new();
    let mut is_new = |access: &Access| {
        let (spelling, ty) = stem(&access.ptx);
        let scalar = ty.rsplit('.').next().unwrap_or(ty);
        let counts = is_atomic(&access.ptx) || access.instruction == "red.async";
        let kind = if counts { &scalar[..1] } else { "" };
        let bits = if moves(&access.ptx) { Shape::of(ty).total() } else { 0 };
        known.insert((spelling.to_owned(), kind.to_owned(), bits))
    };
    accesses.into_iter().filter(|access| is_new(access)).collect()
}

/// What this assembler makes of the forms of its PTX ISA, on the GPUs that it knows. What it refuses all the same becomes
/// [`REFUSED`].
pub fn seen_by(
    assembler: Assembler,
    tools: &CudaTools,
    accesses: &[Access],
    sms: &[Sm],
    progress: &Progress,
) -> Result<Seen> {
    let (newest, known) = (assembler.newest_version()?, assembler.supported_sms()?);
    let version = newest.min(PtxVersion::OF_EVERY_FORM);
    let reader = Reader::of(assembler, Disassembler::new(&tools.nvdisasm), version).nothing_too();
    let sms: Vec<Sm> = sms.iter().copied().filter(|sm| known.contains(sm)).collect();
    let on = |sm: &Sm| -> Vec<&str> {
        let has = |access: &&Access| access.min_ptx <= newest && access.is_on(*sm);
        accesses.iter().filter(has).map(|access| access.ptx.as_str()).collect()
    };
    let bar = progress.bar(sms.iter().map(|sm| on(sm).len() as u64).sum(), "Machine code");
    let mut seen = Seen::new();
    for sm in sms {
        let here = on(&sm);
        let refused = reader.refused(sm, &here)?;
        let own = seen.entry(sm).or_default();
        let taken: Vec<&str> = here.into_iter().filter(|ptx| !refused.contains(ptx)).collect();
        for part in taken.chunks(AT_A_TIME) {
            let codes = read_or_split(&reader, sm, part, &bar)?;
            own.extend(part.iter().map(|ptx| (*ptx).to_owned()).zip(codes));
        }
        own.extend(refused.into_iter().map(|ptx| (ptx.to_owned(), of_none(REFUSED))));
    }
    Ok(seen)
}

/// Where the assembler breaks off with an error of its own, the forms are halved until one is left that brings it about.
fn read_or_split(reader: &Reader, sm: Sm, accesses: &[&str], bar: &Bar<'_>) -> Result<Vec<MachineCode>> {
    match (reader.read(sm, accesses, bar), accesses.len()) {
        (Ok(codes), _) => Ok(codes),
        (Err(error), _) if !error.to_string().contains("Internal compiler error") => Err(error),
        (Err(_), 1) => Ok(vec![of_none(BREAKS_OFF)]),
        (Err(_), len) => {
            let (first, second) = accesses.split_at(len / 2);
            Ok([read_or_split(reader, sm, first, bar)?, read_or_split(reader, sm, second, bar)?].concat())
        }
    }
}

fn of_none(what: &str) -> MachineCode {
    MachineCode { opcodes: vec![what.into()], policy: false }
}

/// What a form becomes at which the assembler breaks off with an error of its own.
pub const BREAKS_OFF: &str = "internal error";

/// What a form becomes that the assembler refuses.
pub const REFUSED: &str = "refused";

/// The same by the assembler of each of these releases, which are downloaded when first asked for.
pub fn seen_by_releases(
    releases: &[Release],
    tools: &CudaTools,
    accesses: &[Access],
    sms: &[Sm],
    progress: &Progress,
) -> Result<BTreeMap<Release, Seen>> {
    let of = |release: &Release| {
        let assembler = assemblers::of(*release, &Machine::current(), progress)?;
        Ok((*release, seen_by(assembler, tools, accesses, sms, progress)?))
    };
    releases.iter().map(of).collect()
}

/// A form that becomes something else than by today's assembler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The form.
    pub ptx: String,
    /// Where.
    pub sm: Sm,
    /// By the assembler of this release.
    pub release: Release,
    /// What it becomes, and the hints that are not in it.
    pub then: (String, String),
    /// The same by today's assembler.
    pub now: (String, String),
}

/// What differs from the pages.
pub fn differences(
    kept: &BTreeMap<String, String>,
    accesses: &[Access],
    seen: &BTreeMap<Release, Seen>,
) -> Result<Vec<Difference>> {
    let read: BTreeMap<&str, Page<'_>> = kept
        .iter()
        .filter_map(|(name, text)| Some((name.strip_suffix(".txt")?, text)))
        .map(|(name, text)| Ok((name, Page::read(text)?)))
        .collect::<Result<_>>()?;
    let mut differences = Vec::new();
    for access in accesses {
        let page = read.get(access.instruction.as_str());
        for (release, on) in seen {
            for (sm, codes) in on {
                let Some(code) = codes.get(&access.ptx) else { continue };
                let then = (code.line(), trace::lost(&access.ptx, *sm, on).concat());
                let now = page.and_then(|page| page.look_up(&access.ptx, *sm)).ok_or_else(|| {
                    Error::new(format_args!("{} on {sm} has no row", access.ptx)).fix("run: cargo xtask sass --write")
                })?;
                if then != now {
                    differences.push(Difference { ptx: access.ptx.clone(), sm: *sm, release: *release, then, now });
                }
            }
        }
    }
    Ok(differences)
}

/// What differs, where: the releases, the GPUs, the part of the machine code by these assemblers, and by today's.
type Change = (String, String, String, String);

/// The spellings of each change, with their types.
pub type Table = BTreeMap<Change, Vec<(String, String)>>;

/// On which GPUs the assembler of each release differs.
type ByRelease = BTreeMap<Release, BTreeSet<Sm>>;

/// The differences, those together that agree.
pub fn table(accesses: &[Access], differences: &[Difference]) -> Table {
    // The types of each spelling, and where each becomes what.
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for access in accesses {
        let (spelling, ty) = stem(&access.ptx);
        all.entry(spelling).or_default().insert(ty);
    }
    let mut found: BTreeMap<(&str, &str, (String, String)), ByRelease> = BTreeMap::new();
    for one in differences {
        let (spelling, ty) = stem(&one.ptx);
        found.entry((spelling, ty, one.parts())).or_default().entry(one.release).or_default().insert(one.sm);
    }
    let mut types: BTreeMap<(Change, &str), BTreeSet<&str>> = BTreeMap::new();
    for ((spelling, ty, (then, now)), by_release) in found {
        let mut on: BTreeMap<BTreeSet<Sm>, BTreeSet<Release>> = BTreeMap::new();
        for (release, sms) in by_release {
            on.entry(sms).or_default().insert(release);
        }
        for (sms, releases) in on {
            let change = (names(&releases), ranges(&sms, &GPUS), then.clone(), now.clone());
            types.entry((change, spelling)).or_default().insert(ty);
        }
    }
    let mut table = Table::new();
    for ((change, spelling), types) in types {
        let types = type_names(&types, &all[spelling]);
        table.entry(change).or_default().push((spelling.to_owned(), types));
    }
    table
}

impl Difference {
    /// The parts of both machine codes that the other lacks, with the width replaced by `.W`.
    pub fn parts(&self) -> (String, String) {
        // A policy's constant may stay behind.
        let none = self.then.0.trim_end_matches(" + policy");
        if [REFUSED, BREAKS_OFF, NOTHING].contains(&none) {
            return (none.to_owned(), "code".into());
        }
        let parts = |(line, lost): &(String, String)| -> Vec<String> {
            let line = template(&self.ptx, line).unwrap_or_else(|| line.clone());
            let line = line.replace(" + policy", " ; + policy");
            let lost = (!lost.is_empty()).then(|| format!("no trace of {lost}"));
            line.split(" ; ").map(str::to_owned).chain(lost).collect()
        };
        let (then, now) = (parts(&self.then), parts(&self.now));
        let without = |these: &[String], those: &[String]| {
            let own = these.iter().filter(|part| !those.contains(part)).cloned().collect::<Vec<_>>();
            // Where only the order or a count differs, all is shown.
            own.join(" ; ")
        };
        let own = (without(&then, &now), without(&now, &then));
        if own.0.is_empty() && own.1.is_empty() { (then.join(" ; "), now.join(" ; ")) } else { own }
    }
}

/// The table as `ptx_build::explain` reads it.
pub fn text(table: &Table, seen: &BTreeMap<Release, Seen>) -> String {
    let mut text = String::from(
        "# What assemblers of CUDA 13 make otherwise than today's. Written by `cargo xtask sass --matrix --write`.\n\
         # @ release | the GPUs that were read\n\
         # = releases | sm_ | machine code by them | machine code by today's; then spellings without their types | types\n",
    );
    for (release, on) in seen {
        text += &format!("@ {} | {}\n", Name(*release), ranges(&on.keys().copied().collect(), &GPUS));
    }
    for ((releases, sms, then, now), spellings) in table {
        text += &format!("= {releases} | {sms} | {then} | {now}\n");
        text.extend(spellings.iter().map(|(spelling, types)| format!("{spelling} | {types}\n")));
    }
    text
}

/// The spellings without their hints, and their types.
fn without_hints(spellings: &[(String, String)]) -> BTreeSet<(String, &str)> {
    let mut plainly = BTreeSet::new();
    for (spelling, types) in spellings {
        let hints = trace::without_hints(spelling).into_iter().map(|(hint, _)| hint.to_owned());
        let plain = hints.fold(spelling.clone(), |plain, hint| plain.replacen(&hint, "", 1));
        let plain = if spelling.starts_with("prefetch") { spelling.clone() } else { plain };
        plainly.insert((plain, types.as_str()));
    }
    plainly
}

/// The page of the crate's documentation.
const DOCUMENTATION: &str = "ptx-intrinsics/assemblers.md";

/// `13.0-13.2,13.4`.
fn names(releases: &BTreeSet<Release>) -> String {
    let all: Vec<Name> = assemblers::RELEASES.iter().map(|(release, _)| Name(*release)).collect();
    runs(&releases.iter().copied().map(Name).collect(), &all).join(",")
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name(Release);

impl std::fmt::Display for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Name((major, minor)) = self;
        write!(out, "{major}.{minor}")
    }
}

/// The page of the crate's documentation: what breaks a form, and not what is only another way to the same.
pub fn documentation(table: &Table, seen: &BTreeMap<Release, Seen>, today: Release) -> String {
    let read: BTreeSet<Sm> = seen.values().flat_map(BTreeMap::keys).copied().collect();
    let releases: BTreeSet<Release> = seen.keys().copied().collect();
    let mut page = format!(
        "# Forms that an assembler of CUDA 13 breaks\n\n\
         `cargo xtask sass --matrix --write` wrote this page. The assemblers of CUDA {} were asked for sm_{}. What each form becomes is \
         compared with the assembler of CUDA {}, whose machine code `docs/sass` has. `cargo ptx explain` warns of the same forms. \
         `cargo ptx audit` tells what became of them in a kernel.\n\n\
         | Form | Types | CUDA | sm_ | What happens |\n| --- | --- | --- | --- | --- |\n",
        names(&releases),
        ranges(&read, &GPUS),
        Name(today)
    );
    for ((releases, sms, then, now), spellings) in table {
        let Some(told) = breaks(then, now) else { continue };
        for (spelling, types) in without_hints(spellings) {
            page += &format!(
                "| `{spelling}` | {} | {releases} | {sms} | {told} |\n",
                types.replace('-', " to ").trim_start_matches(" to ")
            );
        }
    }
    page
}

/// What an assembler breaks by such a change; nothing if it keeps all that the form says.
fn breaks(then: &str, now: &str) -> Option<String> {
    match then {
        REFUSED => Some("it is refused".to_owned()),
        NOTHING => Some("it is left out: nothing is in its place".to_owned()),
        BREAKS_OFF => Some("the assembler breaks off with an internal error".to_owned()),
        "" => Some(format!("`{now}` is missing")),
        _ => {
            // An order is lost with its words.
            let strong = |text: &str| text.matches("STRONG").count();
            (strong(then) < strong(now)).then(|| format!("it is `{then}` and not `{now}`"))
        }
    }
}

/// Writes that page, and the table that `ptx_build::explain` reads.
pub fn write(documentation: &str, text: &str) -> Result<()> {
    let repository = &Machine::current().repository;
    write_whole(&repository.join(DOCUMENTATION), documentation)?;
    write_whole(&repository.join("ptx-build/src/explain/versions.txt"), text)
}
