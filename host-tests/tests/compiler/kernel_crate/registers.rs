use ptx_kernel::*;

kernel! {
    /// What each register and each function on bits gives.
    ///
    /// # Safety
    /// `x` points at three words for each thread, `out` at 56.
    #[cluster_size(2)]
    pub unsafe fn registers(x: *const [u32; 3], out: *mut [u32; 56]) {
        let i = (block_idx_y() * grid_dim_x() + block_idx_x()) * block_dim_x() + thread_idx_x();
        // SAFETY: the thread's own.
        unsafe {
            let [a, b, c] = *x.add(i as usize);
            let wide = u64::from(b) << 32 | u64::from(a);
            *out.add(i as usize) = [
                smid(), nsmid(), warpid(), nwarpid(), gridid() as u32,
                lanemask_eq(), lanemask_lt(), lanemask_le(), lanemask_gt(), lanemask_ge(),
                clusterid_x(), clusterid_y(), clusterid_z(), nclusterid_x(), nclusterid_y(), nclusterid_z(),
                cluster_ctaid_x(), cluster_ctaid_y(), cluster_ctaid_z(),
                cluster_nctaid_x(), cluster_nctaid_y(), cluster_nctaid_z(),
                dynamic_smem_size(), total_smem_size(), aggr_smem_size(), current_graph_exec() as u32,
                prmt(a, b, c), prmt_f4e(a, b, c), prmt_b4e(a, b, c), prmt_rc8(a, b, c), prmt_ecl(a, b, c),
                prmt_ecr(a, b, c), prmt_rc16(a, b, c),
                bfind_u32(a), bfind_u64(wide), bfind_s32(a as i32), bfind_s64(wide as i64),
                bfind_shiftamt_u32(a), bfind_shiftamt_u64(wide), bfind_shiftamt_s32(a as i32),
                bfind_shiftamt_s64(wide as i64),
                bmsk_clamp(a & 63, b & 63), bmsk_wrap(a & 63, b & 63),
                dp2a_lo(a, b, c as i32) as u32, dp2a_hi(a, b, c as i32) as u32,
                dp2a_lo_unsigned(a, b, c), dp2a_hi_unsigned(a, b, c),
                exp2_approx_f16x2(a), exp2_approx_ftz_bf16x2(a), tanh_approx_f16x2(a), tanh_approx_bf16x2(a),
                smid(), warpid(), u32::from(clock_hi() > 1 << 24),
                u32::from(globaltimer_hi() > 1 << 24), globaltimer_lo() >> 31 >> 1,
            ];
        }
    }
}
