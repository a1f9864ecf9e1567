//! What the PTX ISA says of each instruction, written from its pages and from none of the crate's tables: what the compiler may
//! do with it, and at which SM and PTX ISA version it begins. At the end are the numbers that one form more or less changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{Family, Form, Operation};

use crate::check::only;

/// This file, for messages.
pub const FILE: &str = "host-tests/src/check/ledger.rs";

/// The table beside it.
pub const TABLE: &str = "host-tests/src/check/ledger.txt";

/// What a call means to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It makes a number of its operands: two identical ones may be merged, an unused one is dropped, and no access is held up.
    Computes,
    /// It reads, and any two reads without a write between them are the same: they may be merged, and an unused one is
    /// dropped. What was written before it stays before it.
    Reads,
    /// It gives no value and changes none, and is there all the same: each call is one instruction. What was written before
    /// it stays before it; plain reads on both sides of it may be one.
    Hints,
    /// The threads of a warp exchange values: each call is one instruction, since all of them come to it, and it orders no access.
    Meets,
    /// It writes, or orders, or must be seen to happen: each call is one instruction, and no access moves across it.
    Acts,
}

impl Effect {
    /// All of them.
    pub const ALL: [Effect; 5] = [Computes, Reads, Hints, Meets, Acts];
}

use Effect::{Acts, Computes, Hints, Meets, Reads};

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("ledger.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// How an instruction begins, the words that it needs, and its effect.
static EFFECTS: LazyLock<Vec<(&str, Vec<&str>, Effect)>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let (begin, rest) = line.split_once(" | ")?;
        let effect = rest.split(" | ").next()?;
        let mut words = begin.split(' ');
        let effect = Effect::ALL.into_iter().find(|one| format!("{one:?}") == effect)?;
        Some((words.next()?, words.collect(), effect))
    };
    lines().filter_map(row).collect()
});

/// The row of [`EFFECTS`] that counts for a mnemonic with all its words.
fn row_of(ptx: &str) -> Option<usize> {
    let mut words = ptx.split('.');
    let name = words.next()?;
    let words: Vec<&str> = words.collect();
    EFFECTS.iter().position(|(of, with, ..)| *of == name && with.iter().all(|word| words.contains(word)))
}

/// The effect of a mnemonic with all its words; none if the ledger lacks it.
pub fn effect(ptx: &str) -> Option<Effect> {
    row_of(ptx).map(|row| EFFECTS[row].2)
}

/// The rows that count for none of these mnemonics: the ledger has no row too many.
pub fn unused<'p>(all: impl Iterator<Item = &'p str>) -> Vec<String> {
    let used: BTreeSet<usize> = all.filter_map(row_of).collect();
    EFFECTS.iter().enumerate().filter(|(row, _)| !used.contains(row)).map(|(_, row)| format!("{row:?}")).collect()
}

/// The rows that count for instructions of two families: one of these needs a row of its own.
pub fn shared<'f>(all: impl Iterator<Item = &'f Form>) -> Vec<String> {
    let mut families: BTreeMap<usize, BTreeMap<Family, &str>> = BTreeMap::new();
    for form in all {
        let row = row_of(form.ptx());
        row.map(|row| families.entry(row).or_default().entry(form.family()).or_insert(form.ptx()));
    }
    let shared = families.into_iter().filter(|(_, families)| families.len() > 1);
    shared.map(|(row, families)| format!("{:?} counts for {:?}", EFFECTS[row].0, families.values())).collect()
}

const FLOATS_OF_8_BITS: &[&str] = &[".e4m3", ".e5m2"];

/// A word or a kind of instruction, the oldest SM, the oldest PTX ISA version.
type Row = (bool, u32, u32);

