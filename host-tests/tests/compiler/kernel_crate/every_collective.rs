//! Every collective of the catalogue stays one instruction, where control flow is hostile: LLVM neither copies it into branches nor
//! sinks it into the one that uses its value. A compiler that would do so refuses it.

use std::fmt::Write;
use std::sync::Arc;

use host_tests::check::forms::{self, Call, Case, Syntax};
use host_tests::check::forms_check::every_form;
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::error::Result;
use host_tests::tools::ptx::{Function, Module};
use host_tests::tools::target::Sm;
use host_tests::tools::toolchain::DeviceToolchain;
use ptx_intrinsics::catalogue::IMPORTS;

use super::collectives::toolchains;

/// The control flow around a collective: its name, and the statements, with `{}` in place of the collective and `use` of its value.
const HOSTILE: [(&str, &str); 4] = [
    ("between", "if odd != 0 { *out = 1; } {call} if odd != 0 { {use} *out.add(2) = 3; }"),
    ("sunk", "{call} if odd != 0 { {use} }"),
    (
        "alike",
        "if odd != 0 { *out = 5; *out.add(1) = 6; } else { *out = 6; } {call} if odd == 0 { *out.add(1) = 7; } {use}",
    ),
    (
        "in_a_loop",
        "let n = *rounds.add(odd as usize); let mut i = 0; while i < n { if odd < 5 { *out.add(i as usize) += 1; } {call} \
         if odd < 5 { *out.add(i as usize + 1) += 2; {use} } i += 1; }",
    ),
];

fn cases() -> Vec<Case> {
    let collectives: Vec<_> = every_form().into_iter().filter(|form| form.is_collective()).collect::<Vec<Arc<_>>>();
    let cases = forms::cases(&collectives).into_iter();
    cases.filter(|case| case.syntax == Syntax::Plain).collect()
}

fn source(cases: &[Case]) -> String {
    let mut source = format!(
        "#![no_std]\n#![feature(abi_ptx)]\n#![allow(warnings)]\n{IMPORTS}\n\n\
         #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{\n    loop {{}}\n}}\n",
    );
    for case in cases {
        let Call { parameters, before, result, expression } = case.call();
        let (to, call, then) = match &result {
            Some(result) => (format!("d: *mut {result}, "), format!("let value = {expression};"), "d.write(value);"),
            None => (String::new(), format!("{expression};"), ""),
        };
        for (name, flow) in HOSTILE {
            let body = flow.replace("{call}", &call).replace("{use}", then);
            let name = format!("{}_{name}", case.name);
            writeln!(
                source,
                "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}({to}out: *mut u32, odd: u32, rounds: *const u32, \
                 {parameters}) {{ unsafe {{ {before}{body} }} }}",
            )
            .expect("a string takes all");
        }
    }
    source
}

fn compile(toolchain: &DeviceToolchain, cases: &[Case]) -> Result<Module> {
    let folder = toolchain.machine().target().join("every-collective");
    forms::write_package(&folder, "every-collective", &source(cases))?;
    let build = DeviceBuild::of_every_form(folder, "every-collective", Sm::OF_EVERY_FORM);
    Module::read(&build.build_quietly(toolchain)?.0)
}

/// How often the function has the instruction.
fn times(function: &Function, ptx: &str) -> usize {
    let is_own = |line: &str| line.strip_prefix(ptx).is_some_and(|rest| rest.starts_with([' ', ';']));
    function.body.iter().filter(|line| is_own(&line.text)).count()
}

#[test]
fn every_collective_stays_one() {
    let cases = cases();
    let (mut looked_at, mut refused) = (0, 0);
    for toolchain in toolchains() {
        let version = &toolchain.version;
        if toolchain.clone().for_kernels().is_err() {
            let error = compile(&toolchain, &cases).expect_err("ptx-intrinsics refuses it").to_string();
            assert!(error.contains("is a collective, and this compiler cannot emit one"), "{version}: {error}");
            assert!(error.contains("a collective needs rustc 1.97 or newer"), "{version}: {error}");
            refused += 1;
            continue;
        }
        let module = compile(&toolchain, &cases).unwrap_or_else(|error| panic!("{version}: {error}"));
        for case in &cases {
            for (flow, _) in HOSTILE {
                let function = module.function(&format!("{}_{flow}", case.name)).expect("each is an entry");
                assert_eq!(times(function, case.form.ptx()), 1, "{version}: {} {flow}", case.rust());
                looked_at += 1;
            }
        }
    }
    println!(
        "{} collectives, {looked_at} functions that have one each, {refused} compilers that refuse all",
        cases.len()
    );
    assert!(looked_at >= cases.len() * HOSTILE.len() && cases.len() > 10);
}
