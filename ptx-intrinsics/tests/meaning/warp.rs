//! What the threads of a warp do together: outside of an executor a thread is alone in its warp, lane 0.

use ptx_intrinsics::clusterlaunchcontrol::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::functions::Tried;

#[test]
fn a_thread_alone_leads() {
    let mut tried = Tried::default();
    let elect = form!(tried |mask: u32| elect_sync(mask));
    assert_eq!([elect(1), elect(u32::MAX)], [(0, true); 2]);
    tried.is_all_of(&["elect.sync"]);
}

#[test]
fn a_thread_alone_agrees_with_itself() {
    let mut tried = Tried::default();
    macro_rules! alone {
        ($($redux:ident $of:ty;)*) => { $(
            let redux = form!(tried |number: $of, mask: u32| $redux(number, mask));
            assert_eq!([redux(7, 1), redux(9, u32::MAX)], [7, 9]);
        )* };
    }
    alone! {
        redux_sync_add_s32 i32; redux_sync_min_s32 i32; redux_sync_max_s32 i32; redux_sync_min_u32 u32; redux_sync_max_u32 u32;
        redux_sync_and_b32 u32; redux_sync_or_b32 u32; redux_sync_xor_b32 u32;
    }
    let (any, all) = (
        form!(tried |number: u32, mask: u32| match_any_sync_b32(number, mask)),
        form!(tried |number: u32, mask: u32| match_all_sync_b32(number, mask)),
    );
    assert_eq!((any(7, u32::MAX), all(7, 1)), (1, (1, true)));
    let (any, all) = (
        form!(tried |number: u64, mask: u32| match_any_sync_b64(number, mask)),
        form!(tried |number: u64, mask: u32| match_all_sync_b64(number, mask)),
    );
    assert_eq!((any(7, 1), all(7, 1)), (1, (1, true)));
    macro_rules! floats {
        ($($redux:ident $of_number:expr, $of_nan:expr;)*) => { $(
            let redux = form!(tried |number: f32, mask: u32| $redux(number, mask));
            assert_eq!([redux(-7.5, 1), redux(-0.0, u32::MAX)].map(f32::to_bits), $of_number.map(f32::to_bits));
            assert_eq!(redux(f32::from_bits(0xffc0_0001), 1).to_bits(), $of_nan, "{}", stringify!($redux));
        )* };
    }
    floats! {
        redux_sync_min_f32 [-7.5, -0.0f32], 0x7fff_ffff; redux_sync_min_abs_f32 [7.5, 0.0f32], 0x7fff_ffff;
        redux_sync_min_nan_f32 [-7.5, -0.0f32], 0x7fff_ffff; redux_sync_min_abs_nan_f32 [7.5, 0.0f32], 0x7fff_ffff;
        redux_sync_max_f32 [-7.5, -0.0f32], 0x7fff_ffff; redux_sync_max_abs_f32 [7.5, 0.0f32], 0x7fff_ffff;
        redux_sync_max_nan_f32 [-7.5, -0.0f32], 0x7fff_ffff; redux_sync_max_abs_nan_f32 [7.5, 0.0f32], 0x7fff_ffff;
    }
    tried.is_all_of(&["redux.sync", "match.sync"]);
}

#[test]
fn without_a_grid_there_is_nothing_to_cancel() {
    let mut tried = Tried::default();
    let canceled = form!(tried |response: u128| clusterlaunchcontrol_query_cancel_is_canceled(response));
    let (mut response, mut bar) = (u128::MAX, Mbarrier::default());
    let own = SharedPtr::new(&raw mut bar);
    macro_rules! fails {
        ($($request:expr => $response:expr, $bar:expr;)*) => { $(
            // SAFETY: both are variables of this function.
            unsafe {
                (&raw mut response).write(u128::MAX);
                mbarrier_init(own, 1);
                let state = mbarrier_arrive_expect_tx(own, 16);
                assert!(!mbarrier_test_wait(own, state));
                $request($response, $bar);
                assert!(mbarrier_test_wait(own, state));
                assert!(!canceled((&raw const response).read()));
            }
        )* };
    }
    fails! {
        form!(tried |response: *mut u128, bar: *mut Mbarrier| clusterlaunchcontrol_try_cancel(response, bar))
            => &raw mut response, &raw mut bar;
        form!(tried |response: *mut u128, bar: *mut Mbarrier| clusterlaunchcontrol_try_cancel_multicast(response, bar))
            => &raw mut response, &raw mut bar;
        form!(tried |response: SharedPtr<u128>, bar: SharedPtr<Mbarrier>| clusterlaunchcontrol_try_cancel_shared(response, bar))
            => SharedPtr::new(&raw mut response), own;
        form!(tried |response: SharedPtr<u128>, bar: SharedPtr<Mbarrier>| clusterlaunchcontrol_try_cancel_shared_multicast(response, bar))
            => SharedPtr::new(&raw mut response), own;
    }
    let of_block = 1 << 64 | 7 << 48 | 0xffff << 32 | 0x8000_0001;
    assert!(canceled(of_block));
    let first = form!(tried |response: u128| clusterlaunchcontrol_query_cancel_get_first_ctaid(response));
    let x = form!(tried |response: u128| clusterlaunchcontrol_query_cancel_get_first_ctaid_x(response));
    let y = form!(tried |response: u128| clusterlaunchcontrol_query_cancel_get_first_ctaid_y(response));
    let z = form!(tried |response: u128| clusterlaunchcontrol_query_cancel_get_first_ctaid_z(response));
    assert_eq!(first(of_block), (0x8000_0001, 0xffff, 7));
    assert_eq!((x(of_block), y(of_block), z(of_block)), (0x8000_0001, 0xffff, 7));
    tried.is_all_of(&["clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel"]);
}

#[test]
fn time_goes_on() {
    let mut tried = Tried::default();
    assert_eq!(form!(tried || activemask())(), 1);
    form!(tried || griddepcontrol_launch_dependents())();
    form!(tried || griddepcontrol_wait())();
    form!(tried |nanoseconds: u32| nanosleep(nanoseconds))(10);
    let (low, cycles, time) = (form!(tried || clock()), form!(tried || clock64()), form!(tried || globaltimer()));
    let (first, second, third) = (u64::from(low()), cycles(), time());
    assert!(first < second && second < third, "{first} {second} {third}");
    form!(tried || setmaxnreg_inc_sync_aligned::<24>())();
    form!(tried || setmaxnreg_dec_sync_aligned::<24>())();
    tried.is_all_of(&["activemask", "griddepcontrol", "nanosleep", "mov", "setmaxnreg"]);
}
