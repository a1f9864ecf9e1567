//! The build script reads rustc's flags, and opens the gates.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use host_tests::check::here::toolchain;
use host_tests::check::{forms_check, whole};
use host_tests::tools::command::Machine;
use ptx_intrinsics::catalogue;
use rand::seq::IndexedRandom;

use super::TARGET;
use super::script::{BuildScript, Opened, SCRIPT, number};

/// As a link it is silently not there where links are not kept, and every gate closes.
#[test]
fn the_package_has_a_build_script_of_its_own() {
    let own = Machine::current().repository.join("ptx-intrinsics/build.rs");
    assert!(fs::symlink_metadata(&own).is_ok_and(|file| file.is_file()), "{} is not a file", own.display());
    let shown =
        fs::read_to_string(Machine::current().repository.join("build.rs")).expect("the repository shows it at its top");
    assert_eq!(fs::read_to_string(own).expect("it is a file"), shown, "build.rs is not that of ptx-intrinsics");
}

#[test]
fn the_build_script_has_the_gates_that_the_forms_need() {
    let script = &*SCRIPT;
    let forms: Vec<_> = catalogue::forms().collect();
    // `ptx!` takes two words that no form is listed with: `.shared::cta` and `.param`. `dp4a`, `bmsk` and the matrices are of ptx-kernel.
    let (shared_cta, param, dp4a, fp8, bmsk, matrices) = (30, 77, 61, 89, 76, [64, 65]);
    assert_eq!(
        script.declared("ptx_sm"),
        forms.iter().map(|form| form.min_sm()).chain([shared_cta, dp4a, fp8]).collect()
    );
    assert_eq!(
        script.declared("ptx_isa"),
        forms.iter().map(|form| form.min_ptx()).chain([param, bmsk]).chain(matrices).collect()
    );
    let named = forms.iter().flat_map(|form| form.targets()).map(|name| (*name).to_owned()).collect();
    assert_eq!(script.declared_texts("ptx_target"), named);
}

#[test]
fn the_build_script_reads_rustcs_flags() {
    let script = &*SCRIPT;
    let [all_sm, all_ptx] = ["ptx_sm", "ptx_isa"].map(|cfg| script.declared(cfg));
    // What rustc says of itself, the flags with a space between them, and the newest SM and version that are reached.
    let builds = [
        ("", "", 70, 60),
        ("sm_70,sm_72,sm_75", "-Ctarget-cpu=sm_75", 75, 63),
        // Nothing of itself, so that only the flag can tell.
        ("", "-C target-cpu=sm_80", 80, 70),
        ("", "--codegen target-cpu=sm_80", 80, 70),
        ("", "--codegen=target-cpu=sm_80", 80, 70),
        ("sm_80,ptx70,ptx71,ptx74", "-Ctarget-cpu=sm_80 -Ctarget-feature=+ptx74", 80, 74),
        ("sm_80", "-Ctarget-cpu=sm_90 -Ctarget-cpu=sm_80", 80, 70),
        ("sm_80", "-Ctarget-cpu=sm_80 -Ctarget-feature=-ptx88", 80, 70),
        ("sm_80", "-Ctarget-cpu=sm_80 -Ctarget-feature=+ptx70,+ptx88", 80, 88),
        ("sm_86,sm_87", "-Ctarget-cpu=sm_87", 80, 74),
        ("", "-Ctarget-cpu=sm_88", 80, 88),
        // A rustc that lists sm_88 below sm_89 does not emit sm_88's version for it.
        ("sm_87,sm_88,sm_89", "-Ctarget-cpu=sm_89", 89, 78),
        ("sm_90", "-Ctarget-cpu=sm_90", 90, 78),
        ("sm_90,sm_90a", "-Ctarget-cpu=sm_90a", 90, 80),
        ("sm_90,sm_100", "-Ctarget-cpu=sm_100", 100, 86),
        ("sm_90,sm_100", "-Ctarget-cpu=sm_100 -Ctarget-feature=+ptx88", 100, 88),
        ("", "-Ctarget-cpu=sm_100f", 100, 88),
        ("", "-Ctarget-cpu=sm_103", 100, 88),
        ("", "-Ctarget-cpu=sm_110", 100, 88),
        ("", "-Ctarget-cpu=sm_120", 100, 87),
        ("", "-Ctarget-cpu=sm_121", 100, 88),
        ("compute_80,compute_75", "", 80, 80),
        ("sm_80", "-Ctarget-cpu=native -Copt-level=3", 80, 70),
    ];
    for (features, flags, sm, ptx) in builds {
        let flags = flags.replace(' ', "\x1f");
        let found = script.gates(&[
            ("CARGO_CFG_TARGET_ARCH", "nvptx64"),
            ("CARGO_CFG_TARGET_FEATURE", features),
            ("CARGO_ENCODED_RUSTFLAGS", &flags),
        ]);
        let upto = |gates: &BTreeSet<u32>, newest| gates.range(..=newest).copied().collect();
        let named: &[&str] = match () {
            () if flags.contains("sm_90a") => &["sm_90a"],
            () if flags.contains("sm_100f") => &["sm_100f"],
            () => &[],
        };
        let targets = named.iter().map(|name| (*name).to_owned()).collect();
        let expected = Opened { sm: upto(&all_sm, sm), targets, ptx: upto(&all_ptx, ptx) };
        assert_eq!(found, Ok(expected), "{features} {flags:?}");
    }
    println!("{} builds", builds.len());
}

