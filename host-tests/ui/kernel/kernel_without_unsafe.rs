use ptx_kernel::kernel;

kernel! {
    pub fn nothing() {}
}

fn main() {}
