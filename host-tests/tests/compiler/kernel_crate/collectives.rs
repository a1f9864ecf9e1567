//! No compiler that is taken copies what all threads have to reach together into branches that only some of them take.

use host_tests::check::forms::write_package_with;
use host_tests::tools::command::Machine;
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::error::Result;
use host_tests::tools::toolchain::DeviceToolchain;

use crate::kernel_crate::{TARGET, toolchain, with_word};

/// Each kernel has one of them between two branches of one condition, itself or in a function that is called.
const KERNELS: &str = include_str!("collectives.rs.txt");

/// The words of the instruction that each kernel has once.
const ONCE: [(&str, &str); 10] = [
    ("barrier", "bar.sync"),
    ("barrier_of_a_warp", "bar.warp.sync"),
    ("barrier_of_a_cluster", "barrier.cluster.wait"),
    ("vote", "vote.sync"),
    ("shuffled", "shfl.sync"),
    ("vote_of_a_block", "bar.red"),
    ("half_of_a_warp", "shfl.sync"),
    ("in_a_closure", "bar.sync"),
    ("in_a_function", "call.uni"),
    ("in_a_loop", "bar.sync"),
];

fn compile(toolchain: &DeviceToolchain, profile: Profile) -> Result<String> {
    let folder = toolchain.machine().target().join("collectives");
    write_package_with(&folder, "collectives", &["ptx-intrinsics", "ptx-kernel"], KERNELS)?;
    let (sm, ptx) = TARGET;
    let build = DeviceBuild { profile, ptx: Some(ptx), ..DeviceBuild::new(&folder, "collectives", sm) };
    let (ptx, _) = build.build_quietly(toolchain)?;
    Ok(std::fs::read_to_string(ptx).expect("the harness wrote it"))
}

/// Every toolchain here, once.
pub(crate) fn toolchains() -> Vec<DeviceToolchain> {
    let mut toolchains = DeviceToolchain::installed_on(&Machine::current());
    toolchains.push(toolchain());
    toolchains.sort_by(|one, other| one.rustc.cmp(&other.rustc));
    toolchains.dedup_by(|one, other| one.rustc == other.rustc);
    toolchains
}

#[test]
fn a_collective_between_two_branches_stays_one() {
    let toolchains = toolchains();
    let (mut right, mut refused) = (0, 0);
    for toolchain in &toolchains {
        let version = &toolchain.version;
        println!("{version}");
        if toolchain.clone().for_kernels().is_err() {
            let error = compile(toolchain, Profile::Release).expect_err("ptx-kernel refuses it").to_string();
            assert!(error.contains("error: ptx-kernel needs Rust 1.97 or later for a GPU: older ones"), "{error}");
            refused += 1;
            continue;
        }
        // A dev build has each of them in a function of its own.
        let text = compile(toolchain, Profile::Release).unwrap_or_else(|error| panic!("{version}: {error}"));
        for (kernel, word) in ONCE {
            let found = with_word(&text, kernel, word);
            assert_eq!(found.len(), 1, "{version}: {kernel} has {found:#?}");
        }
        right += 1;
    }
    println!("{right} compilers keep all of {} together, {refused} are refused", ONCE.len());
    assert!(right > 0);
}
