//! The way from `cust` to the driver, with `fake-gpu` in the driver's place, which runs the worked kernels.
//!
//! A process opens one driver, once; so every scenario is a process of its own.

use cust::{CudaApiVersion, CudaFlags, device::Device, error::CudaError};
use fake_gpu_client::{CHECKS_VARIABLE, REPORT_VARIABLE, SM_VARIABLE, bytes_in_use, calls, findings, library};
use host_tests::check::here::toolchain;
use launch::gpu::{Gpu, NoGpu};
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_build::progress::Progress;
use ptx_build::target::Sm;
use ptx_driver::{DRIVER_VARIABLE, NoDriver};
use ptx_kernel::{Fill, Format, Promotion, Swizzle, TensorMap};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
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
    /// One that has no function but those that every driver has.
    Old,
}

const NOWHERE: &str = "/nonexistent/libcuda.so.1";

const SCENARIOS: &[Scenario] = &[
    Scenario { name: "no_driver", driver: File::Named(NOWHERE), settings: &[], run: no_driver },
    Scenario { name: "not_a_driver", driver: File::Named("libm.so.6"), settings: &[], run: not_a_driver },
    Scenario { name: "an_old_driver", driver: File::Old, settings: &[], run: an_old_driver },
    Scenario { name: "calls_arrive", driver: File::Fake, settings: &[], run: calls_arrive },
    Scenario { name: "cust_alone", driver: File::Fake, settings: &[], run: cust_alone },
    Scenario { name: "stub", driver: File::Fake, settings: &[("FAKE_FAIL", "cuInit=34")], run: stub },
    Scenario {
        name: "init_sees_no_device",
        driver: File::Fake,
        settings: &[("FAKE_FAIL", "cuInit=100")],
        run: no_device,
    },
    Scenario { name: "count_is_zero", driver: File::Fake, settings: &[("FAKE_DEVICES", "0")], run: no_device },
    Scenario { name: "init_fails", driver: File::Fake, settings: &[("FAKE_FAIL", "cuInit=999")], run: init_fails },
    Scenario { name: "gpu_is_described", driver: File::Fake, settings: &[], run: gpu_is_described },
    Scenario { name: "gpu_is_named", driver: File::Fake, settings: &[(SM_VARIABLE, "89")], run: gpu_is_named },
    Scenario {
        name: "tensor_maps",
        driver: File::Fake,
        settings: &[("FAKE_FAIL", "cuTensorMapEncodeIm2col=1")],
        run: tensor_maps,
    },
    Scenario { name: "refused_ptx", driver: File::Fake, settings: &[(SM_VARIABLE, "100")], run: refused_ptx },
    Scenario { name: "launches", driver: File::Fake, settings: &[("FAKE_MICROSECONDS", "100")], run: launches },
    Scenario { name: "every_workload", driver: File::Fake, settings: &[], run: every_workload },
    Scenario { name: "sums", driver: File::Fake, settings: &[], run: sums },
    Scenario { name: "idle_kernel", driver: File::Fake, settings: &[("FAKE_IDLE", "1")], run: idle_kernel },
    Scenario { name: "overrun", driver: File::Fake, settings: &[], run: overrun },
    Scenario { name: "changed_input", driver: File::Fake, settings: &[], run: changed_input },
];

const SCENARIO_VARIABLE: &str = "DRIVER_SCENARIO";

