//! `cargo ptx check` runs programs of several files that nvcc has linked (`-rdc=true`): the machine code is one image, and the PTX
//! is that of each file.

use std::fs;
use std::process::Command;

use crate::program::{Program, WITH_PTX, source, toolkit};
use tempfile::TempDir;

const MACHINE_CODE: &str = "arch=compute_90,code=sm_90";

/// The device's runtime is among what nvcc links.
fn linked(code: &str, first: &str, others: &[&str]) -> Program {
    let library = toolkit().join("lib").display().to_string();
    let others = others.iter().map(|name| source(name).display().to_string());
    let options: Vec<String> = ["-rdc=true".into(), "-L".into(), library].into_iter().chain(others).collect();
    Program::of_nvcc_with(code, first, &options)
}

#[test]
fn the_files_of_a_program_are_linked() {
    let program = linked(WITH_PTX, "linked_one.cu", &["linked_other.cu"]);
    // 2 * (scale(31) + of_one(31)) + table[1], and the same of 0.
    let one = [31, 0].map(|at| 2 * ((3 * at + 7) + (2 * at + 3 + 100)) + 2);
    let other = [31, 0].map(|at| 2 * (2 * at + 3 + 5) + 3);
    let printed = program.is_silent(&[]);
    let lines: Vec<&str> = printed.lines().take(4).collect();
    let [first, second] = [format!("{} {}", one[0], one[1]), format!("{} {} 32", other[0], other[1])];
    assert_eq!(lines, ["one: 3", &first, "other: 7", &second], "{printed}");
}

/// A library begins before the program, and what it tells then is told again.
#[test]
fn the_files_of_a_library_are_linked() {
    let (folder, toolkit) = (TempDir::new().expect("a folder"), toolkit());
    let library = folder.path().join("liblinked.so");
    let mut compiler = Command::new(toolkit.join("bin/nvcc"));
    compiler.args(["-gencode", WITH_PTX, "-rdc=true", "-shared", "-Xcompiler", "-fPIC", "-Dmain=run", "-L"]);
    compiler.arg(toolkit.join("lib")).arg("-o").arg(&library);
    compiler.args(["linked_one.cu", "linked_other.cu"].map(source));
    assert!(compiler.status().expect("the compiler starts").success());
    let program = Program::of_cc("linked_main.cpp", &["-Wl,--no-as-needed", &library.display().to_string()]);
    let printed = program.is_silent(&[]);
    let lines: Vec<&str> = printed.lines().take(4).collect();
    assert_eq!(lines, ["one: 3", "532 222", "other: 7", "143 19 32"], "{printed}");
}

#[test]
fn a_finding_names_lines_of_both_files() {
    let (code, printed, complaint) = linked(WITH_PTX, "linked_one.cu", &["linked_other.cu"]).check(&["race"]);
    assert_eq!(code, Some(1), "{printed}{complaint}");
    let is_place = |line: &&str| ["-->", ":::"].iter().any(|mark| line.trim_start().starts_with(mark));
    let places = printed.lines().filter(is_place);
    let places: Vec<String> = places.map(|line| line.split(", PTX").next().unwrap_or_default().into()).collect();
    let place = |mark: &str, name: &str, line: u32| format!("   {mark} {}:{line}", source(name).display());
    // In another unit the lines have other numbers of their files.
    let first = [place("-->", "linked_one.cu", 23), place(":::", "linked_other.cu", 16)];
    assert_eq!(places[..2], first, "{printed}");
}

#[test]
fn a_file_without_ptx_is_named() {
    let (code, printed, complaint) = linked(MACHINE_CODE, "linked_one.cu", &["linked_other.cu"]).check(&[]);
    assert_eq!(code, Some(2), "{printed}{complaint}");
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.ends_with("/program)")).collect();
    let expected = format!(
        "cargo ptx check: __cudaRegisterFatBinary: of the files that nvcc has linked (-rdc=true), {}: it has machine code of sm_90 \
         alone, and only PTX can be run here: compile each file with `nvcc -rdc=true -gencode \
         arch=compute_90,code=[sm_90,compute_90]`, without `-dlto`",
        source("linked_other.cu").display()
    );
    assert!(lines.contains(&&*expected), "{printed}{complaint}");
    assert_eq!(complaint.matches(&expected).count(), 1, "{complaint}");
}

/// After the complaint the kernel is named, and no other line says that there was none.
#[test]
fn one_complaint_is_enough() {
    let (code, printed, complaint) = linked(MACHINE_CODE, "device_launch.cu", &[]).check(&["halves"]);
    assert_eq!(code, Some(2), "{printed}{complaint}");
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.ends_with("/program)")).collect();
    assert!(lines[0].ends_with("without `-dlto`"), "{complaint}");
    assert_eq!(
        lines[1..],
        ["cargo ptx check: `halves` is not run: the program has machine code of it alone"],
        "{complaint}"
    );
}

/// What a kernel launches runs too, and what it does beside the kernel is checked.
#[test]
fn kernels_launch_kernels() {
    let program = linked(WITH_PTX, "device_launch.cu", &[]);
    let text = fs::read_to_string(source("device_launch.cu")).expect("the program");
    let line = |what: &str| {
        let found = text.lines().position(|line| line.ends_with(what));
        format!("device_launch.cu:{}", 1 + found.expect("the line is marked"))
    };
    let printed = program.is_silent(&["halves"]);
    assert!(printed.starts_with("64\nhalves: no findings in 127 launches, "), "{printed}");
    let race = |parent: &str, does: &str| {
        format!(
            "error[race]: kernel `{parent}` in the default stream writes bytes that kernel `sum` in the default stream {does}, "
        )
    };
    let too_many = "error[launch]: kernel `sum` is launched with blocks of 2048 x 1 x 1 threads".to_owned();
    let cases = [
        ("early", 2380, race("early", "reads"), vec![line("~early"), line("~adds"), line("~launches")]),
        ("result", 66, race("result", "changes"), vec![line("~result"), line("~adds"), line("~beside")]),
        ("too_many", 0, too_many, vec![line("~too_many")]),
    ];
    for (case, value, title, places) in cases {
        let (code, printed, complaint) = program.check(&[case]);
        assert_eq!(code, Some(1), "{case}: {printed}{complaint}");
        assert!(printed.starts_with(&format!("{value}\n")) && printed.contains(&title), "{case}: {printed}");
        assert!(places.iter().all(|place| printed.contains(place)), "{case}: {places:?}: {printed}");
        assert_eq!(printed.matches("error[").count(), 1, "{case}: {printed}");
        assert!(program.is_silent(&["right", case]).starts_with(&format!("{value}\n")), "{case}");
    }
}
