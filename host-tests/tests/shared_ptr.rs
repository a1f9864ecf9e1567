//! Each access through a `SharedPtr` is exactly one instruction, with the address as it is, in both profiles.

use std::fmt::Write;

use host_tests::device_build::{DeviceBuild, Profile};
use host_tests::forms::write_package;
use host_tests::progress::Progress;
use host_tests::ptx::Module;
use host_tests::target::Sm;
use host_tests::toolchain::{DeviceToolchain, Route};
use ptx_intrinsics::catalogue;
use regex::Regex;

const HEAD: &str = "#![no_std]\nuse ptx_intrinsics::*;\n\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo<'_>) -> ! {\n    loop {}\n}\n\n";

/// The types that shared memory takes, in Rust and in PTX: `V2<f32>`, `.v2.f32`.
fn types() -> Vec<(String, String)> {
    let forms = catalogue::forms().filter(|form| form.rust().starts_with("ld_shared().read("));
    let pairs = forms.map(|form| {
        let rust = form.rust().trim_start_matches("ld_shared().read(p as *const ").trim_end_matches(')');
        (rust.to_owned(), form.ptx().trim_start_matches("ld.shared").to_owned())
    });
    pairs.collect()
}

/// A function's name, its Rust, and the instruction that it should be, registers left out.
fn cases() -> Vec<(String, String, String)> {
    let mut cases = Vec::new();
    for (at, (rust, ptx)) in types().into_iter().enumerate() {
        let lanes = ptx.split('.').find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
        let value = match (ptx.as_str(), lanes) {
            (".b128", _) => "%value".to_owned(),
            (_, 1) => "%".to_owned(),
            _ => format!("{{{}}}", vec!["%"; lanes].join(", ")),
        };
        let (load, store) = (format!("ld.shared{ptx} {value}, [%];"), format!("st.shared{ptx} [%], {value};"));
        for (name, code, expected) in [
            ("read", "*v = p.read()", load.clone()),
            ("read_if", "*v = p.read_if(cond, *v)", format!("@%cond {load}")),
            ("write", "p.write(*v)", store.clone()),
            ("write_if", "p.write_if(cond, *v)", format!("@%cond {store}")),
        ] {
            let name = format!("{name}_{at}");
            let head = format!("pub unsafe fn {name}(p: SharedPtr<{rust}>, v: *mut {rust}, cond: bool)");
            let code = format!("#[unsafe(no_mangle)]\n{head} {{\n    let _ = cond;\n    unsafe {{ {code} }}\n}}\n");
            cases.push((name, code, expected));
        }
    }
    cases
}

#[test]
fn an_access_is_one_instruction() {
    let cases = cases();
    // 14 scalars, each in pairs, ten in fours, and 128 bits.
    assert_eq!(cases.len(), 4 * (14 + 14 + 10 + 1));
    let progress = Progress::kept();
    let toolchain = Route::chosen(None).and_then(|route| DeviceToolchain::find(route, &progress));
    let toolchain = toolchain.unwrap_or_else(|error| panic!("{error}"));
    let mut source = HEAD.to_owned();
    cases.iter().for_each(|(_, code, _)| write!(source, "{code}").expect("a string takes all"));
    let folder = toolchain.machine().target().join("shared_ptr");
    write_package(&folder, "shared_ptr", &source).unwrap_or_else(|error| panic!("{error}"));
    let register = Regex::new(r"%[a-z]+\d+").expect("the pattern is valid");
    for profile in [Profile::Dev, Profile::Release] {
        let build = DeviceBuild { profile, ..DeviceBuild::of_every_form(&folder, "shared_ptr", Sm::new(100)) };
        let module = build.build(&toolchain).and_then(|ptx| Module::read(&ptx));
        let module = module.unwrap_or_else(|error| panic!("{error}"));
        for (name, _, expected) in &cases {
            let function = module.function(name).unwrap_or_else(|| panic!("{name} is missing"));
            let blocks = function.inline_asm();
            assert_eq!(blocks.len(), 1, "{name}");
            let lines = blocks[0].lines.iter().map(|line| register.replace_all(line, "%").into_owned());
            let accesses: Vec<String> = lines.filter(|line| line.contains(".shared")).collect();
            assert_eq!(accesses, [expected.as_str()], "{name}, {profile:?}");
        }
    }
}
