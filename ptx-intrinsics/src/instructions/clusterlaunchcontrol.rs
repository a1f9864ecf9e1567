//! `clusterlaunchcontrol`: cancels the launch of a cluster that has not begun, and takes over its work.

use crate::instructions::mbarrier::Mbarrier;

#[cfg(ptx_device)]
use crate::emit::registers::is_set;
#[cfg(not(ptx_device))]
use crate::cpu::launch_control as cpu;

/// What the caller of a request promises.
macro_rules! promise {
    () => {
        "`response` is aligned to 16 bytes, `bar` to 8, and both point into this block's shared memory. The barrier is initialised \
        and expects 16 bytes. Until it completes the phase, no thread accesses the response. A thread that has accessed an earlier \
        response there is ordered before by [`fence_proxy_async_shared_cta`](crate::fence::fence_proxy_async_shared_cta). No thread \
        of this cluster has found that an earlier request cancelled nothing."
    };
}

/// What the caller of a request for all blocks promises.
macro_rules! promise_of_all {
    () => {
        concat!(
            promise!(),
            " All of it holds at the same place in each block of the cluster, and none of these blocks has ended. One thread of the \
            cluster asks."
        )
    };
}

/// What the caller of a query promises.
macro_rules! promise_of_query {
    () => {
        "[`clusterlaunchcontrol_query_cancel_is_canceled`] gives `true` for `response`."
    };
}

instructions! { REQUESTS:
    instruction "clusterlaunchcontrol.try_cancel", isa "parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel", effect message, T = u8 {
        /// Asks to cancel the launch of a cluster of this grid that has not begun. The response of 16 bytes arrives later, and `bar`
        /// counts its bytes. Addresses are generic.
        ///
        /// On a CPU a launch of `ptx-kernel` has clusters that have not begun; outside of one there are none.
        #[doc(alias = "clusterlaunchcontrol.try_cancel")]
        #[doc(alias = "clusterlaunchcontrol.try_cancel.async")]
        unsafe fn clusterlaunchcontrol_try_cancel(response: *mut u128 as reg64, bar: *mut Mbarrier as reg64) {
            ptx: "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128", [response], [bar];
            needs: LaunchControl;
            safety: promise!();
            cpu: cpu::try_cancel(response.cast(), bar.cast(), false);
        }

        /// Asks to cancel the launch of a cluster of this grid that has not begun. The response of 16 bytes arrives later, and `bar`
        /// counts its bytes.
        ///
        /// ```
        /// use ptx_intrinsics::clusterlaunchcontrol::*;
        /// use ptx_intrinsics::mbarrier::*;
        /// use ptx_intrinsics::prelude::*;
        ///
        /// let (mut response, mut bar) = (0u128, Mbarrier::default());
        /// let (response, bar) = (SharedPtr::new(&raw mut response), SharedPtr::new(&raw mut bar));
        /// unsafe {
        ///     mbarrier_init(bar, 1);
        ///     let state = mbarrier_arrive_expect_tx(bar, 16);
        ///     // clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [bar];
        ///     clusterlaunchcontrol_try_cancel_shared(response, bar);
        ///     while !mbarrier_try_wait(bar, state) {}
        ///     // No grid runs here, so nothing was cancelled.
        ///     assert!(!clusterlaunchcontrol_query_cancel_is_canceled(response.read()));
        /// }
        /// ```
        #[doc(alias = "shared::cta")]
        unsafe fn clusterlaunchcontrol_try_cancel_shared(
            response: SharedPtr<u128> as shared,
            bar: SharedPtr<Mbarrier> as shared,
        ) {
            ptx: "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128", [response], [bar];
            needs: LaunchControl;
            safety: promise!();
            cpu: cpu::try_cancel(response.address(), bar.address(), false);
        }

        /// [`clusterlaunchcontrol_try_cancel`] with a response in each block of this cluster: at the same place as `response`, and
        /// the barrier at the same place as `bar` counts its bytes.
        #[doc(alias = "multicast::cluster::all")]
        unsafe fn clusterlaunchcontrol_try_cancel_multicast(response: *mut u128 as reg64, bar: *mut Mbarrier as reg64) {
            ptx: "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128", [response], [bar];
            needs: LaunchControlCluster;
            safety: promise_of_all!();
            cpu: cpu::try_cancel(response.cast(), bar.cast(), true);
        }

        /// [`clusterlaunchcontrol_try_cancel_shared`] with a response in each block of this cluster: at the same place as
        /// `response`, and the barrier at the same place as `bar` counts its bytes.
        #[doc(alias = "multicast::cluster::all")]
        unsafe fn clusterlaunchcontrol_try_cancel_shared_multicast(
            response: SharedPtr<u128> as shared,
            bar: SharedPtr<Mbarrier> as shared,
        ) {
            ptx: "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128",
                [response], [bar];
            needs: LaunchControlCluster;
            safety: promise_of_all!();
            cpu: cpu::try_cancel(response.address(), bar.address(), true);
        }
    }
}

instructions! { QUERIES:
    instruction "clusterlaunchcontrol.query_cancel", isa "parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel", effect compute, T = u8 {
        /// Whether the response of a request says that a launch was cancelled. If not, nobody of the cluster asks again.
        #[doc(alias = "clusterlaunchcontrol.query_cancel")]
        #[doc(alias = "clusterlaunchcontrol.query_cancel.is_canceled.pred")]
        safe fn clusterlaunchcontrol_query_cancel_is_canceled(response: u128 as pair) -> (bool as is: reg32 => is_set(is)) {
            ptx: "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128" -> "%done", "%response";
            block: (response done is);
            needs: LaunchControl;
            cpu: cpu::is_cancelled(response);
        }

        /// The numbers in x, y and z of the first block of the cluster whose launch was cancelled.
        #[doc(alias = "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4")]
        unsafe fn clusterlaunchcontrol_query_cancel_get_first_ctaid(response: u128 as pair)
            -> ((u32, u32, u32) as [x y z]: reg32 => (x, y, z)) {
            ptx: "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128" -> {x, y, z, "_"}, "%response";
            block: (response);
            needs: LaunchControl;
            safety: promise_of_query!();
            cpu: cpu::first_block(response);
        }

        /// The number in x of the first block of the cluster whose launch was cancelled.
        #[doc(alias = "get_first_ctaid::x")]
        unsafe fn clusterlaunchcontrol_query_cancel_get_first_ctaid_x(response: u128 as pair) -> (u32 as x: reg32) {
            ptx: "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128" -> x, "%response";
            block: (response);
            needs: LaunchControl;
            safety: promise_of_query!();
            cpu: cpu::first_block(response).0;
        }

        /// The number in y of the first block of the cluster whose launch was cancelled.
        #[doc(alias = "get_first_ctaid::y")]
        unsafe fn clusterlaunchcontrol_query_cancel_get_first_ctaid_y(response: u128 as pair) -> (u32 as y: reg32) {
            ptx: "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128" -> y, "%response";
            block: (response);
            needs: LaunchControl;
            safety: promise_of_query!();
            cpu: cpu::first_block(response).1;
        }

        /// The number in z of the first block of the cluster whose launch was cancelled.
        #[doc(alias = "get_first_ctaid::z")]
        unsafe fn clusterlaunchcontrol_query_cancel_get_first_ctaid_z(response: u128 as pair) -> (u32 as z: reg32) {
            ptx: "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128" -> z, "%response";
            block: (response);
            needs: LaunchControl;
            safety: promise_of_query!();
            cpu: cpu::first_block(response).2;
        }
    }
}