/// The oldest SM and PTX ISA version that have a form: the newest of what its words need.
pub fn begins(form: &Form) -> (u32, u32) {
    let says = |text: &str| form.ptx().contains(text);
    let any = |texts: &[&str]| texts.iter().any(|text| says(text));
    let is = |instructions: &[&str]| instructions.contains(&form.instruction());
    let moves = form.operation() != Operation::Other;
    let atomic = form.is_atomic();
    let long = any(&[".b64", ".u64", ".s64"]);
    let scope = any(&[".cta", ".cluster", ".gpu", ".sys"]);
    let operands = form.signature().map_or("", |signature| signature.operands);
    let mbarrier = is(&["mbarrier"]);
    let counts_bytes = any(&["mbarrier.expect_tx", "mbarrier.complete_tx"]);
    // An arrival by a count, or a wait for a time.
    let counts = mbarrier && !says(".noComplete") && says(".arrive") && operands.ends_with("], %");
    let address = is(&["isspacep", "cvta"]);
    let later = is(&["st.async", "red.async"]);
    let multimem = form.family() == Family::Multimem;
    let policies = is(&["createpolicy", "applypriority", "discard"]);
    let rows: &[Row] = &[
        (says(".nc"), 32, 31),
        (moves && says(".L1::"), 70, 74),
        (any(&[".L2::64B", ".L2::128B"]), 75, 74),
        (says(".L2::256B"), 80, 74),
        (says(".L2::cache_hint") || policies, 80, 74),
        (says("prefetch") && says(".L2::evict"), 80, 74),
        (says(".tensormap"), 90, 80),
        (says(".b128"), 70, 83),
        (form.bytes() == 32, 100, 88),
        (any(&[".relaxed", ".acquire", ".release", ".acq_rel"]), 70, 60),
        (says("cluster") || is(&["mapa", "getctarank"]), 90, 78),
        (says(".mmio"), 70, 82),
        (says(".sys") && says(".b128"), 70, 84),
        (says(".param::func"), 20, 83),
        (says(".param::entry"), 70, 83),
        (says(".volatile.local"), 20, 91),
        (atomic && long && !any(&[".exch", ".cas", ".add"]), 32, 31),
        (atomic && (scope || says(".f64")), 60, 50),
        (atomic && says(".f16x2"), 60, 62),
        (atomic && (says(".f16") && !says(".f16x2") || says(".b16")), 70, 63),
        (atomic && says(".bf16"), 90, 78),
        (atomic && any(&[".v2.", ".v4.", ".v8."]), 90, 81),
        (atomic && says(".b128"), 90, 83),
        (atomic && says(".noftz") && says(".f32"), 90, 94),
        (mbarrier || says("cp.async"), 80, 70),
        (says(".parity"), 80, 71),
        (operands.contains("%ignore"), 80, 75),
        (says(".try_wait") || counts, 90, 78),
        (says(".layout::v"), 90, 93),
        (mbarrier && any(&["_tx", "cluster"]) || says("cp.async.bulk"), 90, 80),
        (mbarrier && says(".relaxed") && !counts_bytes || says(".bulk.shared::cta"), 90, 86),
        (says("cp.reduce"), 90, 80),
        (says(".tensor") && says("d.shared::cta.global"), 90, 86),
        (any(&["gather4", "scatter4", ".cta_group", "im2col::w"]), 100, 86),
        (says("cp.reduce") && says(".noftz.f32"), 90, 94),
        (says(".cp_mask"), 100, 86),
        (says("st.bulk"), 100, 86),
        (says("tensormap.replace"), 90, 83),
        (says("swizzle_atomicity"), 100, 86),
        (later, 90, 81),
        (later && says(".release"), 100, 87),
        (says(".ignore_oob"), 90, 92),
        (multimem, 90, 81),
        (says("multimem") && says(".async"), 100, 93),
        (says(".acc::f32"), 90, 82),
        // Each of a target with a suffix, which `named` says.
        (multimem && any(FLOATS_OF_8_BITS), 100, 86),
        (any(&["fence.sc", "fence.acq_rel"]), 70, 60),
        (any(&["fence.acquire", "fence.release", "fence.proxy.async::generic"]), 90, 86),
        (says("fence.proxy.alias"), 70, 75),
        (any(&["fence.proxy.alias.", "::read"]), 90, 94),
        (says("membar.proxy.alias"), 60, 75),
        (any(&[".proxy.async", "fence.mbarrier_init"]), 90, 80),
        (says("fence.proxy.tensormap"), 90, 83),
        (is(&["barrier"]), 30, 60),
        (is(&["barrier.cluster"]) && says(".relaxed"), 90, 80),
        (is(&["elect.sync"]), 90, 80),
        (is(&["match.sync"]), 70, 60),
        (is(&["redux.sync"]), 80, 70),
        // Each of a target with a suffix, which `named` says.
        (is(&["redux.sync"]) && says(".f32"), 100, 86),
        (is(&["setmaxnreg"]), 90, 80),
        (is(&["griddepcontrol"]), 90, 78),
        (says("clusterlaunchcontrol"), 100, 86),
        (is(&["nanosleep"]), 70, 62),
        (is(&["activemask"]), 30, 62),
        (operands.contains("%globaltimer"), 30, 31),
        (address && says(".const"), 20, 31),
        (address && says(".param"), 70, 77),
        (address && says(".shared::cta"), 30, 78),
    ];
    let own = rows.iter().filter(|(has, ..)| *has);
    own.fold((20, 20), |(oldest_sm, oldest_ptx), (_, sm, ptx)| (oldest_sm.max(*sm), oldest_ptx.max(*ptx)))
}

