//! Tensor copies in PTX: a kernel that makes its own tensor map, and each spelling in tiles.

use ptx_interpreter::tensor_map::TensorMap;
use ptx_interpreter::{Program, Trial};

/// `input` and `output` are matrices of 8 rows of 4 numbers; `map` describes rows of another one.
const KERNEL: &str = "
.version 8.8
.target sm_100a
.address_size 64
.visible .entry gather(.param .u64 input, .param .u64 output, .param .u64 maps, .param .align 64 .b8 map[128])
{
    .reg .b64 %d<8>;
    .reg .b32 %r<8>;
    .reg .pred %p<3>;
    .shared .align 128 .b8 copy[128];
    .shared .align 128 .b8 rows[64];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d1, [input];
    ld.param.u64 %d2, [output];
    ld.param.u64 %d3, [maps];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, copy;
    add.u32 %r3, %r3, %r2;
    cvt.u64.u32 %d4, %r2;
    mov.b64 %d5, map;
    add.u64 %d5, %d5, %d4;
    ld.param.b32 %r4, [%d5];
    st.shared.b32 [%r3], %r4;
    bar.warp.sync -1;
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r3, copy;
    @%p1 bra PUBLISH;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3], %d1;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r3], 1, 8;
PUBLISH:
    bar.warp.sync -1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d3], [%r3], 128;
    @%p1 bra WRITE;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3], %d2;
WRITE:
    bar.warp.sync -1;
    add.u64 %d6, %d3, 128;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d6], [%r3], 128;
    @%p1 bra END;
    fence.proxy.tensormap::generic.acquire.gpu [%d3], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%d6], 128;
    mov.u32 %r5, bar;
    mov.u32 %r6, rows;
    mbarrier.init.shared.b64 [%r5], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 64;
    cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r6], [%d3, {0, 5, 1, 9, 2}], [%r5];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0;
    @!%p2 bra WAIT;
    cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d6, {0, 0, 7, 1, 3}], [%r6];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
END:
    ret;
}";

/// One row of 4 numbers; the kernel says where, and that there are 8.
fn row() -> TensorMap {
    TensorMap {
        rank: 2,
        element: 2,
        address: 16,
        sizes: [4, 1, 0, 0, 0],
        strides: [16, 0, 0, 0],
        tile: [4, 1, 0, 0, 0],
        steps: [1, 1, 0, 0, 0],
        ..TensorMap::default()
    }
}

fn bytes(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    numbers.flat_map(u32::to_le_bytes).collect()
}

#[test]
fn a_kernel_makes_maps_and_gathers_and_scatters_rows() {
    let program = Program::parse(KERNEL);
    assert!(program.gaps().is_empty(), "{:?}", program.gaps());
    for seed in 0..4 {
        let mut trial = Trial::new(&program, "gather");
        trial.seed(seed);
        trial.buffer(&bytes(0..32)).unwrap();
        trial.buffer(&[0xff; 128]).unwrap();
        trial.buffer(&[0; 256]).unwrap();
        trial.value(&row().encode());
        let report = trial.check();
        assert!(report.is_clean(), "{:?} {:?}", report.stop, report.findings);
        // The rows 5, 1, none and 2 are in the rows 0, 7, 1 and 3.
        let none = u32::MAX;
        let expected =
            [[20, 21, 22, 23], [0; 4], [none; 4], [8, 9, 10, 11], [none; 4], [none; 4], [none; 4], [4, 5, 6, 7]];
        assert_eq!(trial.content(1), bytes(expected.into_iter().flatten()));
    }
}

