use ptx_kernel::kernel;

kernel! {
    #[launch_bounds(512, 8)]
    pub unsafe fn nothing() {}
}

fn main() {}
