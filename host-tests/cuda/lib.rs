//! A GPU that is none: the driver of `cuda/fake_driver.rs`, whose launches the interpreter runs.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

use ptx_interpreter::{Delays, L1, Launch, Outside, Program, Why};

/// How a process ends whose kernel has an instruction that the interpreter does not know.
pub const GAP: i32 = 86;

const ILLEGAL_ADDRESS: u32 = 700;
const TIMEOUT: u32 = 702;
const MISALIGNED_ADDRESS: u32 = 716;
const LAUNCH_FAILED: u32 = 719;

/// Compiles the driver.
pub fn compile(driver: &Path) {
    let fake = concat!(env!("CARGO_MANIFEST_DIR"), "/fake_driver.rs");
    let built = Command::new("rustc")
        .args(["--edition=2024", "--crate-type=cdylib", "--crate-name=fake_driver", "-O", fake, "-o"])
        .arg(driver)
        .status();
    assert!(built.expect("rustc starts").success(), "{fake} does not compile");
}

/// The module that launches run.
static PROGRAM: Mutex<Option<Program>> = Mutex::new(None);

/// The L1 of its multiprocessors.
static CACHE: Mutex<L1> = Mutex::new(L1::None);

/// From here on, launches have this L1.
pub fn with_l1(l1: L1) {
    *CACHE.lock().unwrap() = l1;
}

/// What accesses wait for.
static DELAYS: Mutex<Delays> = Mutex::new(Delays::None);

/// From here on, accesses of launches wait so.
pub fn with_delays(delays: Delays) {
    *DELAYS.lock().unwrap() = delays;
}

/// Number of a module, name, seven numbers, pointers to the arguments.
type Launcher = unsafe extern "C" fn(usize, *const c_char, *const u32, *mut *mut c_void) -> u32;

fn launch_with(launcher: Launcher) {
    // SAFETY: the fake driver has this function, of this type.
    let set = unsafe { ptx_driver::load().unwrap().symbol::<extern "C" fn(Launcher)>(c"fake_set_launcher") };
    set.unwrap()(launcher);
}

/// From here on, launches run kernels of this module.
pub fn run_with(ptx: &str) {
    *PROGRAM.lock().unwrap() = Some(Program::parse(ptx));
    launch_with(launch);
}

/// From here on, each launch runs the kernel of its own module, whose image is PTX.
pub fn run_each_module() {
    launch_with(launch_of);
}

unsafe extern "C" fn launch_of(
    module: usize,
    name: *const c_char,
    sizes: *const u32,
    arguments: *mut *mut c_void,
) -> u32 {
    static PROGRAMS: Mutex<BTreeMap<usize, Arc<Program>>> = Mutex::new(BTreeMap::new());
    type Text = extern "C" fn(usize) -> *mut c_char;
    type Variable = extern "C" fn(usize, *const c_char) -> u64;
    let driver = ptx_driver::load().unwrap();
    let mut programs = PROGRAMS.lock().unwrap();
    let program = programs.entry(module).or_insert_with(|| {
        // SAFETY: the fake driver has this function, of this type, and gives a C string that nobody else has.
        let text = unsafe { CString::from_raw(driver.symbol::<Text>(c"fake_text_of").unwrap()(module)) };
        Arc::new(Program::parse(text.to_str().unwrap()))
    });
    let program = Arc::clone(program);
    drop(programs);
    // SAFETY: the fake driver has this function, of this type.
    let variable_of = unsafe { driver.symbol::<Variable>(c"fake_variable_of") }.unwrap();
    let variable = |name: &CStr| variable_of(module, name.as_ptr());
    // SAFETY: the driver hands over what the kernel takes.
    unsafe { run(&program, name, sizes, arguments, &variable) }
}

unsafe extern "C" fn launch(_: usize, name: *const c_char, sizes: *const u32, arguments: *mut *mut c_void) -> u32 {
    static VARIABLE: LazyLock<extern "C" fn(*const c_char) -> u64> =
        // SAFETY: the fake driver has this function, of this type.
        LazyLock::new(|| unsafe { ptx_driver::load().unwrap().symbol(c"fake_variable") }.unwrap());
    let program = PROGRAM.lock().unwrap();
    // SAFETY: the driver hands over what the kernel takes.
    unsafe { run(program.as_ref().unwrap(), name, sizes, arguments, &|name| VARIABLE(name.as_ptr())) }
}

/// Runs a kernel: how it ended, as the driver says it.
///
/// # Safety
/// The name is a C string, and there are seven sizes. There are as many arguments as the kernel has parameters, each as long.
unsafe fn run(
    program: &Program,
    name: *const c_char,
    sizes: *const u32,
    arguments: *mut *mut c_void,
    variable: &dyn Fn(&CStr) -> u64,
) -> u32 {
    static HOLDS: LazyLock<extern "C" fn(u64, usize) -> bool> =
        // SAFETY: the fake driver has this function, of this type.
        LazyLock::new(|| unsafe { ptx_driver::load().unwrap().symbol(c"fake_holds") }.unwrap());
    // SAFETY: by this function's contract.
    let (kernel, [x, y, z, threads @ .., shared]) =
        unsafe { (CStr::from_ptr(name).to_str().unwrap(), *sizes.cast::<[u32; 7]>()) };
    let count = program.parameters(kernel).unwrap_or_default();
    // SAFETY: the kernel has so many arguments.
    let arguments = unsafe { std::slice::from_raw_parts(arguments.cast::<*const u8>(), count) };
    let variable = |name: &str| {
        // The constant bank may begin anywhere.
        let place = if name.is_empty() { 4096 } else { variable(&CString::new(name).unwrap()) };
        (place != 0).then_some(place)
    };
    let outside = Outside { holds: &|start, bytes| HOLDS(start, bytes), variable: &variable };
    let launch = Launch {
        blocks: [x, y, z],
        threads,
        shared: shared as usize,
        l1: *CACHE.lock().unwrap(),
        delays: *DELAYS.lock().unwrap(),
        ..Launch::new(kernel, arguments)
    };
    // SAFETY: the arguments were checked by the driver, and what it holds may be read and written.
    let Err(stop) = (unsafe { program.run(&outside, &launch) }) else { return 0 };
    eprintln!("{stop}");
    match stop.why {
        Why::Gap => std::process::exit(GAP),
        Why::Misaligned => MISALIGNED_ADDRESS,
        Why::Astray | Why::NotGiven => ILLEGAL_ADDRESS,
        Why::Endless | Why::Late => TIMEOUT,
        Why::Trap | Why::Wrong => LAUNCH_FAILED,
    }
}
