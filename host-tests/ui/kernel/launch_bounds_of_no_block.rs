use ptx_kernel::kernel;

kernel! {
    #[launch_bounds(256, 0)]
    pub unsafe fn nothing() {}
}

fn main() {}
