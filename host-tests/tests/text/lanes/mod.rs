//! Each value goes where it belongs: lane by lane, operand by operand.
//!
//! A load is held against bytes that no store of the crate has written, and a store against bytes that no load of it has
//! read, so that one mistake in both is seen. [`values`] runs the PTX of each form's shape; [`operands`] follows the
//! operands of all other instructions through it.

mod operands;
mod shared;
mod values;

use host_tests::check::here::{or_panic, toolchain};

use host_tests::check::forms;
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::target::Sm;
use ptx_intrinsics::catalogue::IMPORTS;

/// What the kernels are compiled for: a GPU that has every form.
const BUILT_FOR: Sm = Sm::OF_EVERY_FORM;

const HEAD: &str = "#![no_std]\n#![feature(abi_ptx)]\n#![allow(warnings)]\n\
    #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n\n";

/// The optimised PTX of these functions.
fn ptx_of(name: &str, functions: &str) -> String {
    let text = || -> Result<String> {
        let toolchain = toolchain();
        let folder = toolchain.machine().target().join("lanes").join(name);
        forms::write_package(&folder, name, &format!("{HEAD}{IMPORTS}\n{functions}"))?;
        let (ptx, _) = DeviceBuild::of_every_form(folder, name, BUILT_FOR).build_quietly(&toolchain)?;
        std::fs::read_to_string(&ptx).map_err(|error| Error::io("read the PTX", &ptx, error))
    };
    or_panic(text())
}

/// The first of what is wrong.
fn first(wrong: &[String]) -> String {
    wrong[..wrong.len().min(20)].join("\n")
}
