//! The driver of `ptx-gpu` in a GPU's place: a program that opens it as `libcuda.so.1` runs its kernels, machine code too, if
//! `FAKE_PTX` names the folder with the PTX that it was assembled from. That is how `cargo xtask rehearse` runs a bundle, as it is,
//! where there is no GPU.

use std::path::Path;

use ptx_gpu::{Changed, change};

/// Bytes of L2: so the buffers of the laboratory are small.
const L2: i32 = 1 << 14;

extern "C" fn begin() {
    change(Changed { name: "Fake GPU", attribute, text_of, runs_only: true });
}

/// What the system calls when it opens this library.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

fn attribute(which: u32) -> Option<i32> {
    match which {
        16 => Some(4),       // multiprocessors
        38 => Some(L2),      // bytes of L2
        108 => Some(L2 / 2), // those that can be set aside
        _ => None,
    }
}

/// The interpreter takes an ordinary address for a multimem address of one copy.
#[unsafe(no_mangle)]
extern "C" fn fake_has_multimem() -> bool {
    true
}

/// The text of an image has a name that its bytes make (FNV-1a), as `kernels/workloads/src/image.rs` writes it.
fn text_of(image: &[u8]) -> Option<String> {
    let folder = std::env::var_os("FAKE_PTX")?;
    let name = image
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    std::fs::read_to_string(Path::new(&folder).join(format!("{name:016x}.ptx"))).ok()
}
