//! What rustc may do around an access: read the PTX of kernels that would show it.

use std::path::PathBuf;
use std::sync::LazyLock;

use host_tests::check::forms;
use host_tests::tools::command::Machine;
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::disassembler::Disassembler;
use host_tests::tools::error::Result;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptx::{Function, Module, normalise};
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use host_tests::tools::toolchain::{DeviceToolchain, Route};

use host_tests::check::here::tools;

const SM: Sm = Sm::new(90);

static BUILT: LazyLock<Result<(PathBuf, Module)>> = LazyLock::new(|| {
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &Progress::new())?;
    let folder = Machine::current().target().join("order");
    forms::write_package(&folder, "order", include_str!("device.rs"))?;
    let mut build = DeviceBuild::new(folder, "order", SM);
    (build.ptx, build.profile) = (Some(PtxVersion::new(8, 3)), Profile::Release);
    let file = build.build(&toolchain)?;
    let module = Module::read(&file)?;
    Ok((file, module))
});

fn built() -> (&'static PathBuf, &'static Module) {
    let built = BUILT.as_ref().unwrap_or_else(|error| panic!("{error}"));
    (&built.0, &built.1)
}

/// The memory instructions of a kernel without the reads of its parameters, by their opcodes, in order.
fn accesses(kernel: &str) -> Vec<String> {
    let function: &Function = built().1.function(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
    let words = function.body.iter().map(|line| line.text.trim_start_matches("@%cond "));
    let opcodes = words.filter_map(|text| text.split_whitespace().next());
    let memory = opcodes.filter(|opcode| opcode.starts_with("ld.") || opcode.starts_with("st."));
    memory.filter(|opcode| !opcode.starts_with("ld.param")).map(str::to_owned).collect()
}

#[test]
fn nothing_moves_above_an_acquire() {
    let around = |acquire: &str| ["ld.global.b64", acquire, "ld.global.b64", "st.global.b64"].map(String::from);
    assert_eq!(accesses("reads_around_acquire"), around("ld.acquire.gpu.global.u32"));
    let spelled = "ld.acquire.sys.global.L1::no_allocate.L2::128B.u32";
    assert_eq!(accesses("reads_around_spelled_acquire"), around(spelled));
}

#[test]
fn nothing_moves_below_a_release() {
    let around = |release: &str| ["st.global.b64", release, "st.global.b64"].map(String::from);
    assert_eq!(accesses("writes_around_release"), around("st.release.gpu.global.u32"));
    assert_eq!(accesses("writes_around_spelled_release"), around("st.release.sys.global.L1::no_allocate.u32"));
}

#[test]
fn a_wait_reads_again() {
    assert_eq!(accesses("waits"), ["ld.acquire.sys.u32", "ld.global.b64", "st.global.b64"]);
    let body = &built().1.function("waits").expect("the kernel").body;
    let at = |begin: &str| body.iter().position(|line| line.text.starts_with(begin)).expect(begin);
    let back = body.iter().position(|line| line.text.contains("bra")).expect("a loop");
    assert!(at("ld.acquire") < back && back < at("ld.global.b64"));
}

#[test]
fn what_must_stay_stays_once() {
    let expected = [
        "ld.volatile.global.u32",
        "ld.volatile.global.u32",
        "ld.mmio.relaxed.sys.u32",
        "ld.mmio.relaxed.sys.u32",
        "ld.relaxed.cta.shared.u32",
        "ld.volatile.global.L2::64B.u32",
        "ld.mmio.relaxed.sys.global.u32",
        "ld.global.cv.u32",
    ];
    assert_eq!(accesses("unused"), expected);
    assert_eq!(accesses("unused_and_weak"), [""; 0]);
    let expected = [["st.volatile.global.u32"; 2], ["st.mmio.relaxed.sys.u32"; 2], ["st.global.cs.u32"; 2]];
    assert_eq!(accesses("stores"), expected.concat());
}

/// `else _` asks for no value: nothing is put into the registers before.
#[test]
fn a_value_that_does_not_matter_costs_no_move() {
    let count = |kernel: &str, begin: &str| {
        let body = &built().1.function(kernel).unwrap_or_else(|| panic!("no kernel {kernel}")).body;
        body.iter().filter(|line| line.text.starts_with(begin)).count()
    };
    for kernel in ["set", "unset"] {
        let guarded = ["@%cond ld.global.f32 ", "@%cond ld.global.b128 ", "@%cond atom.global.add.u32 "];
        assert_eq!(guarded.map(|begin| count(kernel, begin)), [1; 3], "{kernel}");
    }
    // Into the 128-bit register, and out of it.
    assert_eq!((count("set", "mov.b128 "), count("unset", "mov.b128 ")), (2, 1));
    assert!(count("set", "mov.b32 ") > 0);
    assert_eq!(count("unset", "mov.b32 "), 0);
}

#[test]
fn a_policy_is_one_instruction() {
    let body = &built().1.function("policies").expect("the kernel").body;
    let made: Vec<String> =
        body.iter().map(|line| normalise(&line.text)).filter(|text| text.contains("policy.")).collect();
    assert_eq!(made, ["createpolicy.fractional.L2::evict_last.b64 %, %;"]);
}

/// Each line of a slice is one instruction, and no call is left around it.
#[test]
fn a_slice_is_a_loop_over_lines() {
    let body = &built().1.function("slices").expect("the kernel").body;
    let texts: Vec<String> = body.iter().map(|line| normalise(&line.text)).collect();
    for instruction in [
        "prefetch.global.L2::evict_last [%];",
        "applypriority.global.L2::evict_normal [%], 128;",
        "discard.global.L2 [%], 128;",
    ] {
        assert_eq!(texts.iter().filter(|text| *text == instruction).count(), 1, "{instruction}\n{texts:#?}");
    }
    assert!(!texts.iter().any(|text| text.starts_with("call")), "{texts:#?}");
}

/// In the machine code: loads and a store under a predicate, and no branch around them.
#[test]
fn a_predicate_is_one_predicated_instruction() {
    let scratch = tempfile::tempdir().expect("a folder for scratch");
    let cubin = scratch.path().join("order.cubin");
    let assembled =
        Assembler::new(&tools().ptxas).assemble(built().0, SM, &cubin).unwrap_or_else(|error| panic!("{error}"));
    assembled.unwrap_or_else(|rejected| panic!("{rejected}"));
    let functions = Disassembler::new(&tools().nvdisasm).disassemble(&cubin).unwrap_or_else(|error| panic!("{error}"));
    for (kernel, load, store) in [
        ("guarded", "LDG.E.EL", "STG.E.STRONG.SYS"),
        ("guarded_and_spelled", "LDG.E.NA.STRONG.GPU", "STG.E.NA.STRONG.GPU"),
    ] {
        let function = functions.iter().find(|function| function.name == kernel).expect(kernel);
        let of = |opcode: &str| {
            let all = function.instructions.iter().filter(|one| one.opcode == opcode);
            all.map(|one| one.predicate.clone().unwrap_or_default()).collect::<Vec<_>>()
        };
        let (loads, stores) = (of(load), of(store));
        let predicated = |all: &[String]| all.iter().all(|predicate| predicate.contains('P'));
        assert_eq!((loads.len(), stores.len()), (2, 1), "{kernel}");
        assert!(predicated(&loads) && predicated(&stores), "{kernel}: {loads:?} {stores:?}");
    }
}
