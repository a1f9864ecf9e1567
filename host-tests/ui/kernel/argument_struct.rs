use ptx_kernel::*;

#[repr(C)]
pub struct Matrix {
    data: *const f32,
    rows: u32,
}

kernel! {
    pub unsafe fn first(of: Matrix, out: *mut f32) {
        unsafe { *out = if of.rows > 0 { *of.data } else { 0.0 } }
    }
}

fn main() {}
