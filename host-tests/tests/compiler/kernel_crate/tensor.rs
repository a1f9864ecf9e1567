//! A kernel that takes tensor maps: the entry has them among its parameters, each aligned as a copy wants it, and copies by them there.

use host_tests::tools::device_build::Profile;
use ptx_interpreter::{Program, Trial};
use ptx_kernel::{Swizzle, TensorMap};

use super::{kernels_before, text_that_is_taken};

/// The kernel of ptx-kernel's test of a CPU, compiled for a GPU.
fn compiled(profile: Profile) -> String {
    let source = kernels_before(include_str!("../../../../ptx-kernel/tests/tensor.rs"), "#[test]");
    text_that_is_taken("kernel-tensor", &source, profile)
}

#[test]
fn a_map_stays_among_the_parameters_and_tiles_are_copied_by_it() {
    let (columns, rows) = (40, 21);
    let from: Vec<u8> = (0..columns * rows).flat_map(|at| (at as f32).to_le_bytes()).collect();
    let map = |at: u64| {
        let at = std::ptr::without_provenance::<f32>(at as usize);
        TensorMap::tiled(at, [columns as u64, rows as u64], [32, 8])
    };
    for profile in [Profile::Dev, Profile::Release] {
        let text = compiled(profile);
        let (_, entry) = text.split_once(".entry scale(").expect("the entry");
        let (head, body) = entry.split_once('{').expect("its body");
        for (number, of) in [
            ".f32 scale_param_0",
            ".align 64 .b8 scale_param_1[128]",
            ".u32 scale_param_2",
            ".align 64 .b8 scale_param_3[128]",
        ]
        .into_iter()
        .enumerate()
        {
            assert!(head.contains(&format!(".param {of}")), "parameter {number} is not {of}: {head}");
        }
        let body = body.split("\n}").next().expect("its end");
        assert!(profile == Profile::Dev || !body.contains(".local"), "a map is copied: {body}");
        let program = Program::parse(&text);
        for seed in 0..3 {
            let mut trial = Trial::new(&program, "scale");
            trial.grid([6, 1, 1]).block([256, 1, 1]).seed(seed);
            trial.value(&0.5f32.to_le_bytes());
            let a = trial.memory(&from).expect("memory");
            let b = trial.memory(&[0xff; 40 * 21 * 4]).expect("memory");
            trial.value(&map(a).swizzle(Swizzle::Bytes128).encode().expect("its rules hold").bytes());
            trial.value(&2u32.to_le_bytes());
            trial.value(&map(b).encode().expect("its rules hold").bytes());
            let report = trial.check();
            assert!(report.is_clean(), "{report}");
            for (at, found) in trial.content_of(b).chunks(4).enumerate() {
                assert_eq!(found, (0.5 * at as f32).to_le_bytes(), "element {at}");
            }
        }
    }
}
