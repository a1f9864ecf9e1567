//! Writing a piece of memory once, all of the GPU together, under each hint of stores; and throwing its lines away.

use ptx_intrinsics::prelude::*;

use crate::place::{count, index};

/// Bytes of a line of L2.
const LINE: usize = 128;

macro_rules! fills {
    ($($name:ident [$($store:tt)*];)*) => { $(
        #[doc = concat!("Writes `value` to all four lanes of `n` quads by `", $(stringify!($store)),*, "`.")]
        ///
        /// # Safety
        /// `to` is valid for writes of `n` quads, fewer than 2^31, which nobody else touches while the grid runs.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(to: *mut V4<u32>, n: u32, value: u32) {
            let (mut i, step) = (index(), count());
            while i < n {
                // SAFETY: i is below n.
                unsafe { ptx!($($store)* [to.add(i as usize)], V4::new([value; 4])) };
                i += step;
            }
        }
    )* };
}

fills! {
    fill_wb [st.global.wb.v4.u32];
    fill_cg [st.global.cg.v4.u32];
    fill_cs [st.global.cs.v4.u32];
    fill_wt [st.global.wt.v4.u32];
}

/// Throws `n` lines away without writing them back.
///
/// # Safety
/// `to` is the address of `n` lines in global memory, fewer than 2^31, aligned to a line, which nobody else touches while
/// the grid runs, and whose content nobody needs.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn discard(to: *mut u8, n: u32) {
    let (mut i, step) = (index(), count());
    while i < n {
        // SAFETY: i is below n.
        unsafe { discard_global_l2(to.add(i as usize * LINE)) };
        i += step;
    }
}
