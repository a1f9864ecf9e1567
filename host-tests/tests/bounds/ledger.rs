//! At which SM and PTX ISA version the PTX ISA has an instruction begin, word by word: written from its pages, and
//! independent of the crate's gates.

use ptx_intrinsics::catalogue::{Form, Operation};

/// A word or a kind of instruction, the oldest SM, the oldest PTX ISA version.
type Row = (bool, u32, u32);

/// The oldest SM and PTX ISA version that have a form: the newest of what its words need.
pub(crate) fn needs(form: &Form) -> (u32, u32) {
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
    let policies = is(&["createpolicy", "applypriority", "discard"]);
    let rows: [Row; 42] = [
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
        (mbarrier && any(&["_tx", "cluster"]) || says("cp.async.bulk"), 90, 80),
        (mbarrier && says(".relaxed") && !counts_bytes || says(".bulk.shared::cta"), 90, 86),
        (says(".cp_mask"), 100, 86),
        (says("st.bulk"), 100, 86),
        (says(".ignore_oob"), 90, 92),
        (any(&["fence.sc", "fence.acq_rel"]), 70, 60),
        (any(&["fence.acquire", "fence.release", "fence.proxy.async::generic"]), 90, 86),
        (says("fence.proxy.alias"), 70, 75),
        (says("membar.proxy.alias"), 60, 75),
        (any(&[".proxy.async", "fence.mbarrier_init"]), 90, 80),
        (says("fence.proxy.tensormap"), 90, 83),
        (address && says(".const"), 20, 31),
        (address && says(".param"), 70, 77),
        (address && says(".shared::cta"), 30, 78),
    ];
    let own = rows.into_iter().filter(|(has, ..)| *has);
    own.fold((20, 20), |(oldest_sm, oldest_ptx), (_, sm, ptx)| (oldest_sm.max(sm), oldest_ptx.max(ptx)))
}