/// GPUs that are drawn of those that rustc knows.
const DRAWN: usize = 12;

/// The gates are those of the `.target` and the `.version` that rustc writes for a GPU.
#[test]
fn gpus_that_rustc_knows() {
    let script = &*SCRIPT;
    let [all_sm, all_ptx] = ["ptx_sm", "ptx_isa"].map(|cfg| script.declared(cfg));
    let toolchain = toolchain();
    let folder = tempfile::tempdir().expect("the system has a place for temporary files");
    let [source, assembly] = ["empty.rs", "empty.s"].map(|name| folder.path().join(name));
    fs::write(&source, "#![feature(no_core)]\n#![no_core]\n").expect("a file can be written here");
    let rustc = |arguments: &[&str]| {
        let rustc = toolchain.rustc().dir(folder.path()).args(["--target", TARGET]).args(arguments);
        rustc.run().unwrap_or_else(|error| panic!("{error}")).stdout
    };
    let listed = rustc(&["--print", "target-cpus"]);
    let known: Vec<&str> = listed.split_whitespace().filter(|word| word.starts_with("sm_")).collect();
    for needed in ["sm_75", "sm_88", "sm_90a", "sm_100a", "sm_103", "sm_110", "sm_120f", "sm_121"] {
        assert!(known.contains(&needed), "rustc does not know {needed}");
    }
    let mut random = forms_check::random("the GPUs are");
    let cpus: Vec<&str> = known.sample(&mut random, whole::or(DRAWN)).copied().collect();
    let of_forms: Vec<_> = catalogue::forms().filter(|form| !form.targets().is_empty()).collect();
    for cpu in &cpus {
        let flag = format!("-Ctarget-cpu={cpu}");
        let cfgs = rustc(&["--print", "cfg", &flag]);
        let features = cfgs.lines().filter_map(|cfg| cfg.strip_prefix("target_feature=\"")?.strip_suffix('"'));
        let features: Vec<&str> = features.collect();
        let out = format!("--emit=asm={}", assembly.display());
        rustc(&[&flag, "--crate-type=lib", &out, source.to_str().expect("temporary folders have plain names")]);
        let module = fs::read_to_string(&assembly).expect("rustc wrote it");
        let after =
            |word: &str| module.lines().find_map(|line| line.strip_prefix(word)).expect("a module says it").trim();
        let [sm, ptx] = [after(".target sm_"), after(".version")]
            .map(|said| said.trim_end_matches(['a', 'f']).replace('.', "").parse::<u32>().expect("a number"));
        let features = features.join(",");
        let vars = [
            ("CARGO_CFG_TARGET_ARCH", "nvptx64"),
            ("CARGO_CFG_TARGET_FEATURE", features.as_str()),
            ("CARGO_ENCODED_RUSTFLAGS", &flag),
        ];
        let found = script.gates(&vars);
        let upto = |gates: &BTreeSet<u32>, newest| gates.range(..=newest).copied().collect();
        // Newer compilers write 7.0 for older GPUs, and some say so. What begins there needs sm_80.
        let ours = |mut opened: Opened| {
            opened.ptx.retain(|version| sm >= 80 || *version != 70);
            opened
        };
        // What the catalogue says that the target has, the build script opens.
        let newest = u32::MAX;
        for form in &of_forms {
            let opened =
                found.as_ref().is_ok_and(|opened| form.targets().iter().any(|name| opened.targets.contains(*name)));
            assert_eq!(opened, form.is_on(cpu, newest), "{} on {cpu}", form.full_ptx());
        }
        let targets = found.as_ref().map_or_else(|_| BTreeSet::new(), |opened| opened.targets.clone());
        let expected = Opened { sm: upto(&all_sm, sm), targets: targets.clone(), ptx: upto(&all_ptx, ptx) };
        assert_eq!(found.map(ours), Ok(ours(expected)), "{cpu}");
        // Asked, it says the very ones, and needs none of its own words for it.
        let compiler = toolchain.rustc.to_str().expect("a toolchain has a plain name");
        let asked = [("RUSTC", compiler), ("TARGET", TARGET), vars[0], vars[2]];
        let expected = Opened { sm: upto(&all_sm, sm), targets, ptx: upto(&all_ptx, ptx) };
        assert_eq!(script.gates(&asked), Ok(expected), "{cpu}, asked");
    }
    println!("{} of {} GPUs", cpus.len(), known.len());
}

