//! Under cuda-oxide an instruction is a call of a marker. Here a stand-in of the markers writes down what it gets: each form
//! has to call one, with the form's own text, constraints that fit its values, and each value in its place.
//!
//! cuda-oxide's compiler is not run here.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use host_tests::check::forms::{self, Case, Syntax};
use host_tests::check::forms_check;
use host_tests::check::whole;
use host_tests::tools::command::Machine;
use host_tests::tools::ptx;
use ptx_intrinsics::catalogue::{Form, IMPORTS, Operation};
use rayon::prelude::*;

/// How many functions a program has.
const AT_A_TIME: usize = 3000;

/// Forms of each instruction that are drawn.
const OF_EACH: usize = 3;

#[test]
fn each_form_calls_a_marker_with_its_text() {
    let mut every = forms_check::every_form();
    // With markers a collective is refused: `isa/collective.rs`.
    every.retain(|form| !form.is_collective());
    let cases = if whole::is_set() {
        forms::cases(&every)
    } else {
        let seed = forms_check::seed().expect("the seed is a number");
        println!("{}={seed}", forms_check::SEED_VARIABLE);
        forms_check::slice(&every, OF_EACH, seed)
    };
    let complaints_of = |(number, part): (usize, &[Case])| -> Vec<String> {
        let said = MARKERS.run(&format!("forms_{number}"), part);
        let complaints = part.iter().zip(&said).filter_map(|(case, said)| Some((case, complaint(case, said)?)));
        complaints.map(|(case, complaint)| format!("{}: {complaint}", case.rust())).collect()
    };
    let wrong: Vec<String> = cases.par_chunks(AT_A_TIME).enumerate().flat_map(complaints_of).collect();
    let shown = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), shown.join("\n"));
    println!("{} functions, each with its text", cases.len());
}

/// Templates and constraints that cuda-oxide's own lowering has for the same instructions, out of its
/// `mir-lower/src/convert/intrinsics/cp_async.rs` and `mir-lower/tests/lowering_test.rs` at revision a105afd.
const NVIDIAS: [(&str, &str, &str); 6] = [
    ("cp.async.commit_group", "cp.async.commit_group;", "~{memory}"),
    ("cp.async.wait_all", "cp.async.wait_all;", "~{memory}"),
    ("cp.async.wait_group", "cp.async.wait_group $0;", "n,~{memory}"),
    ("fence.mbarrier_init.release.cluster", "fence.mbarrier_init.release.cluster;", "~{memory}"),
    (
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
        "~{memory}",
    ),
    (
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "~{memory}",
    ),
];

#[test]
fn what_cuda_oxide_spells_too_is_spelled_alike() {
    let every = forms_check::every_form();
    let found: Vec<Arc<Form>> = NVIDIAS
        .iter()
        .map(|(ptx, ..)| {
            every.iter().find(|form| form.ptx() == *ptx).unwrap_or_else(|| panic!("no form {ptx}")).clone()
        })
        .collect();
    let cases = forms::cases(&found);
    let said = MARKERS.run("nvidias", &cases);
    for ((ptx, template, constraints), said) in NVIDIAS.iter().zip(&said) {
        let [call] = &said.calls[..] else { panic!("{ptx}: {said:?}") };
        assert_eq!(
            (call.template.as_str(), call.constraints.as_str(), call.options.as_str()),
            (*template, *constraints, "")
        );
    }
}

