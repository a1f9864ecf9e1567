//! The demo's Rust, PTX and machine code, of the kernels as they are.

use host_tests::check::here::{toolchain, tools};

use demo::{Access, OLDEST};
use host_tests::tools::progress::Progress;
use host_tests::tools::target::Sm;
use ptx_intrinsics::catalogue::{self, Operation};
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

/// The qualifiers in the PTX and the modifiers in the machine code name the same hints, and the line of Rust has such a call.
#[test]
fn the_kernels_show_the_same_hints_in_rust_in_ptx_and_in_machine_code() {
    let progress = Progress::kept();
    let folder = tempfile::tempdir().expect("a folder");
    let compiled = demo::compile(&toolchain(), &progress).unwrap();
    let assembled = [demo::assemble(&compiled, Sm::new(90), folder.path(), tools(), &progress).unwrap()];
    let (mut needs, mut instructions) = (0, Vec::new());
    for workload in ALL {
        let accesses = demo::accesses(&compiled, workload, &assembled).unwrap();
        instructions.push((workload.name(), accesses.iter().map(|access| access.count).sum::<usize>()));
        for access in &accesses {
            needs = needs.max(check(access));
        }
    }
    assert_eq!(instructions, INSTRUCTIONS);
    let (oldest, _) = OLDEST;
    assert_eq!(needs, oldest.number, "the oldest GPU that has all the kernels' hints");
}

/// Instructions of PTX that each kernel is shown with.
const INSTRUCTIONS: [(&str, usize); 4] = [("triad", 9), ("gather", 8), ("spmv", 18), ("probe", 28)];

/// Checks one access on sm_90 and gives the SM that it needs.
fn check(access: &Access) -> u32 {
    let name = access.ptx.split_whitespace().find(|word| !word.starts_with('@')).unwrap().trim_end_matches(';');
    let form = catalogue::forms().find(|form| form.ptx() == name).unwrap();
    let method = match form.operation() {
        Operation::Load => "read",
        Operation::Store => "write",
        Operation::Other => "prefetch",
    };
    assert!(access.rust.contains(method), "{access:?} is {}", form.rust());
    let [sass] = &access.sass[..] else { panic!("one GPU: {access:?}") };
    assert_eq!((sass.sm, sass.notes.len()), (Sm::new(90), 0), "{access:?}");
    assert!(!sass.opcodes.is_empty(), "{access:?} has machine code");
    for opcode in sass.opcodes.keys().map(|opcode| format!("{opcode}.")) {
        for (modifier, qualifiers) in MODIFIERS {
            let asked = qualifiers.iter().any(|qualifier| name.contains(qualifier));
            assert_eq!(opcode.contains(modifier), asked, "{modifier} in {access:?}");
        }
    }
    form.min_sm()
}