/// Without one of its fences the copy is told, and which fence it lacks.
#[test]
fn a_map_is_released_and_acquired() {
    let acquire = |map: &str| format!("fence.proxy.tensormap::generic.acquire.gpu [{map}], 128;");
    // What a publication copies, without what it releases.
    let stores = |text: &str, fence: &str| {
        ["%d3", "%d6"].iter().fold(text.to_owned(), |text, map| {
            let words = (0..128)
                .step_by(8)
                .map(|at| format!("@!%p1 ld.shared.b64 %d7, [%r3+{at}]; @!%p1 st.global.b64 [{map}+{at}], %d7;\n"));
            let publish = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned";
            text.replace(&format!("{publish} [{map}], [%r3], 128;"), &(words.collect::<String>() + fence))
        })
    };
    let not_acquired = "was released to the tensormap proxy, and not acquired";
    let release = "@!%p1 fence.proxy.tensormap::generic.release.gpu;";
    for (text, count, words) in [
        (KERNEL.to_owned(), 0, ""),
        (KERNEL.replace(&acquire("%d3"), ""), 1, not_acquired),
        (KERNEL.replace(&acquire("%d6"), ""), 1, not_acquired),
        (KERNEL.replace(&acquire("%d3"), &acquire("%d6")), 1, not_acquired),
        (stores(KERNEL, ""), 2, "the tensormap proxy is not"),
        (stores(KERNEL, release), 0, ""),
    ] {
        let program = Program::parse(&text);
        let mut trial = Trial::new(&program, "gather");
        trial.buffer(&bytes(0..32)).unwrap().buffer(&[0xff; 128]).unwrap().buffer(&[0; 256]).unwrap();
        trial.value(&row().encode());
        let report = trial.check();
        assert!(report.stop.is_none(), "{:?}", report.stop);
        let texts: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), count, "{words}: {texts:?}");
        for text in texts {
            assert!(text.starts_with("error[proxy]: a tensor copy uses a tensor map"), "{text}");
            assert!(text.contains(words), "{text}");
        }
    }
}

/// After a copy the kernel changes the map that the copy reads. It has to wait first: for the barrier, or for a group that it commits then, as CUTLASS does.
#[test]
fn a_map_is_overwritten_after_its_copies() {
    let load = "    cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r6], [%d3, {0, 5, 1, 9, 2}], [%r5];\n";
    let store = "[%d6, {0, 0, 7, 1, 3}], [%r6];\n";
    let loaded = "    @!%p2 bra WAIT;\n";
    let change = "st.global.b64 [%d3], %d1;\n";
    let stored = "    cp.async.bulk.wait_group 0;\n";
    let read = "cp.async.bulk.wait_group.read 0;\n";
    let commit = "cp.async.bulk.commit_group;\n";
    for (after, added, is_wrong) in [
        (load, change.to_owned(), true),
        (loaded, change.to_owned(), false),
        (load, format!("{commit}{read}{change}"), false),
        (load, format!("{read}{change}"), true),
        (load, format!("{commit}{change}"), true),
        (store, "st.global.b64 [%d6+120], %d1;\n".to_owned(), true),
        (stored, "st.global.b64 [%d6+120], %d1;\n".to_owned(), false),
        (store, "st.global.b64 [%d6+128], %d1;\n".to_owned(), false),
    ] {
        let text = KERNEL.replace(after, &format!("{after}{added}"));
        assert_ne!(text, KERNEL, "{after}");
        let program = Program::parse(&text);
        assert!(program.gaps().is_empty(), "{:?}", program.gaps());
        let mut trial = Trial::new(&program, "gather");
        trial.buffer(&bytes(0..32)).unwrap().buffer(&[0xff; 128]).unwrap().buffer(&[0; 264]).unwrap();
        trial.value(&row().encode());
        let report = trial.check();
        let texts: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        let found =
            texts.iter().filter(|text| text.starts_with("error[async]: a tensor map is overwritten before")).count();
        assert_eq!((found, texts.len()), (usize::from(is_wrong), usize::from(is_wrong)), "{added}: {texts:?}");
    }
}

/// Another warp uses the map after a barrier: what one thread acquired before it goes along, and what nothing orders is a race.
#[test]
fn a_map_of_another_warp_is_ordered() {
    let text = |barrier: &str, fence: &str| {
        KERNEL
            .replace(".param .align 64 .b8 map[128])\n{", ".param .align 64 .b8 map[128])\n{\n.reg .pred %q<2>; .reg .b32 %w;")
            .replace("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %laneid; mov.u32 %w, %tid.y; setp.ne.u32 %q1, %w, 0; add.u64 %d6, %d3, 128; @%q1 bra SECOND;")
            .replace("    @%p1 bra END;\n    fence", &format!("SECOND:\n{barrier}\n@!%q1 bra END;\nsetp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n    fence"))
            .replace("    fence.proxy.tensormap::generic.acquire.gpu [%d3], 128;\n", fence)
    };
    let fence = "    fence.proxy.tensormap::generic.acquire.gpu [%d3], 128;\n";
    for (barrier, fence, expected) in [
        ("bar.sync 0;", fence, None),
        ("bar.sync 0;", "", Some("error[proxy]")),
        (&format!("@!%q1 {}\nbar.sync 0;", fence.trim()), "", None),
        ("", fence, Some("error[race]")),
    ] {
        let program = Program::parse(&text(barrier, fence));
        assert!(program.gaps().is_empty(), "{:?}", program.gaps());
        let reports = (0..8).map(|seed| {
            let mut trial = Trial::new(&program, "gather");
            trial.block([32, 2, 1]).seed(seed);
            trial
                .buffer(&bytes(0..32))
                .unwrap()
                .buffer(&[0xff; 128])
                .unwrap()
                .buffer(&[row().encode(); 2].concat())
                .unwrap();
            trial.value(&row().encode());
            trial.check()
        });
        let texts: Vec<String> =
            reports.flat_map(|report| report.findings).map(|finding| finding.to_string()).collect();
        match expected {
            None => assert_eq!(texts, [""; 0], "{barrier}"),
            Some(kind) => assert!(
                texts.iter().any(|text| text.starts_with(kind) && text.contains("tensor map")),
                "{barrier}: {texts:?}"
            ),
        }
    }
}

