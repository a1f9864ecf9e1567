//! Each kind of finding, in a kernel of a few lines and the machine code that an assembler could make of it; and the same kernel
//! where nothing is wrong.

use std::collections::BTreeMap;

use ptx_audit::finding::Kind;
use ptx_audit::{Code, Text, audit};
use ptx_sass::cubin::Takes;
use ptx_sass::nvdisasm;

/// The kinds and texts that are found in a kernel: lines of PTX after the header's five, and machine code with the line of PTX
/// of each instruction.
fn found(body: &[&str], machine: &[(u32, &str)], takes: Takes, spilled: u32) -> Vec<(Kind, String)> {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n{}\nret;\n}}\n",
        body.join("\n")
    );
    let functions = parsed(machine);
    let (takes, spilled) = (BTreeMap::from([("k".into(), takes)]), BTreeMap::from([("k".into(), spilled)]));
    let text = Text::read(&ptx);
    let code =
        Code { functions: &functions, sm: 90, takes: &takes, spilled: &spilled, ptx: Some(&text), bounded: None };
    let kernels = audit(&code);
    assert_eq!(kernels.len(), 1);
    kernels[0].findings.iter().map(|one| (one.kind, one.text.clone())).collect()
}

fn parsed(machine: &[(u32, &str)]) -> Vec<nvdisasm::SassFunction> {
    let line = |(at, (line, code)): (usize, &(u32, &str))| match code.strip_suffix(':') {
        Some(_) => format!("{code}\n"),
        None => format!("\t//## File \".nv_debug_ptx_txt\", line {line}\n        /*{:04x}*/ {code} ;\n", 16 * at),
    };
    let body: String = machine.iter().enumerate().map(line).collect();
    nvdisasm::parse(&format!("        .type           k,@function\nk:\n{body}"))
}

const DEFAULT: (u32, &str) = (5, "ULDC.64 UR4, c[0x0][0x208]");
const EXIT: (u32, &str) = (20, "EXIT");

/// One instruction of PTX, on line 7, and one of the machine.
fn one(ptx: &str, machine: &str) -> Vec<(Kind, String)> {
    let body = ["ld.param.u64 %rd1, [p];", ptx];
    found(&body, &[DEFAULT, (7, machine), EXIT], Takes::default(), 0)
}

fn kinds(found: &[(Kind, String)]) -> Vec<Kind> {
    found.iter().map(|(kind, _)| *kind).collect()
}

#[test]
fn words_are_kept_lost_or_weakened() {
    let ptx = "ld.global.nc.L1::evict_last.L2::256B.f32 %f1, [%rd1];";
    assert_eq!(one(ptx, "LDG.E.EL.LTC256B.CONSTANT R5, desc[UR4][R2.64]"), []);
    let weak = one(ptx, "LDG.E.LTC128B.CONSTANT R5, desc[UR4][R2.64]");
    let expected = [
        (Kind::HintLost, "`.L1::evict_last` is not in `LDG.E.LTC128B.CONSTANT`".to_owned()),
        (Kind::HintWeakened, "`.L2::256B` became `LTC128B` in `LDG.E.LTC128B.CONSTANT`".to_owned()),
    ];
    assert_eq!(weak, expected);
}

#[test]
fn an_order_is_lost() {
    let ptx = "st.relaxed.sys.global.u32 [%rd1], %r1;";
    assert_eq!(one(ptx, "STG.E.STRONG.SYS desc[UR4][R2.64], R5"), []);
    assert_eq!(kinds(&one(ptx, "STG.E.STRONG.GPU desc[UR4][R2.64], R5")), [Kind::OrderLost]);
    assert_eq!(kinds(&one("st.volatile.global.u32 [%rd1], %r1;", "STG.E desc[UR4][R2.64], R5")), [Kind::OrderLost]);
}

#[test]
fn a_vector_is_split() {
    let body = ["ld.param.u64 %rd1, [p];", "st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};"];
    let store = |parts: &[&'static str]| {
        let parts = parts.iter().map(|part| (7, *part));
        let machine: Vec<_> = [DEFAULT].into_iter().chain(parts).chain([EXIT]).collect();
        kinds(&found(&body, &machine, Takes::default(), 0))
    };
    assert_eq!(store(&["STG.E.128 desc[UR4][R2.64], R4"]), []);
    let halves = ["STG.E.64 desc[UR4][R2.64], R4", "STG.E.64 desc[UR4][R2.64+0x8], R6"];
    assert_eq!(store(&halves), [Kind::VectorSplit]);
    // Copies of an unrolled loop are whole vectors, or halves of which the others are not used.
    assert_eq!(store(&["STG.E.128 desc[UR4][R2.64], R4", "STG.E.128 desc[UR4][R2.64+0x10], R4"]), []);
    assert_eq!(store(&["STG.E.64 desc[UR4][R2.64], R4", "STG.E.64 desc[UR4][R2.64+0x10], R6"]), []);
}