/// cuda-oxide knows a marker by its path in the MIR, and takes template, constraints and options only as constants.
#[test]
fn the_mir_has_the_path_and_constants() {
    let source = "use ptx_intrinsics::prelude::*;\n\
        pub unsafe fn spelled(p: *const f32) -> f32 { unsafe { ptx!(ld.global.nc.f32 [p]) } }\n\
        pub unsafe fn method(p: *const f32) -> f32 { unsafe { ld_global_nc::<EvictLast, Prefetch256>().read(p) } }\n";
    let source = MARKERS.write("mir.rs", source);
    let flags = ["-O", "-Zmir-opt-level=3", "-Ztrim-diagnostic-paths=no", "--emit=mir"];
    MARKERS.rustc("rlib", "mir", &source, &["cuda_device", "ptx_intrinsics"], &flags);
    let mir = fs::read_to_string(MARKERS.folder.join("libmir.rlib")).expect("it was just written");
    let calls: Vec<&str> = mir.lines().filter(|line| line.contains("__ptx_asm_")).collect();
    assert_eq!(calls.len(), 2, "{mir}");
    for call in calls {
        let (name, arguments) = call.split_once("::<").expect("a marker is generic");
        assert!(name.ends_with(" = cuda_device::ptx::__ptx_asm_out_1"), "{call}");
        let (_, arguments) = arguments.split_once(">(").expect("arguments follow");
        assert!(arguments.starts_with("const "), "{call}");
        assert_eq!(arguments.matches(", const ").count(), 2, "{call}");
    }
}

/// The instructions that touch no memory, by the ISA.
const ARITHMETIC: [&str; 7] = [
    "createpolicy",
    "cvta",
    "isspacep",
    "mapa",
    "getctarank",
    "mbarrier.pending_count",
    "clusterlaunchcontrol.query_cancel",
];

/// A call of a marker.
#[derive(Debug)]
struct Call {
    marker: String,
    template: String,
    constraints: String,
    options: String,
    /// The bytes of all results.
    results: usize,
    /// The bytes of each value.
    values: Vec<Vec<u8>>,
}

/// What a function of a generated program did.
#[derive(Debug, Default)]
struct Said {
    calls: Vec<Call>,
    result: Option<Vec<u8>>,
}

/// What is wrong with what a form did, if something is.
fn complaint(case: &Case, said: &Said) -> Option<String> {
    let [call] = &said.calls[..] else { return Some(format!("it called {} markers", said.calls.len())) };
    let text: Vec<String> = call.rendered().lines().map(ptx::normalise).filter(|line| !line.is_empty()).collect();
    let expected = case.expected();
    if text != expected {
        return Some(format!("expected {expected:?}, found {text:?}"));
    }
    let complaint = call.complaint(case).or_else(|| wrong_places(case, call)).or_else(|| wrong_result(case, said))?;
    Some(format!("{complaint}, in `{}` with `{}`", call.template.trim_end(), call.constraints))
}

impl Call {
    fn results(&self) -> Vec<&str> {
        self.constraints.split(',').filter_map(|constraint| constraint.strip_prefix('=')).collect()
    }

    /// The constraints of the values.
    fn inputs(&self) -> Vec<&str> {
        let is_input = |constraint: &&str| !constraint.starts_with(['=', '~']) && !constraint.is_empty();
        self.constraints.split(',').filter(is_input).collect()
    }

