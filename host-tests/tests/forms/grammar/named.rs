//! The rule that gives functions and markers the names of their PTX.

use libtest_mimic::Failed;
use ptx_intrinsics::catalogue::{self, Family, Form};

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
        None if form.instruction() == "createpolicy" => createpolicy(form.rust()),
        None if form.family() == Family::Asynchronous => {
            later(form.rust(), form.signature().map_or("", |own| own.parameters))
        }
        None if form.instruction() == "mbarrier" => {
            mbarrier(form.rust(), form.signature().map_or("", |own| own.parameters))
        }
        None if form.instruction() == "cp.reduce.async.bulk" => {
            reduced(form.rust(), form.signature().map_or("", |own| own.parameters))
        }
        None if form.instruction().ends_with("bulk.tensor") => tensor(form.rust(), &form.full_ptx()),
        None if form.instruction() == "cp.async" => copy(form.rust()),
        None if form.instruction().starts_with("cp.async.bulk") => bulk(form.rust(), &form.full_ptx()),
        None if form.instruction().starts_with("cp.async") => wait(form.rust()),
        None if ["prefetch", "applypriority", "discard"].contains(&form.instruction()) => prefetch(form.rust()),
        None if form.instruction() == "tensormap.replace" => replace(form.rust()),
        None if form.instruction() == "mov" => special(form),
        None if form.instruction().starts_with("clusterlaunchcontrol") => launch_control(form.rust()),
        None => by_its_words(form),
    };
    (ptx != form.ptx()).then(|| format!("{}: {}, not {ptx}", form.rust(), form.ptx()))
}

/// `tensormap_replace_global_dim_shared::<3, _>(map, elements)` is `tensormap.replace.tile.global_dim.shared::cta.b1024.b32`.
fn replace(rust: &str) -> String {
    let function = rust.split(['(', ':']).next().unwrap_or_default();
    let field = function.strip_prefix("tensormap_replace_").unwrap_or_default();
    let (field, space) = match (field.strip_suffix("_shared"), field.strip_suffix("_global")) {
        (Some(field), _) => (field, ".shared::cta"),
        (_, Some(field)) => (field, ".global"),
        _ => (field, ""),
    };
    let bits = if ["global_address", "global_stride"].contains(&field) { 64 } else { 32 };
    format!("tensormap.replace.tile.{field}{space}.b1024.b{bits}")
}

/// `clock64()` is `mov.u64` of the register `%clock64`.
fn special(form: &Form) -> String {
    let (function, _) = form.rust().split_once('(').unwrap_or_default();
    let register = form.full_ptx().rsplit_once('%').map_or(String::new(), |(_, register)| register.to_owned());
    if function == register { form.ptx().to_owned() } else { format!("mov of {function}") }
}

/// `clusterlaunchcontrol_try_cancel_shared(response, bar)` is
/// `clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128`.
fn launch_control(rust: &str) -> String {
    let function = rust.split('(').next().unwrap_or_default();
    let [request, query] = ["clusterlaunchcontrol_try_cancel", "clusterlaunchcontrol_query_cancel_"]
        .map(|name| function.strip_prefix(name));
    match (request, query) {
        (Some(words), _) => {
            let space = if words.contains("_shared") { ".shared::cta" } else { "" };
            let all = if words.contains("_multicast") { ".multicast::cluster::all" } else { "" };
            format!("clusterlaunchcontrol.try_cancel.async{space}.mbarrier::complete_tx::bytes{all}.b128")
        }
        (_, Some("is_canceled")) => "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128".into(),
        (_, Some("get_first_ctaid")) => "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128".into(),
        (_, words) => {
            let words = words.unwrap_or_default().replace("ctaid_", "ctaid::");
            format!("clusterlaunchcontrol.query_cancel.{words}.b32.b128")
        }
    }
}

