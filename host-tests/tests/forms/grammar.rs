//! The ISA's own syntax, expanded: what the catalogue has to hold, no more and no less.

use std::collections::BTreeSet;

use libtest_mimic::Failed;
use ptx_intrinsics::catalogue::{self, Form};

/// The productions of the instructions' pages, for each state space that they name. `.l1`, `.l2`, `.hint` and `.size`
/// stand for `.level1::eviction_priority`, `.level2::eviction_priority`, `.level::cache_hint` and
/// `.level::prefetch_size`.
const PRODUCTIONS: &[&str] = &[
    "ld.global{.cop}.nc{.hint}{.size}{.vec}.type",
    "ld.global.nc{.l1}{.l2}{.hint}{.size}{.vec}.type",
    "ld{.global}{.load}{.hint}{.size}{.vec}.type",
    "ld{.global}{.l1}{.l2}{.hint}{.size}{.vec}.type",
    "ld.near{.load}{.vec}.type",
    "ld.volatile{.global}{.size}{.vec}.type",
    "ld.volatile.block{.vec}.type",
    "ld.volatile.local{.vec}.type",
    "ld.relaxed.scope{.global}{.l1}{.l2}{.hint}{.size}{.vec}.type",
    "ld.relaxed.scope.block{.vec}.type",
    "ld.acquire.scope{.global}{.l1}{.l2}{.hint}{.size}{.vec}.type",
    "ld.acquire.scope.block{.vec}.type",
    "ld.mmio.relaxed.sys{.global}.type",
    "ldu{.global}{.vec}.type",
    "st{.global}{.store}{.hint}{.vec}.type",
    "st{.global}{.l1}{.l2}{.hint}{.vec}.type",
    "st.written{.store}{.vec}.type",
    "st.volatile{.anywhere}{.vec}.type",
    "st.relaxed.scope{.global}{.l1}{.l2}{.hint}{.vec}.type",
    "st.relaxed.scope.block{.vec}.type",
    "st.release.scope{.global}{.l1}{.l2}{.hint}{.vec}.type",
    "st.release.scope.block{.vec}.type",
    "st.mmio.relaxed.sys{.global}.type",
    "prefetch{.space}.level",
    "prefetch.global.priority",
    "createpolicy.fractional.primary{.secondary}.b64",
    "createpolicy.range{.global}.primary{.secondary}.b64",
    "createpolicy.cvt.L2.b64",
    "applypriority{.global}.L2::evict_normal",
    "discard{.global}.L2",
    "st.bulk{.own}",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.number",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.number",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.word",
    "st.async.release.wide{.global}.short",
    "st.async.release.wide{.global}.number",
    "st.async.mmio.release.sys{.global}.short",
    "st.async.mmio.release.sys{.global}.number",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.step.u32",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.rank.integer",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.bitwise.b32",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.integer",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64",
    "red.async.release.wide{.global}.add.integer",
    "red.async.release.wide{.global}.add.long",
    "red.async.mmio.release.sys{.global}.add.integer",
    "red.async.mmio.release.sys{.global}.add.long",
    "fence.fencing.scope",
    "fence.acquire.sync_restrict::shared::cluster.cluster",
    "fence.release.sync_restrict::shared::cta.cluster",
    "fence.mbarrier_init.release.cluster",
    "fence.proxy.proxykind",
    "fence.proxy.tensormap::generic.release.scope",
    "fence.proxy.tensormap::generic.acquire.scope",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
    "membar.reach",
    "membar.proxy.oldkind",
    "isspacep.window",
    "cvta.window.u64",
    "cvta.to.window.u64",
    "mapa.u64",
    "mapa.shared::cluster.wordsize",
    "getctarank.u64",
    "getctarank.shared::cluster.wordsize",
    "atom{.sync}{.global}.bitwise{.hint}.bits",
    "atom{.sync}.block.bitwise.bits",
    "atom{.sync}{.global}.exch{.hint}.exchanged",
    "atom{.sync}.block.exch.exchanged",
    "atom{.sync}{.global}.cas.compared",
    "atom{.sync}.block.cas.compared",
    "atom{.sync}{.global}.step{.hint}.u32",
    "atom{.sync}.block.step.u32",
    "atom{.sync}{.global}.add{.hint}.addend",
    "atom{.sync}.block.add.addend",
    "atom{.sync}{.global}.rank{.hint}.ranked",
    "atom{.sync}.block.rank.ranked",
    "atom{.sync}{.global}.add.noftz{.hint}.half",
    "atom{.sync}.block.add.noftz.half",
    "atom{.sync}{.global}.add{.hint}.floats",
    "atom{.sync}{.global}.add.noftz{.hint}.floats",
    "atom{.sync}{.global}.halfop.noftz{.hint}.halves",
    "red{.sent}{.global}.bitwise{.hint}.bits",
    "red{.sent}.block.bitwise.bits",
    "red{.sent}{.global}.step{.hint}.u32",
    "red{.sent}.block.step.u32",
    "red{.sent}{.global}.add{.hint}.addend",
    "red{.sent}.block.add.addend",
    "red{.sent}{.global}.rank{.hint}.ranked",
    "red{.sent}.block.rank.ranked",
    "red{.sent}{.global}.add.noftz{.hint}.half",
    "red{.sent}.block.add.noftz.half",
    "red{.sent}{.global}.add{.hint}.floats",
    "red{.sent}{.global}.add.noftz{.hint}.floats",
    "red{.sent}{.global}.halfop.noftz{.hint}.halves",
];

