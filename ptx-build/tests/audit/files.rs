//! `cargo ptx audit`, as it is typed.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const BIN: &str = env!("CARGO_BIN_EXE_cargo-ptx");

/// How it ended, what it printed and what it complained of.
fn audit(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut program = Command::new(BIN);
    program.args(["ptx", "audit"]).args(words).current_dir(folder).envs(variables.iter().copied());
    let output = program.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A kernel whose prefetch is halved on sm_80, with its place in the source.
const KERNEL: &str = "\
.version 8.0
.target sm_80
.address_size 64
.file 1 \"kernels.cu\"
.visible .entry hinted(.param .u64 p, .param .u64 q)
{
.reg .b64 %rd<4>; .reg .f32 %f<2>; .local .align 4 .b8 __local_depot0[64];
.loc 1 12 5
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
.loc 1 13 7
ld.global.nc.L2::256B.f32 %f1, [%rd1];
st.global.f32 [%rd2], %f1;
ret;
}
";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("k.ptx"), KERNEL).expect("it is written");
    folder
}

#[test]
fn a_weaker_hint_is_told_with_its_place() {
    let folder = folder();
    let (code, printed, complaint) = audit(folder.path(), &["k.ptx", "--sm", "80,90"], &[]);
    assert_eq!(code, Some(0), "{complaint}");
    let expected = "\
warning[hint-weakened]: `.L2::256B` became `LTC128B` in `LDG.E.LTC128B.CONSTANT`
  --> kernels.cu:13:7, k.ptx:12, in `hinted`
    |
 12 | ld.global.nc.L2::256B.f32 %f1, [%rd1]
    |   LDG.E.LTC128B.CONSTANT
  = on: sm_80 by ptxas ";
    assert!(printed.contains(expected), "{printed}");
    let frame = "warning[stack-frame]: a stack frame of 64 bytes: `__local_depot0` of 64 bytes\n  --> k.ptx, in `hinted`\n  = on: sm_80 ";
    assert!(printed.starts_with(frame), "{printed}");
    assert!(printed.contains("hinted  sm_90 by ptxas "), "{printed}");
    assert!(printed.ends_with("0 errors, 2 warnings, 0 notes\n"), "{printed}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// Each line is JSON, a budget is held, and a run is compared with the last one.
#[test]
fn a_budget_and_a_baseline_are_held() {
    let folder = folder();
    let (code, printed, complaint) = audit(folder.path(), &["k.ptx", "--sm", "80,90", "--json"], &[]);
    assert_eq!(code, Some(0), "{complaint}");
    let lines: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!(lines.iter().map(|line| line["gpu"].as_str()).collect::<Vec<_>>(), [Some("sm_80"), Some("sm_90")]);
    assert_eq!(lines[0]["findings"][1]["kind"], "hint-weakened");
    assert_eq!(lines[0]["accesses"][0]["place"]["line"], 13);
    assert_eq!(lines[1]["findings"].as_array().map(Vec::len), Some(1));
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is written");
    write("last.json", &printed.replace("sm_80", "sm_0").replace("sm_90", "sm_80"));
    write("audit.toml", "spills = 0\nlost = 0\nweakened = 0\nin_flight = \">= 1\"\n");
    let held = |words: &[&str]| audit(folder.path(), &[&["k.ptx"], words].concat(), &[]);
    let (code, _, complaint) = held(&["--sm", "80", "--budget", "audit.toml"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("hinted on sm_80 by ptxas ") && complaint.contains("weakened is 1, and must be 0"));
    assert_eq!(held(&["--sm", "90", "--budget", "audit.toml"]).0, Some(0));
    let (code, _, complaint) = held(&["--sm", "80", "--baseline", "last.json"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("weakened was 0, and is 1"), "{complaint}");
    assert_eq!(held(&["--sm", "90", "--baseline", "last.json"]).0, Some(0));
}

/// A cubin whose table of symbols is empty.
fn stripped(cubin: &[u8]) -> Vec<u8> {
    const SYMBOLS: u32 = 2;
    let number = |at: usize, size: usize| {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&cubin[at..at + size]);
        u64::from_le_bytes(bytes) as usize
    };
    let (headers, count) = (number(40, 8), number(60, 2));
    let mut bytes = cubin.to_vec();
    let table = (0..count).map(|at| headers + 64 * at).find(|at| number(at + 4, 4) == SYMBOLS as usize);
    let table = table.expect("it has symbols");
    bytes[table + 32..table + 40].fill(0);
    bytes
}

/// What cannot be audited ends with 2, says why, and leaves nothing behind.
#[test]
fn what_cannot_be_audited_is_told() {
    let folder = folder();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("it is written");
    let cubin = include_bytes!("k.cubin");
    write("k.cubin", cubin);
    write("cut.cubin", &cubin[..cubin.len() / 2]);
    write("head.cubin", &cubin[..100]);
    write("stripped.cubin", &stripped(cubin));
    write("new.ptx", KERNEL.replace(".version 8.0", ".version 99.0").as_bytes());
    write("cut.ptx", &KERNEL.as_bytes()[..KERNEL.len() - 30]);
    write("none.ptx", b"");
    write("text.o", b"no fat binary is in it");
    write("wrong.toml", b"spill = 0");
    write("wrong.json", b"{}");
    let count = fs::read_dir(folder.path()).expect("a folder").count();
    let cases: [(&[&str], &str); 14] = [
        (&["missing.ptx"], "No such file"),
        (&["none.ptx"], "this is neither PTX nor machine code"),
        (&["text.o"], "this is neither PTX nor machine code"),
        (&["cut.cubin"], "cut.cubin: the cubin is cut off or damaged"),
        (&["head.cubin"], "head.cubin: the cubin is cut off or damaged"),
        (&["stripped.cubin"], "stripped.cubin: "),
        (&["new.ptx"], "ptxas refuses"),
        (&["cut.ptx"], "ptxas refuses"),
        (&["k.ptx", "--sm", "42"], "`sm_42` is not a GPU architecture"),
        (&["k.ptx", "--sm", "75"], "ptxas refuses"),
        (&["k.ptx", "--assembler", "13"], "`13` is no release of CUDA"),
        (&["k.ptx", "--assembler", "11.8"], "there is no assembler of CUDA 11.8 here"),
        (&["k.ptx", "--budget", "wrong.toml"], "`spill` is nothing that can be limited"),
        (&["k.ptx", "--baseline", "wrong.json"], "line 1: "),
    ];
    for (words, told) in cases {
        let (code, printed, complaint) = audit(folder.path(), words, &[]);
        assert_eq!(code, Some(2), "{words:?}: {printed}{complaint}");
        assert!(complaint.contains(told), "{words:?}: {complaint}");
        assert_eq!(printed, "", "{words:?}");
    }
    assert_eq!(audit(folder.path(), &["k.cubin"], &[]).0, Some(0));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), count);
}

/// What a reader does with the page: the pointer over a line of PTX, then the keys. It writes what is marked then.
const READER: &str = "
const event = (row, name) => row.dispatchEvent(new MouseEvent(name, { bubbles: true }));
const key = (pane, name) => box(pane).dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
const text = (rows) => rows.map((row) => row.textContent.replace(/\\s+/g, ' ').trim());
const marked = (pane) => text(rows[pane].filter((row) => row.classList.contains('tied')));
const load = rows.ptx.find((row) => row.textContent.includes('ld.global.nc'));
event(load.firstChild, 'mouseover');
const hovered = { source: marked('source'), ptx: marked('ptx'), machine: marked('machine') };
event(load.firstChild, 'click');
key('ptx', 'ArrowDown');
const down = active.textContent;
key('ptx', 'ArrowUp');
key('ptx', 'ArrowRight');
const right = [active.pane, text([active])[0], box('machine').getAttribute('aria-activedescendant') === active.id];
const found = {
  hovered, down, right,
  fates: [...document.querySelectorAll('[data-pane=ptx] .weakened')].map((one) => one.textContent),
  cells: document.querySelectorAll('#matrix td button').length,
  live: rows.machine.filter((row) => Number(row.querySelector('.live').textContent) > 0).length,
  dark: matchMedia('(prefers-color-scheme: dark)').matches, back: getComputedStyle(document.body).backgroundColor,
  wide: document.documentElement.scrollWidth <= innerWidth, tabs: getComputedStyle(byId('tabs')).display,
};
document.body.replaceChildren(Object.assign(document.createElement('pre'), { id: 'found', textContent: JSON.stringify(found) }));
";

/// The page as a Chromium shows it, by what READER found there.
fn read_by(chromium: &Path, page: &Path, more: &[&str]) -> serde_json::Value {
    let profile = TempDir::new().expect("a folder");
    let usual = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
                 --disable-component-update --disable-sync --virtual-time-budget=5000 --dump-dom";
    let mut program = Command::new(chromium);
    program.args(usual.split_whitespace()).args(more);
    program.arg(format!("--user-data-dir={}", profile.path().display())).arg(format!("file://{}", page.display()));
    let output = program.output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = printed.split_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (found, _) = found.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&found).expect("JSON")
}

