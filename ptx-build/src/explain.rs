//! What a form is: its Rust, its PTX, what it needs, what its words mean; and of a misspelt one, what is near. All of it comes
//! from the catalogue of `ptx-intrinsics` and needs no tool.
//!
//! ```
//! let form = ptx_build::explain::find("ld.global.nc.L2::256B.L1::evict_last.f32").unwrap();
//! assert_eq!(form.ptx(), "ld.global.nc.L1::evict_last.L2::256B.f32");
//! let page = ptx_build::explain::page(&form, &[]);
//! assert!(page.contains("sm_80 and PTX ISA 7.4"));
//! ```

use std::fmt::Write;

use ptx_intrinsics::catalogue::{self, Form};

pub use self::near::near;
pub use self::read::{CUDA_NAMES, LONGEST, Misspelt, find};
use crate::target::{PtxVersion, Sm};

mod elsewhere;
mod equivalents;
mod near;
mod read;
pub mod versions;

/// All about a form, a section after the other. The lines about its machine code are the caller's; without any, there is no
/// such section.
pub fn page(form: &Form, machine: &[String]) -> String {
    let mut page = String::new();
    let mut section = |name: &str, lines: &[String]| {
        for (at, line) in lines.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "{:<8}{line}", if at == 0 { name } else { "" });
        }
    };
    section("PTX", &[form.full_ptx()]);
    let mut rust = vec![form.rust().to_owned()];
    rust.extend(form.rust_if());
    rust.extend(form.rust_ptx().filter(|ptx| ptx != form.rust()));
    section("Rust", &rust);
    let others = catalogue::forms().filter(|other| other.ptx() == form.ptx() && other.full_ptx() != form.full_ptx());
    section("Also", &others.map(|other| format!("{}   {}", other.full_ptx(), other.rust())).collect::<Vec<_>>());
    section("Needs", &[Some(needs(form)), feature(form)].into_iter().flatten().collect::<Vec<_>>());
    section("Machine", machine);
    section("Beware", &versions::warnings(&form.full_ptx()));
    section("Words", &words(form));
    section("ISA", &[isa_page(form)]);
    page
}

/// The cargo feature that the methods need.
fn feature(form: &Form) -> Option<String> {
    let under_condition = || Some(("method under a condition", form.feature_if()?));
    let (what, name) = form.feature().map(|name| ("methods", name)).or_else(under_condition)?;
    Some(format!("its {what}: the cargo feature `{name}`"))
}

/// The SM and the PTX ISA version at which a form begins, and the flags that bring them.
fn needs(form: &Form) -> String {
    let version = PtxVersion::of_number(form.min_ptx());
    if let [first, others @ ..] = form.targets() {
        let names = match others {
            [] => (*first).to_owned(),
            [others @ .., last] => format!("{} or {last}", [&[*first], others].concat().join(", ")),
        };
        return format!("{names}, and PTX ISA {version}: -Ctarget-cpu={first} -Ctarget-feature=+{}", version.feature());
    }
    let sm = Sm::new(form.min_sm());
    let first = Sm::new(70);
    let flags = if form.min_sm() <= first.number && version <= PtxVersion::default_for(first) {
        "every target of rustc has them".to_owned()
    } else {
        format!("-Ctarget-cpu={} -Ctarget-feature=+{}", sm.max(first), version.feature())
    };
    format!("{sm} and PTX ISA {version}: {flags}")
}

/// What a word of an instruction means, in two lines at most; the word is written without its point.
///
/// ```
/// let [meaning, _] = ptx_build::explain::meaning("ld", "volatile").unwrap();
/// println!("{meaning}");
/// ```
pub fn meaning(operation: &str, word: &str) -> Option<[&'static str; 2]> {
    let of = |name: String| MEANINGS.iter().find(|(known, _)| *known == name).map(|(_, lines)| *lines);
    let in_the_isa = || {
        let meaning = catalogue::meaning(&format!(".{word}"))?;
        Some(meaning.split_once('\n').map_or([meaning, ""], |(first, second)| [first, second]))
    };
    of(format!("{operation} .{word}")).or_else(in_the_isa).or_else(|| of(format!(".{word}")))
}