/// The targets of which a form needs one, by the ISA, where the number of an SM is not enough.
pub fn named(form: &Form) -> &'static [&'static str] {
    let says = |text: &str| form.ptx().contains(text);
    match form.instruction() {
        "redux.sync" if says(".f32") => &["sm_100f"],
        _ if FLOATS_OF_8_BITS.iter().any(|of| says(of)) => &["sm_100f", "sm_110f", "sm_120a", "sm_121a"],
        "setmaxnreg" => &["sm_90a", "sm_100f", "sm_110f", "sm_120f"],
        "clusterlaunchcontrol.try_cancel" if says(".multicast") => &["sm_100f", "sm_110f", "sm_120f"],
        "tensormap.replace" if says(".swizzle_atomicity") => &["sm_100f", "sm_110f", "sm_120f"],
        "tensormap.replace" => &["sm_90a", "sm_100f", "sm_110f", "sm_120f"],
        _ if says(".cta_group") || says("::scatter4") || says("im2col::w::128") => &["sm_100f", "sm_110f"],
        // Into this block's shared memory all have it from sm_100 on.
        _ if (says("::gather4") || says("im2col::w")) && !says(".shared::cta.global") => &["sm_100f", "sm_110f"],
        _ => &[],
    }
}

/// Forms of the catalogue.
pub const FORMS: usize = 85_186;
/// Functions: each form in every syntax.
pub const FUNCTIONS: usize = 216_768;
/// Spellings that a slice of the conformance test asks each assembler about.
pub const WALKED: usize = 8_966;
/// Kernels of the suite's whole plan, and trials in them: forms in the syntaxes that are tried on a GPU.
pub const PLAN: [usize; 2] = [6_212, 178_856];
/// Forms that an H100 launches by images of both assemblers. The newest GPU launches all.
pub const LAUNCHED: [usize; 2] = [61_348, 60_799];
/// Rows of `docs/sass`: each form on each GPU that has it.
pub const ROWS: usize = 873_522;

/// Compares what was counted with the numbers above of that name. A test does it last, so that a number hides no other failure. Where only
/// some forms are looked at, nothing is compared.
pub fn compare(name: &str, kept: &[usize], found: &[usize]) {
    assert!(kept == found || only::is_set(), "{name} in {FILE} is {kept:?}, and {found:?} were counted");
}