#[test]
fn a_policy_is_lost_changed_or_undefined() {
    let body = [
        "ld.param.u64 %rd1, [p];",
        "mov.b64 %rd2, 0x12f0000000000000;",
        "ld.global.nc.L2::cache_hint.f32 %f1, [%rd1], %rd2;",
    ];
    let load = (8, "LDG.E.CONSTANT R5, desc[UR6][R2.64]");
    let with = |machine: &[(u32, &'static str)]| {
        kinds(&found(&body, &[&[DEFAULT], machine, &[load, EXIT]].concat(), Takes::default(), 0))
    };
    assert_eq!(with(&[(7, "UMOV UR6, 0x0"), (7, "UMOV UR7, 0x12f00000")]), []);
    assert_eq!(with(&[(7, "UMOV UR6, 0x0"), (7, "UMOV UR7, 0x14f00000")]), [Kind::PolicyChanged]);
    assert_eq!(with(&[(7, "ULDC.64 UR6, c[0x0][0x208]")]), [Kind::PolicyLost]);
    assert!(with(&[(7, "UMOV UR6, 0x0")]).contains(&Kind::PolicyUndefined));
}

#[test]
fn local_memory_is_told_with_its_arrays() {
    let body = [".local .align 16 .b8 __local_depot0[256];", "ld.param.u64 %rd1, [p];"];
    let takes = Takes { stack: Some(256), ..Takes::default() };
    let frame = found(&body, &[DEFAULT, EXIT], takes, 0);
    assert_eq!(frame, [(Kind::StackFrame, "a stack frame of 256 bytes: `__local_depot0` of 256 bytes".to_owned())]);
    assert_eq!(found(&body, &[EXIT], Takes::default(), 0), []);
    let spilled = found(&body[1..], &[EXIT], Takes { stack: Some(16), ..Takes::default() }, 24);
    assert_eq!(spilled, [(Kind::Spill, "24 bytes go through local memory for want of registers".to_owned())]);
}

#[test]
fn registers_that_no_warp_gives_back() {
    let body = ["setmaxnreg.dec.sync.aligned.u32 24;", "setmaxnreg.inc.sync.aligned.u32 240;"];
    let text = "2 `setmaxnreg` are not in the machine code, so each warp keeps its registers";
    assert_eq!(found(&body, &[EXIT], Takes::default(), 0), [(Kind::RegistersKept, text.to_owned())]);
    let machine = [(6, "USETMAXREG.DEALLOC.CTAPOOL 0x18"), (7, "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0"), EXIT];
    assert_eq!(found(&body, &machine, Takes::default(), 0), []);
}

#[test]
fn a_generic_access_of_a_known_space() {
    let generic = one("ld.f32 %f1, [%rd1];", "LD.E R5, desc[UR4][R2.64]");
    let text = "`ld.f32` is generic: `p` is a parameter of the kernel, so it points to global memory";
    assert_eq!(generic, [(Kind::GenericAccess, text.to_owned())]);
    // What is read from memory may point anywhere.
    let body = ["ld.param.u64 %rd1, [p];", "ld.global.nc.u64 %rd2, [%rd1];", "ld.f32 %f1, [%rd2];"];
    let machine = [DEFAULT, (7, "LDG.E.64.CONSTANT R2, desc[UR4][R2.64]"), (8, "LD.E R5, desc[UR4][R2.64]"), EXIT];
    assert_eq!(found(&body, &machine, Takes::default(), 0), []);
}

#[test]
fn small_accesses_beside_each_other() {
    let load = |offset: u32| format!("ld.global.nc.f32 %f{offset}, [%rd4+{offset}];");
    let stores: Vec<String> = [0, 4, 8, 12].iter().map(|at| format!("st.global.f32 [%rd4+{at}], %f{at};")).collect();
    let with = |scale: u32, loads: &[u32]| {
        let head = [
            "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;".to_owned(),
            format!("mul.wide.u32 %rd3, %r1, {scale};"),
            "add.s64 %rd4, %rd1, %rd3;".to_owned(),
        ];
        let body: Vec<String> =
            head.into_iter().chain(loads.iter().map(|at| load(*at))).chain(stores.clone()).collect();
        let own = (9..9 + loads.len() as u32).map(|line| (line, "LDG.E.CONSTANT R5, desc[UR4][R2.64]"));
        let stores = (9 + loads.len() as u32..).take(4).map(|line| (line, "STG.E desc[UR4][R2.64], R5"));
        let machine: Vec<_> = [DEFAULT].into_iter().chain(own).chain(stores).chain([EXIT]).collect();
        kinds(&found(&body.iter().map(String::as_str).collect::<Vec<_>>(), &machine, Takes::default(), 0))
    };
    assert_eq!(with(16, &[0, 4, 8, 12]), [Kind::NarrowAccess]);
    // An address that is a multiple of 4 alone.
    assert_eq!(with(4, &[0, 4, 8, 12]), []);
}

#[test]
fn a_parameter_that_is_only_read() {
    let body = |store: &'static str| {
        ["ld.param.u64 %rd1, [p];", "ld.param.u64 %rd2, [q];", "ld.global.f32 %f1, [%rd1];", store]
    };
    let machine = [DEFAULT, (8, "LDG.E R5, desc[UR4][R2.64]"), (9, "STG.E desc[UR4][R6.64], R5"), EXIT];
    let with = |store| found(&body(store), &machine, Takes::default(), 0);
    let text = "the kernel only reads `p`, by a load without `.nc`";
    assert_eq!(with("st.global.f32 [%rd2], %f1;"), [(Kind::CouldBeNc, text.to_owned())]);
    assert_eq!(with("st.global.f32 [%rd1], %f1;"), []);
    // A store to an address that comes from nowhere may go there too.
    assert_eq!(with("st.global.f32 [%rd9], %f1;").len(), 1);
    assert_eq!(with("st.global.u64 [%rd2], %rd1;"), []);
}

