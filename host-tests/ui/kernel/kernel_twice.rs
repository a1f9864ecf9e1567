use ptx_kernel::*;

kernel! {
    pub unsafe fn one(out: *mut u32) {
        unsafe { *out = 1 }
    }
    pub unsafe fn two(out: *mut u32) {
        unsafe { *out = 2 }
    }
}

fn main() {}
