//! The demo's association of Rust, PTX and machine code, on the kernels as they are.

use host_tests::check::here::{toolchain, tools};

use demo::compile::{self, OLDEST};
use demo::{self, Access};
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;
use ptx_intrinsics::catalogue::{self, Form};
use workloads::ALL;

/// A modifier in machine code, and the qualifiers in PTX that it means.
const MODIFIERS: [(&str, &[&str]); 6] = [
    (".EF.", &[".L1::evict_first", "st.global.cs"]),
    (".EL.", &[".L1::evict_last"]),
    (".NA.", &[".L1::no_allocate"]),
    (".LTC128B.", &[".L2::128B"]),
    (".LTC256B.", &[".L2::256B"]),
    (".PF2.", &["prefetch.L2"]),
];

/// The policy in the Rust expression, the qualifiers in the PTX and the modifiers in the machine code must name the
/// same hints: none of the three is made from another.
#[test]
fn the_kernels_show_the_same_hints_in_rust_in_ptx_and_in_machine_code() {
    let progress = Progress::kept();
    let compiled = compile::compile(&toolchain(), &progress).unwrap();
    let assembled = demo::assemble_all(&compiled, &[Sm::new(90)], tools(), &progress).unwrap();
    let mut needs = 0;
    for workload in ALL {
        let accesses = demo::accesses(&compiled, workload, &assembled).unwrap();
        let asm = compiled.module.function(workload.name()).unwrap().inline_asm().len();
        assert_eq!(accesses.iter().map(|access| access.ptx_count).sum::<usize>(), asm, "{}", workload.name());
        for access in &accesses {
            needs = needs.max(check(access));
        }
    }
    let (oldest, _) = OLDEST;
    assert_eq!(needs, oldest.number, "the oldest GPU that has all the kernels' hints");
}

/// Checks one access on sm_90 and gives the SM that it needs.
fn check(access: &Access) -> u32 {
    let name = access.ptx.split_whitespace().find(|word| !word.starts_with('@')).unwrap().trim_end_matches(';');
    let form = catalogue::forms().find(|form| form.ptx() == name).unwrap();
    assert!(access.place.is_some(), "{access:?} has a place in the source");
    assert!(spells(access, &form), "{access:?} is {}", form.rust());
    assert_eq!(access.ptx.starts_with('@'), access.rust.contains(".read_if("), "{access:?}");
    let [sass] = &access.sass[..] else { panic!("one GPU: {access:?}") };
    assert_eq!((sass.sm, &sass.note), (Sm::new(90), &None));
    assert!(!sass.instructions.is_empty(), "{access:?} has machine code");
    for one in &sass.instructions {
        let opcode = one.text.split_whitespace().find(|word| !word.starts_with('@')).unwrap().to_owned() + ".";
        for (modifier, qualifiers) in MODIFIERS {
            let asked = qualifiers.iter().any(|qualifier| name.contains(qualifier));
            assert_eq!(opcode.contains(modifier), asked, "{modifier} in {access:?}");
        }
    }
    form.min_sm()
}

/// Whether the expression, or the policy that it names, is this form.
fn spells(access: &Access, form: &Form) -> bool {
    let call = form.rust().split(['(']).next().unwrap_or_default();
    let policy = access.policy.as_ref().and_then(|policy| policy.split_once("LdGlobalNc")?.1.split_once(" ="));
    match policy {
        Some((qualifiers, _)) => call == format!("ld_global_nc::{qualifiers}"),
        None => access.rust.starts_with(&format!("{call}(")),
    }
}
