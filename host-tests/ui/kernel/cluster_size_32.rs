use ptx_kernel::kernel;

kernel! {
    #[cluster_size(32)]
    pub unsafe fn nothing() {}
}

fn main() {}
