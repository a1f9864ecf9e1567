use ptx_kernel::*;

kernel! {
    pub unsafe fn set(out: *mut u32, value: impl Into<u32>) {
        unsafe { *out = value.into() }
    }
}

fn main() {}