/// What one form more or less would change: forms by instruction.
pub(crate) const FORMS: &[(&str, usize)] = &[
    ("applypriority", 2),
    ("atom.add", 2370),
    ("atom.and", 241),
    ("atom.cas", 336),
    ("atom.dec", 126),
    ("atom.exch", 378),
    ("atom.inc", 126),
    ("atom.max", 1322),
    ("atom.min", 1322),
    ("atom.or", 241),
    ("atom.xor", 241),
    ("cp.async", 96),
    ("cp.async.bulk", 18),
    ("cp.async.bulk.prefetch.tensor", 16),
    ("cp.async.commit_group", 1),
    ("cp.async.mbarrier.arrive", 2),
    ("cp.async.wait_all", 1),
    ("cp.async.wait_group", 1),
    ("createpolicy", 49),
    ("cvta", 16),
    ("discard", 2),
    ("fence", 34),
    ("getctarank", 3),
    ("isspacep", 8),
    ("ld", 5288),
    ("ld.acquire", 15288),
    ("ld.const", 234),
    ("ld.global", 5288),
    ("ld.global.nc", 4536),
    ("ld.local", 234),
    ("ld.mmio", 30),
    ("ld.param::entry", 234),
    ("ld.param::func", 234),
    ("ld.relaxed", 23032),
    ("ld.shared", 234),
    ("ld.shared::cluster", 234),
    ("ld.volatile", 493),
    ("ldu", 39),
    ("ldu.global", 39),
    ("mapa", 3),
    ("mbarrier", 85),
    ("membar", 5),
    ("prefetch", 12),
    ("red.add", 1484),
    ("red.and", 152),
    ("red.async", 36),
    ("red.dec", 78),
    ("red.inc", 78),
    ("red.max", 824),
    ("red.min", 824),
    ("red.or", 152),
    ("red.xor", 152),
    ("st", 1228),
    ("st.async", 86),
    ("st.bulk", 2),
    ("st.global", 1228),
    ("st.local", 195),
    ("st.mmio", 30),
    ("st.relaxed", 7128),
    ("st.release", 4056),
    ("st.shared", 195),
    ("st.shared::cluster", 195),
    ("st.volatile", 211),
];

/// Those that are neither load nor store and have no part that varies.
const WHOLE: [&str; 4] = ["prefetchu.L1", "prefetch.tensormap", "prefetch.const.tensormap", "prefetch.param.tensormap"];

