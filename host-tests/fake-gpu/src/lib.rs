//! The driver of `cuda/fake_driver.rs` with the interpreter of PTX in the GPU's place: a program that opens it as
//! `libcuda.so.1` runs its kernels, machine code too, if `FAKE_PTX` names the folder with the PTX that it was assembled from.
//! That is how `cargo xtask rehearse` runs a bundle, as it is, where there is no GPU.

extern crate alloc;

#[path = "../../cuda/fake_driver.rs"]
mod driver;

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use ptx_interpreter::{Launch, Outside, Program, Why};

const ILLEGAL_ADDRESS: u32 = 700;
const TIMEOUT: u32 = 702;
const MISALIGNED_ADDRESS: u32 = 716;
const LAUNCH_FAILED: u32 = 719;

extern "C" fn begin() {
    *driver::LAUNCHER.lock().expect("nothing runs yet") = Some(run);
    *driver::TEXT_OF.lock().expect("nothing runs yet") = Some(text_of);
}

/// What the system calls when it opens this library.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// The text of an image has a name that its bytes make (FNV-1a), as `kernels/workloads/src/image.rs` writes it.
fn text_of(image: &[u8]) -> Option<String> {
    let folder = std::env::var_os("FAKE_PTX")?;
    let name = image
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    std::fs::read_to_string(Path::new(&folder).join(format!("{name:016x}.ptx"))).ok()
}

/// # Safety
/// The name is a C string, and there are seven sizes. There are as many arguments as the kernel has parameters, each as long.
unsafe extern "C" fn run(module: usize, name: *const c_char, sizes: *const u32, arguments: *mut *mut c_void) -> u32 {
    static PROGRAMS: LazyLock<Mutex<HashMap<usize, Arc<Program>>>> = LazyLock::new(Mutex::default);
    let mut programs = PROGRAMS.lock().expect("no thread panics while it holds this");
    let program = Arc::clone(programs.entry(module).or_insert_with(|| Arc::new(Program::parse(&driver::text(module)))));
    drop(programs);
    // SAFETY: by this function's contract.
    let (name, [x, y, z, threads @ .., shared]) = unsafe { (CStr::from_ptr(name), *sizes.cast::<[u32; 7]>()) };
    let Ok(kernel) = name.to_str() else { return LAUNCH_FAILED };
    let Some(count) = program.parameters(kernel) else { return LAUNCH_FAILED };
    // SAFETY: the kernel has so many arguments.
    let arguments = unsafe { std::slice::from_raw_parts(arguments.cast::<*const u8>(), count) };
    let variable = |name: &str| {
        // The constant bank may begin anywhere.
        let place = if name.is_empty() { 4096 } else { driver::variable(module, name) };
        (place != 0).then_some(place)
    };
    let outside = Outside { holds: &driver::is_device_memory, variable: &variable };
    let launch = Launch { blocks: [x, y, z], threads, shared: shared as usize, ..Launch::new(kernel, arguments) };
    // SAFETY: the arguments were checked by the driver, and what it holds may be read and written.
    let Err(stop) = (unsafe { program.run(&outside, &launch) }) else { return 0 };
    eprintln!("{stop}");
    match stop.why {
        Why::Misaligned => MISALIGNED_ADDRESS,
        Why::Astray => ILLEGAL_ADDRESS,
        Why::Endless | Why::Late => TIMEOUT,
        Why::Gap | Why::Trap | Why::Wrong => LAUNCH_FAILED,
    }
}
