use ptx_kernel::kernel;

kernel! {
    #[launch_bounds(99_999)]
    pub unsafe fn nothing() {}
}

fn main() {}