/// Those whose operands tell forms apart: the production, and the operands that it takes, `%` for a register. A cache
/// policy comes after them.
const WITH_OPERANDS: &[(&str, &[&str])] = &[
    ("cp.async.ca.shared.global{.hint}{.size}", &COPIED_4_8_16),
    ("cp.async.cg.shared.global{.hint}{.size}", &COPIED_16),
    ("cp.async.commit_group", &[""]),
    ("cp.async.wait_group", &["3"]),
    ("cp.async.wait_all", &[""]),
    ("cp.async.mbarrier.arrive{.noinc}.shared.b64", &["[%]"]),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.hint}", &["[%], [%], %, [%]"]),
    (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster{.hint}",
        &["[%], [%], %, [%], %"],
    ),
    ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.hint}", &["[%], [%], %, [%]"]),
    ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob{.hint}", &["[%], [%], %, %, %, [%]"]),
    ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", &["[%], [%], %, [%]"]),
    ("cp.async.bulk.global.shared::cta.bulk_group{.hint}", &["[%], [%], %"]),
    ("cp.async.bulk.global.shared::cta.bulk_group{.hint}.cp_mask", &["[%], [%], %, %"]),
    ("cp.async.bulk.commit_group", &[""]),
    ("cp.async.bulk.wait_group{.read}", &["3"]),
    ("cp.async.bulk.prefetch.L2.global{.hint}", &["[%], %"]),
    ("cp.async.bulk.prefetch.tensor.1d.L2.global{.hint}", &["[%, {%}]"]),
    ("cp.async.bulk.prefetch.tensor.2d.L2.global{.hint}", &["[%, {%, %}]"]),
    ("cp.async.bulk.prefetch.tensor.3d.L2.global{.hint}", &["[%, {%, %, %}]"]),
    ("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col{.hint}", &["[%, {%, %, %}], {%}"]),
    ("cp.async.bulk.prefetch.tensor.4d.L2.global{.hint}", &["[%, {%, %, %, %}]"]),
    ("cp.async.bulk.prefetch.tensor.4d.L2.global.im2col{.hint}", &["[%, {%, %, %, %}], {%, %}"]),
    ("cp.async.bulk.prefetch.tensor.5d.L2.global{.hint}", &["[%, {%, %, %, %, %}]"]),
    ("cp.async.bulk.prefetch.tensor.5d.L2.global.im2col{.hint}", &["[%, {%, %, %, %, %}], {%, %, %}"]),
    ("mbarrier.init.shared.b64", &["[%], %"]),
    ("mbarrier.inval.shared.b64", &["[%]"]),
    ("mbarrier.pending_count.b64", &["%, %"]),
    ("mbarrier.count{.relaxed_cluster}.shared.b64", &["[%], %"]),
    ("mbarrier.arrival{.arrive_order}.shared.b64", &["%, [%]", "%, [%], %"]),
    ("mbarrier.arrival{.arrive_order}.shared::cluster.b64", &["_, [%]", "_, [%], %"]),
    ("mbarrier.arrival.expect_tx{.arrive_order}.shared.b64", &["%, [%], %"]),
    ("mbarrier.arrival.expect_tx{.arrive_order}.shared::cluster.b64", &["_, [%], %"]),
    ("mbarrier.arrival.noComplete.shared.b64", &["%, [%], %"]),
    ("mbarrier.test_wait{.parity}{.wait_order}.shared.b64", &["%done, [%], %"]),
    ("mbarrier.try_wait{.parity}{.wait_order}.shared.b64", &["%done, [%], %", "%done, [%], %, %"]),
    ("mbarrier.count{.relaxed_cluster}.shared::cluster.b64", &["[%], %"]),
];

