//! The way from `cust` to the driver, with a driver that the test compiles: `cuda/fake_driver.rs`.
//!
//! A process opens one driver, once; so every scenario is a process of its own.

use cust::{CudaApiVersion, CudaFlags, device::Device, error::CudaError};
use launch::gpu::{Gpu, NoGpu, Target, newest_ptx};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_driver::{DRIVER_VARIABLE, NoDriver};
use ptx_kernel::cpu::Launch;
use ptx_kernel::{Fill, Format, Promotion, Swizzle, TensorMap};
use std::{
    collections::BTreeSet,
    ffi::{CStr, c_char, c_void},
    fs,
    path::Path,
    process::{Command, ExitCode},
};
use workloads::{self, Workload};

/// A scenario runs in a process of its own, with these variables.
struct Scenario {
    name: &'static str,
    driver: File,
    settings: &'static [(&'static str, &'static str)],
    run: fn(),
}

enum File {
    Fake,
    Named(&'static str),
}

const NOWHERE: &str = "/nonexistent/libcuda.so.1";

const SCENARIOS: &[Scenario] = &[
    Scenario { name: "no_driver", driver: File::Named(NOWHERE), settings: &[], run: no_driver },
    Scenario { name: "not_a_driver", driver: File::Named("libm.so.6"), settings: &[], run: not_a_driver },
    Scenario { name: "calls_arrive", driver: File::Fake, settings: &[], run: calls_arrive },
    Scenario { name: "cust_alone", driver: File::Fake, settings: &[], run: cust_alone },
    Scenario { name: "stub", driver: File::Fake, settings: &[("FAKE_INIT", "34")], run: stub },
    Scenario { name: "init_sees_no_device", driver: File::Fake, settings: &[("FAKE_INIT", "100")], run: no_device },
    Scenario { name: "count_is_zero", driver: File::Fake, settings: &[("FAKE_DEVICES", "0")], run: no_device },
    Scenario { name: "init_fails", driver: File::Fake, settings: &[("FAKE_INIT", "999")], run: init_fails },
    Scenario { name: "gpu_is_described", driver: File::Fake, settings: &[], run: gpu_is_described },
    Scenario { name: "gpu_is_named", driver: File::Fake, settings: &[("FAKE_SM", "89")], run: gpu_is_named },
    Scenario {
        name: "old_gpu",
        driver: File::Fake,
        settings: &[("FAKE_SM", "75"), ("FAKE_VERSION", "12040")],
        run: old_gpu,
    },
    Scenario { name: "tensor_maps", driver: File::Fake, settings: &[], run: tensor_maps },
    Scenario { name: "refused_ptx", driver: File::Fake, settings: &[], run: refused_ptx },
    Scenario { name: "launches", driver: File::Fake, settings: &[], run: launches },
    Scenario { name: "every_workload", driver: File::Fake, settings: &[], run: every_workload },
    Scenario { name: "sums", driver: File::Fake, settings: &[], run: sums },
    Scenario { name: "idle_kernel", driver: File::Fake, settings: &[], run: idle_kernel },
    Scenario { name: "overrun", driver: File::Fake, settings: &[], run: overrun },
    Scenario { name: "changed_input", driver: File::Fake, settings: &[], run: changed_input },
];

const SCENARIO_VARIABLE: &str = "DRIVER_SCENARIO";

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(SCENARIO_VARIABLE) {
        let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name).expect("a scenario's name");
        (scenario.run)();
        println!("{name} done");
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = folder.path().join("libcuda.so.1");
    fake_driver::compile(&fake);
    let mut trials: Vec<_> = SCENARIOS
        .iter()
        .map(|scenario| {
            let fake = fake.clone();
            Trial::test(scenario.name, move || run_scenario(scenario, &fake))
        })
        .collect();
    let plain: [(&str, fn()); 3] = [
        ("every_function_of_cust_is_defined", every_function_is_defined),
        ("targets_are_read_from_images", targets_are_read_from_images),
        ("newest_ptx_by_driver", newest_ptx_by_driver),
    ];
    trials.extend(plain.map(|(name, run)| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn run_scenario(scenario: &Scenario, fake: &Path) -> Result<(), Failed> {
    let driver = match scenario.driver {
        File::Fake => fake,
        File::Named(path) => Path::new(path),
    };
    let output = Command::new(std::env::current_exe()?)
        .env(SCENARIO_VARIABLE, scenario.name)
        .env(DRIVER_VARIABLE, driver)
        .envs(scenario.settings.iter().copied())
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && stdout == format!("{} done\n", scenario.name) {
        return Ok(());
    }
    Err(format!("{}\n{stdout}{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

// Without a GPU.

fn no_driver() {
    let reason = format!("{NOWHERE}: cannot open shared object file: No such file or directory");
    assert_eq!(ptx_driver::load().unwrap_err(), NoDriver::NotOpened(vec![reason.clone()]));
    // SAFETY: cuInit and cuCtxSynchronize may be called at any time.
    let answers = unsafe { [cust::sys::cuInit(0), cust::sys::cuCtxSynchronize()] };
    assert_eq!(answers.map(|answer| answer as i32), [34, 34]);
    assert_eq!(cust::init(CudaFlags::empty()), Err(CudaError::UnknownError));
    assert_eq!(CudaApiVersion::get(), Err(CudaError::UnknownError));
    assert_eq!(CudaError::UnknownError.to_string(), "\"no CUDA driver is loaded\"");
    assert_eq!(
        no_gpu().to_string(),
        format!(
            "no GPU: no CUDA driver could be opened ({reason})\n  → install NVIDIA's driver, or name its \
             libcuda.so.1 in PTX_INTRINSICS_DRIVER"
        )
    );
}

fn not_a_driver() {
    let expected = NoDriver::NotADriver { path: "libm.so.6".into(), function: "cuInit" };
    assert_eq!(ptx_driver::load().unwrap_err(), expected);
    assert_eq!(no_gpu(), NoGpu::NoDriver(expected));
}

fn stub() {
    assert_eq!(no_gpu(), NoGpu::Stub { path: fake_path() });
}

fn no_device() {
    assert_eq!(no_gpu(), NoGpu::NoDevice { path: fake_path(), version: "13.0".into() });
}

fn init_fails() {
    let answer = "CUDA_ERROR_UNKNOWN: said by the fake driver (999)".into();
    assert_eq!(no_gpu(), NoGpu::Failed { step: "cuInit", answer, path: fake_path() });
}

/// What a program learns that does not use the harness.
fn gpu_is_named() {
    let gpu = ptx_driver::gpu().unwrap();
    assert_eq!((gpu.name.as_str(), gpu.sm), ("Fake GPU", 89));
}

fn no_gpu() -> NoGpu {
    let [harness, program] = [Gpu::find().err(), ptx_driver::gpu().err()];
    assert_eq!(harness, program);
    harness.expect("there is no GPU")
}

fn fake_path() -> String {
    std::env::var(DRIVER_VARIABLE).unwrap()
}

// The fake driver in the real one's place.

fn calls_arrive() {
    let driver = ptx_driver::load().unwrap();
    assert_eq!((driver.path(), driver.version().to_string()), (&*fake_path(), "13.0".into()));
    cust::init(CudaFlags::empty()).unwrap();
    assert_eq!(Device::get_device(0).unwrap().name().unwrap(), "Fake GPU");
    assert_eq!(Device::get_device(1).unwrap_err(), CudaError::InvalidDevice);
    assert_eq!(calls(), ["cuInit 0", "cuDeviceGet 0", "cuDeviceGet 1"]);
    // SAFETY: without a graph; the fake driver does not have this function.
    let missing = unsafe { cust::sys::cuGraphDestroy(std::ptr::null_mut()) };
    assert_eq!(missing as u32, ptx_driver::NOT_FOUND);
}

/// A program that never calls [`ptx_driver::load`] gets the driver all the same.
fn cust_alone() {
    assert_eq!(CudaApiVersion::get().map(|version| (version.major(), version.minor())), Ok((13, 0)));
    cust::init(CudaFlags::empty()).unwrap();
    assert_eq!(Device::num_devices(), Ok(1));
    assert_eq!(calls(), ["cuInit 0"]);
}

fn gpu_is_described() {
    let gpu = Gpu::find().unwrap();
    assert_eq!((gpu.name(), gpu.sm(), gpu.memory(), gpu.processors()), ("Fake GPU", 90, 1 << 30, 4));
}

const PTX_90: &[u8] = b"// made\n.version 9.0\n.target sm_90a, debug\n.address_size 64\n";
const PTX_75: &[u8] = b".version 9.0\n.target sm_75\n";

fn old_gpu() {
    let gpu = Gpu::find().unwrap();
    let message = |image: &[u8]| gpu.load(image).unwrap_err().to_string();
    assert_eq!(
        message(PTX_90),
        "the kernels were built for sm_90; this GPU is older, sm_75\n  → build them for it: -Ctarget-cpu=sm_75"
    );
    assert_eq!(
        message(PTX_75),
        "the kernels are PTX 9.0; the driver (CUDA 12.4) takes 8.4 at most\n  → update the driver\n  \
         → assemble the PTX with ptxas first: `ptxas -arch sm_75`\n  \
         → build it older: -Ctarget-feature=+ptx84"
    );
    assert_eq!(
        message(b"kernels"),
        "this is neither a cubin nor a PTX text with .version and .target\n  at image of 7 bytes\n  \
         → pass what ptxas wrote with -o, or what rustc wrote with --emit=asm"
    );
    assert_eq!(calls(), ["cuInit 0", "cuDeviceGet 0"], "a refused image does not reach the driver");
}

fn refused_ptx() {
    let gpu = Gpu::find().unwrap();
    let image = [PTX_90, b"bad %r1;\n"].concat();
    assert_eq!(
        gpu.load(&image).unwrap_err().to_string(),
        "loading the kernels failed with CUDA_ERROR_INVALID_PTX: said by the fake driver (218)\n  at Fake GPU\n  \
         | line 4: bad is not an opcode"
    );
}

/// Every call of a whole run, with its sizes.
fn launches() {
    run_kernels_with(run_kernel);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(PTX_90).unwrap();
    let figures = workloads::run_on_gpu(by_name("triad"), 1000, &gpu, &module).unwrap();
    assert_eq!((figures.elements, figures.useful_bytes, figures.mismatches), (4000, 48_000, 0));
    // The fake driver's clock says 2 ms for 20 launches.
    assert!((figures.seconds - 1e-4).abs() < 1e-9, "{}", figures.seconds);
    assert!((figures.gigabytes_per_second - 0.48).abs() < 1e-6, "{}", figures.gigabytes_per_second);
    let expected = [
        vec!["cuInit 0", "cuDeviceGet 0", "cuModuleLoadDataEx 60"],
        ["cuMemAlloc 16512", "cuMemcpyHtoD 16512"].repeat(3),
        vec!["cuModuleGetFunction triad"],
        ["cuLaunchKernel triad [4, 1, 1, 256, 1, 1] 0"].repeat(21),
        ["cuMemcpyDtoH 16512"].repeat(3),
        ["cuMemFree 16512"].repeat(3),
    ];
    assert_eq!(calls(), expected.concat());
}

fn every_workload() {
    run_kernels_with(run_kernel);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(PTX_90).unwrap();
    let mut ran = Vec::new();
    for workload in workloads::ALL {
        for size in [0, 1, 3, 60] {
            let figures = workloads::run_on_gpu(workload, size, &gpu, &module).unwrap();
            assert_eq!(figures.first_mismatch, None, "{} of size {size}", workload.name());
            ran.push((figures.workload, figures.elements));
        }
    }
    let expected = [
        ("triad", [0, 4, 12, 240]),
        ("gather", [0, 64, 192, 3840]),
        ("spmv", [0, 1, 9, 3600]),
        ("probe", [0, 1, 3, 60]),
    ];
    let expected = expected.into_iter().flat_map(|(name, sizes)| sizes.map(|elements| (name, elements)));
    assert_eq!(ran, expected.collect::<Vec<_>>());
    // SAFETY: the fake driver has this function, of this type.
    let live = unsafe { ptx_driver::load().unwrap().symbol::<extern "C" fn() -> usize>(c"fake_live_allocations") };
    assert_eq!(live.unwrap()(), 0, "everything is freed");
}

/// The fake driver makes the maps that a CPU reads, so that what it is given can be compared.
fn tensor_maps() {
    let tensor = Gpu::find().unwrap().upload(&[0; 4096]).unwrap();
    let at = std::ptr::without_provenance::<u16>(tensor.address() as usize);
    let map = TensorMap::tiled(at, [32, 8, 4], [16, 2, 1])
        .strides(&[64, 1024])
        .steps([1, 2, 1])
        .format(Format::Bf16)
        .swizzle(Swizzle::Bytes32)
        .promotion(Promotion::Bytes128)
        .fill(Fill::Nan);
    assert_eq!(map.encode_by(ptx_driver::tensor_map_tiled), Ok(map.encode().unwrap()));
    let images = TensorMap::im2col_w_128(at, [32, 8, 4], 16).corners(-1, -2).steps([1, 2, 1]).swizzle(Swizzle::Bytes64);
    assert_eq!(images.encode_by(ptx_driver::tensor_map_im2col_wide), Ok(images.encode().unwrap()));
    assert!(calls().ends_with(&["cuTensorMapEncodeTiled 3", "cuTensorMapEncodeIm2colWide 3"].map(str::to_owned)));
    // Its rules hold, and it is nowhere.
    let nowhere = TensorMap::tiled(std::ptr::without_provenance::<u16>(16), [32], [16]);
    let why = nowhere.encode_by(ptx_driver::tensor_map_tiled).unwrap_err().to_string();
    assert!(why.starts_with("no tensor map was made: cuTensorMapEncodeTiled failed with "), "{why}");
    assert!(why.ends_with(&format!(" (1): the driver {} does not say why", fake_path())), "{why}");
}

/// A kernel that adds to its output finds it zero, each time.
fn sums() {
    run_kernels_with(run_kernel);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(PTX_90).unwrap();
    let figures = workloads::run_on_gpu(by_name("histogram"), 1000, &gpu, &module).unwrap();
    assert_eq!((figures.elements, figures.mismatches), (256, 0));
    let launch = ["cuModuleGetFunction histogram", "cuLaunchKernel histogram [1, 1, 1, 256, 1, 1] 0"];
    let run = [vec!["cuMemcpyHtoD 1536"], launch.to_vec(), vec!["cuMemcpyDtoH 1536"]].concat();
    let expected = [
        vec!["cuInit 0", "cuDeviceGet 0", "cuModuleLoadDataEx 60"],
        vec!["cuMemAlloc 1536", "cuMemcpyHtoD 1536", "cuMemAlloc 1520", "cuMemcpyHtoD 1520"],
        run.repeat(5),
        vec!["cuMemcpyDtoH 1520", "cuMemFree 1536", "cuMemFree 1520"],
    ];
    assert_eq!(calls(), expected.concat());
}

/// A kernel that does nothing leaves the poison, and every element is wrong.
fn idle_kernel() {
    unsafe extern "C" fn idle(_: usize, _: *const c_char, _: *const u32, _: *mut *mut c_void) -> u32 {
        0
    }
    run_kernels_with(idle);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(PTX_90).unwrap();
    for workload in workloads::ALL {
        let figures = workloads::run_on_gpu(workload, 60, &gpu, &module).unwrap();
        assert_eq!(figures.mismatches, figures.elements, "{}", workload.name());
        let message = figures.verify().unwrap_err().to_string();
        let begin = format!("{0}: {1} of {1} elements are wrong: element 0 is ", workload.name(), figures.elements);
        assert!(message.starts_with(&begin), "{message}");
    }
}

/// A kernel that writes after its output.
fn overrun() {
    unsafe extern "C" fn one_more(_: usize, _: *const c_char, _: *const u32, arguments: *mut *mut c_void) -> u32 {
        // SAFETY: the first argument of triad is its output, of 160 bytes and a guard band.
        unsafe { argument::<*mut u8>(arguments, 0).add(160).write(0) };
        0
    }
    run_kernels_with(one_more);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(PTX_90).unwrap();
    let error = workloads::run_on_gpu(by_name("triad"), 10, &gpu, &module).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a kernel wrote outside of its buffer: byte 160 of 160\n  at Fake GPU\n  \
         → look at the kernel's last index; `compute-sanitizer` names the thread"
    );
}

/// A kernel that writes to what it should only read.
fn changed_input() {
    unsafe extern "C" fn scribble(_: usize, _: *const c_char, _: *const u32, arguments: *mut *mut c_void) -> u32 {
        // SAFETY: the second argument of triad is an input, of 160 bytes.
        unsafe { argument::<*mut [u8; 4]>(arguments, 1).write([1, 2, 3, 4]) };
        0
    }
    run_kernels_with(scribble);
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(PTX_90).unwrap();
    let error = workloads::run_on_gpu(by_name("triad"), 10, &gpu, &module).unwrap_err();
    assert_eq!(error.to_string(), "the kernel changed its input\n  at kernels/src/triad.rs");
}

fn by_name(name: &str) -> &'static dyn Workload {
    let mut all = workloads::ALL.into_iter().chain(workloads::ORDERED);
    all.find(|workload| workload.name() == name).expect("a workload's name")
}

type Launcher = unsafe extern "C" fn(usize, *const c_char, *const u32, *mut *mut c_void) -> u32;

fn run_kernels_with(launcher: Launcher) {
    let driver = ptx_driver::load().unwrap();
    // SAFETY: the fake driver has this function, of this type.
    let set = unsafe { driver.symbol::<extern "C" fn(Launcher)>(c"fake_set_launcher") };
    set.unwrap()(launcher);
}

fn calls() -> Vec<String> {
    let driver = ptx_driver::load().unwrap();
    // SAFETY: the fake driver has this function, of this type.
    let take = unsafe { driver.symbol::<extern "C" fn() -> *mut c_char>(c"fake_take_calls") };
    // SAFETY: it gives a C string away.
    let lines = unsafe { CStr::from_ptr(take.unwrap()()) };
    lines.to_str().unwrap().lines().map(String::from).collect()
}

/// # Safety
/// The kernel's argument number `at` is a `T`.
unsafe fn argument<T: Copy>(arguments: *mut *mut c_void, at: usize) -> T {
    // SAFETY: by this function's contract.
    unsafe { (*arguments.add(at)).cast::<T>().read_unaligned() }
}

/// What a GPU does: runs the kernel of that name on every thread of the grid. The arguments are
/// taken by the kernel's own parameter types.
unsafe extern "C" fn run_kernel(_: usize, name: *const c_char, shape: *const u32, arguments: *mut *mut c_void) -> u32 {
    // SAFETY: the fake driver passes a C string and seven numbers.
    let (name, shape) = unsafe { (CStr::from_ptr(name), *shape.cast::<[u32; 7]>()) };
    let [blocks, 1, 1, threads, 1, 1, 0] = shape else { panic!("a grid of one dimension, not {shape:?}") };
    macro_rules! launch {
        ($kernel:path: $($at:literal)*) => {
            // SAFETY: the harness passes what the kernel takes.
            unsafe { Launch::new(blocks, threads).run(|| $kernel($(argument(arguments, $at)),*)) }
        };
    }
    match name.to_str() {
        Ok("triad") => launch!(kernels::triad::triad: 0 1 2 3 4),
        Ok("gather") => launch!(kernels::gather::gather: 0 1 2 3),
        Ok("spmv") => launch!(kernels::spmv::spmv: 0 1 2 3 4 5),
        Ok("probe") => launch!(kernels::probe::probe: 0 1 2 3 4),
        Ok("histogram") => launch!(kernels::histogram::histogram: 0 1 2),
        _ => panic!("{name:?} is no kernel"),
    }
    0
}

// What needs no process of its own.

/// The linker notices a missing function only where a program uses it; this reads `cust` itself.
fn every_function_is_defined() {
    let name = regex::Regex::new(r"\bcu[A-Z]\w*").unwrap();
    let names = |folder: &str| {
        let mut names = BTreeSet::new();
        each_source(&package_folder(folder).join("src"), &mut |text| {
            names.extend(name.find_iter(text).map(|name| name.as_str().to_string()));
        });
        names
    };
    let declaration = regex::Regex::new(r"pub fn (cu[A-Z]\w*)").unwrap();
    let mut declared = BTreeSet::new();
    each_source(&package_folder("cust_raw").join("src"), &mut |text| {
        declared.extend(declaration.captures_iter(text).map(|found| found[1].to_string()));
    });
    let named: Vec<_> = names("cust").intersection(&declared).cloned().collect();
    let mut defined: Vec<_> = ptx_driver::functions().map(String::from).collect();
    defined.sort();
    assert!(named.len() > 100, "cust names more than {} functions", named.len());
    assert_eq!(named, defined, "the list in ptx-driver, and what cust names");
}

fn package_folder(package: &str) -> std::path::PathBuf {
    // Without it, cargo asks for the packages of platforms that nothing was downloaded for.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline", "--filter-platform", &platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let found = packages.iter().find(|entry| entry["name"] == package).expect("a dependency");
    Path::new(found["manifest_path"].as_str().expect("a path")).parent().expect("a folder").into()
}

fn each_source(folder: &Path, visit: &mut dyn FnMut(&str)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            each_source(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&fs::read_to_string(&path).expect("a text"));
        }
    }
}

fn targets_are_read_from_images() {
    let cubin = |abi_version: u8, flags: u32| {
        let mut header = vec![0; 64];
        header[..4].copy_from_slice(b"\x7fELF");
        header[8] = abi_version;
        header[0x30..0x34].copy_from_slice(&flags.to_le_bytes());
        Target::of(&header).ok()
    };
    // As ptxas 12.9 and 13.5 write them.
    assert_eq!(cubin(7, 0x0032_0532), Some(Target::Cubin { sm: 50 }));
    assert_eq!(cubin(7, 0x005a_0d5a), Some(Target::Cubin { sm: 90 }));
    assert_eq!(cubin(8, 0x0600_5a04), Some(Target::Cubin { sm: 90 }));
    assert_eq!(cubin(8, 0x0600_7902), Some(Target::Cubin { sm: 121 }));
    assert_eq!(Target::of(PTX_90).ok(), Some(Target::Ptx { sm: 90, version: (9, 0) }));
    assert!(Target::of(b"\x7fELF").is_err());

    let check =
        |target: Target, sm| target.check(sm, ptx_driver::CudaVersion(13000)).map_err(|error| error.to_string());
    assert_eq!(check(Target::Cubin { sm: 80 }, 86), Ok(()));
    assert_eq!(
        check(Target::Cubin { sm: 80 }, 90),
        Err("machine code for sm_80 does not run on this GPU's sm_90\n  \
             → assemble the PTX with `ptxas -arch sm_90`, or load the PTX itself"
            .into())
    );
    assert_eq!(check(Target::Ptx { sm: 80, version: (9, 0) }, 121), Ok(()));
}

fn newest_ptx_by_driver() {
    let of = |version| newest_ptx(ptx_driver::CudaVersion(version));
    assert_eq!(
        [11040, 12000, 12060, 12070, 12080, 13000, 13050].map(of),
        [(7, 4), (8, 0), (8, 5), (8, 6), (8, 7), (9, 0), (9, 5)].map(Some)
    );
    assert_eq!(of(14000), None);
}
