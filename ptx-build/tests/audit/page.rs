//! How fast `cargo ptx audit` is with much machine code, how large its page is, when a Chromium paints it, and what axe says of it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use ptx_build::cuda_tools::CudaTools;
use ptx_build::progress::Progress;
use tempfile::TempDir;

/// Instructions of the machine.
const MANY: usize = 10_000;

/// A kernel that becomes so many instructions, with hints, orders and a fence.
fn kernel() -> String {
    let mut body = String::new();
    for at in 0..MANY / 4 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            body,
            "ld.global.nc.L2::256B.f32 %f1, [%rd1+{}]; fma.rn.f32 %f2, %f1, %f2, %f1;\nst.global.cs.f32 [%rd2+{}], %f2;",
            4 * at,
            4 * at
        );
    }
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry many(.param .u64 p, .param .u64 q)\n{{\n\
         .reg .b64 %rd<4>; .reg .f32 %f<4>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n\
         cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;\nmov.f32 %f2, 0f00000000;\n{body}ret;\n}}\n"
    )
}

/// A folder with the kernel, its cubin, and the page of both.
fn audited() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("many.ptx"), kernel()).expect("it is written");
    let tools = CudaTools::find(&Progress::new()).unwrap_or_else(|error| panic!("{error}"));
    let mut assembler = Command::new(&tools.ptxas);
    let assembler = assembler.args(["-arch=sm_90", "-lineinfo", "-o"]).arg(at("many.cubin")).arg(at("many.ptx"));
    assert!(assembler.status().expect("ptxas starts").success());
    let audit = |words: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
        let begun = Instant::now();
        let output = program.args(["ptx", "audit"]).args(words).current_dir(folder.path()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        (begun.elapsed().as_secs_f64(), String::from_utf8(output.stdout).expect("text"))
    };
    let (seconds, printed) = audit(&["many.cubin", "--json"]);
    let line: serde_json::Value = serde_json::from_str(&printed).expect("one kernel");
    let instructions = line["instructions"].as_u64().expect("a number") as usize;
    println!("a cubin of {instructions} instructions: {seconds:.2} s");
    assert!(instructions >= MANY * 3 / 4, "{instructions}");
    // Without optimisation, and with other tests beside it, it may take longer.
    let limit = if cfg!(debug_assertions) { 20.0 } else { 2.0 };
    assert!(seconds < limit, "{seconds:.2} s");
    audit(&["many.ptx", "--html", "many.html"]);
    let page = at("many.html");
    (folder, page)
}

#[test]
fn a_large_cubin_is_read_soon_and_its_page_is_small() {
    let (_folder, page) = audited();
    let bytes = page.metadata().expect("it is written").len();
    println!("the page of its PTX: {bytes} bytes");
    assert!(bytes < 2_000_000, "{bytes} bytes");
}

#[test]
#[ignore = "it needs node, npm and Chromium in PATH, and axe-core from npm: cargo test -p ptx-build --test audit page -- --ignored"]
fn the_page_is_painted_soon_and_axe_finds_nothing_serious() {
    let (folder, page) = audited();
    let path = std::env::var_os("PATH").expect("there is a PATH");
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let named = |name: &str| places.iter().map(|place| place.join(name)).find(|file| file.is_file());
    let chromium = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(named);
    let chromium = chromium.expect("no Chromium is in PATH: apt-get install chromium");
    let mut npm = Command::new("npm");
    let npm = npm.args(["install", "--silent", "--no-save", "--prefix"]).arg(folder.path()).arg("axe-core@4.14.1");
    assert!(npm.status().expect("npm starts").success(), "npm has no axe-core");
    let mut node = Command::new("node");
    node.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit/page.mjs")).arg(chromium);
    node.arg(folder.path().join("profile")).arg(&page).arg(folder.path().join("node_modules/axe-core/axe.min.js"));
    let output = node.output().expect("node starts");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{complaint}"));
    let paints: Vec<f64> =
        found["paints"].as_array().expect("a list").iter().filter_map(serde_json::Value::as_f64).collect();
    let first = paints.iter().copied().fold(f64::INFINITY, f64::min);
    println!("first paint after {first:.0} ms, the best of {paints:.0?}");
    assert!(first < 1000.0, "{paints:?}");
    for scheme in found["violations"].as_array().expect("a list") {
        println!("axe, {}: {} rules pass, {}", scheme["scheme"], scheme["passes"], scheme["violations"]);
        assert!(scheme["passes"].as_u64() > Some(10), "{scheme}");
        let all = scheme["violations"].as_array().expect("a list");
        let serious =
            all.iter().find(|one| ["serious", "critical"].contains(&one["impact"].as_str().unwrap_or_default()));
        assert_eq!(serious, None);
    }
}
