use ptx_kernel::*;

kernel! {
    /// What each function makes of three words of each thread.
    ///
    /// # Safety
    /// `x` points at three words for each thread, `out` at 24.
    pub unsafe fn halves(x: *const [u32; 3], out: *mut [u32; 24]) {
        let i = global_index() as usize;
        // SAFETY: the thread's own.
        unsafe {
            let [a, b, c] = *x.add(i);
            *out.add(i) = [
                add_f16x2(a, b),
                sub_f16x2(a, b),
                mul_f16x2(a, b),
                fma_f16x2(a, b, c),
                min_f16x2(a, b),
                max_f16x2(a, b),
                add_bf16x2(a, b),
                sub_bf16x2(a, b),
                mul_bf16x2(a, b),
                fma_bf16x2(a, b, c),
                min_bf16x2(a, b),
                max_bf16x2(a, b),
                f16_to_f32(a as u16).to_bits(),
                bf16_to_f32(a as u16).to_bits(),
                f32_to_f16(f32::from_bits(c)).into(),
                f32_to_bf16(f32::from_bits(c)).into(),
                pack_e4m3x2([f32::from_bits(c), f32::from_bits(b)]).into(),
                pack_e5m2x2([f32::from_bits(c), f32::from_bits(b)]).into(),
                f16x2_to_e4m3x2(a).into(),
                f16x2_to_e5m2x2(a).into(),
                e4m3x2_to_f16x2(a as u16),
                e5m2x2_to_f16x2(a as u16),
                unpack_f16x2(b)[0].to_bits(),
                unpack_f16x2(b)[1].to_bits(),
            ];
        }
    }
}
