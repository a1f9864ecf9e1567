use ptx_kernel::kernel;

kernel! {
    #[launch_bounds(0)]
    pub unsafe fn nothing() {}
}

fn main() {}