/// Names the file with the PTX of the worked kernels.
const KERNELS_VARIABLE: &str = "DRIVER_KERNELS";

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(SCENARIO_VARIABLE) {
        let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name).expect("a scenario's name");
        (scenario.run)();
        println!("{name} done");
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kernels = if arguments.list { PathBuf::new() } else { prepare(folder.path()) };
    let mut trials: Vec<_> = SCENARIOS
        .iter()
        .map(|scenario| {
            let (folder, kernels) = (folder.path().to_owned(), kernels.clone());
            Trial::test(scenario.name, move || run_scenario(scenario, &folder, &kernels))
        })
        .collect();
    trials.push(Trial::test("every_function_of_cust_is_defined", || {
        every_function_is_defined();
        Ok(())
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

const OLD_DRIVER: &str = "
    #[unsafe(no_mangle)]
    pub extern \"C\" fn cuInit(_: u32) -> u32 { 0 }
    #[unsafe(no_mangle)]
    pub unsafe extern \"C\" fn cuDriverGetVersion(version: *mut i32) -> u32 { unsafe { version.write(8000) }; 0 }
";

/// Compiles the old driver, and the worked kernels: the file that has them.
fn prepare(folder: &Path) -> PathBuf {
    let source = folder.join("old.rs");
    fs::write(&source, OLD_DRIVER).expect("a temporary folder takes it");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=cdylib", "-o"]).arg(folder.join("old.so")).arg(source);
    assert!(rustc.status().expect("rustc starts").success(), "the old driver does not compile");
    workloads::ptx(Sm::new(90), &toolchain(), &Progress::kept()).unwrap_or_else(|error| panic!("{error}"))
}

fn run_scenario(scenario: &Scenario, folder: &Path, kernels: &Path) -> Result<(), Failed> {
    let driver = match scenario.driver {
        File::Fake => library(),
        File::Named(path) => path.into(),
        File::Old => folder.join("old.so"),
    };
    let output = Command::new(std::env::current_exe()?)
        .env(SCENARIO_VARIABLE, scenario.name)
        .env(DRIVER_VARIABLE, driver)
        .env(KERNELS_VARIABLE, kernels)
        .env(CHECKS_VARIABLE, "1")
        .env(REPORT_VARIABLE, folder.join(scenario.name))
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
    assert_eq!(no_gpu(), NoGpu::NoDevice { path: fake_path(), version: "13.5".into() });
}

fn init_fails() {
    let answer = "CUDA_ERROR_UNKNOWN: unknown error (999)".into();
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

/// A function that the driver lacks says so.
fn an_old_driver() {
    assert_eq!(ptx_driver::load().unwrap().version().to_string(), "8.0");
    // SAFETY: without a graph, and the driver does not have this function.
    let [missing, there] =
        unsafe { [cust::sys::cuGraphDestroy(std::ptr::null_mut()) as u32, cust::sys::cuInit(0) as u32] };
    assert_eq!((missing, there), (ptx_driver::NOT_FOUND, 0));
}

// The fake GPU in a real one's place.

fn calls_arrive() {
    let driver = ptx_driver::load().unwrap();
    assert_eq!((driver.path(), driver.version().to_string()), (&*fake_path(), "13.5".into()));
    cust::init(CudaFlags::empty()).unwrap();
    assert_eq!(Device::get_device(0).unwrap().name().unwrap(), "Fake GPU");
    assert_eq!(Device::get_device(1).unwrap_err(), CudaError::InvalidDevice);
    assert_eq!(calls(), ["cuInit 0", "cuDeviceGet 0", "cuDeviceGet 1"]);
}

/// A program that never calls [`ptx_driver::load`] gets the driver all the same.
fn cust_alone() {
    assert_eq!(CudaApiVersion::get().map(|version| (version.major(), version.minor())), Ok((13, 5)));
    cust::init(CudaFlags::empty()).unwrap();
    assert_eq!(Device::num_devices(), Ok(1));
    assert_eq!(calls(), ["cuInit 0"]);
}

fn gpu_is_described() {
    let gpu = Gpu::find().unwrap();
    assert_eq!((gpu.name(), gpu.sm(), gpu.memory(), gpu.processors()), ("Fake GPU", 90, 1 << 30, 4));
}

const PTX_90: &[u8] = b"// made\n.version 9.0\n.target sm_90a, debug\n.address_size 64\n";
/// PTX for one GPU alone, which another refuses.
fn refused_ptx() {
    let gpu = Gpu::find().unwrap();
    assert_eq!(
        gpu.load(PTX_90).unwrap_err().to_string(),
        "loading the kernels failed with CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed (218)\n  at Fake GPU\n  | the PTX is for sm_90a, and the GPU is sm_100: choose another with `cargo ptx check --sm`"
    );
}

/// The worked kernels, compiled.
fn worked_kernels() -> String {
    fs::read_to_string(std::env::var_os(KERNELS_VARIABLE).expect("the file")).expect("it was compiled")
}

/// The worked kernels, triad with a store of a byte before everything that it does.
fn with_a_store(argument: u32, at: u32, value: u32) -> String {
    let all = worked_kernels();
    let (before, triad) = all.split_once(".entry triad(").expect("it is there");
    let store = format!(
        "{{\n.reg .b64 %stray;\n.reg .b32 %byte;\nld.param.b64 %stray, [triad_param_{argument}];\n\
         mov.b32 %byte, {value};\nst.global.u8 [%stray+{at}], %byte;\n"
    );
    format!("{before}.entry triad({}", triad.replacen("{\n", &store, 1))
}

/// Every call of a whole run, with its sizes.
fn launches() {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(worked_kernels().as_bytes()).unwrap();
    let figures = workloads::run_on_gpu(by_name("triad"), 1000, &gpu, &module).unwrap();
    assert_eq!((figures.elements, figures.useful_bytes, figures.mismatches), (4000, 48_000, 0));
    // The fake GPU's clock says 100 µs for each launch.
    assert!((figures.seconds - 1e-4).abs() < 1e-9, "{}", figures.seconds);
    assert!((figures.gigabytes_per_second - 0.48).abs() < 1e-6, "{}", figures.gigabytes_per_second);
    let loaded = format!("cuModuleLoadDataEx {}", worked_kernels().len());
    let expected = [
        vec!["cuInit 0", "cuDeviceGet 0", &loaded],
        ["cuMemAlloc 16512", "cuMemcpyHtoD 16512"].repeat(3),
        vec!["cuModuleGetFunction triad"],
        ["cuLaunchKernel triad [4, 1, 1, 256, 1, 1] 0"].repeat(21),
        ["cuMemcpyDtoH 16512"].repeat(3),
        ["cuMemFree 16512"].repeat(3),
    ];
    assert_eq!(calls(), expected.concat());
}

fn every_workload() {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(worked_kernels().as_bytes()).unwrap();
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
    drop(module);
    assert_eq!(bytes_in_use(), 0, "everything is freed");
    assert_eq!(findings(), []);
}

/// The fake GPU makes the maps that a CPU reads, so that what it is given can be compared.
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
    // Its rules hold, and the driver does not take it.
    let refused = TensorMap::im2col(at, [32, 8, 4], 16, 8).encode_by(ptx_driver::tensor_map_im2col);
    let why = refused.unwrap_err().to_string();
    assert!(why.starts_with("no tensor map was made: cuTensorMapEncodeIm2col failed with "), "{why}");
    assert!(why.ends_with(&format!(" (1): the driver {} does not say why", fake_path())), "{why}");
}

/// A kernel that adds to its output finds it zero, each time.
fn sums() {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(worked_kernels().as_bytes()).unwrap();
    let figures = workloads::run_on_gpu(by_name("histogram"), 1000, &gpu, &module).unwrap();
    assert_eq!((figures.elements, figures.mismatches), (256, 0));
    let launch = ["cuModuleGetFunction histogram", "cuLaunchKernel histogram [1, 1, 1, 256, 1, 1] 0"];
    let run = [vec!["cuMemcpyHtoD 1536"], launch.to_vec(), vec!["cuMemcpyDtoH 1536"]].concat();
    let loaded = format!("cuModuleLoadDataEx {}", worked_kernels().len());
    let expected = [
        vec!["cuInit 0", "cuDeviceGet 0", &loaded],
        vec!["cuMemAlloc 1536", "cuMemcpyHtoD 1536", "cuMemAlloc 1520", "cuMemcpyHtoD 1520"],
        run.repeat(5),
        vec!["cuMemcpyDtoH 1520", "cuMemFree 1536", "cuMemFree 1520"],
    ];
    assert_eq!(calls(), expected.concat());
}

/// A kernel that does nothing leaves the poison, and every element is wrong.
fn idle_kernel() {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(worked_kernels().as_bytes()).unwrap();
    for workload in workloads::ALL {
        let figures = workloads::run_on_gpu(workload, 60, &gpu, &module).unwrap();
        assert_eq!(figures.mismatches, figures.elements, "{}", workload.name());
        let message = figures.verify().unwrap_err().to_string();
        let begin = format!("{0}: {1} of {1} elements are wrong: element 0 is ", workload.name(), figures.elements);
        assert!(message.starts_with(&begin), "{message}");
    }
}

/// A kernel that writes after its output, of 160 bytes.
fn overrun() {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(with_a_store(0, 160, 0).as_bytes()).unwrap();
    let error = workloads::run_on_gpu(by_name("triad"), 10, &gpu, &module).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a kernel wrote outside of its buffer: byte 160 of 160\n  at Fake GPU\n  \
         → look at the kernel's last index; `compute-sanitizer` names the thread"
    );
}

/// A kernel that writes to what it should only read.
fn changed_input() {
    let gpu = Gpu::find().unwrap();
    let module = gpu.load(with_a_store(1, 3, 85).as_bytes()).unwrap();
    let error = workloads::run_on_gpu(by_name("triad"), 10, &gpu, &module).unwrap_err();
    assert_eq!(error.to_string(), "the kernel changed its input\n  at kernels/src/triad.rs");
    let kinds: BTreeSet<String> = findings().iter().map(|finding| format!("{:?}", finding.kind)).collect();
    assert_eq!(kinds, ["Nc", "Race"].map(str::to_owned).into(), "the input is read meanwhile");
}

fn by_name(name: &str) -> &'static dyn Workload {
    let mut all = workloads::ALL.into_iter().chain(workloads::ORDERED);
    all.find(|workload| workload.name() == name).expect("a workload's name")
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
