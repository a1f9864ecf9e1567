//! The rule that gives functions and markers the names of their PTX.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libtest_mimic::Failed;
use ptx_intrinsics::catalogue::{self, Form};
use regex::Regex;

/// The Rust expression and the PTX of a form say the same, by the rule that names the markers.
pub(crate) fn names_agree() -> Result<(), Failed> {
    let wrong: Vec<String> = catalogue::forms().filter_map(|form| named(&form)).collect();
    match wrong.first() {
        None => Ok(()),
        Some(first) => {
            let fix = "name the function by its PTX, or say in `named` in host-tests/tests/forms/grammar/named.rs how it is named";
            Err(format!("{} forms are misnamed, such as {first}: {fix}", wrong.len()).into())
        }
    }
}

fn named(form: &Form) -> Option<String> {
    let ptx = match form.rust().strip_prefix("ptx!(") {
        Some(spelled) => spelled.split(' ').next().unwrap_or_default().to_owned(),
        None if form.element().is_some() => access(form.rust()),
        None => return differ(form),
    };
    (ptx != form.ptx()).then(|| format!("{}: {}, not {ptx}", form.rust(), form.ptx()))
}

/// Words of functions, methods and markers that PTX does not have.
const OF_RUST: [&str; 13] =
    ["all", "as", "cache", "copy", "count", "for", "group", "hint", "no", "nosize", "policy", "unless", "zfill"];

/// What PTX has and names leave out: by how an instruction begins.
const LEFT_OUT: [(&str, &[&str]); 7] = [
    ("", &["tile"]),
    ("cp.", &["shared", "global", "l2"]),
    ("mbarrier", &["shared", "cluster"]),
    ("red.async", &["relaxed", "cluster"]),
    ("createpolicy", &["createpolicy", "fractional"]),
    ("clusterlaunchcontrol", &["async", "cluster", "all"]),
    ("mov", &["mov"]),
];

/// The words of a function, its method and its markers are those of its PTX: `fence_acq_rel::<Gpu>()` is `fence.acq_rel.gpu`. Types are left
/// out, and a hint by a policy is `with`.
fn differ(form: &Form) -> Option<String> {
    let ptx = if form.instruction() == "mov" { form.full_ptx() } else { form.ptx().to_owned() };
    let called = form.rust().rsplit_once('(').map_or(form.rust(), |(called, _)| called).replace("()", "");
    let rust = words(&called.replace("Prefetch", "size").replace("shared_cta", "shared").replace("w_128", "w128"));
    let has_hint = ptx.contains(".L2::cache_hint");
    let always = ["mbarrier::complete_tx::bytes", ".bulk_group", ".L2::cache_hint"];
    let ptx = always.iter().fold(ptx, |ptx, word| ptx.replace(word, "")).replace("shared::cta", "shared");
    let ptx =
        ["64", "128", "256"].iter().fold(ptx, |ptx, size| ptx.replace(&format!("::{size}B"), &format!(".size{size}")));
    let ptx = words(&ptx.replace("NaN", "nan").replace("w::128", "w128").replace("cta_group::", "cta_group"));
    let left_out = LEFT_OUT.iter().filter(|(begin, _)| form.ptx().starts_with(begin)).flat_map(|(_, words)| *words);
    let left_out: Vec<&str> = left_out.copied().collect();
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>, but: &[&str]| -> Vec<String> {
        one.difference(other).filter(|word| !but.contains(&word.as_str())).cloned().collect()
    };
    let of_rust: Vec<String> = only(&rust, &ptx, &OF_RUST).into_iter().filter(|word| word != "with").collect();
    let of_ptx = only(&ptx, &rust, &left_out);
    let is_right = of_rust.is_empty() && of_ptx.is_empty() && has_hint == rust.contains("with");
    (!is_right).then(|| format!("{}: {}, {of_rust:?} and {of_ptx:?} differ", form.rust(), form.full_ptx()))
}

