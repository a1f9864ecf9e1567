//! The assembler of each release of CUDA 13, from NVIDIA's wheels on PyPI.

use crate::command::Machine;
use crate::cuda_tools::{CUDA_13, CUDA_13_0, Wheel, WheelSet};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::ptxas::Assembler;
use crate::target::Release;

const fn assembler_of(folder: &'static str, wheels: &'static [Wheel]) -> WheelSet {
    WheelSet { folder, wheels, pruned: true }
}

const fn wheel(version: &'static str, sha256: &'static [&'static str]) -> Wheel {
    Wheel { name: "nvidia-cuda-nvcc", version, sha256, file: "nvidia/cu13/bin/ptxas" }
}

const CUDA_13_1: WheelSet = assembler_of(
    "13.1",
    &[wheel(
        "13.1.115",
        &[
            "fe5c0604869dfbc837bdce9e1eef8e4f0e0d103c29e3875014ba3538c70efb74",
            "ae46f71ea6f377e7719c1084ae8ca28d4e88770ee4436478c366c15f1fcfdebe",
        ],
    )],
);
const CUDA_13_2: WheelSet = assembler_of(
    "13.2",
    &[wheel(
        "13.2.86",
        &[
            "7d3f56c8d705bad35bbba69eb0470d90856fd5d4dc48c6a6173aaf1e9f887cf5",
            "909140a1f942b943982b2eff120e618c94e29d75d9e33f5cd074f0e64eb411e8",
        ],
    )],
);
const CUDA_13_3: WheelSet = assembler_of(
    "13.3",
    &[wheel(
        "13.3.73",
        &[
            "f483af83166c4fa356a21606076d553b0b4ceaebbd9912e537545080db695bdd",
            "70f250825355d2c3aa6c7a972a0ec00f020bad66d2679e527eb4336301c904aa",
        ],
    )],
);
const CUDA_13_4: WheelSet = assembler_of(
    "13.4",
    &[wheel(
        "13.4.92",
        &[
            "a1f3bfb27299e060b444d5df1f4bcd762501326cf0fd3141ed61756816ab9a0e",
            "d6fc9f720c3b73b9e526f4c759dbc6581e1a300ba2c8191e3f0ed91c848a92c8",
        ],
    )],
);

/// Each release, with the wheels that have the newest assembler of it.
pub const RELEASES: [(Release, &WheelSet); 6] = [
    ((13, 0), &CUDA_13_0),
    ((13, 1), &CUDA_13_1),
    ((13, 2), &CUDA_13_2),
    ((13, 3), &CUDA_13_3),
    ((13, 4), &CUDA_13_4),
    ((13, 5), &CUDA_13),
];

/// The assembler of a release, which is downloaded when first asked for.
///
/// ```no_run
/// # use ptx_build::{assemblers, command::Machine, progress::Progress};
/// let ptxas = assemblers::of((13, 1), &Machine::current(), &Progress::new())?;
/// println!("{}", ptxas.newest_version()?); // 9.1
/// # Ok::<(), ptx_build::error::Error>(())
/// ```
pub fn of(release: Release, machine: &Machine, progress: &Progress) -> Result<Assembler> {
    let wheels = known(release)?;
    Ok(Assembler::new(wheels.provide(machine, progress)?.join(wheels.wheels[0].file)))
}

/// The assembler of a release, if it was downloaded before.
pub fn fetched(release: Release, machine: &Machine) -> Result<Option<Assembler>> {
    let wheels = known(release)?;
    Ok(wheels.provided(machine).map(|folder| Assembler::new(folder.join(wheels.wheels[0].file))))
}

fn known((major, minor): Release) -> Result<&'static WheelSet> {
    let found = RELEASES.iter().find(|(release, _)| *release == (major, minor)).map(|(_, wheels)| *wheels);
    found.ok_or_else(|| {
        let names = RELEASES.map(|((major, minor), _)| format!("{major}.{minor}"));
        Error::new(format_args!("there is no assembler of CUDA {major}.{minor} here"))
            .fix(format_args!("name one of {}", names.join(", ")))
    })
}