#[test]
fn what_is_no_map_is_told() {
    let program = Program::parse(KERNEL);
    let mut trial = Trial::new(&program, "gather");
    trial.buffer(&[0; 128]).unwrap();
    trial.buffer(&[0; 128]).unwrap();
    trial.buffer(&[0; 256]).unwrap();
    trial.value(&[7; 128]);
    let text = trial.check().findings[0].to_string();
    assert!(text.contains("is no tensor map of the driver or of CuTe DSL"), "{text}");
}

/// The driver makes a map of a row of 2^32 numbers, and nobody says how a GPU copies it.
#[test]
fn a_map_whose_copies_are_not_known_is_a_gap() {
    let program = Program::parse(KERNEL);
    let mut trial = Trial::new(&program, "gather");
    trial.buffer(&[0; 128]).unwrap();
    trial.buffer(&[0; 128]).unwrap();
    trial.buffer(&[0; 256]).unwrap();
    let long = TensorMap { sizes: [1 << 32, 1, 0, 0, 0], ..row() };
    assert_eq!(long.check(), Ok(()));
    trial.value(&long.encode());
    let report = trial.check();
    let text = "the interpreter does not know a tensor of more than 2^31 elements in a dimension";
    assert!(
        report.findings.is_empty() && report.stop.as_ref().is_some_and(|stop| stop.to_string().contains(text)),
        "{report}"
    );
}

/// Each spelling in tiles is known.
#[test]
fn every_tile_is_known() {
    let coordinates = ["{%r0}", "{%r0, %r1}", "{%r0, %r1, %r2}", "{%r0, %r1, %r2, %r3}", "{%r0, %r1, %r2, %r3, %r4}"];
    let mut lines = Vec::new();
    for (at, place) in coordinates.iter().enumerate() {
        let d = at + 1;
        for (more, mask) in [("", ""), (".multicast::cluster", ", %h0")] {
            for (hint, policy) in [("", ""), (".L2::cache_hint", ", %d1")] {
                let told = format!("mbarrier::complete_tx::bytes{more}{hint}");
                for (into, mode) in [("cluster", ".tile"), ("cluster", ""), ("cta", "")] {
                    let from = format!("cp.async.bulk.tensor.{d}d.shared::{into}.global{mode}.{told}");
                    lines.push(format!("{from} [%r5], [%d0, {place}], [%r6]{mask}{policy}"));
                }
                let out = format!("tensor.{d}d.global.shared::cta");
                lines.push(format!("cp.async.bulk.{out}.bulk_group{hint} [%d0, {place}], [%r5]{policy}"));
                for op in ["add", "min", "max", "inc", "dec", "and", "or", "xor"] {
                    let reduce = format!("cp.reduce.async.bulk.{out}.{op}.tile.bulk_group{hint}");
                    lines.push(format!("{reduce} [%d0, {place}], [%r5]{policy}"));
                }
            }
        }
    }
    for (field, ty, value) in [
        ("global_address", "b64", "%d1"),
        ("rank", "b32", "%r0"),
        ("box_dim", "b32", "1, %r0"),
        ("global_dim", "b32", "1, %r0"),
        ("global_stride", "b64", "1, %d1"),
        ("element_stride", "b32", "1, %r0"),
        ("elemtype", "b32", "5"),
        ("interleave_layout", "b32", "0"),
        ("swizzle_mode", "b32", "3"),
        ("swizzle_atomicity", "b32", "1"),
        ("fill_mode", "b32", "0"),
    ] {
        lines.push(format!("tensormap.replace.tile.{field}.global.b1024.{ty} [%d0], {value}"));
    }
    let body = lines.join(";\n");
    let registers = ".reg .b64 %d<3>; .reg .b32 %r<8>; .reg .b16 %h<2>;";
    let program = Program::parse(&format!(
        ".version 8.8\n.target sm_100a\n.visible .entry k()\n{{ {registers}\n{body};\nret;\n}}"
    ));
    assert!(program.gaps().is_empty(), "{:?}", program.gaps());
    println!("{} spellings", lines.len());
}