/// A package in cargo's registry may be read only, and builds for different GPUs run in it at the same time. The GPU stands in a file that rustc alone reads here, so that no
/// other way leads to it.
#[test]
fn the_packages_folder_may_be_read_only() {
    let script = &*SCRIPT;
    let toolchain = toolchain();
    let arguments = script.folder.join("arguments");
    fs::write(&arguments, "-Ctarget-cpu=sm_90\n").expect("a file can be written here");
    let flags = format!("@{}", arguments.display());
    let vars = [
        ("RUSTC", toolchain.rustc.to_str().expect("a toolchain has a plain name")),
        ("TARGET", TARGET),
        ("CARGO_CFG_TARGET_ARCH", "nvptx64"),
        ("CARGO_ENCODED_RUSTFLAGS", &flags),
    ];
    // Nobody can make a file in it, not even root.
    let opened = BuildScript::read(&script.run_in(Path::new("/proc"), &vars)).expect("it is a target");
    assert_eq!(opened.sm.last(), Some(&90));
}

/// A compiler that does as it is told here, and the gates that the build script opens for it.
struct FakeRustc<'a> {
    script: &'a BuildScript,
    folder: tempfile::TempDir,
}

impl FakeRustc<'_> {
    /// `own` and `llvms` are the lists of target features; `emits` and `accepts` are shell lines: what it prints where it
    /// compiles, and how it ends where it is asked for the `cfg`s.
    fn new<'a>(script: &'a BuildScript, own: &str, llvms: &str, emits: &str, accepts: &str) -> FakeRustc<'a> {
        let folder = tempfile::tempdir().expect("the system has a place for temporary files");
        let list =
            |features: &str| features.split(' ').map(|name| format!("    {name} - Use it.\n")).collect::<String>();
        let listed = format!(
            "Features supported by rustc for this target:\n{}\nCode-generation features supported by LLVM for this \
             target:\n{}",
            list(own),
            list(llvms)
        );
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in\n*target-features*) /bin/cat <<'END'\n{listed}\nEND\n;;\n*--print*cfg*) {accepts};;\n\
             *--emit=asm*) /bin/cat > /dev/null; [ \"$RUSTC_BOOTSTRAP\" = 1 ] && {{ {emits}; }};;\n*) exit 1;;\nesac\n"
        );
        // Written by another process: a file that this one has open cannot be run by what another test has just started.
        let write = "cat > \"$0\"; chmod +x \"$0\"";
        let mut shell =
            Command::new("sh").args(["-c", write]).arg(folder.path().join("rustc")).stdin(Stdio::piped()).spawn();
        let shell = shell.as_mut().expect("there is a shell");
        shell.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("the shell reads");
        assert!(shell.wait().expect("it was started").success());
        FakeRustc { script, folder }
    }

    fn vars<'v>(&'v self, program: &'v str, flags: &'v str, features: &'v str) -> [(&'v str, &'v str); 5] {
        [
            ("RUSTC", program),
            ("TARGET", TARGET),
            ("CARGO_CFG_TARGET_ARCH", "nvptx64"),
            ("CARGO_CFG_TARGET_FEATURE", features),
            ("CARGO_ENCODED_RUSTFLAGS", flags),
        ]
    }

    fn program(&self) -> String {
        self.folder.path().join("rustc").display().to_string()
    }

    /// The newest SM and PTX ISA version that are open, and the first version that no flag reaches.
    fn gates(&self, flags: &str, features: &str) -> Result<(u32, u32, Option<u32>), String> {
        let (program, flags) = (self.program(), flags.replace(' ', "\x1f"));
        let vars = self.vars(&program, &flags, features);
        let opened = self.script.gates(&vars)?;
        let said = self.script.run(&vars);
        let beyond = said.lines().filter_map(|line| line.strip_prefix("cargo::rustc-cfg=ptx_isa_beyond=")).map(number);
        let newest = |gates: &BTreeSet<u32>| gates.last().copied().unwrap_or_default();
        Ok((newest(&opened.sm), newest(&opened.ptx), beyond.min()))
    }
}

