//! `cargo ptx`, as it is typed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// How it ended, and what it printed and complained of.
fn cargo_ptx(folder: &Path, words: &[&str], variables: &[(&str, &Path)]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-ptx"));
    program.arg("ptx").args(words).current_dir(folder).env_remove("PTX_INTRINSICS_TOOLCHAIN");
    let output = program.envs(variables.iter().copied()).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The files under a folder, sorted, folders by their ends.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type().expect("a type").is_dir() {
            true => found.extend(files(&entry.path()).into_iter().map(|file| format!("{name}/{file}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

/// `cargo ptx run` ends with 0, 1 or 2, and prints each finding as a line of JSON.
#[test]
fn kernels_are_run_and_checked() {
    let folder = TempDir::new().expect("a folder");
    let corpus = repository().join("ptx-interpreter/tests/corpus/shared.ptx");
    let corpus = corpus.to_str().expect("the path is text");
    let shape = ["--grid", "2", "--block", "256", "--arg", "buf:2048:iota_u32", "--arg", "buf:8:unwritten"];
    let run = |kernel: &str, more: &[&str]| {
        cargo_ptx(folder.path(), &[&["run", corpus, kernel], &shape[..], more].concat(), &[])
    };
    let (code, printed, complaint) = run("right_reduce", &["--out", "results", "--seeds", "3"]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("right_reduce: no findings in 3 orders of its threads, "), "{printed}");
    let sums: Vec<u8> = [0..256u32, 256..512].into_iter().flat_map(|all| all.sum::<u32>().to_le_bytes()).collect();
    assert_eq!(fs::read(folder.path().join("results/1.bin")).expect("it is written"), sums);
    let (code, printed, complaint) = run("wrong_reduce", &[]);
    assert_eq!(code, Some(1), "{complaint}");
    assert!(printed.starts_with("error[race]: ") && printed.contains("shared.cu:"), "{printed}");
    assert!(printed.contains("= help: put `bar.sync 0` (__syncthreads()) between them"), "{printed}");
    let (code, printed, complaint) = run("wrong_reduce", &["--json"]);
    assert_eq!(code, Some(1), "{complaint}");
    for line in printed.lines() {
        let finding: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        assert_eq!(finding["kind"], "race");
        let places = finding["places"].as_array().expect("a list");
        assert_eq!(places.len(), 2);
        assert!(places.iter().all(|place| place["ptx_line"].as_u64().is_some() && place["line"].as_u64().is_some()));
    }
    let (code, printed, _) = run("wrong_reduce", &["--arg", "u32:1"]);
    assert_eq!(code, Some(1));
    assert!(printed.starts_with("error[launch]: wrong_reduce takes 2 arguments, and is given 3"), "{printed}");
}

/// Two blocks, of which each loads what the other stores after its load.
const LOAD_BUFFERING: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 places, .param .u64 left) {
    .reg .b64 %d<7>;
    .reg .b32 %r<3>;
    ld.param.u64 %d1, [places];
    ld.param.u64 %d2, [left];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %d3, %r1, 64;
    add.u64 %d4, %d1, %d3;
    sub.u64 %d5, %d1, %d3;
    mul.wide.u32 %d6, %r1, 4;
    add.u64 %d6, %d2, %d6;
    ld.relaxed.gpu.global.u32 %r2, [%d4];
    st.relaxed.gpu.global.u32 [%d5+64], 1;
    st.global.u32 [%d6], %r2;
    ret;
}";

/// With `--weak` a load may return what is stored after it, and a seed does the same again.
#[test]
fn weak_loads_are_replayed_by_their_seed() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("lb.ptx"), LOAD_BUFFERING).expect("it is written");
    let left = |seed: u64, weak: bool| {
        let program = ptx_interpreter::Program::parse(LOAD_BUFFERING);
        let mut trial = ptx_interpreter::Trial::new(&program, "k");
        trial.grid([2, 1, 1]).block([1, 1, 1]).seed(seed).weak(weak);
        trial.buffer(&[0; 128]).and_then(|trial| trial.buffer(&[0; 8])).expect("a little memory");
        let report = trial.check();
        assert!(report.is_clean(), "{report}");
        trial.content(1).to_vec()
    };
    let both = [1, 0, 0, 0, 1, 0, 0, 0];
    assert!((0..200).all(|seed| left(seed, false) != both));
    let seeds: Vec<u64> = (0..200).filter(|seed| left(*seed, true) == both).collect();
    assert!(!seeds.is_empty());
    let run = |seed: u64, weak: &[&str]| {
        let seed = seed.to_string();
        let words =
            ["run", "lb.ptx", "k", "--grid", "2", "--block", "1", "--arg", "buf:128:zeros", "--arg", "buf:8:zeros"];
        let (code, printed, complaint) =
            cargo_ptx(folder.path(), &[&words[..], &["--out", "left", "--seed", &seed], weak].concat(), &[]);
        assert_eq!(code, Some(0), "{printed}{complaint}");
        fs::read(folder.path().join("left/1.bin")).expect("it is written")
    };
    for seed in seeds.into_iter().take(3) {
        assert_eq!(run(seed, &["--weak"]), both);
        assert_ne!(run(seed, &[]), both);
    }
}

/// With `--pdl` the grid before may still use a buffer until `griddepcontrol.wait`.
#[test]
fn a_dependent_launch_waits_for_the_grid_before() {
    let folder = TempDir::new().expect("a folder");
    let kernel = |name: &str, wait: &str| {
        format!(
            ".visible .entry {name}(.param .u64 p) {{\n.reg .b64 %d<3>;\nld.param.u64 %d1, [p];\n{wait}\n\
             st.global.u32 [%d1], 7;\nret;\n}}\n"
        )
    };
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{}{}",
        kernel("waits", "griddepcontrol.wait;"),
        kernel("hurries", "")
    );
    fs::write(folder.path().join("k.ptx"), text).expect("it is written");
    let run = |kernel: &str, pdl: &[&str]| {
        let words = ["run", "k.ptx", kernel, "--block", "1", "--arg", "buf:4:zeros"];
        cargo_ptx(folder.path(), &[&words[..], pdl].concat(), &[])
    };
    assert_eq!(run("hurries", &[]).0, Some(0));
    assert_eq!(run("waits", &["--pdl"]).0, Some(0));
    let (code, printed, _) = run("hurries", &["--pdl"]);
    assert_eq!(code, Some(1));
    assert!(printed.starts_with("error[order]: bytes of the grid before this one are accessed"), "{printed}");
}

/// Strong accesses do not race, but without an order the reader of a flag may get the older value of what the flag announces.
#[test]
fn older_values_that_change_what_a_kernel_leaves_are_found() {
    let folder = TempDir::new().expect("a folder");
    let kernel = |name: &str, fence: &str| {
        format!(
            ".visible .entry {name}(.param .u64 p, .param .u64 left) {{\n.reg .b64 %d<3>;\n.reg .b32 %r<5>;\n.reg .pred %p<2>;\n\
             ld.param.u64 %d1, [p];\nld.param.u64 %d2, [left];\nmov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n\
             @%p1 bra READS;\nst.relaxed.gpu.global.u32 [%d1], 7;\n{fence}\nst.relaxed.gpu.global.u32 [%d1+64], 1;\n\
             ret;\nREADS:\nld.relaxed.gpu.global.u32 %r2, [%d1+64];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra READS;\n{fence}\n\
             ld.relaxed.gpu.global.u32 %r3, [%d1];\nst.global.u32 [%d2], %r3;\nret;\n}}\n"
        )
    };
    // Which thread counts first depends on the order of the threads without older values, too.
    let counts = ".visible .entry counts(.param .u64 p, .param .u64 left) {\n.reg .b64 %d<5>;\n.reg .b32 %r<3>;\n\
                  ld.param.u64 %d1, [p];\nld.param.u64 %d2, [left];\natom.global.add.u32 %r1, [%d1], 1;\n\
                  mul.wide.u32 %d3, %r1, 4;\nadd.u64 %d4, %d2, %d3;\nmov.u32 %r2, %ctaid.x;\nst.global.u32 [%d4], %r2;\n\
                  ret;\n}\n";
    let [bare, fenced] = [kernel("bare", ""), kernel("fenced", "fence.acq_rel.gpu;")];
    let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{bare}{fenced}{counts}");
    fs::write(folder.path().join("k.ptx"), text).expect("it is written");
    let run = |kernel: &str, weak: &[&str]| {
        let words =
            ["run", "k.ptx", kernel, "--grid", "2", "--block", "1", "--arg", "buf:128:zeros", "--arg", "buf:8:zeros"];
        cargo_ptx(folder.path(), &[&words[..], &["--seeds", "40"], weak].concat(), &[])
    };
    for kernel in ["bare", "fenced", "counts"] {
        assert_eq!(run(kernel, &[]).0, Some(0), "{kernel}");
    }
    let (code, printed, _) = run("bare", &["--weak"]);
    assert_eq!(code, Some(1), "{printed}");
    let begins = "error[order]: older values, which the memory model lets loads return, change what the kernel leaves";
    assert!(printed.starts_with(begins), "{printed}");
    let place = "ld.relaxed.gpu.global.u32 %r3, [%d1]";
    assert!(printed.contains(place) && printed.contains("gets the older value 0x0"), "{printed}");
    assert!(printed.contains("argument 1 has 0x0 at byte 0 instead of 0x7"), "{printed}");
    for kernel in ["fenced", "counts"] {
        let (code, printed, _) = run(kernel, &["--weak"]);
        assert_eq!(code, Some(0), "{printed}");
    }
}

/// Every thread writes to one place, which the source and the PTX have a line for.
fn writes_to_one_place(beside: &str, source: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"{source}\"\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %d<3>; .reg .b32 %r<2>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n.loc 1 2 0\n\
         st.global.u32 [%d1], %r1;{beside}\nret;\n}}\n"
    )
}

