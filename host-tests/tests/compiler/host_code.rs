//! What is compiled for a CPU: its orders in the compiler's own words, targets without atomics of 64 bits, and `ptx!`
//! among the names that users choose.

use host_tests::check::here::{or_panic, toolchain};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use host_tests::check::forms;
use host_tests::tools::command::Machine;
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::target::Sm;
use ptx_intrinsics::catalogue::{self, Form, IMPORTS, Operation};
use regex::Regex;

/// The folder of a package with this library, and what cargo makes of it.
fn package(name: &str, source: &str) -> PathBuf {
    let folder = Machine::current().target().join("host-code").join(name);
    forms::write_package(&folder, name, source).unwrap_or_else(|error| panic!("{error}"));
    folder
}

/// Runs cargo on a package.
fn cargo(folder: &PathBuf, arguments: &[&str]) {
    let target = Machine::current().target().join("host-code/cargo");
    let command = toolchain().cargo().dir(folder).args(arguments).env("CARGO_TARGET_DIR", target);
    command.run().unwrap_or_else(|error| panic!("{error}"));
}

/// A function of one expression, and what it has to contain.
struct Probe {
    parameters: &'static str,
    expression: String,
    expected: Vec<&'static str>,
}

/// Every fence, and what it is to the compiler.
fn fences() -> impl Iterator<Item = Probe> {
    let forms = catalogue::forms().filter(|form| ["fence", "membar"].contains(&form.instruction()));
    forms.map(|form| {
        let says = |word: &str| form.ptx().split('.').any(|found| found == word);
        let expected = match () {
            () if says("sc") || says("membar") && !says("proxy") => "fence seq_cst",
            () if says("acq_rel") => "fence acq_rel",
            () if says("acquire") => "fence acquire",
            () if says("release") => "fence release",
            () => "fence syncscope(\"singlethread\") seq_cst",
        };
        Probe { parameters: "p: *const u8", expression: form.rust().to_owned(), expected: vec![expected] }
    })
}

/// Every order of a load or store of 32 bits in every space, by its method and by `ptx!`.
fn accesses() -> impl Iterator<Item = Probe> {
    let plain = |form: &Form| {
        let words = form.ptx();
        form.element() == Some("u32")
            && !words.contains("::evict")
            && !words.contains("::no_")
            && !words.contains(".L2")
    };
    catalogue::forms().filter(plain).flat_map(|form| {
        let says = |word: &str| form.ptx().split('.').any(|found| found == word);
        let load = form.operation() == Operation::Load;
        let expected = match () {
            () if says("mmio") => ["load volatile i32", "store volatile i32"],
            () if says("acquire") => ["load atomic i32 acquire", ""],
            () if says("release") => ["", "store atomic i32 release"],
            () if says("relaxed") || says("volatile") => ["load atomic i32 monotonic", "store atomic i32 monotonic"],
            () => ["load i32", "store i32"],
        }[usize::from(!load)];
        let space = form.space().unwrap_or_default().to_owned();
        [Some(form.rust().to_owned()), form.rust_ptx()].into_iter().flatten().map(move |expression| {
            let parameters = match (expression.contains("p.cast::"), space.as_str()) {
                (true, "shared::cluster") => "p: SharedClusterPtr<u8>, v: u32",
                (true, _) => "p: SharedPtr<u8>, v: u32",
                _ => "p: *mut u8, v: u32",
            };
            Probe { parameters, expression, expected: vec![expected] }
        })
    })
}

