//! `docs/from-cuda.md`: the functions of `cuda::ptx`, the builtins of CUDA C++ and the copy atoms of CuTe, beside ours. The lists have
//! what CUDA calls and the PTX that it writes. What is ours is looked up: in the catalogue, and in the source of `ptx-kernel`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ptx_intrinsics::catalogue;
use ptx_kernel::matrix::{MOVES, PRODUCTS};
use regex::Regex;

use crate::tools::command::Machine;
use crate::tools::error::{Error, Result};

const CUDA_PTX: &str = include_str!("from_cuda/cuda_ptx.txt");
const BUILTINS: &str = include_str!("from_cuda/builtins.txt");
const CUTE: &str = include_str!("from_cuda/cute.txt");

/// What is said of a call that nothing of ours does.
const NOT_YET: &str = "not yet";

/// Rust has it.
const RUST: &str = "Rust: ";

/// Not for this project.
const OUT: &str = "out of scope: ";

/// What is said of a spelling that is not here, by its beginning, or by words in it if it begins with a point or a colon. The first row counts.
const REASONS: [(&str, &str); 12] = [
    ("tcgen05", "out of scope: tensor memory"),
    (".fabric", "out of scope: the fabric between GPUs"),
    ("::fabric", "out of scope: the fabric between GPUs"),
    ("fabric", "out of scope: the fabric between GPUs"),
    (".sync_restrict::proxy::async", "newer than the PTX ISA of rustc: 9.5"),
    (".sync_restrict::read", "newer than the PTX ISA of rustc: 9.5"),
    (".multicast::cluster::32b", "of sm_107, which rustc does not know"),
    ("cp.async.mbarrier.arrive", "of an address in shared memory it is here"),
    ("tensormap.cp_fenceproxy", "a collective without an intrinsic of LLVM"),
    ("movmatrix", "a collective without an intrinsic of LLVM"),
    ("exit", "Rust: `return` from the kernel"),
    ("trap", "Rust: `panic!`"),
];

/// What is said of a spelling that is not here.
fn reason(ptx: &str) -> &'static str {
    let shifts = [("shl.", "Rust: `<<`"), ("shr.", "Rust: `>>`")];
    let counts = |pattern: &str| ptx.starts_with(pattern) || pattern.starts_with(['.', ':']) && ptx.contains(pattern);
    let found = REASONS.iter().chain(&shifts).find(|(pattern, _)| counts(pattern));
    found.map_or(NOT_YET, |(_, reason)| *reason)
}

/// Where the page is.
pub fn path() -> PathBuf {
    Machine::current().repository.join("docs/from-cuda.md")
}

/// The page.
pub fn page() -> Result<String> {
    let ours = Ours::find()?;
    let builtins = builtins(&ours)?;
    let (functions, counted) = spellings(CUDA_PTX, &ours);
    let (atoms, _) = spellings(CUTE, &ours);
    Ok(format!(
        "# From CUDA C++\n\n`cargo xtask forms --from-cuda --write` writes this page from lists of what CUDA has, the catalogue, and the \
         source of `ptx-kernel`.\nA test compares it. \"Not yet\" means that no function of ours does it, and no reason is known. Of a function with several \
         spellings of PTX, the first is shown.\n`cargo ptx explain` tells of each spelling that is here.\n\n\
         ## Builtins\n{builtins}\n\
         ## `cuda::ptx`\n\n{LIST_OF_CCCL}\nOf its {} functions {} are in scope. Of these {} are here, some in part, {} have a reason, and {} are not here yet.\n\
         They write {} spellings that are in scope: {} are here, {} have a reason, and {} are not here yet.\n\n\
         {HEAD}{functions}\n\
         ## Copy atoms of CuTe\n\nThose of CUTLASS's `include/cute/arch/copy_sm*.hpp`.\n\n{HEAD}{atoms}",
        counted.functions.all,
        counted.functions.in_scope(),
        counted.functions.here,
        counted.functions.reasons,
        counted.functions.not_yet(),
        counted.spellings.in_scope(),
        counted.spellings.here,
        counted.spellings.reasons,
        counted.spellings.not_yet(),
    ))
}

