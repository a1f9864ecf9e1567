//! A kernel that takes tensor maps: the entry has them among its parameters, each aligned as a copy wants it, and copies by them there.

use host_tests::check::forms::write_package_with;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_interpreter::{Program, Trial};
use ptx_kernel::{Swizzle, TensorMap};

use crate::kernel_crate::toolchain;

/// The kernel of ptx-kernel's test of a CPU, compiled for a GPU.
fn compiled(profile: Profile) -> String {
    const TEST: &str = include_str!("../../../../ptx-kernel/tests/tensor.rs");
    let (kernel, _) = TEST.split_once("#[test]").expect("the kernel is before it");
    let toolchain = toolchain();
    let folder = toolchain.machine().target().join("kernel-tensor");
    let source = format!("#![no_std]\n{}", kernel.replace("//!", "//"));
    write_package_with(&folder, "kernel-tensor", &["ptx-intrinsics", "ptx-kernel"], &source).expect("it is written");
    let build = DeviceBuild { profile, ..DeviceBuild::new(&folder, "kernel-tensor", Sm::new(90)) };
    let build = DeviceBuild { ptx: Some(PtxVersion::new(8, 0)), ..build };
    let (path, _) = build.build_quietly(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    let tools = CudaTools::find(&Progress::kept()).unwrap_or_else(|error| panic!("{error}"));
    let assembled = Assembler::new(tools.ptxas).assemble(&path, Sm::new(90), &path.with_extension("cubin"));
    let rejected = assembled.unwrap_or_else(|error| panic!("{error}")).err();
    assert!(rejected.is_none(), "ptxas refuses {}: {rejected:?}", path.display());
    std::fs::read_to_string(path).expect("the harness wrote it")
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