/// A finding is silenced in a file or beside its line, with a reason; what silences nothing is told.
#[test]
fn findings_are_silenced_with_a_reason() {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let source = at("one.cu");
    let source = source.to_str().expect("the path is text");
    let run = |beside: &str, of_source: &str, allowed: Option<&str>, more: &[&str]| {
        fs::write(at("one.ptx"), writes_to_one_place(beside, source)).expect("it is written");
        fs::write(source, format!("line 1\nplace[0] = lane; {of_source}\n")).expect("it is written");
        fs::write(at("allowed"), allowed.unwrap_or_default()).expect("it is written");
        let allow: &[&str] = if allowed.is_some() { &["--allow", "allowed"] } else { &[] };
        let words = [&["run", "one.ptx", "k", "--arg", "buf:4:zeros", "--seeds", "3"], allow, more].concat();
        cargo_ptx(folder.path(), &words, &[])
    };
    let found = |beside: &str, of_source: &str, allowed: Option<&str>, complains: &str| {
        let (code, printed, complaint) = run(beside, of_source, allowed, &[]);
        assert_eq!(code, Some(1), "{printed}{complaint}");
        assert!(printed.starts_with("error[race]: ") && !printed.contains("silenced"), "{printed}");
        assert!(complaint.contains(complains), "{complaint}");
    };
    let silent = |beside: &str, of_source: &str, allowed: Option<&str>| {
        let (code, printed, complaint) = run(beside, of_source, allowed, &[]);
        assert_eq!(code, Some(0), "{printed}{complaint}");
        assert!(printed.starts_with("k: no findings in 3 orders") && !complaint.contains("warning"), "{complaint}");
        assert!(printed.ends_with("1 finding is silenced, with a reason\n"), "{printed}");
    };
    found("", "", None, "");
    for place in ["k", "one.cu:2", "ptx:9"] {
        silent("", "", Some(&format!("# known\nrace {place} any of the values will do\n")));
    }
    silent(" // ptx: allow(race) any of the values will do", "", None);
    silent("", "// ptx: allow(race): any of the values will do", None);
    found("", "", Some("race one.cu:3 another line"), "line 1: nothing of the kind `race` is found at one.cu:3");
    found("", "", Some("order k another kind"), "line 1: nothing of the kind `order` is found at k");
    found(" // ptx: allow(race)", "", None, "PTX line 9: the comment allows a finding without a reason");
    found("", "/* ptx: allow(order) another kind */", None, "");
    for (file, complains) in
        [("race k", "line 1: no reason is given"), ("races k x", "line 1: `races` is no kind"), ("race", "is named")]
    {
        let (code, printed, complaint) = run("", "", Some(file), &[]);
        assert_eq!((code, printed.as_str()), (Some(2), ""), "{complaint}");
        assert!(complaint.contains(complains) && complaint.contains("KIND PLACE REASON"), "{complaint}");
    }
    let (code, printed, complaint) = run("", "", Some("race k any of the values will do"), &["--json"]);
    assert_eq!((code, printed.as_str()), (Some(0), ""), "{complaint}");
    assert!(complaint.contains("1 finding is silenced, with a reason"), "{complaint}");
}

