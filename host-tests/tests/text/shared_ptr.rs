//! Each access through a `SharedPtr` is exactly one instruction, with the address as it is, in both profiles; and where a `SharedPtr` is
//! after it went forward and backward.

use std::path::PathBuf;

use host_tests::check::forms::write_package;
use host_tests::check::here::{or_panic, toolchain};
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::ptx::Module;
use host_tests::tools::target::Sm;
use ptx_interpreter::{Program, Trial};
use ptx_intrinsics::catalogue;
use regex::Regex;

const HEAD: &str = "#![no_std]\n#![feature(abi_ptx)]\nuse ptx_intrinsics::prelude::*;\n\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo<'_>) -> ! {\n    loop {}\n}\n\n";

/// The types that shared memory takes, in Rust and in PTX: `V2<f32>`, `.v2.f32`.
fn types() -> Vec<(String, String)> {
    let forms = catalogue::forms().filter(|form| form.rust().starts_with("ld_shared().read("));
    let pairs = forms.map(|form| {
        let rust = form.rust().trim_start_matches("ld_shared().read(p as *const ").trim_end_matches(')');
        (rust.to_owned(), form.ptx().trim_start_matches("ld.shared").to_owned())
    });
    pairs.collect()
}

/// A function's name, its Rust, and the lines that it should be, registers left out.
fn cases() -> Vec<(String, String, Vec<String>)> {
    let mut cases = Vec::new();
    for (at, (rust, ptx)) in types().into_iter().enumerate() {
        let lanes = ptx.split('.').find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
        let value = match (ptx.as_str(), lanes) {
            (".b128", _) => "%value".to_owned(),
            (_, 1) => "%".to_owned(),
            _ => format!("{{{}}}", vec!["%"; lanes].join(", ")),
        };
        let (load, store) = (format!("ld.shared{ptx} {value}, [%];"), format!("st.shared{ptx} [%], {value};"));
        for (name, code, instruction) in [
            ("read", "*v = p.read()", &load),
            ("read_if", "*v = p.read_if(cond, *v)", &load),
            ("write", "p.write(*v)", &store),
            ("write_if", "p.write_if(cond, *v)", &store),
        ] {
            let expected = block(instruction, name.ends_with("_if"));
            let name = format!("{name}_{at}");
            let head = format!("pub unsafe fn {name}(p: SharedPtr<{rust}>, v: *mut {rust}, cond: bool)");
            let code = format!("#[unsafe(no_mangle)]\n{head} {{\n    let _ = cond;\n    unsafe {{ {code} }}\n}}\n");
            cases.push((name, code, expected));
        }
    }
    cases
}

/// The lines of an access: those of its predicate around it, and those of a register of 128 bits around them.
fn block(instruction: &str, guarded: bool) -> Vec<String> {
    let (wide, load) = (instruction.contains("%value"), instruction.starts_with("ld."));
    let guard = if guarded { "@%cond " } else { "" };
    let lines = [
        (wide, "{".to_owned()),
        (wide, ".reg .b128 %value;".to_owned()),
        (wide && (guarded || !load), "mov.b128 %value, {%, %};".to_owned()),
        (guarded, "{".to_owned()),
        (guarded, ".reg .pred %cond;".to_owned()),
        (guarded, "setp.ne.b32 %cond, %, 0;".to_owned()),
        (true, format!("{guard}{instruction}")),
        (guarded, "}".to_owned()),
        (wide && load, "mov.b128 {%, %}, %value;".to_owned()),
        (wide, "}".to_owned()),
    ];
    lines.into_iter().filter(|(is_there, _)| *is_there).map(|(_, line)| line).collect()
}

/// The files of these functions' PTX, in each profile.
fn files(package: &str, functions: &str) -> [(Profile, PathBuf); 2] {
    let toolchain = toolchain();
    let folder = toolchain.machine().target().join(package);
    or_panic(write_package(&folder, package, &format!("{HEAD}{functions}")));
    [Profile::Dev, Profile::Release].map(|profile| {
        let build = DeviceBuild { profile, ..DeviceBuild::of_every_form(&folder, package, Sm::OF_EVERY_FORM) };
        (profile, or_panic(build.build(&toolchain)))
    })
}

/// The modules of these functions, in each profile.
fn modules(package: &str, functions: &str) -> [(Profile, Module); 2] {
    files(package, functions).map(|(profile, file)| (profile, or_panic(Module::read(&file))))
}

/// The lines of a function's blocks, registers left out.
fn blocks(module: &Module, name: &str) -> Vec<Vec<String>> {
    let register = Regex::new(r"%[a-z]+\d+").expect("the pattern is valid");
    let function = module.function(name).unwrap_or_else(|| panic!("{name} is missing"));
    let lines = |lines: &[String]| lines.iter().map(|line| register.replace_all(line, "%").into_owned()).collect();
    function.inline_asm().iter().map(|block| lines(&block.lines)).collect()
}

#[test]
fn an_access_is_one_instruction() {
    let cases = cases();
    // 14 scalars, each in pairs, ten in fours, and 128 bits.
    assert_eq!(cases.len(), 4 * (14 + 14 + 10 + 1));
    let functions: String = cases.iter().map(|(_, code, _)| code.as_str()).collect();
    hold(modules("shared_ptr", &functions), &cases);
}

