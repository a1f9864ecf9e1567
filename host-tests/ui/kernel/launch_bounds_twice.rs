use ptx_kernel::*;

kernel! {
    #[launch_bounds(256)]
    #[cluster_size(2)]
    #[launch_bounds(128)]
    pub unsafe fn set(out: *mut u32) {
        unsafe { *out = 1 }
    }
}

fn main() {}
