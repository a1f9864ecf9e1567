use ptx_kernel::kernel;

kernel! {
    pub unsafe fn set<T: Copy>(out: *mut T, value: T) {
        unsafe { *out = value }
    }
}

fn main() {}