/// Each function is these lines of PTX.
fn hold(modules: [(Profile, Module); 2], cases: &[(String, String, Vec<String>)]) {
    let mut wrong = Vec::new();
    for (profile, module) in modules {
        for (name, _, expected) in cases {
            let found = blocks(&module, name).concat();
            if found != *expected {
                let [expected, found] = [expected.as_slice(), &found].map(|lines| lines.join(" "));
                wrong.push(format!("{name}, {profile:?}: expected {expected}, found {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// `ptx!` takes a `SharedPtr` as it is, and converts a pointer before.
#[test]
fn ptx_takes_either() {
    let function = |name: &str, p: &str, ptx: &str| {
        format!("#[unsafe(no_mangle)]\npub unsafe fn {name}(p: {p}) {{\n    unsafe {{ {ptx}; }}\n}}\n")
    };
    let (own, theirs) = ("ptx!(red.shared.add.u32 [p], 1)", "ptx!(red.shared::cluster.add.u32 [p], 1)");
    let (load, store) = ("ptx!(ld.volatile.shared.u32 [p])", "ptx!(st.volatile.shared.u32 [p], 1)");
    let functions = [
        function("shared", "SharedPtr<u32>", own),
        function("pointer", "*mut u32", own),
        function("reference", "&mut u32", own),
        function("cluster", "SharedClusterPtr<u32>", theirs),
        function("own_in_cluster", "SharedPtr<u32>", theirs),
        function("pointer_in_cluster", "*mut u32", theirs),
        function("load", "SharedPtr<u32>", load),
        function("load_pointer", "*const u32", load),
        function("load_reference", "&u32", load),
        function("store", "SharedPtr<u32>", store),
        function("store_reference", "&mut u32", store),
    ]
    .concat();
    let (add, add_there) = ("red.shared.add.u32 [%], %;", "red.shared::cluster.add.u32 [%], %;");
    let (read, write) = ("ld.volatile.shared.u32 %, [%];", "st.volatile.shared.u32 [%], %;");
    let (convert, convert_there) = ("cvta.to.shared.u64 %, %;", "cvta.to.shared::cluster.u64 %, %;");
    let cases = [
        ("shared", &[add][..]),
        ("pointer", &[convert, add]),
        ("reference", &[convert, add]),
        ("cluster", &[add_there]),
        ("own_in_cluster", &[add_there]),
        ("pointer_in_cluster", &[convert_there, add_there]),
        ("load", &[read]),
        ("load_pointer", &[convert, read]),
        ("load_reference", &[convert, read]),
        ("store", &[write]),
        ("store_reference", &[convert, write]),
    ];
    let cases = cases
        .map(|(name, lines)| (name.to_owned(), String::new(), lines.iter().map(|line| (*line).to_owned()).collect()));
    hold(modules("shared_ptx", &functions), &cases);
}

/// Types, and their bytes.
const TYPES: [(&str, i32); 8] =
    [("u8", 1), ("i16", 2), ("f32", 4), ("V4<u8>", 4), ("u64", 8), ("V4<u32>", 16), ("V2<f64>", 16), ("B128", 16)];

/// How to go to a place from 320 on, and how many elements further it is; `n` and `m` are 3 and 1, and the compiler does not know it.
const WAYS: [(&str, i32); 11] = [
    ("q", 0),
    ("q.add(1)", 1),
    ("q.sub(1)", -1),
    ("q.add(n)", 3),
    ("q.sub(n)", -3),
    ("q.add(n).sub(m)", 2),
    ("q.sub(n).add(m)", -2),
    ("q.sub(m).sub(2)", -3),
    ("q.add(0u32.wrapping_sub(m))", -1),
    ("SharedPtr::new(cvta_shared::<u8>(320)).cast().sub(m)", -1),
    ("SharedPtr::from_address(core::mem::transmute(SharedClusterPtr::new(cvta_shared::<u8>(320))))", 0),
];

#[test]
fn a_shared_ptr_goes_forward_and_backward() {
    let places = || TYPES.iter().flat_map(|of| WAYS.iter().map(move |way| (of, way)));
    let writes = places().enumerate().map(|(number, ((ty, _), (way, _)))| {
        let from = format!("let q = SharedPtr::<{ty}>::from_address(320); let at: SharedPtr<{ty}> = {way};");
        format!("    {{ {from} *out.add({number}) = core::mem::transmute(at); }}\n")
    });
    let body: String = writes.collect();
    let kernel = format!(
        "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn places(by: *const u32, out: *mut u32) {{ unsafe {{\n    \
         let (n, m) = (*by, *by.add(1));\n{body}}} }}\n"
    );
    let expected: Vec<i32> = places().map(|((_, bytes), (_, elements))| 320 + bytes * elements).collect();
    for (profile, file) in files("shared_places", &kernel) {
        let program = Program::parse(&std::fs::read_to_string(file).expect("the compiler wrote it"));
        let mut trial = Trial::new(&program, "places");
        trial.buffer(&[3, 0, 0, 0, 1, 0, 0, 0]).and_then(|trial| trial.unwritten(4 * expected.len())).expect("memory");
        let report = trial.check();
        assert!(report.is_clean(), "{profile:?}: {report}");
        let found: Vec<i32> = trial.content(1).as_chunks().0.iter().map(|place| i32::from_le_bytes(*place)).collect();
        assert_eq!(found, expected, "{profile:?}");
    }
    assert_eq!(expected.len(), TYPES.len() * WAYS.len());
}