    /// The template with `%r3` for `$3`, and a constant's number.
    fn rendered(&self) -> String {
        let mut text = self.template.replace("$$", "%dollar");
        let results = self.results().len();
        for number in (0..results + self.values.len()).rev() {
            let value = number.checked_sub(results).map(|at| (self.inputs()[at], &self.values[at]));
            let shown = match value {
                Some(("n", value)) => {
                    value.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte)).to_string()
                }
                _ => format!("%r{number}"),
            };
            text = text.replace(&format!("${number}"), &shown);
        }
        text
    }

    /// Whether the constraints are those of the values, the results and the instruction.
    fn complaint(&self, case: &Case) -> Option<String> {
        let (results, inputs) = (self.results(), self.inputs());
        let kind = if results.is_empty() { "void" } else { "out" };
        if self.marker != format!("__ptx_asm_{kind}_{}", self.values.len()) || inputs.len() != self.values.len() {
            return Some(format!("{} takes {} values", self.marker, self.values.len()));
        }
        let is_tied = |constraint: &&str| constraint.bytes().all(|byte| byte.is_ascii_digit());
        let first_tied = inputs.iter().position(is_tied).unwrap_or(inputs.len());
        let tied: Vec<String> = (0..results.len()).map(|number| number.to_string()).collect();
        if first_tied < inputs.len() && inputs[first_tied..] != tied[..] {
            return Some("the values that results begin with are not in their order".into());
        }
        let all: usize = results.iter().filter_map(|letter| Some(*bytes(letter)?.end())).sum();
        let halves = results.iter().all(|letter| *letter == "h") && self.results * 2 == all;
        if self.results != all && !halves {
            return Some(format!("the results have {} bytes", self.results));
        }
        let unfit = inputs.iter().zip(&self.values).find(|(letter, value)| {
            let letter = letter.parse().map_or(**letter, |number: usize| results[number]);
            bytes(letter).is_none_or(|bytes| !bytes.contains(&value.len()))
        });
        if let Some((letter, value)) = unfit {
            return Some(format!("a value of {} bytes has the constraint {letter}", value.len()));
        }
        let is_arithmetic = |word: &&str| case.form.ptx().starts_with(word);
        let arithmetic = ARITHMETIC.iter().any(is_arithmetic);
        let options = if arithmetic { "register_only,may_diverge" } else { "" };
        if self.options != options || self.constraints.ends_with("~{memory}") == arithmetic {
            return Some(format!("the options are `{}`", self.options));
        }
        None
    }

    /// The value that is the operand between these two texts.
    fn between(&self, before: &str, after: &str) -> Option<&[u8]> {
        let (_, rest) = self.template.split_once(&format!("{before}$"))?;
        let (number, _) = rest.split_once(after)?;
        let number: usize = number.parse().ok()?;
        Some(&self.values[number.checked_sub(self.results().len())?])
    }
}

/// How many bytes a register of a class holds.
fn bytes(letter: &str) -> Option<std::ops::RangeInclusive<usize>> {
    match letter {
        "h" => Some(1..=2),
        "r" => Some(4..=4),
        "l" => Some(8..=8),
        // The number is in the text.
        "n" => Some(4..=8),
        _ => None,
    }
}

/// Each parameter arrives, and the address, the policy and the predicate are where the text has them. Every byte of a
/// parameter is its number.
fn wrong_places(case: &Case, call: &Call) -> Option<String> {
    let parameters = parameters(case);
    let number = |name: &str| parameters.iter().position(|parameter| parameter.0 == name).map(|at| at as u8 + 1);
    let holds = |value: Option<&[u8]>, number: u8| value.is_some_and(|value| value.iter().all(|&byte| byte == number));
    for (at, (name, ty)) in parameters.iter().enumerate() {
        let number = at as u8 + 1;
        let arrives = call.values.iter().any(|value| holds(Some(value), number));
        if !arrives && *name != "d" && *ty != "bool" {
            return Some(format!("{name} does not arrive"));
        }
    }
    if case.form.operation() != Operation::Other || case.form.instruction().starts_with(['a', 'r']) {
        let address = call.between("%address, ", ";").or_else(|| call.between("[", "]"));
        if let Some(number) = number("p")
            && !holds(address, number)
        {
            return Some("the address is not p".into());
        }
    }
    if let Some(number) = number("policy")
        && !call.values.iter().any(|value| value.len() == 8 && holds(Some(value), number))
    {
        return Some("the policy is no policy".into());
    }
    let predicate = call.between("%cond, ", ",");
    (number("cond").is_some() && predicate != Some(&1u32.to_le_bytes())).then(|| "the predicate is not cond".into())
}

/// A whole value that is loaded has the first result in its first lane.
fn wrong_result(case: &Case, said: &Said) -> Option<String> {
    if case.form.operation() != Operation::Load || matches!(case.syntax, Syntax::Lanes(_)) {
        return None;
    }
    let result = said.result.as_ref()?;
    let lanes = said.calls[0].results().len();
    let size = result.len() / lanes;
    let expected: Vec<u8> =
        (0..lanes).flat_map(|lane| std::iter::once(lane as u8 + 1).chain(std::iter::repeat_n(0, size - 1))).collect();
    (*result != expected).then(|| format!("the results are not in the order of the lanes: {result:?}"))
}