/// What cannot be run ends with 2, and says why.
#[test]
fn kernels_that_cannot_be_run_are_told() {
    let folder = TempDir::new().expect("a folder");
    let entry = |body: &str| {
        format!(
            ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b64 %d<3>;\n{body}\nret;\n}}\n"
        )
    };
    let files = [
        ("empty.ptx", String::new()),
        ("gap.ptx", entry("tcgen05.shift.cta_group::1.down [0];")),
        ("never.ptx", entry("ld.param.u64 %d1, [p];\nagain: add.u64 %d1, %d1, 1; bra again;")),
    ];
    for (name, text) in &files {
        fs::write(folder.path().join(name), text).expect("it is written");
    }
    let cases: [(&str, &[&str], i32, &str); 7] = [
        ("none.ptx", &[], 2, "No such file"),
        ("empty.ptx", &[], 2, "this is no PTX: it has no `.version`"),
        ("gap.ptx", &[], 2, "PTX line 6: the interpreter does not know tcgen05.shift.cta_group::1.down"),
        ("never.ptx", &["--deadline", "0.3"], 1, "the kernel has not ended before the deadline"),
        ("never.ptx", &["--grid", "0"], 1, "a launch of 0 blocks of 32 threads is empty"),
        ("never.ptx", &["--block", "2048"], 1, "a block has at most 1024 threads, and not 2048"),
        (
            "never.ptx",
            &["--arg", "buf:100000000000000:zeros"],
            2,
            "there is no memory for a buffer of 100000000000000 bytes",
        ),
    ];
    for (file, more, expected, told) in cases {
        let arguments: &[&str] = if more.contains(&"--arg") { &[] } else { &["--arg", "buf:64:zeros"] };
        let (code, printed, complaint) =
            cargo_ptx(folder.path(), &[&["run", file, "k"], arguments, more].concat(), &[]);
        assert_eq!(code, Some(expected), "{file}: {printed}{complaint}");
        assert!((printed + &complaint).contains(told), "{file}: {complaint}");
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it is there")
}