const SM_90: &str = "printf '.version 7.8\n.target sm_90\n'";

/// The changes of rustc that are spoken of, each by a compiler that has it already.
#[test]
fn rustcs_to_come() {
    let script = &*SCRIPT;
    let (own, llvms) = ("ptx70 ptx74 ptx78 ptx87", "ptx88 ptx90 ptx93");
    let fake = |emits: &str, accepts: &str| FakeRustc::new(script, own, llvms, emits, accepts);

    // LLVM 22 does not tell the CPU's PTX ISA version; and SM and version may cease to be `cfg`s at all.
    for features in ["sm_70,sm_80,sm_90", ""] {
        assert_eq!(fake(SM_90, "true").gates("-Ctarget-cpu=sm_90", features), Ok((90, 78, Some(94))));
    }
    // The version may come by a flag of its own.
    let by_flag = "case \"$*\" in *-Zptx-isa-version=9.4*) printf '.version 9.4\n.target sm_90a\n';; *) exit 1;; esac";
    let flags = "-Ctarget-cpu=sm_90a -Zptx-isa-version=9.4";
    assert_eq!(fake(by_flag, "true").gates(flags, ""), Ok((90, 94, None)));
    // A feature that LLVM alone knows is to become an error; then no flag names it.
    assert_eq!(fake(SM_90, "exit 1").gates("-Ctarget-cpu=sm_90", ""), Ok((90, 78, Some(88))));
    // What rustc ignores opens nothing, whether it compiles the empty crate or not.
    for emits in [SM_90, "exit 1"] {
        let flags = "-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx94";
        assert_eq!(fake(emits, "true").gates(flags, ""), Ok((90, 78, Some(94))));
        let flags = "-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx87";
        let newer = emits.replace("7.8", "8.7");
        assert_eq!(fake(&newer, "true").gates(flags, ""), Ok((90, 87, Some(94))));
    }
    // A new major version.
    let ten = "printf '.version 10.0\n.target sm_120f\n'";
    assert_eq!(fake(ten, "true").gates("-Ctarget-cpu=sm_120f", ""), Ok((100, 94, None)));
    // The newest version that a flag names is itself within reach.
    let ends_at_a_gate = FakeRustc::new(script, own, "ptx88", SM_90, "true");
    assert_eq!(ends_at_a_gate.gates("-Ctarget-cpu=sm_90", ""), Ok((90, 78, Some(91))));
    // A compiler that lists nothing says nothing of what is beyond it.
    let silent = FakeRustc::new(script, "x", "x", SM_90, "true");
    assert_eq!(silent.gates("-Ctarget-cpu=sm_90", ""), Ok((90, 78, None)));
}

#[test]
fn flags_that_cannot_be_are_refused() {
    let script = &*SCRIPT;
    let fake = FakeRustc::new(script, "ptx70 ptx74 ptx78 ptx87", "ptx88 ptx90", SM_90, "true");
    let refused = |flags: &str| fake.gates(flags, "").unwrap_err();
    assert_eq!(
        refused("-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx74"),
        "RUSTFLAGS ask for PTX ISA 7.4 (-Ctarget-feature=+ptx74), and sm_90 begins with 7.8: name ptx78 or newer, or leave \
         the flag out"
    );
    assert!(
        refused("-Ctarget-cpu=sm_120 -Ctarget-feature=+ptx78").contains("sm_120 begins with 8.7: name ptx87 or newer")
    );
    // The newest counts, and what rustc ignores does not.
    assert_eq!(fake.gates("-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx74,+ptx78", ""), Ok((90, 78, Some(91))));
    assert!(refused("-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx74,+ptx94").starts_with("RUSTFLAGS ask for PTX ISA 7.4 "));

    let (program, flags) = (fake.program(), "-Ctarget-cpu=sm_90");
    let stated = |target: &str| {
        let mut vars = fake.vars(&program, flags, "").to_vec();
        vars.push(("PTX_INTRINSICS_TARGET", target));
        script.gates(&vars).unwrap_err()
    };
    assert_eq!(
        stated("sm_90,ptx94"),
        "PTX_INTRINSICS_TARGET states sm_90 and PTX ISA 9.4, and the build is for sm_90 and PTX ISA 7.8: use a newer \
         rustc, since this one ends with PTX ISA 9.0, or unset the variable"
    );
    assert!(stated("sm_90,ptx83").contains("(-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx83)"));
    // A target without a suffix has nothing of one with a suffix.
    assert_eq!(
        stated("sm_90a,ptx78"),
        "PTX_INTRINSICS_TARGET states sm_90a and PTX ISA 7.8, and the build is for sm_90 and PTX ISA 7.8: change \
         RUSTFLAGS (-Ctarget-cpu=sm_90a -Ctarget-feature=+ptx78) or unset the variable"
    );
}

