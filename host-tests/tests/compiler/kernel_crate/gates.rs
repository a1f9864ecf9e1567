//! Arithmetic that not every GPU has is refused where it is called.

use host_tests::check::forms::write_package_with;
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::target::Sm;

use crate::kernel_crate::toolchain;

/// The call, and the oldest SM that has it.
const CALLS: [(&str, u32); 6] = [
    ("tanh_approx(1.0);", 75),
    ("pack_bf16x2([1.0, 2.0]);", 80),
    ("pack_f16x2([1.0, 2.0]);", 80),
    ("unpack_f16x2(1);", 70),
    ("dp4a(1, 2, 3);", 70),
    ("rsqrt_approx(1.0);", 70),
];

#[test]
fn arithmetic_has_gates() {
    let toolchain = toolchain();
    let folder = toolchain.machine().target().join("kernel-gates");
    let calls: String = CALLS.iter().map(|(call, _)| format!("    let _ = {call}\n")).collect();
    let source = format!("#![no_std]\nuse ptx_kernel::*;\n\npub fn calls() {{\n{calls}}}\n");
    write_package_with(&folder, "kernel-gates", &["ptx-intrinsics", "ptx-kernel"], &source).expect("it is written");
    for sm in [70, 75, 80] {
        let built = DeviceBuild::new(&folder, "kernel-gates", Sm::new(sm)).build_quietly(&toolchain);
        let said = built.err().map_or(String::new(), |error| error.to_string());
        let expected = CALLS.iter().filter(|(_, oldest)| *oldest > sm);
        for (call, oldest) in expected.clone() {
            let name = call.split('(').next().expect("it has a name");
            let error = format!(
                "error[E0277]: `ptx_kernel::{name}` needs sm_{oldest} or newer, and this build is for an older GPU"
            );
            assert!(said.contains(&error), "sm_{sm}: {error}\n{said}");
        }
        assert_eq!(said.matches("error[E0277]").count(), expected.count(), "sm_{sm}: {said}");
    }
}