#[test]
fn a_project_is_made_whole() {
    let folder = TempDir::new().expect("a folder");
    let (code, printed, complaint) = cargo_ptx(folder.path(), &["new", "ein Projekt für alle"], &[]);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(printed.contains("  cd 'ein Projekt für alle'\n  cargo run"), "{printed}");
    let project = folder.path().join("ein Projekt für alle");
    let expected = ".cargo/config.toml .cargo/cuda/lib64/libcuda.a .gitignore Cargo.toml README.md host/Cargo.toml host/build.rs \
                    host/src/main.rs kernels/Cargo.toml kernels/src/lib.rs";
    assert_eq!(files(&project).join(" "), expected);
    // Nothing beside it.
    assert_eq!(files(folder.path()).len(), files(&project).len());
    let read = |name: &str| fs::read_to_string(project.join(name)).expect("it is there");
    let version = env!("CARGO_PKG_VERSION");
    let host = read("host/Cargo.toml");
    for line in [
        "name = \"ein-projekt-f-r-alle-host\"".to_owned(),
        "kernels = { package = \"ein-projekt-f-r-alle-kernels\", path = \"../kernels\" }".to_owned(),
        format!("ptx-driver = \"{version}\""),
        format!("ptx-build = {{ version = \"{version}\", default-features = false }}"),
    ] {
        assert!(host.lines().any(|found| found == line), "{line} is missing in {host}");
    }
    assert!(!files(&project).iter().any(|name| name.ends_with(".toml") && read(name).contains('@')));
}

