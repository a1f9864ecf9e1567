//! A cache operator of another instruction.
use ptx_intrinsics::prelude::*;

fn main() {}

// `ld.global.nc` has no `.lu`.
fn last_use_on_nc_load(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<Lu, NoPrefetch>().read(p) }
}

// `.ca`, `.lu` and `.cv` are for loads.
fn load_operator_on_store(p: *mut f32) {
    unsafe { st_global::<Ca>().write(p, 1.0) }
}

// `.wb` and `.wt` are for stores.
fn store_operator_on_load(p: *const f32) -> f32 {
    unsafe { ld_global::<Wb, NoPrefetch>().read(p) }
}

// `.wb` and `.wt` are for stores.
fn store_operator_on_nc_load(p: *const f32) -> f32 {
    unsafe { ld_global_nc::<Wt, NoPrefetch>().read(p) }
}
