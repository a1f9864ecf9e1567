use ptx_intrinsics::clusterlaunchcontrol::*;
use ptx_intrinsics::mbarrier::Mbarrier;

fn main() {
    let (mut response, mut bar) = (0, Mbarrier::default());
    unsafe { clusterlaunchcontrol_try_cancel_multicast(&raw mut response, &raw mut bar) }
}
