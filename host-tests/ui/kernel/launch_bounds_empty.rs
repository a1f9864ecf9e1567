use ptx_kernel::*;

kernel! {
    #[launch_bounds]
    pub unsafe fn set(out: *mut u32) {
        unsafe { *out = 1 }
    }
}

fn main() {}