fn words(form: &Form) -> Vec<String> {
    let operation = form.ptx().split('.').next().unwrap_or_default();
    let meanings =
        form.ptx().split('.').skip(1).filter_map(|word| Some((format!(".{word}"), meaning(operation, word)?)));
    let lines = meanings.flat_map(|(word, [first, second])| {
        [format!("{word:<22} {first}"), format!("{:<22} {second}", "")].map(|line| line.trim_end().to_owned())
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// Where the PTX ISA describes an instruction.
fn isa_page(form: &Form) -> String {
    format!("https://docs.nvidia.com/cuda/parallel-thread-execution/#{}", form.section())
}

/// What each other word means, in two lines at most; `st` before a word that means something else on a store. Words of caches, spaces
/// and scopes have their meaning in the tables of `ptx-intrinsics`.
const MEANINGS: &[(&str, [&str; 2])] = &[
    ("cvta .u64", ["addresses of 64 bits", ""]),
    ("mapa .u64", ["addresses of 64 bits", ""]),
    ("mapa .u32", ["addresses of 32 bits", ""]),
    ("getctarank .u64", ["of an address of 64 bits", ""]),
    ("getctarank .u32", ["of an address of 32 bits", ""]),
    (
        "fence .sc",
        [
            "all such fences have one order: if two threads each store, fence and load,",
            "at least one sees what the other stored",
        ],
    ),
    ("fence .acq_rel", ["an acquire and a release at once, with the relaxed accesses around it", ""]),
    ("fence .acquire", ["no access after it happens before a read before it", ""]),
    ("fence .release", ["others see everything before it, before they see what is written after it", ""]),
    (".sync_restrict::shared::cluster", ["for what lies in the cluster's shared memory", ""]),
    (".sync_restrict::shared::cluster::read", ["for what was read in the cluster's shared memory", ""]),
    (".sync_restrict::shared::cta", ["for what lies in this block's shared memory", ""]),
    (".mbarrier_init", ["for barriers that were just initialised", ""]),
    (".proxy", ["between two ways to reach the same memory", ""]),
    (".alias", ["by two addresses", ""]),
    ("fence .async", ["by plain accesses and by asynchronous copies", ""]),
    ("membar .async", ["by plain accesses and by asynchronous copies", ""]),
    (".async::generic", ["by asynchronous copies and by plain accesses", ""]),
    (".tensormap::generic", ["by copies through a tensor map, and by plain accesses to the map", ""]),
    ("membar .cta", ["a fence.sc among the threads of the block", ""]),
    (".gl", ["a fence.sc among all threads on this GPU", ""]),
    ("membar .sys", ["a fence.sc among all threads on all GPUs and the host", ""]),
    ("cvta .to", ["from a generic address to one in the space; without it, the other way", ""]),
    ("bar .sync", ["waits until the threads have come", ""]),
    ("bar .arrive", ["comes, and does not wait", ""]),
    ("bar .red", ["waits, and gives something of what the threads bring", ""]),
    ("bar .popc", ["for how many threads the predicate holds", ""]),
    ("bar .and", ["whether the predicate holds for all threads", ""]),
    ("bar .or", ["whether the predicate holds for any thread", ""]),
    ("bar .u32", ["a number", ""]),
    ("bar .pred", ["a predicate", ""]),
    ("barrier .sync", ["waits until the threads have come, each of which counts by itself", ""]),
    ("barrier .arrive", ["comes, and does not wait", ""]),
    ("barrier .red", ["waits, and gives something of what the threads bring", ""]),
    ("barrier .popc", ["for how many threads the predicate holds", ""]),
    ("barrier .and", ["whether the predicate holds for all threads", ""]),
    ("barrier .or", ["whether the predicate holds for any thread", ""]),
    ("barrier .u32", ["a number", ""]),
    ("barrier .pred", ["a predicate", ""]),
    ("barrier .cluster", ["the barrier of the cluster", ""]),
    ("barrier .wait", ["waits until all threads have arrived, and sees what they wrote before", ""]),
    ("barrier .relaxed", ["what it wrote before need not be seen by those that wait", ""]),
    ("barrier .aligned", ["all threads of a warp execute it together", ""]),
    ("elect .sync", ["one thread of those in the mask, which all come to it together", ""]),
    (".sync", ["all threads in the mask come to it together", ""]),
    ("activemask .b32", ["a bit for each lane", ""]),
    ("match .b32", ["values of 32 bits", ""]),
    ("match .b64", ["values of 64 bits", ""]),
    ("mov .u32", ["a number of 32 bits", ""]),
    ("mov .u64", ["a number of 64 bits", ""]),
    ("nanosleep .u32", ["a time of 32 bits, in nanoseconds", ""]),
    ("redux .b32", ["32 bits", ""]),
    ("redux .s32", ["numbers with a sign", ""]),
    ("redux .u32", ["numbers without a sign", ""]),
    ("match .any", ["which lanes have the value of this one", ""]),
    ("match .all", ["whether all lanes have one value", ""]),
    ("redux .add", ["the sum of what the lanes have", ""]),
    ("redux .min", ["the smallest of what the lanes have", ""]),
    ("redux .max", ["the largest of what the lanes have", ""]),
    ("redux .abs", ["of the absolute values", ""]),
    ("redux .NaN", ["NaN if there is one", ""]),
    ("redux .f32", ["floats of 32 bits; without .NaN it is none of the values if there is another", ""]),
    ("clusterlaunchcontrol .try_cancel", ["asks to cancel the launch of a cluster that has not begun", ""]),
    ("clusterlaunchcontrol .query_cancel", ["what the response of a request says", ""]),
    ("clusterlaunchcontrol .async", ["the response comes later", ""]),
    ("clusterlaunchcontrol .is_canceled", ["whether a launch was cancelled", ""]),
    (".get_first_ctaid", ["the numbers of the first block of the cluster whose launch was cancelled", ""]),
    (".get_first_ctaid::x", ["its number in x", ""]),
    (".get_first_ctaid::y", ["its number in y", ""]),
    (".get_first_ctaid::z", ["its number in z", ""]),
    (".multicast::cluster::all", ["in each block of the cluster, at the same place", ""]),
    ("clusterlaunchcontrol .v4", ["four numbers, the last of which is nothing", ""]),
    ("clusterlaunchcontrol .b32", ["a number of 32 bits", ""]),
    ("clusterlaunchcontrol .pred", ["a predicate", ""]),
    ("clusterlaunchcontrol .b128", ["a response of 128 bits", ""]),
    ("setmaxnreg .inc", ["asks for registers, and waits until the block has them", ""]),
    ("setmaxnreg .dec", ["gives registers back", ""]),
    ("setmaxnreg .sync", ["all threads of the warp come to it together", ""]),
    ("setmaxnreg .aligned", ["all warps of the warpgroup come to the same instruction", ""]),
    ("setmaxnreg .u32", ["a number of registers", ""]),
    ("redux .and", ["the AND of what the lanes have", ""]),
    ("redux .or", ["the OR of what the lanes have", ""]),
    ("redux .xor", ["the XOR of what the lanes have", ""]),
    (".launch_dependents", ["grids that depend on this one may begin, when all of its blocks say so", ""]),
    (".wait", ["until the grids before this one have ended, and their writes can be seen", ""]),
    (".nc", ["by the non-coherent path: nothing may write there while the kernel runs,", "or old data may be read"]),
    (".volatile", ["the compilers do not drop, merge or move it;", "for other threads it is as .relaxed.sys"]),
    (".relaxed", ["strong: other threads of the scope see whole values,", "but it has no order with other accesses"]),
    (
        ".acquire",
        [
            "everything after it happens after what the thread did that released the value;",
            "L1 is invalidated after it",
        ],
    ),
    (".release", ["threads that acquire this value see everything before it:", "a fence is before the store"]),
    (
        ".acq_rel",
        [
            "both: everything after it happens after what the thread did that released the value,",
            "and threads that acquire this value see everything before it",
        ],
    ),
    (".and", ["the value in memory becomes its AND with the operand", ""]),
    (".or", ["the value in memory becomes its OR with the operand", ""]),
    (".xor", ["the value in memory becomes its XOR with the operand", ""]),
    (".exch", ["the value in memory becomes the operand", ""]),
    (".cas", ["the value in memory becomes the second operand,", "if it is equal to the first"]),
    (".inc", ["the value in memory becomes one more;", "if it is the operand or above, 0"]),
    (".dec", ["the value in memory becomes one less;", "if it is 0, or above the operand, the operand"]),
    (".add", ["the operand is added to the value in memory", ""]),
    (".min", ["the value in memory becomes the smaller one of it and the operand", ""]),
    (".max", ["the value in memory becomes the larger one of it and the operand", ""]),
    (".noftz", ["subnormal numbers are kept", ""]),
    (".mmio", ["for memory-mapped devices: exactly one access, as wide as written", ""]),
    (".L2::cache_hint", ["L2 follows the cache policy that it takes,", "which `CachePolicy` makes"]),
    (".L1", ["into L1", ""]),
    (".L2", ["into L2", ""]),
    ("st .bulk", ["fills shared memory of this block with zeros", ""]),
    ("discard .L2", ["dropped from L2, not written back: the bytes are undetermined from then on", ""]),
    ("applypriority .L2::evict_normal", ["L2 evicts it as usual again", ""]),
    (
        "createpolicy .fractional",
        ["for a fraction of the lines, chosen by their addresses;", "for all if none is given"],
    ),
    ("createpolicy .range", ["by address: for the first bytes of a range, and for the rest", ""]),
    ("createpolicy .cvt", ["from an access property of CUDA's host interface", ""]),
    ("createpolicy .b64", ["a policy has 64 bits", ""]),
    ("createpolicy .L2", ["a policy of L2", ""]),
    ("createpolicy .L2::evict_unchanged", ["L2 leaves the line's priority as it is", ""]),
    (".tensormap", ["the tensor map that cp.async.bulk.tensor will use", ""]),
    ("st .async", ["done later, until the barrier is told,", "or without a barrier until the block ends"]),
    ("multimem .ld_reduce", ["loads the copies of all GPUs, and makes one value of them", ""]),
    ("multimem .st", ["stores in the copies of all GPUs", ""]),
    ("multimem .red", ["changes the copies of all GPUs", ""]),
    ("multimem .async", ["done later, until the block ends", ""]),
    (".acc::f32", ["the sum is made in f32", ""]),
    (".acc::f16", ["the sum is made in f16", ""]),
    ("red .async", ["done later, until the barrier is told,", "or without a barrier until the block ends"]),
    (".async", ["the thread only starts it, goes on, and waits for it later", ""]),
    ("cp .ca", ["through all caches", ""]),
    ("cp .cg", ["through L2, but not through L1", ""]),
    ("cp .b64", ["a barrier has 64 bits", ""]),
    (".commit_group", ["makes a group of what this thread began since the last group", ""]),
    (".wait_group", ["waits until at most that many of the newest groups are still in flight", ""]),
    (".wait_all", ["waits until everything that this thread began is complete", ""]),
    (".read", ["only until shared memory is read, so that it can be written again", ""]),
    (".mbarrier", ["tells a barrier in shared memory", ""]),
    (".arrive", ["one arrival; the result is the state before it", ""]),
    (".arrive_drop", ["arrives for the last time: later phases expect one fewer", ""]),
    (".noinc", ["the arrival is one of those that the barrier was initialised with", ""]),
    (".noComplete", ["the arrival does not complete the phase", ""]),
    (".init", ["initialises a barrier with a number of arrivals", ""]),
    (".layout::v0", ["in the layout that is taken where none is said", ""]),
    (".layout::v1", ["in the newer layout, of up to 511 arrivals", ""]),
    (".inval", ["ends the barrier, so that its memory can be used for something else", ""]),
    (".expect_tx", ["the phase expects more bytes", ""]),
    (".complete_tx", ["some of the expected bytes have arrived", ""]),
    (".pending_count", ["how many arrivals the phase of a state still needed", ""]),
    (".test_wait", ["whether the phase is complete", ""]),
    (".try_wait", ["waits for a while, and says whether the phase is complete", ""]),
    (".parity", ["the parity names the phase, instead of a state", ""]),
    ("mbarrier .b64", ["a barrier has 64 bits", ""]),
    ("mbarrier .release", ["threads that see the phase complete see everything before it", ""]),
    ("mbarrier .acquire", ["what follows sees what the threads did before they arrived", ""]),
    ("mbarrier .relaxed", ["no order with other accesses", ""]),
    (".reduce", ["changes what is there by each value of the source", ""]),
    (".bulk", ["many bytes at once, a multiple of 16", ""]),
    (".mbarrier::complete_tx::bytes", ["tells the barrier how many bytes have arrived", ""]),
    (".bulk_group", ["belongs to a group, for which a thread can wait", ""]),
    (".multicast::cluster", ["to the same place in each block of a mask", ""]),
    (".ignore_oob", ["some bytes at both ends are left out", ""]),
    (".cp_mask", ["of every 16 bytes only those of a mask", ""]),
    (".prefetch", ["only into L2", ""]),
    (".tensor", ["a box of a tensor, which a tensor map describes", ""]),
    (".1d", ["of one dimension", ""]),
    (".2d", ["of two dimensions", ""]),
    (".3d", ["of three dimensions", ""]),
    (".4d", ["of four dimensions", ""]),
    (".5d", ["of five dimensions", ""]),
    (".tile", ["a box, as the map describes it", ""]),
    (".tile::gather4", ["four rows, each from the same column on", ""]),
    (".tile::scatter4", ["four rows, each from the same column on", ""]),
    (".replace", ["changes a field of a tensor map", ""]),
    (".global_address", ["where the tensor begins", ""]),
    (".rank", ["the number of dimensions, less one", ""]),
    (".box_dim", ["how many elements the box has in a dimension", ""]),
    (".global_dim", ["how many elements the tensor has in a dimension", ""]),
    (".global_stride", ["bytes from one element of a dimension to the next", ""]),
    (".element_stride", ["every how many-th element of a dimension is copied", ""]),
    (".elemtype", ["the type of the elements", ""]),
    (".interleave_layout", ["how channels are interleaved", ""]),
    (".swizzle_mode", ["how many bytes the swizzle permutes", ""]),
    (".fill_mode", ["what a copy writes for elements outside of the tensor", ""]),
    (".swizzle_atomicity", ["how many bytes a swizzle of 128 bytes leaves together", ""]),
    (".b1024", ["a tensor map has 1024 bits", ""]),
    ("tensormap .b32", ["a number of 32 bits", ""]),
    ("tensormap .b64", ["a number of 64 bits", ""]),
    (".cta_group::1", ["the barrier is in the block of the destination", ""]),
    (".cta_group::2", ["the barrier may be in the other block of the destination's pair", ""]),
    (".im2col_no_offs", ["as columns of an image", ""]),
    (".im2col::w", ["as columns along the width of an image, with a halo behind the last pixel", ""]),
    (".im2col::w::128", ["as 128 pixels along the width of an image, with a halo after each 32", ""]),
    (".im2col", ["as columns of an image, at offsets in it", ""]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_found_by_ptx_and_by_rust() {
        let found = |text: &str| find(text).map(|form| form.full_ptx()).map_err(|error| error.to_string());
        for text in [
            "ld.global.nc.L1::evict_last.L2::256B.f32",
            " ld.global.nc.L2::256B.L1::evict_last.f32; ",
            "ld_global_nc::<EvictLast, Prefetch256>()",
        ] {
            assert_eq!(found(text).as_deref(), Ok("ld.global.nc.L1::evict_last.L2::256B.f32"), "{text}");
        }
        for form in catalogue::forms().step_by(30_000) {
            assert_eq!(found(&form.full_ptx()), Ok(form.full_ptx()));
        }
        let wrong = found("ld.global.nc.L1::evict_lats.f32").unwrap_err();
        assert!(wrong.contains("near are ld.global.nc.L1::evict_last.f32"), "{wrong}");
        assert!(found("").is_err() && found("ld_global_nc").is_err());
        assert!(found(&"x".repeat(201)).unwrap_err().contains("201 bytes"));
    }
}