/// `fence_acq_rel::<Gpu>()` is `fence.acq_rel.gpu`, `cvta_to_shared(p)` is `cvta.to.shared.u64`: a function has the words of its
/// PTX, and may leave out the type.
fn by_its_words(form: &Form) -> String {
    let (function, rest) = form.rust().split_once(['(', ':']).unwrap_or_default();
    let scope = rest.strip_prefix(":<").and_then(|rest| rest.split_once(">(")).map_or("", |(scope, _)| scope);
    let scope = ["Cta", "Cluster", "Gpu", "Sys"].iter().find(|known| **known == scope);
    let counted = function.strip_suffix("_count").filter(|_| ["bar", "barrier"].contains(&form.instruction()));
    let named = counted.unwrap_or(function).to_owned()
        + &scope.map_or(String::new(), |scope| format!("_{}", scope.to_lowercase()));
    let words = form.ptx().replace("::", "_").replace('.', "_").replace("NaN", "nan");
    let untyped = ["_u32", "_u64", "_b32", "_pred"].iter().find_map(|ty| words.strip_suffix(ty)).unwrap_or(&words);
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

/// `cp_reduce_async_bulk_global_shared_add_with(dst, src, size, policy)` of `dst: *mut u32` is
/// `cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32`. A type that the function's name says counts.
fn reduced(rust: &str, parameters: &str) -> String {
    let function = rust.split(['(', ':']).next().unwrap_or_default();
    let (function, hint) = match function.strip_suffix("_with") {
        Some(function) => (function, ".L2::cache_hint"),
        None => (function, ""),
    };
    let places = [
        ("shared_cluster_shared_", "shared::cluster.shared::cta.mbarrier::complete_tx::bytes"),
        ("global_shared_", "global.shared::cta.bulk_group"),
    ];
    let words = function.strip_prefix("cp_reduce_async_bulk_").unwrap_or_default();
    let found = places.iter().find_map(|(name, ptx)| Some((words.strip_prefix(name)?, *ptx)));
    let (op, place) = found.unwrap_or((words, ""));
    let op = op.replace('_', ".");
    let ty = parameters.split([',', '<', '>', ' ']).nth(2).filter(|_| !op.contains('.')).map_or(String::new(), element);
    format!("cp.reduce.async.bulk.{place}{hint}.{op}{ty}")
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
        "init_layout_v0" => return "mbarrier.init.layout::v0.shared.b64".into(),
        "init_layout_v1" => return "mbarrier.init.layout::v1.shared.b64".into(),
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
    let dimensions = dimensions(told);
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
        "prefetch_tensor_gather4" => format!("prefetch.tensor.2d.L2.global.tile::gather4{hint}"),
        "prefetch_tensor_im2col_w" => format!("prefetch.tensor.{dimensions}d.L2.global.im2col::w{hint}"),
        "prefetch_tensor_im2col_w_128" => format!("prefetch.tensor.{dimensions}d.L2.global.im2col::w::128{hint}"),
        "prefetch_tensor_im2col" => format!("prefetch.tensor.{dimensions}d.L2.global.im2col{hint}"),
        "wait_group_read" => "wait_group.read".into(),
        words => words.into(),
    };
    format!("cp.async.bulk.{ptx}")
}

/// The array's length is not in the expression.
fn dimensions(told: &str) -> usize {
    told.split_once('{').map_or(0, |(_, places)| places.split('}').next().unwrap_or("").split(',').count())
}

/// `cp_reduce_async_bulk_tensor_global_shared_add_with(map, coordinates, src, policy)` of two coordinates is
/// `cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group.L2::cache_hint`.
fn tensor(rust: &str, told: &str) -> String {
    let function = rust.split(['(', ':']).next().unwrap_or_default();
    let (function, hint) = match function.strip_suffix("_with") {
        Some(function) => (function, ".L2::cache_hint"),
        None => (function, ""),
    };
    let (name, words) = function.split_once("_tensor_").unwrap_or_default();
    let by_rows = ["gather4", "scatter4"].into_iter().find(|mode| words.contains(mode));
    let rank = if by_rows.is_some() { 2 } else { dimensions(told) };
    let mode = match by_rows {
        Some(mode) => format!("tile::{mode}"),
        None if words.contains("_im2col_no_offs") => "im2col_no_offs".to_owned(),
        None if words.contains("_im2col_w_128") => "im2col::w::128".to_owned(),
        None if words.contains("_im2col_w") => "im2col::w".to_owned(),
        None if words.contains("_im2col") => "im2col".to_owned(),
        None => "tile".to_owned(),
    };
    let group = rust.split("::<CtaGroup").nth(1).and_then(|rest| rest.split(',').next());
    let [group, multicast] = [
        group.filter(|_| words.ends_with("_cta_group")).map_or(String::new(), |group| format!(".cta_group::{group}")),
        if words.contains("_multicast") { ".multicast::cluster".into() } else { String::new() },
    ];
    let load = |into| format!("shared::{into}.global.{mode}.mbarrier::complete_tx::bytes{multicast}{group}");
    let ptx = match words.strip_prefix("global_shared") {
        None if words.starts_with("shared_cluster_global") => load("cluster"),
        None => load("cta"),
        Some(op) => {
            let op = op.replace("_scatter4", "").replace("_im2col_no_offs", "").replace('_', ".");
            format!("global.shared::cta{op}.{mode}.bulk_group")
        }
    };
    format!("{}.tensor.{rank}d.{ptx}{hint}", name.replace('_', "."))
}