/// In rust-cuda libnvvm writes the version, whatever rustc would.
#[test]
fn rust_cudas_versions_are_libnvvms() {
    let script = &*SCRIPT;
    // Not to be asked: it would answer for another back end.
    let fake = FakeRustc::new(script, "ptx70", "ptx90", SM_90, "true");
    let program = fake.program();
    let gates = |compute: &str, stated: &str| {
        let mut vars = fake.vars(&program, "-Ctarget-feature=+ptx70", compute).to_vec();
        vars.push(("PTX_INTRINSICS_TARGET", stated));
        let opened = script.gates(&vars)?;
        assert!(script.run(&vars).lines().any(|line| line == "cargo::rustc-cfg=ptx_by_libnvvm"));
        Ok((*opened.sm.last().expect("some are open"), *opened.ptx.last().expect("some are open")))
    };
    // CUDA 12.0's, the oldest; and never less than the GPU's own.
    assert_eq!(gates("compute_75,compute_80", ""), Ok((80, 80)));
    assert_eq!(gates("compute_90,compute_100", ""), Ok((100, 86)));
    assert_eq!(gates("compute_80", "sm_80,ptx74"), Ok((80, 74)));
    assert_eq!(gates("compute_80", "sm_80,ptx94"), Ok((80, 94)));
    assert_eq!(gates("compute_80", "sm_75,ptx92"), Ok((75, 92)));
    assert_eq!(
        gates("compute_80", "sm_90,ptx80"),
        Err("PTX_INTRINSICS_TARGET states sm_90 and PTX ISA 8.0, and the build is for sm_80: build for compute_90 or unset \
             the variable"
            .to_owned())
    );
}

#[test]
fn a_stated_target_is_checked_against() {
    let script = &*SCRIPT;
    let [all_sm, all_ptx] = ["ptx_sm", "ptx_isa"].map(|cfg| script.declared(cfg));
    let newest =
        |found: Result<Opened, String>| found.map(|gates| (gates.sm.last().copied(), gates.ptx.last().copied()));
    let on_the_host =
        |text| newest(script.gates(&[("PTX_INTRINSICS_TARGET", text), ("CARGO_CFG_TARGET_ARCH", "x86_64")]));
    let on_sm_80 = |text| {
        newest(script.gates(&[
            ("PTX_INTRINSICS_TARGET", text),
            ("CARGO_CFG_TARGET_ARCH", "nvptx64"),
            ("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-cpu=sm_80\x1f-Ctarget-feature=+ptx74"),
        ]))
    };
    let everything = (all_sm.last().copied(), all_ptx.last().copied());
    assert_eq!(newest(script.gates(&[("CARGO_CFG_TARGET_ARCH", "x86_64")])), Ok(everything));
    assert_eq!(on_the_host(""), Ok(everything));
    assert_eq!(on_the_host("sm_80"), Ok((Some(80), Some(70))));
    assert_eq!(on_the_host("sm_90a"), Ok((Some(90), Some(80))));
    assert_eq!(on_the_host("sm_80,ptx74"), Ok((Some(80), Some(74))));
    assert_eq!(on_the_host("sm_103, ptx93"), Ok((Some(100), Some(93))));
    assert_eq!(on_sm_80("sm_75,ptx63"), Ok((Some(75), Some(63))));
    assert_eq!(on_sm_80("sm_80,ptx74"), Ok((Some(80), Some(74))));

    for nonsense in
        ["Hopper", "80", "sm_", "sm_9", "sm_90b", "sm_+90", "ptx74", "sm_80,ptx7.4", "sm_80,sm_90", "sm_80,ptx74,"]
    {
        let words = format!("PTX_INTRINSICS_TARGET is `{nonsense}`; write it as sm_90 or as sm_90,ptx80");
        assert_eq!(on_the_host(nonsense), Err(words));
    }
    assert_eq!(
        on_sm_80("sm_90,ptx80"),
        Err("PTX_INTRINSICS_TARGET states sm_90 and PTX ISA 8.0, and the build is for sm_80 and PTX ISA 7.4: change \
             RUSTFLAGS (-Ctarget-cpu=sm_90 -Ctarget-feature=+ptx80) or unset the variable"
            .to_owned())
    );
}
