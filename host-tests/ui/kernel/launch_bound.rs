use ptx_kernel::*;

kernel! {
    #[launch_bound(256)]
    pub unsafe fn set(out: *mut u32) {
        unsafe { *out = 1 }
    }
}

fn main() {}