#[test]
fn a_checkout_is_named_by_its_full_path() {
    let folder = TempDir::new().expect("a folder");
    // A quote and a backslash in its path.
    let checkout = folder.path().join("a \"checkout\" \\ of mine");
    symlink(repository(), &checkout).expect("a link");
    let relative = Path::new("..").join(checkout.file_name().expect("a name"));
    fs::create_dir(folder.path().join("here")).expect("a folder");
    let words = ["new", "project", "--path", relative.to_str().expect("text")];
    let (code, _, complaint) = cargo_ptx(&folder.path().join("here"), &words, &[]);
    assert_eq!(code, Some(0), "{complaint}");
    let manifest = folder.path().join("here/project/kernels/Cargo.toml");
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
        .arg(&manifest)
        .output()
        .expect("cargo starts");
    let described: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("cargo reads the manifest");
    let packages = described["packages"].as_array().expect("packages");
    let kernels = packages.iter().find(|package| package["name"] == "project-kernels").expect("the kernels");
    let paths: Vec<_> = kernels["dependencies"].as_array().expect("some").iter().map(|one| &one["path"]).collect();
    let of = |name: &str| repository().join(name).to_str().expect("text").to_owned();
    assert_eq!(paths, [&of("ptx-intrinsics"), &of("ptx-kernel")]);
}

#[test]
fn what_cannot_be_made_leaves_nothing() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    fs::write(folder.path().join("file"), "").expect("a file");
    symlink("nowhere", folder.path().join("link")).expect("a link");
    let long = "x".repeat(300);
    let cases = [
        (vec!["new", "empty"], "there is something of that name already\n  at empty\n  → name a folder"),
        (vec!["new", "file"], "there is something of that name already\n  at file"),
        (vec!["new", "link"], "there is something of that name already\n  at link"),
        (
            vec!["new", "no/where"],
            "there is no such folder to make the project in\n  at no\n  → make it: mkdir -p 'no'",
        ),
        (vec!["new", "/proc/project"], "could not create a folder in: "),
        (vec!["new", "file/below"], "there is no such folder to make the project in\n  at file"),
        (vec!["new", &long], "could not rename the new folder to: File name too long"),
        (vec!["new", "x", "--path", "nope"], "there is no such folder: No such file"),
        (
            vec!["new", "x", "--path", "empty"],
            "this is no checkout of the crates' repository: it has no ptx-intrinsics/Cargo.toml\n  at empty",
        ),
    ];
    for (words, expected) in cases {
        let (code, _, complaint) = cargo_ptx(folder.path(), &words, &[]);
        assert_eq!(code, Some(1), "{words:?}: {complaint}");
        assert!(complaint.starts_with(&format!("error: {expected}")), "{words:?}: {complaint}");
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).expect("it").map(|one| one.expect("one").file_name()).collect();
        left.sort();
        assert_eq!(left, ["empty", "file", "link"], "{words:?}");
        assert_eq!(files(&folder.path().join("empty")), [""; 0]);
    }
}

/// A machine on which `rustc` is this script, with a toolchain that has these files, and nothing else.
fn machine(version: &str, files: &[&str]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let bin = folder.path().join("bin");
    let sysroot = folder.path().join("toolchains/stable");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n--version) echo 'rustc {version} (0123abcd 2026-01-01)';;\n\
         *sysroot*) echo '{}';;\nesac\n",
        sysroot.display()
    );
    let names = ["bin/rustc", "toolchains/stable/bin/rustc", "toolchains/stable/bin/cargo"];
    for name in names.iter().chain(files) {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, &script).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    (folder, bin)
}

#[test]
fn the_doctor_names_what_is_missing() {
    let (folder, bin) = machine("1.97.0", &[]);
    let variables = [
        ("PATH", bin.as_path()),
        ("RUSTUP_HOME", folder.path()),
        ("CUDA_HOME", Path::new("")),
        ("CUDA_PATH", Path::new("")),
    ];
    let (code, printed, complaint) = cargo_ptx(folder.path(), &["doctor"], &variables);
    assert_eq!(code, Some(1), "{complaint}");
    for text in [
        "found     Rust for the host: rustc 1.97.0",
        "MISSING   Rust for the GPU: this toolchain lacks the source of core",
        "→ rustup component add rust-src --toolchain stable",
        "MISSING   linker: there is no `cc`",
        "→ apt-get install gcc",
        "not here  NVIDIA's assembler",
        "Kernels cannot be built here yet.",
    ] {
        assert!(printed.contains(text), "{text} is missing in {printed}");
    }
    // A new project is made all the same, and what it lacks is named.
    let (code, _, complaint) = cargo_ptx(folder.path(), &["new", "project"], &variables);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(complaint.contains("Before that:") && complaint.contains("rustup component add rust-src"), "{complaint}");
}