/// What is neither, or takes the lock.
fn others() -> impl Iterator<Item = Probe> {
    let taken = || vec!["cmpxchg i8 acquire monotonic", "store atomic i8 release"];
    let rows: [(&str, &str, Vec<&str>); 14] = [
        ("p: *mut B128", "ptx!(ld.relaxed.gpu.b128 [p])", taken()),
        ("p: *mut B128, v: B128", "ptx!(st.release.gpu.b128 [p], v)", taken()),
        ("p: *mut B128, v: B128", "ptx!(atom.exch.b128 [p], v)", taken()),
        ("p: *mut B128, v: B128", "ptx!(atom.cas.b128 [p], v, v)", taken()),
        ("p: *mut u32, v: u32", "ptx!(atom.add.u32 [p], v)", vec!["cmpxchg i32 monotonic monotonic"]),
        ("p: *mut u32, v: u32", "ptx!(atom.relaxed.gpu.max.u32 [p], v)", vec!["cmpxchg i32 monotonic monotonic"]),
        ("p: *mut u32, v: u32", "ptx!(atom.acquire.gpu.inc.u32 [p], v)", vec!["cmpxchg i32 acquire acquire"]),
        ("p: *mut u32, v: u32", "ptx!(red.release.gpu.dec.u32 [p], v)", vec!["cmpxchg i32 release monotonic"]),
        ("p: *mut u32, v: u32", "ptx!(atom.acq_rel.gpu.cas.b32 [p], v, v)", vec!["cmpxchg i32 acq_rel acquire"]),
        ("p: *mut u64, v: u64", "ptx!(atom.acq_rel.sys.min.u64 [p], v)", vec!["cmpxchg i64 acq_rel acquire"]),
        ("p: *mut B16, v: B16", "ptx!(atom.release.cta.add.noftz.f16 [p], v)", vec!["cmpxchg i16 release monotonic"]),
        ("bar: SharedPtr<Mbarrier>", "mbarrier_arrive(bar)", vec!["cmpxchg i64 acq_rel monotonic"]),
        ("bar: SharedPtr<Mbarrier>", "mbarrier_test_wait_parity(bar, 0)", vec!["load atomic i64 acquire"]),
        ("bar: SharedPtr<Mbarrier>", "mbarrier_init(bar, 3)", vec!["store atomic i64 release"]),
    ];
    rows.into_iter().map(|(parameters, expression, expected)| Probe {
        parameters,
        expression: expression.into(),
        expected,
    })
}

/// What orders or touches memory in a line of LLVM's IR: the operation, the type of what it moves, its orders.
fn operation(line: &str) -> Option<String> {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:%\S+ = )?(?:tail call |call )?(fence|load|store|cmpxchg|atomicrmw)\b(.*)$").expect("a regex")
    });
    let found = WORDS.captures(line.trim())?;
    let (name, rest) = (&found[1], &found[2]);
    if name == "fence" {
        return Some(line.trim().to_owned());
    }
    let words: Vec<&str> = rest.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let kinds = ["atomic", "volatile", "xchg"].into_iter().filter(|kind| words.contains(kind));
    let moved = words.iter().rev().find(|word| word.starts_with('i') && word[1..].parse::<u32>().is_ok())?;
    const ORDERS: [&str; 5] = ["monotonic", "acquire", "release", "acq_rel", "seq_cst"];
    let orders = words.iter().copied().filter(|word| ORDERS.contains(word));
    Some([name].into_iter().chain(kinds).chain([*moved]).chain(orders).collect::<Vec<_>>().join(" "))
}

/// The functions of a module, by name.
fn functions(ir: &str) -> HashMap<&str, Vec<&str>> {
    let mut functions = HashMap::new();
    let mut name = "";
    for line in ir.lines() {
        if line.starts_with("define ") {
            let after = line.split_once('@').map_or("", |(_, after)| after);
            name = after.split('(').next().unwrap_or_default().trim_matches('"');
        } else if line == "}" {
            name = "";
        } else if !name.is_empty() {
            functions.entry(name).or_insert_with(Vec::new).push(line);
        }
    }
    functions
}