/// `[dst], [src], cp_size{, src_size}` and `[dst], [src], cp_size{, ignore_src}`.
const COPIED_4_8_16: [&str; 9] = [
    "[%], [%], 4",
    "[%], [%], 4, %",
    "[%], [%], 4, %ignore",
    "[%], [%], 8",
    "[%], [%], 8, %",
    "[%], [%], 8, %ignore",
    "[%], [%], 16",
    "[%], [%], 16, %",
    "[%], [%], 16, %ignore",
];
const COPIED_16: [&str; 3] = ["[%], [%], 16", "[%], [%], 16, %", "[%], [%], 16, %ignore"];

/// Each spelling of a production with each of its operands.
fn with_operands((production, operands): (&str, &[&str])) -> Vec<String> {
    let policy = |ptx: &str| if ptx.contains("cache_hint") { ", %" } else { "" };
    let each = |ptx: String| operands.iter().map(move |operands| format!("{ptx} {operands}{}", policy(&ptx)));
    expand(production).into_iter().flat_map(each).map(|told| told.trim_end().to_owned()).collect()
}

/// What a qualifier's name means. `.shared` is `.shared::cta`, and an order that is meant anyway is left out.
fn choices(name: &str) -> &'static [&'static str] {
    match name {
        ".near" => &[".const", ".local", ".param::entry", ".param::func", ".shared", ".shared::cluster"],
        ".written" => &[".local", ".shared", ".shared::cluster"],
        ".anywhere" => &[".global", ".local", ".shared", ".shared::cluster"],
        ".block" => &[".shared", ".shared::cluster"],
        ".count" => &[".expect_tx", ".complete_tx"],
        ".relaxed_cluster" => &[".relaxed.cluster"],
        ".arrival" => &[".arrive", ".arrive_drop"],
        ".arrive_order" => &[".release.cluster", ".relaxed.cta", ".relaxed.cluster"],
        ".wait_order" => &[".acquire.cluster", ".relaxed.cta", ".relaxed.cluster"],
        ".scope" => &[".cta", ".cluster", ".gpu", ".sys"],
        ".cop" => &[".ca", ".cg", ".cs"],
        ".load" => &[".ca", ".cg", ".cs", ".lu", ".cv"],
        ".store" => &[".wb", ".cg", ".cs", ".wt"],
        ".l1" => {
            &[".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate"]
        }
        ".l2" => &[".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"],
        ".hint" => &[".L2::cache_hint"],
        ".size" => &[".L2::64B", ".L2::128B", ".L2::256B"],
        ".vec" => &[".v2", ".v4", ".v8"],
        ".type" => &[
            ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64",
            ".f32", ".f64",
        ],
        ".space" => &[".global", ".local"],
        ".level" => &[".L1", ".L2"],
        ".priority" => &[".L2::evict_last", ".L2::evict_normal"],
        ".primary" => &[".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged"],
        ".sync" => &[
            ".cta",
            ".cluster",
            ".gpu",
            ".sys",
            ".relaxed.cta",
            ".relaxed.cluster",
            ".relaxed.gpu",
            ".relaxed.sys",
            ".acquire.cta",
            ".acquire.cluster",
            ".acquire.gpu",
            ".acquire.sys",
            ".release.cta",
            ".release.cluster",
            ".release.gpu",
            ".release.sys",
            ".acq_rel.cta",
            ".acq_rel.cluster",
            ".acq_rel.gpu",
            ".acq_rel.sys",
        ],
        ".sent" => &[
            ".cta",
            ".cluster",
            ".gpu",
            ".sys",
            ".relaxed.cta",
            ".relaxed.cluster",
            ".relaxed.gpu",
            ".relaxed.sys",
            ".release.cta",
            ".release.cluster",
            ".release.gpu",
            ".release.sys",
        ],
        ".bitwise" => &[".and", ".or", ".xor"],
        ".bits" => &[".b32", ".b64"],
        ".exchanged" => &[".b32", ".b64", ".b128"],
        ".compared" => &[".b16", ".b32", ".b64", ".b128"],
        ".fencing" => &[".sc", ".acq_rel", ".acquire", ".release"],
        ".proxykind" => &[".alias", ".async", ".async.global", ".async.shared::cta", ".async.shared::cluster"],
        ".reach" => &[".cta", ".gl", ".sys"],
        ".oldkind" => &[".alias", ".async"],
        ".window" => {
            &[".const", ".global", ".local", ".shared", ".shared::cta", ".shared::cluster", ".param", ".param::entry"]
        }
        ".wordsize" => &[".u32", ".u64"],
        ".step" => &[".inc", ".dec"],
        ".addend" => &[".u32", ".u64", ".s32", ".f32", ".f64"],
        ".rank" => &[".min", ".max"],
        ".ranked" => &[".u32", ".u64", ".s32", ".s64"],
        ".half" => &[".f16", ".f16x2", ".bf16", ".bf16x2", ".f32"],
        ".floats" => &[".v2.f32", ".v4.f32"],
        ".halfop" => &[".add", ".min", ".max"],
        ".halves" => &[
            ".v2.f16",
            ".v4.f16",
            ".v8.f16",
            ".v2.bf16",
            ".v4.bf16",
            ".v8.bf16",
            ".v2.f16x2",
            ".v4.f16x2",
            ".v2.bf16x2",
            ".v4.bf16x2",
        ],
        ".own" => &[".shared::cta"],
        ".wide" => &[".gpu", ".sys"],
        ".short" => &[".b16", ".u16", ".s16"],
        ".word" => &[".b32", ".u32", ".s32", ".f32"],
        ".number" => &[".b32", ".u32", ".s32", ".f32", ".b64", ".u64", ".s64", ".f64"],
        ".integer" => &[".u32", ".s32"],
        ".long" => &[".u64", ".s64"],
        ".secondary" => &[".L2::evict_first", ".L2::evict_unchanged"],
        _ => &[],
    }
}