/// All lanes of a warp store the same box, each of them a row: CUTLASS's epilogues do the first.
const STORES: &str = "
.version 8.0
.target sm_90
.visible .entry store(.param .u64 m)
{
    .reg .b64 %d0; .reg .b32 %r<4>;
    .shared .align 128 .b8 rows[4096];
    ld.param.u64 %d0, [m];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, rows;
    shl.b32 %r2, %r0, 7;
    add.u32 %r2, %r2, %r1;
    st.shared.v4.u32 [%r2], {%r0, %r0, %r0, %r0};
    fence.proxy.async.shared::cta;
    bar.warp.sync -1;
    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d0, {0, 0}], [FROM];
    cp.async.bulk.commit_group;
    WAIT
    ret;
}";

#[test]
fn lanes_may_store_the_same_box() {
    let wait = "cp.async.bulk.wait_group 0;";
    let ended = "a block ends before a copy from its shared memory is known to be done";
    let twice = "the destination of an asynchronous copy is written before the copy is known to be done";
    for (from, wait, title) in [("%r1", wait, None), ("%r1", "", Some(ended)), ("%r2", wait, Some(twice))] {
        let program = Program::parse(&STORES.replace("FROM", from).replace("WAIT", wait));
        for seed in 0..4 {
            let mut trial = Trial::new(&program, "store");
            let place = trial.memory(&[0xff; 16]).expect("a little memory");
            trial.block([32, 1, 1]).seed(seed).buffer(&TensorMap { address: place, ..row() }.encode()).unwrap();
            let report = trial.check();
            let titles: Vec<&str> = report.findings.iter().map(|finding| finding.title.as_str()).collect();
            assert_eq!(titles, title.into_iter().collect::<Vec<_>>(), "{report}");
            // Nobody waits for it, and it is done.
            assert!(from == "%r2" || *trial.content_of(place) == [0; 16], "{from}, {wait}");
        }
    }
}

/// Each block of a pair copies a row to its own shared memory, by the barrier of the first one.
const PAIR: &str = "
.version 8.8
.target sm_100a
.address_size 64
.visible .entry pair(.param .u64 output, .param .align 64 .b8 map[128])
{
    .reg .b64 %d<8>;
    .reg .b32 %r<8>;
    .reg .pred %p<3>;
    .shared .align 128 .b8 row[16];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d1, [output];
    mov.b64 %d2, map;
    cvta.param.u64 %d2, %d2;
    mov.u32 %r1, %cluster_ctarank;
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r2, bar;
    mov.u32 %r3, row;
    mapa.shared::cluster.u32 %r4, %r2, 0;
    @%p1 bra BEGUN;
    mbarrier.init.shared.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 32;
BEGUN:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytesGROUP [%r3], [%d2, {0, %r1}], [%r4];
    @%p1 bra WAITED;
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
WAITED:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ld.shared.u32 %r5, [%r3+4];
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d3, %d1, %d3;
    st.global.u32 [%d3], %r5;
    ret;
}";

#[test]
fn a_pair_of_blocks_has_one_barrier_for_its_copies() {
    for (group, is_right) in [(".cta_group::2", true), ("", false)] {
        let program = Program::parse(&PAIR.replace("GROUP", group));
        for seed in 0..4 {
            let mut trial = Trial::new(&program, "pair");
            let rows = trial.memory(&bytes(0..8)).expect("a little memory");
            let map = TensorMap { address: rows, sizes: [4, 2, 0, 0, 0], ..row() };
            trial.grid([2, 1, 1]).cluster([2, 1, 1]).block([1, 1, 1]).seed(seed);
            trial.buffer(&[0; 8]).unwrap().value(&map.encode());
            let report = trial.check();
            assert_eq!(report.is_clean(), is_right, "{group}: {report}");
            assert_eq!(trial.content(0) == bytes([1, 5].into_iter()), is_right);
        }
    }
}
