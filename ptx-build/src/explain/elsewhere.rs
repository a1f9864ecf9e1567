//! Instructions that `ptx-intrinsics` does not have, by the words that they begin with.

/// Where they are. The first row counts.
const ELSEWHERE: [(&str, &str); 35] = [
    ("shfl", "`ptx-kernel` has it: `shuffle_xor(value, mask)`, `shuffle_down`, `shuffle_up`, `shuffle`"),
    ("vote", "`ptx-kernel` has it: `ballot(holds)`, `any`, `all`"),
    ("bar.warp", "`ptx-kernel` has it: `sync_warp()`"),
    ("max.f32", "`ptx-kernel` has it: `max_f32(a, b)`"),
    ("min.f32", "`ptx-kernel` has it: `min_f32(a, b)`"),
    ("fma.rn.f16x2", "`ptx-kernel` has it: `fma_f16x2(a, b, c)`"),
    ("fma.rn.bf16x2", "`ptx-kernel` has it: `fma_bf16x2(a, b, c)`"),
    ("fma", "`ptx-kernel` has it: `mul_add(a, b, c)`"),
    ("ex2.approx.f16x2", "`ptx-kernel` has it: `exp2_approx_f16x2(x)`"),
    ("ex2.approx.ftz.bf16x2", "`ptx-kernel` has it: `exp2_approx_ftz_bf16x2(x)`"),
    ("tanh.approx.f16x2", "`ptx-kernel` has it: `tanh_approx_f16x2(x)`"),
    ("tanh.approx.bf16x2", "`ptx-kernel` has it: `tanh_approx_bf16x2(x)`"),
    ("ex2", "`ptx-kernel` has it: `exp2_approx(x)`, `exp2_approx_ftz(x)`"),
    ("lg2", "`ptx-kernel` has it: `log2_approx(x)`"),
    ("rsqrt", "`ptx-kernel` has it: `rsqrt_approx(x)`"),
    ("sqrt", "`ptx-kernel` has it: `sqrt_approx(x)`"),
    ("rcp", "`ptx-kernel` has it: `rcp_approx(x)`, `rcp_approx_ftz(x)`"),
    ("sin", "`ptx-kernel` has it: `sin_approx(x)`"),
    ("cos", "`ptx-kernel` has it: `cos_approx(x)`"),
    ("tanh", "`ptx-kernel` has it: `tanh_approx(x)`"),
    ("dp2a", "`ptx-kernel` has it: `dp2a_lo(a, b, c)`, `dp2a_hi(a, b, c)`, and both `_unsigned`"),
    ("bfind", "`ptx-kernel` has it: `bfind_u32(x)`, `bfind_shiftamt_u32(x)`, and more"),
    ("bmsk", "`ptx-kernel` has it: `bmsk_clamp(at, length)`, `bmsk_wrap(at, length)`"),
    ("exit", "in Rust write `return` in the kernel"),
    ("trap", "in Rust write `panic!()`"),
    ("dp4a", "`ptx-kernel` has it: `dp4a(a, b, c)`"),
    (
        "cvt",
        "`as` converts numbers; `ptx-kernel` has pairs: `pack_bf16x2`, `unpack_bf16x2`, `pack_f16x2`, `unpack_f16x2`, and `pack_e4m3x2`, `e4m3x2_to_f16x2` of FP8",
    ),
    (
        "mov",
        "the compiler writes it; `ptx-kernel` has special registers: `thread_idx_x()`, `block_idx_x()`, `lane_id()`, `smid()`, `lanemask_lt()`, and more",
    ),
    ("nanosleep", "`ptx-kernel` has `pause()`, for a loop that waits"),
    ("ldmatrix", "`ptx_kernel::matrix` has it: `ldmatrix_m8n8_x4(p)`, and more"),
    ("stmatrix", "`ptx_kernel::matrix` has it: `stmatrix_m8n8_x4(p, fragment)`, and more"),
    ("mma", "`ptx_kernel::matrix` has the dense ones: `mma_m16n8k16_f32_bf16(a, b, c)`, and more"),
    ("lop3", "the compiler makes it of `&`, `|`, `^` and `!`"),
    ("prmt", "`ptx-kernel` has it: `prmt(a, b, selector)`, `prmt_f4e(a, b, at)`, and more"),
    (
        "tensormap.cp_fenceproxy",
        "all threads of a warp execute it together, LLVM has no intrinsic for it, and LLVM may copy an `asm!` into branches; \
         let one thread store the 128 bytes in global memory, and then call `fence_proxy_tensormap_generic_release`",
    ),
];

/// Instructions that nothing here has.
const NOWHERE: [&str; 4] = ["wmma", "wgmma", "tcgen05", "movmatrix"];

/// What is said of them.
const NOT_COVERED: &str =
    "it is not covered: docs/coverage.md says what is, and what is not and why; write it with `core::arch::asm!`";

/// Where an instruction is, or that it is nowhere. Of one that the crate has, only a row of several words counts.
pub(super) fn place_of(text: &str, is_known: bool) -> Option<&'static str> {
    let begins = |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let counts = |name: &str| begins(name) && (!is_known || name.contains('.') || name == "mov");
    let place = ELSEWHERE.iter().find(|(name, _)| counts(name)).map(|(_, place)| *place);
    place.or_else(|| NOWHERE.iter().any(|name| begins(name)).then_some(NOT_COVERED))
}
