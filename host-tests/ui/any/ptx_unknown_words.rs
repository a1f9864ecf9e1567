//! A word that PTX does not have, beside the one that it has.
use ptx_intrinsics::prelude::*;

fn main() {}

// CUDA's word for a type.
fn ptx_cuda_vector(p: *const V4<f32>) -> V4<f32> {
    unsafe { ptx!(ld.global.float4 [p]) }
}

// PTX writes the levels in capitals.
fn ptx_level_lower_case(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.l1::evict_last.f32 [p]) }
}

// A priority is one of L1 or of L2.
fn ptx_level_missing(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.evict_last.f32 [p]) }
}

// A word that PTX does not have.
fn ptx_order_misspelt(p: *const f32) -> f32 {
    unsafe { ptx!(ld.aquire.gpu.global.f32 [p]) }
}

// Rust's word for a type.
fn ptx_rust_type(p: *const i32) -> i32 {
    unsafe { ptx!(ld.global.i32 [p]) }
}

// CUDA's word for a scope.
fn ptx_scope_of_cuda(p: *const f32) -> f32 {
    unsafe { ptx!(ld.acquire.device.global.f32 [p]) }
}

// A word that PTX does not have.
fn ptx_space_misspelt(p: *const f32) -> f32 {
    unsafe { ptx!(ld.globl.f32 [p]) }
}

// A word that PTX does not have.
fn ptx_word_misspelt(p: *const f32) -> f32 {
    unsafe { ptx!(ld.global.L1::evict_lst.f32 [p]) }
}