#[test]
fn the_doctor_knows_an_old_compiler_and_a_linker() {
    let (folder, bin) = machine("1.60.0", &["bin/cc"]);
    let variables = [("PATH", bin.as_path()), ("RUSTUP_HOME", folder.path())];
    let (code, printed, _) = cargo_ptx(folder.path(), &["doctor"], &variables);
    assert_eq!(code, Some(1));
    let old = format!(
        "MISSING   Rust for the host: rustc 1.60.0 (0123abcd 2026-01-01) is older than {}",
        env!("CARGO_PKG_RUST_VERSION")
    );
    assert!(printed.contains(&old), "{printed}");
    assert!(printed.contains(&format!("found     linker: {}", bin.join("cc").display())), "{printed}");
}

#[test]
fn the_doctor_says_which_toolkits_it_passes_over() {
    let (folder, bin) = machine("1.97.0", &[]);
    let old = folder.path().join("cuda-12");
    fs::create_dir_all(old.join("bin")).expect("a folder");
    let script = "#!/bin/sh\necho 'ptxas: NVIDIA (R) Ptx optimizing assembler'\necho 'Cuda compilation tools, release 12.4, V12'\n";
    fs::write(old.join("bin/ptxas"), script).expect("a file");
    fs::set_permissions(old.join("bin/ptxas"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let nowhere = folder.path().join("nowhere");
    let path = std::env::join_paths([bin.as_path(), Path::new("/usr/bin"), Path::new("/bin")]).expect("a path");
    let variables = [
        ("PATH", Path::new(&path)),
        ("RUSTUP_HOME", folder.path()),
        ("CUDA_HOME", old.as_path()),
        ("CUDA_PATH", nowhere.as_path()),
    ];
    let (_, printed, complaint) = cargo_ptx(folder.path(), &["doctor"], &variables);
    assert_eq!(complaint, "");
    for text in [
        format!("| {} is of CUDA 12.4", old.join("bin/ptxas").display()),
        format!("| CUDA_PATH: there is no ptxas in {}", nowhere.join("bin").display()),
        "→ or only its assembler: pip install --no-deps --target=cuda nvidia-cuda-nvcc".to_owned(),
    ] {
        assert!(printed.contains(&text), "{text} is missing in {printed}");
    }
}

#[test]
fn who_reads_only_the_beginning_sees_no_panic() {
    let folder = TempDir::new().expect("a folder");
    for words in ["doctor", "explain ld.global.f32"] {
        let line = format!("'{}' ptx {words} | true", env!("CARGO_BIN_EXE_cargo-ptx"));
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().expect("it starts");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words}");
    }
}

#[test]
fn an_instruction_is_explained() {
    let folder = TempDir::new().expect("a folder");
    let (code, printed, _) = cargo_ptx(folder.path(), &["explain", "ld.global.nc.L2::256B.L1::evict_last.f32"], &[]);
    assert_eq!(code, Some(0));
    for line in [
        "PTX     ld.global.nc.L1::evict_last.L2::256B.f32",
        "Needs   sm_80 and PTX ISA 7.4: -Ctarget-cpu=sm_80 -Ctarget-feature=+ptx74",
    ] {
        assert!(printed.lines().any(|found| found == line), "{line} is missing in {printed}");
    }
    assert!(printed.contains(".L1::evict_last "), "{printed}");
    let (code, _, complaint) = cargo_ptx(folder.path(), &["explain", "ld.global.evict_last.f32"], &[]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("`ld.global.evict_last.f32` is no form")
            && complaint.contains("\n  near are ld.global.L1::evict_last.f32\n"),
        "{complaint}"
    );
}