/// The parameters of a function: names and types.
fn parameters(case: &Case) -> Vec<(String, String)> {
    let call = case.call();
    let result = call.result.map(|result| ("d".to_owned(), format!("&mut {result}")));
    let mut parameters: Vec<(String, String)> = result.into_iter().collect();
    let (mut depth, mut one) = (0, String::new());
    for letter in call.parameters.chars().chain([',']) {
        depth += i32::from("<[(".contains(letter)) - i32::from(">])".contains(letter));
        match letter {
            ',' if depth == 0 => {
                parameters
                    .extend(one.split_once(": ").map(|(name, ty)| (name.trim().to_owned(), ty.trim().to_owned())));
                one.clear();
            }
            letter => one.push(letter),
        }
    }
    parameters
}

static MARKERS: LazyLock<Markers> = LazyLock::new(Markers::compile);

/// The crate compiled for markers, with a stand-in of them.
struct Markers {
    folder: PathBuf,
    rustc: OsString,
}

impl Markers {
    fn compile() -> Markers {
        let folder = Machine::current().target().join("markers");
        fs::create_dir_all(&folder).expect("the folder of what is built can be written");
        let markers = Markers { folder, rustc: std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()) };
        let stand_in = markers.write("cuda_device.rs", &stand_in());
        markers.rustc("rlib", "cuda_device", &stand_in, &[], &[]);
        let cfgs = markers.cfgs();
        let cfgs: Vec<&str> = cfgs.iter().map(String::as_str).collect();
        markers.rustc(
            "rlib",
            "ptx_intrinsics",
            &Machine::current().repository.join("ptx-intrinsics/src/lib.rs"),
            &["cuda_device"],
            &cfgs,
        );
        markers
    }

    /// What the build script says under cargo-oxide, with the feature.
    fn cfgs(&self) -> Vec<String> {
        self.rustc("bin", "build_script", &Machine::current().repository.join("ptx-intrinsics/build.rs"), &[], &[]);
        let vars = [
            ("CARGO_CFG_CUDA_OXIDE_INTERNAL_BACKEND_IDENTITY", "5f0c"),
            ("CARGO_FEATURE_CUDA_OXIDE", "1"),
            ("CARGO_CFG_TARGET_ARCH", "x86_64"),
        ];
        let output = Command::new(self.folder.join("build_script")).env_clear().envs(vars).output();
        let said =
            String::from_utf8(output.expect("it was just compiled").stdout).expect("the build script writes text");
        let cfgs = said.lines().filter_map(|line| line.strip_prefix("cargo::rustc-cfg="));
        // Every method is called.
        let cfgs = cfgs.chain(["feature=\"l2-combinations\""]);
        let cfgs: Vec<String> = cfgs.flat_map(|cfg| ["--cfg".to_owned(), cfg.to_owned()]).collect();
        assert!(cfgs.contains(&"ptx_by_markers".to_owned()), "{said}");
        cfgs
    }

    fn write(&self, name: &str, source: &str) -> PathBuf {
        let file = self.folder.join(name);
        fs::write(&file, source).expect("the folder is ours");
        file
    }

    fn rustc(&self, kind: &str, name: &str, source: &Path, libraries: &[&str], more: &[&str]) {
        let folder = &self.folder;
        let mut rustc = Command::new(&self.rustc);
        rustc.env("RUSTC_BOOTSTRAP", "1");
        rustc.args(["--edition=2024", "--cap-lints=allow", "--crate-type", kind, "--crate-name", name, "-o"]);
        rustc.arg(folder.join(if kind == "bin" { name.to_owned() } else { format!("lib{name}.rlib") }));
        rustc.arg("-L").arg(folder).arg(source).args(more);
        for library in libraries {
            rustc.arg("--extern").arg(format!("{library}={}", folder.join(format!("lib{library}.rlib")).display()));
        }
        let output = rustc.output().expect("rustc can be run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} does not compile:\n{}", said.chars().take(4000).collect::<String>());
    }

    /// Compiles a program of these functions, runs each, and gives what they did.
    fn run(&self, name: &str, cases: &[Case]) -> Vec<Said> {
        let source = self.write(&format!("{name}.rs"), &program(cases));
        self.rustc("bin", name, &source, &["cuda_device", "ptx_intrinsics"], &[]);
        let program = self.folder.join(name);
        let output = Command::new(&program).output().expect("it was just compiled");
        fs::remove_file(program).expect("it was just compiled");
        assert!(output.status.success(), "{name} failed: {}", String::from_utf8_lossy(&output.stderr));
        let said = read(&String::from_utf8(output.stdout).expect("the program writes text"));
        assert_eq!(said.len(), cases.len(), "each function is called");
        said
    }
}