/// The words of a text: of `L2EvictLast` three. Numbers and types are none.
fn words(text: &str) -> BTreeSet<String> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Z]?[a-z0-9]+").expect("the pattern is valid"));
    static TYPE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:bf16|[bsufv]\d+|\d+|[1-5]d|pred)$").expect("the pattern is valid"));
    let words = WORD.find_iter(text).map(|word| word.as_str().to_lowercase());
    words.filter(|word| !TYPE.is_match(word)).collect()
}

/// `ld_global_nc::<Cg, Prefetch64>().read_with(p as *const V2<f32>, policy)` is `ld.global.cg.nc.L2::cache_hint.L2::64B.v2.f32`,
/// `ld_shared().acquire::<Gpu>().read(p as *const u8)` is `ld.acquire.gpu.shared.u8`.
fn access(rust: &str) -> String {
    let (head, rest) = rust.split_once("()").unwrap_or_default();
    let (function, markers) = head.split_once("::<").unwrap_or((head, "NoHint"));
    let markers = markers.trim_end_matches('>');
    let (caching, size) = match (markers.strip_prefix('('), markers.split_once(", ")) {
        (Some(pair), _) => {
            let (pair, size) = pair.split_once(')').unwrap_or_default();
            (pair, size.trim_start_matches(", "))
        }
        (None, Some((caching, size))) => (caching, size),
        (None, None) => (markers, ""),
    };
    let ty = rest.split_once("p as *").map_or("", |(_, ty)| ty).split_once(' ').map_or("", |(_, ty)| ty);
    let ty = ty.split([',', ')']).next().unwrap_or_default();
    let caching: String = caching.split(", ").map(marker).collect();
    let hint = if rest.contains("policy") { ".L2::cache_hint" } else { "" };
    let size = size.strip_prefix("Prefetch").map_or(String::new(), |bytes| format!(".L2::{bytes}B"));
    let (op, space) = function.split_once('_').map_or((function, ""), |(op, space)| (op, space));
    let space = match space {
        "" => String::new(),
        "shared_cluster" | "param_entry" | "param_func" => format!(".{}", space.replace('_', "::")),
        space => format!(".{}", space.replace('_', ".")),
    };
    let opcode = match space.strip_suffix(".nc") {
        Some(global) if caching.len() == 3 => format!("{global}{caching}.nc"),
        _ => format!("{space}{caching}"),
    };
    format!("{op}{}{opcode}{hint}{size}{}", order(rest), element(ty))
}

/// `.acquire::<Gpu>().read` is `.acquire.gpu`, `.mmio().read` is `.mmio.relaxed.sys`, `.read` is nothing.
fn order(rest: &str) -> String {
    let (order, _) = rest.split_once("().").unwrap_or_default();
    let order = order.trim_end_matches('>').replace("::<", ".").to_lowercase();
    if order == ".mmio" { ".mmio.relaxed.sys".into() } else { order }
}

/// `EvictLast` is `.L1::evict_last`, `L2EvictFirst` is `.L2::evict_first`, `Cg` is `.cg`, `NoHint` is nothing.
fn marker(name: &str) -> String {
    let snake = |name: &str| {
        let words = name.char_indices().map(|(at, c)| {
            let gap = if at > 0 && c.is_ascii_uppercase() { "_" } else { "" };
            format!("{gap}{}", c.to_ascii_lowercase())
        });
        words.collect::<String>()
    };
    match name.strip_prefix("L2") {
        Some(name) => format!(".L2::{}", snake(name)),
        None if name == "NoHint" => String::new(),
        None if name.len() == 2 => format!(".{}", snake(name)),
        None => format!(".L1::{}", snake(name)),
    }
}

/// `V4<i32>` is `.v4.s32`.
fn element(ty: &str) -> String {
    match ty.split_once('<') {
        Some((vector, scalar)) => format!(".{}{}", vector.to_lowercase(), element(scalar.trim_end_matches('>'))),
        None => format!(".{}", ty.to_lowercase().replace('i', "s")),
    }
}