const LIST_OF_CCCL: &str = "\
Those of CCCL 13.3.5. Of `tcgen05` and `fabric` only the instruction is listed. Spellings with `.mbarrier::report`, `.override` and
`.phase_type` are left out.
";

const HEAD: &str = "| CUDA | PTX | Here |\n| --- | --- | --- |\n";

/// What is ours.
struct Ours {
    /// The functions of each spelling without its operands.
    forms: BTreeMap<String, BTreeSet<String>>,
    /// The functions of `ptx-kernel`, by the PTX of their documentation.
    kernel: BTreeMap<String, String>,
    /// All names of `ptx-kernel`.
    names: BTreeSet<String>,
}

impl Ours {
    fn find() -> Result<Ours> {
        let mut forms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for form in catalogue::forms() {
            // A move of a special register is known by that register.
            let told = form.full_ptx();
            let register = told.rsplit_once(' ').map(|(_, register)| register).filter(|_| told.starts_with("mov."));
            forms.entry(key(register.unwrap_or(form.ptx()))).or_default().insert(name_of(form.rust()));
        }
        let (mut kernel, mut names) = (BTreeMap::new(), BTreeSet::new());
        for file in sources(&Machine::current().repository.join("ptx-kernel/src"))? {
            let text = std::fs::read_to_string(&file).map_err(|error| Error::io("read", &file, error))?;
            kernel_functions(&text, &mut kernel);
            let defined = DEFINED.captures_iter(&text).chain(ATTRIBUTE.captures_iter(&text));
            names.extend(defined.map(|found| found[1].to_owned()));
        }
        let moves = MOVES.iter().map(|(name, ptx, _)| (*name, *ptx));
        let matrices = moves.chain(PRODUCTS.iter().map(|(name, ptx, ..)| (*name, *ptx)));
        kernel.extend(matrices.map(|(name, ptx)| (key(ptx), format!("matrix::{name}"))));
        Ok(Ours { forms, kernel, names })
    }

    /// The functions that write this PTX.
    fn of_ptx(&self, ptx: &str) -> Option<BTreeSet<String>> {
        let key = key(ptx);
        self.forms
            .get(&key)
            .cloned()
            .or_else(|| Some(BTreeSet::from([format!("ptx-kernel: `{}`", self.kernel.get(&key)?)])))
    }
}

/// A function, a macro or an attribute that a file defines: also by a row of a macro, whose first word is its name.
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^\s*(?:(?:pub )?(?:const )?(?:unsafe )?fn |macro_rules! |\(?#?\[?)([a-z][a-z0-9_]+)\b"#)
        .expect("the pattern is valid")
});

/// An attribute of `kernel!`.
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"#\[([a-z_]+)\(").expect("the pattern is valid"));

/// A row such as `thread_idx_x "%tid.x" …`.
static REGISTER_ROW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?m)^\s*([a-z][a-z0-9_]*) "(%[a-z0-9_.]+)""#).expect("the pattern is valid"));

/// A row such as `prmt(a: u32, b: u32) -> u32, "prmt.b32" …`.
static ARITHMETIC_ROW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^\s*([a-z][a-z0-9_]*)\([^)]*\) -> [^"=;]*"([a-z0-9]+(?:\.[a-z0-9]+)+)""#)
        .expect("the pattern is valid")
});

/// The PTX that a function's documentation names, if it is one instruction, and the function.
fn kernel_functions(text: &str, found: &mut BTreeMap<String, String>) {
    let rows = REGISTER_ROW.captures_iter(text).chain(ARITHMETIC_ROW.captures_iter(text));
    found.extend(rows.map(|row| (key(&row[2]), row[1].to_owned())));
    let mut told: Option<String> = None;
    for line in text.lines().map(str::trim) {
        if let Some(ptx) = line.strip_prefix("/// PTX: `").and_then(|rest| rest.split('`').next()) {
            told = (ptx.matches(';').count() == 1).then(|| {
                match ptx.split_once('%').filter(|_| ptx.starts_with("mov.")) {
                    Some((_, register)) => format!("%{}", register.trim_end_matches(';')),
                    None => ptx.to_owned(),
                }
            });
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| line.starts_with("pub ")) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.extend(told.take().map(|ptx| (key(&ptx), name)));
        }
    }
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| Error::io("read the folder", folder, error))?;
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.iter().map(std::fs::DirEntry::path).partition(|path| path.is_dir());
    let mut all: Vec<PathBuf> =
        files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs")).collect();
    for folder in folders {
        all.extend(sources(&folder)?);
    }
    all.sort();
    Ok(all)
}

