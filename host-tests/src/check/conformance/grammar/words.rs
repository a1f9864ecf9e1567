//! The words of each instruction, one axis for each place: written from the pages of the ISA, apart from the crate's tables.

/// The choices of one place in a mnemonic; an empty one leaves the place empty.
pub(super) type Axis = &'static [&'static str];

const ORDER: Axis = &[
    "",
    ".weak",
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".mmio",
    ".mmio.relaxed",
    ".mmio.acquire",
    ".mmio.release",
];
const SCOPE: Axis = &["", ".cta", ".cluster", ".gpu", ".sys"];
const SPACE: Axis = &[
    "",
    ".global",
    ".shared",
    ".shared::cta",
    ".shared::cluster",
    ".const",
    ".local",
    ".param",
    ".param::entry",
    ".param::func",
];
/// Those of loads and of stores: that one has none of the other's is for the assembler to say.
const OPERATOR: Axis = &["", ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"];
const NC: Axis = &["", ".nc"];
const L1: Axis =
    &["", ".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate"];
const L2: Axis = &["", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"];
const HINT: Axis = &["", ".L2::cache_hint"];
const SIZE: Axis = &["", ".L2::64B", ".L2::128B", ".L2::256B"];

/// Types that the assembler treats alike, as far as qualifiers go: each head is asked with one of each class, every
/// head with another one, and where one is accepted with all of them.
pub(super) const TYPES: [Axis; 6] = [
    &[".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f32", ".f64"],
    &[".b128"],
    &[
        ".v2.b8", ".v2.b16", ".v2.b32", ".v2.b64", ".v2.u8", ".v2.u16", ".v2.u32", ".v2.u64", ".v2.s8", ".v2.s16",
        ".v2.s32", ".v2.s64", ".v2.f32", ".v2.f64", ".v4.b8", ".v4.b16", ".v4.b32", ".v4.u8", ".v4.u16", ".v4.u32",
        ".v4.s8", ".v4.s16", ".v4.s32", ".v4.f32",
    ],
    &[".v8.b32", ".v8.u32", ".v8.s32", ".v8.f32", ".v4.b64", ".v4.u64", ".v4.s64", ".v4.f64"],
    &[".v8.b8", ".v8.b16", ".v8.u8", ".v8.u16", ".v8.s8", ".v8.s16"],
    &[".v2.b128", ".v4.b128", ".v8.b128", ".v8.b64", ".v8.u64", ".v8.s64", ".v8.f64"],
];

/// Words of neighbouring instructions and sizes that do not exist, which a person may try.
const STRANGERS: Axis = &[
    ".L2::evict_unchanged",
    ".L2::no_allocate",
    ".L1::cache_hint",
    ".L1::64B",
    ".L2::32B",
    ".L2::512B",
    ".L3::evict_last",
    ".evict_last",
    ".noftz",
    ".aligned",
    ".sync",
    ".v1",
    ".v16",
];
const STRANGE_TYPES: Axis =
    &["", ".f32", ".f16", ".bf16", ".f16x2", ".bf16x2", ".b16x2", ".tf32", ".e4m3", ".pred", ".b1", ".b4", ".b256"];

pub(super) const PREFETCH: &[Axis] = &[
    &["prefetch", "prefetchu"],
    SPACE,
    &["", ".L1", ".L2", ".L3"],
    &["", ".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged", ".L1::evict_last"],
    &["", ".L2::cache_hint"],
    &["", ".tensormap"],
];
pub(super) const CREATEPOLICY: &[Axis] = &[
    &["createpolicy"],
    &["", ".fractional", ".range", ".cvt"],
    &["", ".global", ".shared"],
    &[".L2", ".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged", ".L1::evict_last"],
    &["", ".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged", ".L1::evict_first"],
    &["", ".b64", ".u64", ".b32"],
];
pub(super) const APPLYPRIORITY: &[Axis] = &[
    &["applypriority", "discard"],
    SPACE,
    &["", ".L1", ".L2", ".L1::evict_normal", ".L2::evict_normal", ".L2::evict_last", ".L2::evict_first"],
];
pub(super) const FILL: &[Axis] = &[
    &["st.bulk"],
    &["", ".weak", ".relaxed"],
    &["", ".global", ".shared", ".shared::cta", ".shared::cluster", ".local"],
];
/// The constant 3 is one that an interleave and a fill do not take.
pub(super) const TENSORMAP: &[Axis] = &[
    &["tensormap.replace"],
    &["", ".tile", ".im2col"],
    &[
        "",
        ".global_address",
        ".rank",
        ".box_dim",
        ".global_dim",
        ".global_stride",
        ".element_stride",
        ".elemtype",
        ".interleave_layout",
        ".swizzle_mode",
        ".fill_mode",
        ".swizzle_atomicity",
    ],
    &["", ".global", ".shared", ".shared::cta", ".shared::cluster"],
    &["", ".b1024", ".b128"],
    &["", ".b32", ".b64", ".u32"],
    &[" [%dst], %new", " [%dst], 1", " [%dst], 2", " [%dst], 3", " [%dst], 3, %new"],
];
pub(super) const LATER: &[Axis] = &[
    &["st.async", "red.async", "multimem.st.async", "multimem.red.async"],
    &["", ".mmio"],
    &["", ".weak", ".relaxed", ".acquire", ".release"],
    SCOPE,
    &["", ".global", ".shared", ".shared::cta", ".shared::cluster"],
    &["", ".mbarrier::complete_tx::bytes"],
    &["", ".and", ".or", ".xor", ".exch", ".inc", ".dec", ".add", ".min", ".max"],
    &["", ".v2", ".v4", ".v8"],
    &[
        ".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f16", ".f32",
        ".f64",
    ],
];
pub(super) const ATOMIC: &[Axis] = &[
    &["atom", "red"],
    &["", ".weak", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".sc"],
    SCOPE,
    &["", ".global", ".shared", ".shared::cta", ".shared::cluster", ".const", ".local", ".param"],
    &["", ".and", ".or", ".xor", ".exch", ".cas", ".inc", ".dec", ".add", ".min", ".max", ".popc"],
    &["", ".noftz"],
    HINT,
    &["", ".v2", ".v4", ".v8"],
    &[
        ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f16",
        ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64",
    ],
];
pub(super) const MULTIMEM: &[Axis] = &[
    &["multimem.ld_reduce", "multimem.st", "multimem.red"],
    &["", ".weak", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel"],
    SCOPE,
    &["", ".global", ".shared", ".shared::cluster", ".local"],
    &["", ".and", ".or", ".xor", ".exch", ".inc", ".add", ".min", ".max"],
    &["", ".acc::f32", ".acc::f16"],
    &["", ".v2", ".v4", ".v8"],
    &[
        ".b16", ".b32", ".b64", ".b128", ".u32", ".u64", ".s32", ".s64", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32",
        ".f64", ".e4m3", ".e4m3x2", ".e4m3x4", ".e5m2", ".e5m2x2", ".e5m2x4",
    ],
];
pub(super) const FENCE: &[Axis] = &[
    &["fence", "membar"],
    &["", ".mbarrier_init", ".proxy"],
    &[
        "",
        ".alias",
        ".async",
        ".async.global",
        ".async.shared::cta",
        ".async.shared::cluster",
        ".async.shared",
        ".tensormap::generic",
        ".async::generic",
        ".tensormap",
        ".generic",
    ],
    &["", ".sc", ".acq_rel", ".acquire", ".release", ".relaxed"],
    &["", ".sync_restrict::shared::cta", ".sync_restrict::shared::cluster", ".sync_restrict::shared::cluster::read"],
    &["", ".cta", ".cluster", ".gpu", ".sys", ".gl"],
];
pub(super) const ADDRESS: &[Axis] =
    &[&["isspacep", "cvta", "cvta.to", "mapa", "getctarank"], SPACE, &["", ".u32", ".u64", ".b64", ".s64"]];
pub(super) const STRANGE: &[Axis] = &[&["ld", "st"], SPACE, NC, STRANGERS, STRANGE_TYPES];

/// Copies, barriers and what waits for them are told apart by their operands: those are an axis too. `%s` is an address in
/// shared memory, `%p` one in global memory; where no space is said, both are `%p`. `%phase` is a state or a parity.
pub(super) const COPY: &[Axis] = &[
    &["cp.async"],
    &["", ".ca", ".cg", ".cs"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &["", ".global"],
    HINT,
    &["", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::32B"],
    &[" [%s], [%p], 4", " [%s], [%p], 8", " [%s], [%p], 12", " [%s], [%p], 16"],
    &["", ", %r0", ", %ignore"],
];
pub(super) const GROUP: &[Axis] = &[
    &["cp.async"],
    &["", ".ca", ".bulk"],
    &[".commit_group", ".wait_group", ".wait_all", ".mbarrier.arrive", ".mbarrier.arrive.noinc"],
    &["", ".read", ".b64", ".shared.b64", ".shared::cta.b64", ".shared::cluster.b64", ".global.b64", ".shared.b32"],
    &["", " 3", " %r0", " [%s]", " [%s], 3"],
];
pub(super) const ARRIVE: &[Axis] = &[
    &["mbarrier.arrive", "mbarrier.arrive_drop"],
    &["", ".noComplete", ".expect_tx", ".parity"],
    &["", ".release", ".acquire", ".relaxed"],
    &["", ".cta", ".cluster", ".gpu"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &[".b64"],
    &[" %d0, [%s]", " %d0, [%s], %r0", " _, [%s]", " _, [%s], %r0", " [%s]"],
];
pub(super) const WAIT: &[Axis] = &[
    &["mbarrier.test_wait", "mbarrier.try_wait"],
    &["", ".parity", ".noComplete"],
    &["", ".release", ".acquire", ".relaxed"],
    &["", ".cta", ".cluster", ".gpu"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &[".b64"],
    &[" %done, [%s], %phase", " %done, [%s], %phase, %r0", " [%s], %phase"],
];
pub(super) const BARRIER: &[Axis] = &[
    &["mbarrier"],
    &[".init", ".inval", ".expect_tx", ".complete_tx", ".pending_count", ".arrive", ".test_wait"],
    &["", ".layout::v0", ".layout::v1"],
    &["", ".release", ".acquire", ".relaxed"],
    &["", ".cta", ".cluster", ".gpu"],
    &["", ".shared", ".shared::cta", ".shared::cluster"],
    &[".b64", ".b32"],
    &[" [%s]", " [%s], %r0", " %r0, %d0"],
];

pub(super) const BULK: &[Axis] = &[
    &["cp.async.bulk"],
    &[
        ".shared::cluster.global",
        ".shared::cta.global",
        ".shared.global",
        ".shared::cluster.shared::cta",
        ".shared::cluster.shared",
        ".shared::cta.shared::cluster",
        ".global.shared::cta",
        ".global.shared",
        ".global.global",
    ],
    &["", ".mbarrier::complete_tx::bytes", ".bulk_group"],
    &["", ".multicast::cluster", ".ignore_oob"],
    HINT,
    &["", ".cp_mask"],
    &[" [%dst], [%src], %r0"],
    &["", ", [%s]", ", [%s], %h0", ", %r1, %r2, [%s]", ", %h0"],
];
pub(super) const BULK_REDUCE: &[Axis] = &[
    &["cp.reduce.async.bulk"],
    &[
        ".shared::cluster.shared::cta",
        ".shared::cluster.global",
        ".shared::cta.shared::cta",
        ".global.shared::cta",
        ".global.shared",
        ".global.global",
    ],
    &["", ".mbarrier::complete_tx::bytes", ".bulk_group"],
    HINT,
    &["", ".and", ".or", ".xor", ".exch", ".inc", ".dec", ".add", ".min", ".max"],
    &["", ".noftz"],
    &[".b16", ".b32", ".b64", ".u32", ".u64", ".s32", ".s64", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64"],
    &[" [%dst], [%src], %r0"],
    &["", ", [%s]"],
];
pub(super) const BULK_PREFETCH: &[Axis] = &[
    &["cp.async.bulk.prefetch"],
    &[".L2", ".L1", ".L3"],
    &["", ".global", ".shared::cta"],
    &["", ".L2::cache_hint", ".L2::evict_last"],
    &[" [%p], %r0", " [%p]"],
];
pub(super) const TENSOR_PREFETCH: &[Axis] = &[
    &["cp.async.bulk.prefetch.tensor"],
    &[".1d", ".2d", ".3d", ".4d", ".5d"],
    &[".L2.global", ".L2"],
    &["", ".tile", ".tile::gather4", ".im2col", ".im2col::w", ".im2col::w::128"],
    HINT,
    &[
        " [%p, {%r0}]",
        " [%p, {%r0, %r1}]",
        " [%p, {%r0, %r1, %r2}]",
        " [%p, {%r0, %r1, %r2, %r3}]",
        " [%p, {%r0, %r1, %r2, %r3, %r4}]",
    ],
    &["", ", {%h0}", ", {%h0, %h1}", ", {%h0, %h1, %h2}"],
];
pub(super) const TENSOR: &[Axis] = &[
    &["cp.async.bulk.tensor"],
    &[".1d", ".2d", ".3d", ".4d", ".5d"],
    &[".shared::cluster.global", ".shared::cta.global", ".global.shared::cta"],
    &["", ".tile", ".tile::gather4", ".tile::scatter4"],
    &["", ".mbarrier::complete_tx::bytes", ".bulk_group"],
    &["", ".multicast::cluster"],
    &["", ".cta_group::1", ".cta_group::2", ".cta_group::4"],
    HINT,
    &[
        " [%s], [%p, {%r0}], [%s]",
        " [%s], [%p, {%r0, %r1}], [%s]",
        " [%s], [%p, {%r0, %r1, %r2}], [%s]",
        " [%s], [%p, {%r0, %r1, %r2, %r3}], [%s]",
        " [%s], [%p, {%r0, %r1, %r2, %r3, %r4}], [%s]",
        " [%p, {%r0}], [%s]",
        " [%p, {%r0, %r1}], [%s]",
        " [%p, {%r0, %r1, %r2}], [%s]",
        " [%p, {%r0, %r1, %r2, %r3}], [%s]",
        " [%p, {%r0, %r1, %r2, %r3, %r4}], [%s]",
    ],
    &["", ", %h0", ", {%h0}"],
];
pub(super) const TENSOR_COLUMNS: &[Axis] = &[
    &["cp.async.bulk.tensor"],
    &[".2d", ".3d", ".4d", ".5d"],
    &[".shared::cluster.global", ".shared::cta.global", ".global.shared::cta"],
    &[".im2col", ".im2col::w", ".im2col::w::128", ".im2col_no_offs", ".im2col_no_offs::w", ".im2col_offs"],
    &[".mbarrier::complete_tx::bytes", ".bulk_group"],
    &["", ".multicast::cluster"],
    &["", ".cta_group::1", ".cta_group::2"],
    HINT,
    &[
        " [%s], [%p, {%r0, %r1, %r2}], [%s]",
        " [%s], [%p, {%r0, %r1, %r2, %r3}], [%s]",
        " [%s], [%p, {%r0, %r1, %r2, %r3, %r4}], [%s]",
        " [%p, {%r0, %r1, %r2}], [%s]",
        " [%p, {%r0, %r1, %r2, %r3}], [%s]",
        " [%p, {%r0, %r1, %r2, %r3, %r4}], [%s]",
    ],
    &["", ", {%h0}", ", {%h0, %h1}", ", {%h0, %h1, %h2}"],
    &["", ", %h3"],
];
pub(super) const TENSOR_REDUCE: &[Axis] = &[
    &["cp.reduce.async.bulk.tensor"],
    &[".1d", ".2d", ".3d", ".4d", ".5d"],
    &[".global.shared::cta", ".shared::cluster.shared::cta", ".global.global"],
    &["", ".and", ".or", ".xor", ".exch", ".inc", ".dec", ".add", ".min", ".max"],
    &["", ".tile", ".tile::scatter4", ".im2col", ".im2col::w", ".im2col_no_offs", ".im2col_no_offs::w"],
    &["", ".bulk_group"],
    HINT,
    &[
        " [%p, {%r0}], [%s]",
        " [%p, {%r0, %r1}], [%s]",
        " [%p, {%r0, %r1, %r2}], [%s]",
        " [%p, {%r0, %r1, %r2, %r3}], [%s]",
        " [%p, {%r0, %r1, %r2, %r3, %r4}], [%s]",
    ],
];

/// What the threads of a warp find out together.
pub(super) const ELECT: &[Axis] = &[&["elect"], &[".sync", ""], &["", ".any"], &["", ".aligned"], &["", ".b32"]];
pub(super) const MATCH: &[Axis] = &[
    &["match"],
    &["", ".any", ".all"],
    &[".sync", ""],
    &["", ".aligned"],
    &["", ".b16", ".b32", ".b64", ".u32", ".b128"],
];
pub(super) const REDUX: &[Axis] = &[
    &["redux"],
    &[".sync", ""],
    &["", ".add", ".min", ".max", ".and", ".or", ".xor", ".inc"],
    &["", ".abs"],
    &["", ".NaN"],
    &["", ".b32", ".u32", ".s32", ".b64", ".u64", ".s64", ".f16", ".f32"],
];
/// What the threads of a block, or of a cluster, wait for together.
pub(super) const MEET: &[Axis] = &[
    &["bar", "barrier"],
    &["", ".cta"],
    &["", ".sync", ".arrive", ".red", ".red.popc", ".red.and", ".red.or", ".red.xor"],
    &["", ".aligned"],
    &["", ".u32", ".pred", ".s32"],
    &[
        "",
        " %r0",
        " %r0, %r1",
        " %r0, %r1, %r2",
        " %r0, %holds",
        " %r0, %r1, %holds",
        " %r0, %r1, %r2, %holds",
        " %found, %r1, %holds",
        " %found, %r1, %r2, %holds",
    ],
];
pub(super) const MEET_CLUSTER: &[Axis] = &[
    &["barrier.cluster", "bar.cluster"],
    &["", ".arrive", ".wait", ".sync"],
    &["", ".release", ".acquire", ".relaxed", ".acq_rel"],
    &["", ".aligned"],
    &["", " %r0"],
];

/// What a thread does by itself about how it runs, and clocks.
pub(super) const CONTROL: &[Axis] = &[
    &["nanosleep", "activemask", "griddepcontrol", "mov"],
    &["", ".launch_dependents", ".wait", ".u32", ".b32", ".u64"],
    &["", " %r0", " %r0, %clock", " %d0, %clock64", " %d0, %globaltimer"],
];

pub(super) const TRY_CANCEL: &[Axis] = &[
    &["clusterlaunchcontrol.try_cancel"],
    &[".async", ""],
    &["", ".shared", ".shared::cta", ".shared::cluster", ".global"],
    &[".mbarrier::complete_tx::bytes", "", ".bulk_group"],
    &["", ".multicast::cluster::all", ".multicast::cluster"],
    &[".b128", "", ".b64"],
    &[" [%dst], [%s]", " [%dst]", " [%dst], [%s], %h0"],
];
pub(super) const QUERY_CANCEL: &[Axis] = &[
    &["clusterlaunchcontrol.query_cancel"],
    &[
        ".is_canceled",
        ".get_first_ctaid",
        ".get_first_ctaid::x",
        ".get_first_ctaid::y",
        ".get_first_ctaid::z",
        ".get_first_ctaid::w",
        "",
    ],
    &["", ".pred", ".b32", ".u32", ".v2.b32", ".v4.b32", ".v4.u32"],
    &[".b128", "", ".b64"],
    &[
        " %done, %response",
        " %r0, %response",
        " {%r0, %r1, %r2, _}, %response",
        " {%r0, %r1, %r2, %r3}, %response",
        " %r0, %d0",
    ],
];

pub(super) const SETMAXNREG: &[Axis] = &[
    &["setmaxnreg.inc", "setmaxnreg.dec", "setmaxnreg.set"],
    &[".sync", ""],
    &[".aligned", ""],
    &[".u32", "", ".b32", ".s32"],
    &[" 24", " %r0"],
];

pub(super) const LOAD: &[Axis] = &[&["ld"], ORDER, SCOPE, SPACE, OPERATOR, NC, L1, L2, HINT, SIZE];
/// `ldu` takes none of a load's words: one at a time is enough to see it.
pub(super) const UNIFORM: &[Axis] = &[
    &["ldu"],
    &[
        "",
        ".weak",
        ".volatile",
        ".relaxed",
        ".relaxed.gpu",
        ".acquire.gpu",
        ".release.gpu",
        ".mmio.relaxed.sys",
        ".gpu",
    ],
    SPACE,
    &[
        "",
        ".ca",
        ".cg",
        ".cs",
        ".lu",
        ".cv",
        ".nc",
        ".L1::evict_normal",
        ".L1::evict_last",
        ".L1::no_allocate",
        ".L2::evict_last",
        ".L2::cache_hint",
        ".L2::64B",
        ".L2::256B",
    ],
];
pub(super) const STORE: &[Axis] = &[&["st"], ORDER, SCOPE, SPACE, OPERATOR, NC, L1, L2, HINT, SIZE];