#[test]
fn addresses_are_added_in_64_bits_in_the_hot_loop() {
    let looped = |carry: &'static str| {
        let mut machine = vec![DEFAULT, (6, ".L_x_1:")];
        for _ in 0..4 {
            machine.push((6, "IADD3 R2, P0, R6, R8, RZ"));
            machine.push((6, carry));
            machine.push((6, "LDG.E.CONSTANT R5, desc[UR4][R2.64]"));
        }
        machine.extend([(6, "@P1 BRA `(.L_x_1)"), EXIT]);
        kinds(&found(&["ld.param.u64 %rd1, [p];"], &machine, Takes::default(), 0))
    };
    assert_eq!(looped("IADD3.X R3, R7, R9, RZ, P0, !PT"), [Kind::WideArithmetic]);
    // A sum that is data and no address.
    assert_eq!(looped("IADD3.X R13, R7, R9, RZ, P0, !PT"), []);
}

#[test]
fn launch_bounds_bring_more_loads_into_flight() {
    let ptx = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
ret;
}
";
    let text = Text::read(ptx);
    let one_by_one = ["LDG.E R4, [R2.64]", "FADD R6, R4, R6", "LDG.E R4, [R2.64+0x4]", "FADD R6, R4, R6", "EXIT"];
    let both = ["LDG.E R4, [R2.64]", "LDG.E R5, [R2.64+0x4]", "FADD R6, R4, R6", "FADD R6, R5, R6", "EXIT"];
    let [now, with] = [one_by_one, both].map(|code| parsed(&code.map(|code| (6, code))));
    let (takes, spilled) = (BTreeMap::new(), BTreeMap::new());
    let code = Code { functions: &now, sm: 90, takes: &takes, spilled: &spilled, ptx: Some(&text), bounded: None };
    let kernels = audit(&code);
    assert_eq!((kernels[0].loads, kernels[0].in_flight, kernels[0].findings.len()), (2, 1, 0));
    let with_bounds = ptx_audit::bounded(&text, &kernels).expect("it lacks bounds");
    assert!(with_bounds.contains(".maxntid 256 .minnctapersm 1\n{"), "{with_bounds}");
    let kernels = audit(&Code { bounded: Some(&with), ..code });
    let text = "1 loads are in flight at once, and with `.maxntid 256` and `.minnctapersm 1` there would be 2";
    assert_eq!(
        kernels[0].findings.iter().map(|one| (one.kind, one.text.as_str())).collect::<Vec<_>>(),
        [(Kind::LaunchBounds, text)]
    );
}