/// Every spelling of a production: `{.name}` may be left out, `.name` may not, anything else is itself.
fn expand(production: &str) -> Vec<String> {
    let Some(first) = production.chars().next() else { return vec![String::new()] };
    let end = match first {
        '{' => production.find('}').map_or(production.len(), |at| at + 1),
        _ => production[1..].find(['.', '{']).map_or(production.len(), |at| at + 1),
    };
    let (item, rest) = production.split_at(end);
    let name = item.trim_matches(['{', '}']);
    let mut heads: Vec<&str> = choices(name).to_vec();
    if heads.is_empty() {
        heads.push(name);
    }
    if first == '{' {
        heads.push("");
    }
    let tails = expand(rest);
    heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}"))).collect()
}

/// What the pages say in words about which qualifiers meet.
fn is_legal(ptx: &str) -> bool {
    if ["atom.", "red."].iter().any(|atomic| ptx.starts_with(atomic)) {
        return !loses_its_loop_s_order(ptx);
    }
    if !ptx.starts_with("ld") && !ptx.starts_with("st") {
        return true;
    }
    let words: Vec<&str> = ptx.split('.').filter(|word| !word.is_empty()).collect();
    let Some(bits) = words.last().and_then(|ty| ty.trim_start_matches(['b', 'u', 's', 'f']).parse::<u32>().ok()) else {
        return true;
    };
    let lanes = words.iter().find_map(|word| word.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
    let wide = (lanes, bits) == (8, 32) || (lanes, bits) == (4, 64);
    let vector = match lanes {
        1 => true,
        2 => bits <= 64,
        4 => bits <= 64,
        _ => bits == 32,
    };
    let far = !["const", "local", "param::entry", "param::func", "shared", "shared::cluster"]
        .iter()
        .any(|near| words.contains(near));
    let placed = (far || !wide) && !(wide && words.contains(&"ldu"));
    vector && placed && (wide || !ptx.contains(".L2::evict")) && !loses_its_order(&words, wide)
}

/// What `ptxas` takes and gives up the order of: what is a loop in a block's own shared memory.
fn loses_its_loop_s_order(ptx: &str) -> bool {
    let looped = [".b64", ".u64", ".s64", ".f64", ".f32", ".f16x2", ".bf16x2"].iter().any(|ty| ptx.ends_with(ty));
    let swapped = ptx.contains(".exch") || ptx.contains(".cas");
    let ordered = [".acquire", ".release", ".acq_rel"].iter().any(|order| ptx.contains(order));
    ptx.contains(".shared.") && looped && !swapped && ordered && !ptx.contains(".acquire.cta")
}

/// What `ptxas` takes and gives up the order of: a 256-bit acquire or release, and `ld.relaxed.L1::evict_first`.
fn loses_its_order(words: &[&str], wide: bool) -> bool {
    let says = |word| words.contains(&word);
    wide && (says("acquire") || says("release")) || says("ld") && says("relaxed") && says("L1::evict_first")
}

/// The catalogue holds each spelling of the ISA once, and nothing else.
pub(crate) fn agrees() -> Result<(), Failed> {
    let expanded = PRODUCTIONS.iter().flat_map(|production| expand(production)).filter(|ptx| is_legal(ptx));
    let told_apart = WITH_OPERANDS.iter().flat_map(|row| with_operands(*row));
    let isa: BTreeSet<String> = expanded.chain(WHOLE.map(String::from)).chain(told_apart).collect();
    let listed: Vec<String> = catalogue::forms().map(|form| form.told()).collect();
    let held: BTreeSet<String> = listed.iter().cloned().collect();
    if let Some(missing) = isa.difference(&held).next() {
        let fix =
            "its row is in ptx-intrinsics/src/instructions, and the file of the row in `contents!` in mod.rs there";
        return Err(format!("the catalogue lacks {missing}: {fix}").into());
    }
    if let Some(extra) = held.difference(&isa).next() {
        let fix = "if it has, add its syntax to host-tests/tests/forms/grammar.rs";
        return Err(format!("the ISA has no {extra}: {fix}").into());
    }
    // One mnemonic has two forms: the fraction of a policy may be left out.
    let fractions = held.iter().filter(|ptx| ptx.starts_with("createpolicy.fractional")).count();
    if listed.len() != held.len() + fractions {
        return Err("a form is listed twice".into());
    }
    Ok(())
}

/// The Rust expression and the PTX of a form say the same, by the rule that names the markers.
pub(crate) fn names_agree() -> Result<(), Failed> {
    let wrong: Vec<String> = catalogue::forms().filter_map(|form| named(&form)).collect();
    match wrong.first() {
        None => Ok(()),
        Some(first) => {
            let fix =
                "name the function by its PTX, or say in `named` in host-tests/tests/forms/grammar.rs how it is named";
            Err(format!("{} forms are misnamed, such as {first}: {fix}", wrong.len()).into())
        }
    }
}

fn named(form: &Form) -> Option<String> {
    let ptx = match form.rust().strip_prefix("ptx!(") {
        Some(spelled) => spelled.split(' ').next().unwrap_or_default().to_owned(),
        None if form.element().is_some() => access(form.rust()),
        None if form.instruction() == "createpolicy" => createpolicy(form.rust()),
        None if ["st.async", "red.async"].contains(&form.instruction()) => {
            later(form.rust(), form.signature().map_or("", |own| own.parameters))
        }
        None if form.instruction() == "mbarrier" => {
            mbarrier(form.rust(), form.signature().map_or("", |own| own.parameters))
        }
        None if form.instruction() == "cp.async" => copy(form.rust()),
        None if form.instruction().starts_with("cp.async.bulk") => bulk(form.rust(), &form.told()),
        None if form.instruction().starts_with("cp.async") => wait(form.rust()),
        None if ["prefetch", "applypriority", "discard"].contains(&form.instruction()) => prefetch(form.rust()),
        None => by_its_words(form),
    };
    (ptx != form.ptx()).then(|| format!("{}: {}, not {ptx}", form.rust(), form.ptx()))
}

/// `fence_acq_rel::<Gpu>()` is `fence.acq_rel.gpu`, `cvta_to_shared(p)` is `cvta.to.shared.u64`: a function has the words of its
/// PTX, and may leave out the type.
fn by_its_words(form: &Form) -> String {
    let (function, rest) = form.rust().split_once(['(', ':']).unwrap_or_default();
    let scope = rest.strip_prefix(":<").and_then(|rest| rest.split_once(">(")).map_or("", |(scope, _)| scope);
    let scope = ["Cta", "Cluster", "Gpu", "Sys"].iter().find(|known| **known == scope);
    let named = function.to_owned() + &scope.map_or(String::new(), |scope| format!("_{}", scope.to_lowercase()));
    let words = form.ptx().replace("::", "_").replace('.', "_");
    let untyped = ["_u32", "_u64"].iter().find_map(|ty| words.strip_suffix(ty)).unwrap_or(&words);
    if named == words || named == untyped { form.ptx().to_owned() } else { named }
}

/// `st_async_release_global::<Gpu, _>(p, value)` of `value: u32` is `st.async.release.gpu.global.u32`. To shared memory there is one
/// order of each, and a barrier.
fn later(rust: &str, parameters: &str) -> String {
    let (function, rest) = rust.split_once(['(', ':']).unwrap_or_default();
    let ty = parameters.split(", ").find_map(|parameter| parameter.strip_prefix("value: ")).unwrap_or_default();
    let scope = match rest.split([':', '<', ',']).find(|word| ["Gpu", "Sys"].contains(word)) {
        Some(scope) => format!(".release.{}", scope.to_lowercase()),
        None => ".release".to_owned(),
    };
    let told = "shared::cluster.mbarrier::complete_tx::bytes";
    let words = function.replace('_', ".").replace(".release", &scope);
    words.replace("red.async.shared", "red.async.relaxed.cluster.shared").replace("shared.cluster", told) + &element(ty)
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

/// `prefetch_global_l2::<L2EvictLast>(p)` is `prefetch.global.L2::evict_last`.
fn prefetch(rust: &str) -> String {
    let (function, rest) = rust.split_once(['(', ':']).unwrap_or_default();
    let priority = rest.trim_start_matches([':', '<']).split_once('>').map_or("", |(marker, _)| marker);
    let ptx = function.replace('_', ".").replace(".l1", ".L1").replace(".l2", ".L2").replace(".evict.", "::evict_");
    match priority.strip_prefix("L2Evict") {
        Some(priority) => format!("{ptx}::evict_{}", priority.to_lowercase()),
        None => ptx,
    }
}

/// `CachePolicy::range_global::<(L2EvictLast, L2EvictFirst)>(…)` is `createpolicy.range.global.L2::evict_last.L2::evict_first.b64`.
fn createpolicy(rust: &str) -> String {
    let called = rust.trim_start_matches("CachePolicy::");
    let (method, rest) = called.split_once(['(', ':']).unwrap_or_default();
    let (markers, _) = rest.trim_start_matches([':', '<', '(']).split_once('>').unwrap_or_default();
    let markers = markers.trim_end_matches(')').split(", ").filter(|name| !name.is_empty());
    let form = method.replace('_', ".").replace(".l2", ".L2").replace("all", "fractional");
    format!("createpolicy.{form}{}.b64", markers.map(marker).collect::<String>())
}

/// `cp_async_cg::<Prefetch64>().copy_with(dst, src, policy)` is `cp.async.cg.shared.global.L2::cache_hint.L2::64B`.
fn copy(rust: &str) -> String {
    let (function, rest) = rust.split_once("::<").unwrap_or_default();
    let (prefetch, method) = rest.split_once(">().").unwrap_or_default();
    let hint = if method.contains("_with(") { ".L2::cache_hint" } else { "" };
    let size = prefetch.strip_prefix("Prefetch").map_or(String::new(), |bytes| format!(".L2::{bytes}B"));
    format!("{}.shared.global{hint}{size}", function.replace('_', "."))
}

/// `cp_async_wait_group::<3>()` is `cp.async.wait_group`.
fn wait(rust: &str) -> String {
    let function = rust.split(['(', ':']).next().unwrap_or_default();
    let words = function.strip_prefix("cp_async_").unwrap_or_default();
    match words.strip_prefix("mbarrier_") {
        Some(words) => format!("cp.async.mbarrier.{}.shared.b64", words.replace('_', ".")),
        None => format!("cp.async.{words}"),
    }
}

/// `mbarrier_arrive_expect_tx_as::<Release<Cluster>, _>(bar, bytes)` is `mbarrier.arrive.expect_tx.release.cluster.shared.b64`.
fn mbarrier(rust: &str, parameters: &str) -> String {
    let (function, rest) = rust.split_once(['(', ':']).unwrap_or_default();
    let (order, _) = rest.trim_start_matches([':', '<']).split_once('>').unwrap_or_default();
    let order =
        if rest.starts_with(':') { format!(".{}", order.replace('<', ".").to_lowercase()) } else { String::new() };
    let function = function.trim_start_matches("mbarrier_").trim_end_matches("_as");
    let function = function.trim_end_matches("_for").trim_end_matches("_count");
    // What belongs to a word, and what is a word of its own.
    let words = match function {
        "pending" => return "mbarrier.pending_count.b64".into(),
        "expect_tx" | "complete_tx" | "arrive_drop" | "test_wait" | "try_wait" => function.to_owned(),
        _ => {
            let whole = function.replace("_no_complete", ".noComplete").replace("_expect_tx", ".expect_tx");
            whole.replace("_parity", ".parity")
        }
    };
    let space = if parameters.contains("SharedClusterPtr") { ".shared::cluster" } else { ".shared" };
    let space = if words == "init" || words == "inval" { ".shared" } else { space };
    format!("mbarrier.{words}{order}{space}.b64")
}

/// `cp_async_bulk_global_shared_cp_mask_with(…)` is `cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask`.
fn bulk(rust: &str, told: &str) -> String {
    let function = rust.split(['(', ':']).next().unwrap_or_default();
    let (function, hint) = match function.strip_suffix("_with") {
        Some(function) => (function, ".L2::cache_hint"),
        None => (function, ""),
    };
    let words = function.strip_prefix("cp_async_bulk_").unwrap_or_default();
    // The array's length is not in the expression.
    let dimensions =
        told.split_once('{').map_or(0, |(_, places)| places.split('}').next().unwrap_or("").split(',').count());
    let complete = ".mbarrier::complete_tx::bytes";
    let ptx = match words {
        "shared_cluster_global" => format!("shared::cluster.global{complete}{hint}"),
        "shared_cluster_global_multicast" => format!("shared::cluster.global{complete}.multicast::cluster{hint}"),
        "shared_global" => format!("shared::cta.global{complete}{hint}"),
        "shared_global_ignore_oob" => format!("shared::cta.global{complete}.ignore_oob{hint}"),
        "shared_cluster_shared" => format!("shared::cluster.shared::cta{complete}"),
        "global_shared" => format!("global.shared::cta.bulk_group{hint}"),
        "global_shared_cp_mask" => format!("global.shared::cta.bulk_group{hint}.cp_mask"),
        "prefetch_l2" => format!("prefetch.L2.global{hint}"),
        "prefetch_tensor" => format!("prefetch.tensor.{dimensions}d.L2.global{hint}"),
        "prefetch_tensor_im2col" => format!("prefetch.tensor.{dimensions}d.L2.global.im2col{hint}"),
        "wait_group_read" => "wait_group.read".into(),
        words => words.into(),
    };
    format!("cp.async.bulk.{ptx}")
}
