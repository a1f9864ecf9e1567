//! `ptx-gpu` in a GPU's place, for tests and for `cargo xtask rehearse`: a program opens it as `libcuda.so.1`. It has the name and the
//! sizes of a small GPU, and it writes calls down. `PTX_CHECK_SM` says which GPU it is. It only runs kernels; with `FAKE_CHECKS=1` it
//! checks them too, and its findings go to the file `PTX_CHECK_REPORT`.
//!
//! It runs machine code too, if `FAKE_PTX` names the folder with the PTX that it was assembled from. Its faults are in
//! `faults.rs`.

mod calls;
mod device;
mod driver;
mod faults;
mod late;
mod machine;
mod settings;

use std::path::Path;

use ptx_gpu::{Call, Changed, change};

use crate::driver::{Body, SUCCESS};

extern "C" fn begin() {
    let runs_only = settings::of("FAKE_CHECKS").is_none();
    change(Changed { around, launch: machine::change, text_of, runs_only });
}

/// What the system calls when it opens this library.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

fn around(call: Call<'_>, body: Body<'_>) -> u32 {
    calls::note(call);
    late::before(call);
    faults::instead(call).unwrap_or_else(|| {
        let status = late::around(call, body);
        if status == SUCCESS {
            device::after(call);
            faults::after(call);
        }
        status
    })
}

/// The interpreter takes an ordinary address for a multimem address of one copy.
#[unsafe(no_mangle)]
extern "C" fn fake_has_multimem() -> bool {
    true
}

/// The text of an image has a name that its bytes make (FNV-1a), as `kernels/workloads/src/image.rs` writes it.
fn text_of(image: &[u8]) -> Option<String> {
    let folder = settings::of("FAKE_PTX")?;
    let name = image
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    std::fs::read_to_string(Path::new(folder).join(format!("{name:016x}.ptx"))).ok()
}