/// The published markers, with a body that writes down the call.
fn stand_in() -> String {
    let markers = fs::read_to_string(Machine::current().repository.join("ptx-cuda-oxide/src/lib.rs"))
        .expect("the markers are there");
    let changes = [
        ("#![no_std]", ""),
        ("$(let _ = $argument;)*", "let values: &[&[u8]] = &[$(crate::bytes(&$argument)),*];"),
        (
            "unreachable!(\"an instruction of a GPU was called on a CPU\")",
            "crate::record(stringify!($name), _template, _constraints, _options, values)",
        ),
    ];
    let changed = changes.iter().fold(markers, |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "the markers do not have `{from}` once");
        text.replace(from, to)
    });
    changed + include_str!("stand_in.rs")
}

/// A program that calls a function for each case.
fn program(cases: &[Case]) -> String {
    let mut source = format!("{}\n{IMPORTS}\n", include_str!("calls.rs"));
    let mut main = String::new();
    for case in cases {
        writeln!(source, "unsafe fn {}{}", case.name, case.parameters_and_body()).expect("a string takes all");
        let parameters = parameters(case);
        let arguments: Vec<String> = parameters.iter().enumerate().map(|(at, (_, ty))| argument(at + 1, ty)).collect();
        let result = parameters.first().filter(|(name, _)| name == "d").and_then(|(_, ty)| ty.strip_prefix("&mut "));
        let (before, after) = match result {
            Some(ty) => (format!("let mut d: {ty} = std::mem::zeroed(); "), " show(&d);"),
            None => (String::new(), ""),
        };
        let arguments = arguments.join(", ");
        writeln!(main, "println!(\"function\"); unsafe {{ {before}{}({arguments});{after} }}", case.name)
            .expect("a string takes all");
    }
    source + "fn main() {\n" + &main + "}\n"
}

fn argument(number: usize, ty: &str) -> String {
    match ty {
        _ if ty.starts_with("&mut ") => "&mut d".into(),
        _ if ty.starts_with('&') => format!("&numbered({number})"),
        "bool" => "true".into(),
        _ => format!("numbered({number})"),
    }
}

fn read(said: &str) -> Vec<Said> {
    let mut functions: Vec<Said> = Vec::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        match (&words[..], functions.last_mut()) {
            (["function"], _) => functions.push(Said::default()),
            (["result", result], Some(function)) => function.result = Some(unhex(result)),
            (["call", marker, template, constraints, options, results, values], Some(function)) => {
                function.calls.push(Call {
                    marker: (*marker).to_owned(),
                    template: template.replace("\\n", "\n"),
                    constraints: (*constraints).to_owned(),
                    options: (*options).to_owned(),
                    results: results.parse().expect("a number of bytes"),
                    values: values.split(',').filter(|value| !value.is_empty()).map(unhex).collect(),
                });
            }
            _ => panic!("the program said {line:?}"),
        }
    }
    functions
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect()
}
