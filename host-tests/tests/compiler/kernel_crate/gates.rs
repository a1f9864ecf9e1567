//! Arithmetic that not every GPU has is refused where it is called.

use host_tests::check::forms::write_package_with;
use host_tests::check::{forms_check, whole};
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::target::Sm;
use rand::seq::IndexedRandom;

use crate::kernel_crate::toolchain;

/// The call, and the oldest SM that has it.
const CALLS: [(&str, u32); 17] = [
    ("tanh_approx(1.0);", 75),
    ("pack_bf16x2([1.0, 2.0]);", 80),
    ("pack_f16x2([1.0, 2.0]);", 80),
    ("unpack_f16x2(1);", 70),
    ("dp4a(1, 2, 3);", 70),
    ("fma_f16x2(1, 2, 3);", 70),
    ("min_f16x2(1, 2);", 80),
    ("f32_to_bf16(1.0);", 80),
    ("mul_bf16x2(1, 2);", 90),
    ("exp2_approx_f16x2(1);", 75),
    ("tanh_approx_bf16x2(1);", 90),
    ("exp2_approx_ftz_bf16x2(1);", 90),
    ("dp2a_lo(1, 2, 3);", 70),
    ("bfind_u32(1);", 70),
    ("clusterid_x();", 90),
    ("aggr_smem_size();", 90),
    ("rsqrt_approx(1.0);", 70),
];

#[test]
fn arithmetic_has_gates() {
    // What rustc says of many calls is cut.
    for (number, calls) in CALLS.chunks(5).enumerate() {
        have_gates(number, calls);
    }
}

/// GPUs that lack some of it, one drawn by the seed: the crates are compiled for each.
pub(super) fn old_gpus() -> Vec<u32> {
    let mut random = forms_check::random("the GPU is");
    [70, 75, 80].sample(&mut random, whole::or(1)).copied().collect()
}

fn have_gates(number: usize, all: &[(&str, u32)]) {
    let toolchain = toolchain();
    let name = format!("kernel-gates-{number}");
    let folder = toolchain.machine().target().join(&name);
    let calls: String = all.iter().map(|(call, _)| format!("    let _ = {call}\n")).collect();
    let source = format!("#![no_std]\nuse ptx_kernel::*;\n\npub fn calls() {{\n{calls}}}\n");
    write_package_with(&folder, &name, &["ptx-intrinsics", "ptx-kernel"], &source).expect("it is written");
    for sm in old_gpus() {
        let built = DeviceBuild::new(&folder, &name, Sm::new(sm)).build_quietly(&toolchain);
        let said = built.err().map_or(String::new(), |error| error.to_string());
        let expected = all.iter().filter(|(_, oldest)| *oldest > sm);
        for (call, oldest) in expected.clone() {
            let name = call.split('(').next().expect("it has a name");
            let error = format!(
                "error[E0277]: `ptx_kernel::{name}` needs sm_{oldest} or newer, and this build is for an older GPU"
            );
            assert!(said.contains(&error), "sm_{sm}: {error}\n{said}");
        }
        // An older GPU may have an older PTX ISA too, which is an error of its own.
        assert_eq!(said.matches("needs sm_").count(), expected.count(), "sm_{sm}: {said}");
    }
}