/// A spelling as every writer of it means it: without operands and defaults, its words sorted.
fn key(ptx: &str) -> String {
    let opcode = ptx.split([' ', ';']).next().unwrap_or_default();
    let barrier = ["mbarrier.", "barrier.", "bar."].iter().any(|name| opcode.starts_with(name));
    let mut words: Vec<&str> = opcode
        .split('.')
        .map(|word| if word == "shared::cta" { "shared" } else { word })
        // A copy that says no other way takes a tile.
        .filter(|word| !["weak", "aligned", "tile"].contains(word))
        .collect();
    if barrier {
        words.retain(|word| !["b64", "release", "acquire"].contains(word));
        // The block is the scope where none is named, and a count of bytes orders nothing.
        let only_relaxed =
            [".expect_tx", ".complete_tx"].iter().any(|name| opcode.contains(name)) && !opcode.contains(".arrive");
        words.retain(|word| *word != "relaxed" || !only_relaxed);
        words.retain(|word| *word != "cta" || !only_relaxed && opcode.contains(".relaxed"));
        words[0] = if words[0] == "bar" { "barrier" } else { words[0] };
    }
    words[1..].sort_unstable();
    words.join(".")
}

/// `fence_sc` of `fence_sc::<Cta>()`, `ld_global` of `ld_global::<Cs, NoPrefetch>().read(p)`, and `ptx!`.
fn name_of(rust: &str) -> String {
    let end = rust.find(['(', '<', ':', '!']).unwrap_or(rust.len());
    let bang = if rust[end..].starts_with('!') { "!" } else { "" };
    format!("`{}{bang}`", &rust[..end])
}

/// How many of a list are what.
#[derive(Default)]
struct Counted {
    functions: Count,
    spellings: Count,
}

#[derive(Default)]
struct Count {
    all: usize,
    /// Out of scope.
    out: usize,
    /// Here, or in Rust.
    here: usize,
    /// Not here for a reason.
    reasons: usize,
}

impl Count {
    fn add(&mut self, is_here: bool, reason: Option<&str>) {
        self.all += 1;
        let counter = match reason {
            _ if is_here => &mut self.here,
            Some(NOT_YET) => return,
            Some(reason) if reason.starts_with(OUT) => &mut self.out,
            Some(reason) if !reason.starts_with(RUST) => &mut self.reasons,
            _ => &mut self.here,
        };
        *counter += 1;
    }

    fn in_scope(&self) -> usize {
        self.all - self.out
    }

    fn not_yet(&self) -> usize {
        self.in_scope() - self.here - self.reasons
    }
}

/// A row for each line of a list: a name, and the spellings that it writes.
fn spellings(list: &str, ours: &Ours) -> (String, Counted) {
    let (mut rows, mut counted) = (String::new(), Counted::default());
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let all: Vec<&str> = words.collect();
        let missing: Vec<&str> = all.iter().filter(|ptx| ours.of_ptx(ptx).is_none()).copied().collect();
        let here: BTreeSet<String> = all.iter().filter_map(|ptx| ours.of_ptx(ptx)).flatten().collect();
        counted.functions.add(!here.is_empty(), missing.first().map(|ptx| reason(ptx)));
        all.iter().for_each(|ptx| counted.spellings.add(!missing.contains(ptx), Some(reason(ptx))));
        let more = if all.len() > 1 { format!(", and {} more", all.len() - 1) } else { String::new() };
        let here: Vec<String> = here.into_iter().collect();
        let told = match missing[..] {
            [] => here.join(", "),
            [first, ..] if here.is_empty() => reason(first).to_owned(),
            [first, ..] => {
                let why = reason(first);
                format!("{}; {why}: {} of {}, such as `{first}`", here.join(", "), missing.len(), all.len())
            }
        };
        rows += &format!("| `{name}` | `{}`{more} | {told} |\n", all.first().copied().unwrap_or_default());
    }
    (rows, counted)
}