/// The page of a kernel, and the folder that it lies in.
fn page() -> (tempfile::TempDir, String) {
    let folder = folder();
    let source: String = (1..=20).map(|line| format!("// line {line} of the source\n")).collect();
    fs::write(folder.path().join("kernels.cu"), source).expect("it is written");
    let (code, _, complaint) = audit(folder.path(), &["k.ptx", "--sm", "80,90", "--html", "out.html"], &[]);
    assert_eq!(code, Some(0), "{complaint}");
    let page = fs::read_to_string(folder.path().join("out.html")).expect("it is written");
    (folder, page)
}

#[test]
fn the_page_needs_no_network() {
    let (_folder, page) = page();
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains(" src="), "it needs the network");
    assert!(page.contains("line 13 of the source") && page.contains("LDG.E.LTC128B.CONSTANT"), "{page}");
}

/// Source, PTX and machine code are tied to each other, by the pointer and by keys.
#[test]
#[ignore = "it needs Chromium in PATH (Debian's package chromium): cargo test -p ptx-build --test audit -- --ignored"]
fn the_page_ties_source_ptx_and_machine_code() {
    let (folder, page) = page();
    let path = std::env::var_os("PATH").expect("there is a PATH");
    let places: Vec<_> = std::env::split_paths(&path).collect();
    let named = |name: &str| places.iter().map(|place| place.join(name)).find(|file| file.is_file());
    let chromium = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(named);
    let chromium = chromium.expect("no Chromium is in PATH: apt-get install chromium");
    let driven = folder.path().join("driven.html");
    fs::write(&driven, page.replace("</body>", &format!("<script>{READER}</script></body>"))).expect("it is written");
    let desktop = read_by(&chromium, &driven, &["--window-size=1400,1000"]);
    let hovered = |pane: &str| {
        desktop["hovered"][pane].as_array().expect("a list").iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(hovered("source"), ["\"13// line 13 of the source\""]);
    assert_eq!(hovered("ptx"), ["\"12ld.global.nc.L2::256B.f32 %f1, [%rd1];\""]);
    assert!(hovered("machine").iter().any(|row| row.contains("LDG.E.LTC128B.CONSTANT")), "{desktop}");
    assert!(desktop["down"].as_str().is_some_and(|row| row.contains("st.global.f32")), "{desktop}");
    assert_eq!(desktop["right"][0], "machine");
    assert_eq!(desktop["right"][1].to_string(), hovered("machine")[0]);
    assert_eq!(desktop["right"][2], true);
    assert_eq!(desktop["fates"], serde_json::json!([".L2::256B"]));
    assert_eq!(desktop["cells"], 2);
    assert!(desktop["live"].as_u64() > Some(5), "{desktop}");
    assert_eq!((&desktop["wide"], &desktop["tabs"]), (&true.into(), &"none".into()));
    let phone = read_by(&chromium, &driven, &["--window-size=500,900", "--blink-settings=preferredColorScheme=0"]);
    assert_eq!(
        (&phone["wide"], &phone["tabs"], &phone["dark"]),
        (&true.into(), &"flex".into(), &true.into()),
        "{phone}"
    );
    assert_ne!(phone["back"], desktop["back"]);
}
