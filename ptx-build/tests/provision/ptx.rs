//! An assembler that refuses, accepts or dies.

use std::fs::{self};

use ptx_build::cuda_tools::CudaTools;
use ptx_build::error::Error;
use ptx_build::progress::Progress;
use ptx_build::ptxas::Assembler;
use ptx_build::target::Sm;

use super::machine::*;

/// The real assembler, and its own words.
#[test]
fn ptx_that_is_refused() {
    let tools = CudaTools::find(&Progress::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("load.ptx");
    fs::write(&ptx, LOAD.replace(".version 7.4", ".version 7.3")).unwrap();
    let refused = tools.assembler(Sm::new(80), &Progress::new()).unwrap().assemble(
        &ptx,
        Sm::new(80),
        &folder.path().join("load.cubin"),
    );
    let refused = refused.unwrap().unwrap_err();
    let expected = format!(
        "ptxas refuses {} for sm_80
  Modifier '.evict_last' on 'ld' requires PTX ISA .version 7.4 or later
    10 | ld.global.nc.L1::evict_last.f32 \t%r1, [%rd1];
    in demo::load",
        ptx.display()
    );
    assert_eq!((refused.crashed, Error::from(refused).to_string()), (false, expected));
    assert_eq!(listing(folder.path()), ["load.ptx"]);
}

#[test]
fn an_assembler_that_dies() {
    let fake = Fake::new();
    let ptxas = fake.script("ptxas", "echo half > \"$3\"; echo 'internal error' >&2; kill -SEGV $$");
    let ptx = fake.at("load.ptx");
    fs::write(&ptx, LOAD).unwrap();
    let out = fake.at("usr/load.cubin");
    let refused = Assembler::new(ptxas).assemble(&ptx, Sm::new(80), &out).unwrap().unwrap_err();
    assert!(refused.crashed);
    let expected = "ptxas crashes on @/load.ptx for sm_80\n  ptxas was killed by signal 11 internal error";
    assert_eq!(fake.relative(refused), expected);
    assert_eq!(listing(&fake.at("usr")), [""; 0]);
}