fn builtins(ours: &Ours) -> Result<String> {
    let mut page = String::new();
    for line in BUILTINS.lines().skip(1) {
        if let Some(title) = line.strip_prefix("# ") {
            page += &format!("\n### {title}\n\n{HEAD}");
            continue;
        }
        let (cuda, ptx) = line.split_once(" | ").ok_or_else(|| {
            Error::new(format_args!("`{line}` has no ` | `")).at("from_cuda/builtins.txt").fix("write: CUDA | PTX")
        })?;
        let row = match ptx.split_once(':').filter(|(place, _)| ["kernel", "core"].contains(place)) {
            Some(("kernel", name)) if ours.names.contains(name) => format!("| ptx-kernel: `{name}`"),
            Some(("kernel", _)) => format!("| {NOT_YET}"),
            Some((_, core)) => format!("| Rust: {core}"),
            None => {
                let here = ours.of_ptx(ptx).map(|here| here.into_iter().collect::<Vec<_>>().join(", "));
                format!("`{ptx}` | {}", here.unwrap_or_else(|| reason(ptx).into()))
            }
        };
        page += &format!("| `{cuda}` | {row} |\n");
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_mean_the_same_have_one_key() {
        let same = [
            ("mbarrier.arrive.release.cta.shared::cta.b64", "mbarrier.arrive.shared.b64 %, [%]"),
            ("fence.proxy.async.shared::cta", "fence.proxy.async.shared"),
            ("st.async.weak.shared::cluster.b32", "st.async.shared::cluster.b32"),
            (
                "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group",
                "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group",
            ),
            ("bar.sync 0;", "barrier.sync.aligned"),
            ("ldmatrix.sync.aligned.x1.m8n8.shared.b16", "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16"),
        ];
        for (one, other) in same {
            assert_eq!(key(one), key(other));
        }
        assert_ne!(key("mbarrier.arrive.relaxed.cta.shared.b64"), key("mbarrier.arrive.shared.b64"));
        assert_ne!(key("fence.sc.cta"), key("fence.sc.gpu"));
    }

    #[test]
    fn functions_of_the_kernel_crate_are_found_by_their_ptx() {
        let mut found = BTreeMap::new();
        let text = "/// One.\n/// PTX: `vote.sync.any.pred d, holds, -1;`. Any target.\npub fn any(holds: bool) -> bool {\n\
                    /// PTX: `a.b; c.d;`.\npub fn both() {\n/// PTX: `mov.u32 d, %laneid;`.\npub fn lane_id() -> u32 {\n\
                    \x20   thread_idx_x \"%tid.x\" _x;\n\
                    \x20   find(x: u64) -> u32, in (reg64 -> reg32), \"bfind.u64\" \"Any target.\" = 1;\n";
        kernel_functions(text, &mut found);
        let of = |ptx: &str| found.get(&key(ptx)).map(String::as_str);
        assert_eq!(
            [of("vote.sync.any.pred"), of("%laneid"), of("%tid.x"), of("a.b"), of("bfind.u64")],
            [Some("any"), Some("lane_id"), Some("thread_idx_x"), None, Some("find")]
        );
    }

    /// What has no function and no reason is known: an instruction that is forgotten is none of these.
    #[test]
    fn what_is_not_here_yet() {
        let ours = Ours::find().unwrap_or_else(|error| panic!("{error}"));
        let all = [CUDA_PTX, CUTE].into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'));
        let left: BTreeSet<&str> = all
            .flat_map(|line| line.split(' ').skip(1))
            .filter(|ptx| ours.of_ptx(ptx).is_none() && reason(ptx) == NOT_YET)
            .collect();
        assert!(left.is_empty(), "{left:?}");
        let builtins = builtins(&ours).unwrap_or_else(|error| panic!("{error}"));
        assert!(!builtins.contains(NOT_YET), "{builtins}");
    }

    #[test]
    fn the_name_of_a_call() {
        assert_eq!(name_of("fence_sc::<Cta>()"), "`fence_sc`");
        assert_eq!(name_of("ld_global::<Cs, NoPrefetch>().read(p)"), "`ld_global`");
        assert_eq!(name_of("ptx!(atom.add.u32 [p], x)"), "`ptx!`");
    }
}