/// What a function does, and those that it calls.
fn operations<'a>(functions: &HashMap<&'a str, Vec<&'a str>>, name: &str, seen: &mut BTreeSet<String>) -> Vec<String> {
    let Some(lines) = functions.get(name).filter(|_| seen.insert(name.to_owned())) else {
        return Vec::new();
    };
    let called = lines
        .iter()
        .filter(|line| ["call ", "invoke "].iter().any(|word| line.contains(word)))
        .filter_map(|line| line.split_once('@'));
    let called = called.map(|(_, after)| after.split('(').next().unwrap_or_default().trim_matches('"'));
    let mut found: Vec<String> = lines.iter().filter_map(|line| operation(line)).collect();
    for name in called {
        found.extend(operations(functions, name, seen));
    }
    found
}

#[test]
fn an_order_is_the_compilers_order() {
    let probes: Vec<Probe> = fences().chain(accesses()).chain(others()).collect();
    let mut source = format!("{IMPORTS}\n");
    for (number, Probe { parameters, expression, .. }) in probes.iter().enumerate() {
        // What nobody looks at would be left out, and of two functions that are the same one would be.
        let body =
            format!("{{ unsafe {{ core::hint::black_box({number}u64); core::hint::black_box({expression}); }} }}");
        writeln!(source, "#[unsafe(no_mangle)] pub fn probe_{number}({parameters}) {body}")
            .expect("a string takes all");
    }
    let folder = package("orders", &source);
    let ir = folder.join("orders.ll");
    let emit = format!("--emit=llvm-ir={}", ir.display());
    cargo(
        &folder,
        &["rustc", "--quiet", "--release", "--lib", "--", "-Ccodegen-units=1", "-Cdebuginfo=0", "-Awarnings", &emit],
    );
    let text = std::fs::read_to_string(&ir).expect("rustc wrote it");
    let functions = functions(&text);
    let mut wrong = String::new();
    for (number, probe) in probes.iter().enumerate() {
        let found = operations(&functions, &format!("probe_{number}"), &mut BTreeSet::new());
        for expected in &probe.expected {
            if !found.iter().any(|found| found == expected) {
                writeln!(wrong, "{}: {expected} is not among {found:?}", probe.expression).expect("a string takes all");
            }
        }
    }
    println!("{} functions", probes.len());
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(probes.len(), 371);
}

/// A CPU whose atomics have 32 bits at most: there the longer ones take the lock.
#[test]
fn it_builds_without_atomics_of_64_bits() {
    let source = "#![no_std]\n\
        pub unsafe fn both(p: *mut u64, bar: ptx_intrinsics::SharedPtr<ptx_intrinsics::mbarrier::Mbarrier>) {\n\
        unsafe { ptx_intrinsics::ptx!(red.release.gpu.add.u64 [p], 1); ptx_intrinsics::mbarrier::mbarrier_arrive(bar); } }\n";
    let folder = package("narrow", source);
    cargo(
        &folder,
        &["check", "--quiet", "--lib", "--target", "riscv32imac-unknown-none-elf", "-Zbuild-std=core,alloc"],
    );
}

/// The cases that `tests/compiler/ui.rs` compiles and runs on this machine compile for a GPU too.
#[test]
fn a_gpus_ptx_macro_is_among_the_same_names() {
    let source = format!(
        "#![no_std]\n#![feature(abi_ptx)]\n\
         #[path = \"{0}/ui/pass/names.rs\"] mod names;\n#[path = \"{0}/ui/pass/no_prelude.rs\"] mod no_prelude;\n\
         #[unsafe(no_mangle)] unsafe extern \"ptx-kernel\" fn both() {{ names::main(); no_prelude::main(); }}\n\
         #[panic_handler] fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{ loop {{}} }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    let folder = package("names", &source);
    let build =
        DeviceBuild { profile: Profile::Release, ..DeviceBuild::of_every_form(&folder, "names", Sm::OF_EVERY_FORM) };
    let ptx = or_panic(build.build_quietly(&toolchain())).0;
    let text = std::fs::read_to_string(&ptx).expect("the build wrote it");
    assert!(text.matches("ld.acquire.sys.u32").count() >= 6, "each module's load is there");
}
