//! `ptx-audit` says of each form what `docs/sass` shows, finds nothing in the worked kernels that is not there, and counts what
//! a reader of its own finds in nvdisasm's text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use host_tests::check::forms_check;
use host_tests::check::here::{or_panic, toolchain, tools};
use host_tests::check::parity::{KERNELS, PAIRS};
use host_tests::check::sass::golden::Page;
use host_tests::check::sass::trace::without_hints;
use host_tests::check::sass::{self, Access, GPUS, pages};
use host_tests::check::whole;
use host_tests::tools::cccl::CCCL;
use host_tests::tools::command::{Command, Machine};
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::disassembler::Disassembler;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_audit::fate::{Fate, Word, words};
use ptx_audit::finding::Kind;
use ptx_audit::report::Kernel;
use ptx_audit::{Code, Text, audit};
use rand::seq::IndexedRandom;
use rayon::prelude::*;
use tempfile::TempDir;
use workloads::kernels_folder;

fn kept() -> BTreeMap<String, String> {
    let pages = or_panic(pages::kept()).into_iter();
    pages.filter_map(|(name, text)| Some((name.strip_suffix(".txt")?.to_owned(), text))).collect()
}

/// What a row of a page says: the opcodes, whether the policy is among them, and the hints without a trace.
struct Row {
    opcodes: Vec<String>,
    policy: bool,
    lost: String,
}

impl Row {
    fn of(page: &Page<'_>, access: &Access, sm: Sm) -> Row {
        let (code, lost) = page.look_up(&access.ptx, sm).unwrap_or_else(|| panic!("no row of {}", access.ptx));
        let plain = code.strip_suffix(" + policy");
        let opcodes =
            plain.unwrap_or(&code).split(" ; ").map(|part| part.split(" ×").next().unwrap_or(part).to_owned());
        Row { opcodes: opcodes.collect(), policy: plain.is_some(), lost }
    }
}

/// Where the words that are judged are not as the row says.
fn disagreement(access: &Access, sm: Sm, row: &Row, judged: &[Word]) -> Option<String> {
    let hints: BTreeSet<&str> = without_hints(&access.ptx).into_iter().map(|(hint, _)| hint).collect();
    let traceless = judged.iter().filter(|one| matches!(one.fate, Fate::Lost | Fate::Default));
    let said: String = traceless.map(|one| one.word.as_str()).filter(|word| hints.contains(word)).collect();
    if said != row.lost {
        return Some(format!("{} on {sm}: the audit says {said:?} has no trace, the page {:?}", access.ptx, row.lost));
    }
    // No form loses its order, its scope or `.nc`; that of less than was asked for is told.
    let order = judged.iter().find(|one| one.fate == Fate::Lost && !hints.contains(one.word.as_str()));
    let size = judged.iter().find(|one| one.word.starts_with(".L2::") && one.word.ends_with('B'));
    let asked = size.map(|one| one.word.replace(".L2::", "LTC"));
    let has = asked.is_none_or(|asked| row.opcodes.iter().any(|opcode| opcode.split('.').any(|word| word == asked)));
    let weakened = judged.iter().any(|one| matches!(one.fate, Fate::Weakened(_)));
    match order {
        Some(lost) => Some(format!("{} on {sm}: {} is said to be lost", access.ptx, lost.word)),
        None if has == weakened => {
            Some(format!("{} on {sm}: weakened is {weakened}, and {:?}", access.ptx, row.opcodes))
        }
        None => None,
    }
}

/// Forms of each instruction, on every GPU.
#[test]
fn the_table_of_fates_is_what_the_pages_show() {
    let kept = kept();
    let read: BTreeMap<&str, Page<'_>> =
        kept.iter().map(|(name, text)| (name.as_str(), or_panic(Page::read(text)))).collect();
    /// Forms of each instruction that are drawn.
    const OF_EACH: usize = 20;
    let mut by_instruction: BTreeMap<String, Vec<Access>> = BTreeMap::new();
    for access in sass::accesses() {
        by_instruction.entry(access.instruction.clone()).or_default().push(access);
    }
    let mut random = forms_check::random("the forms are");
    let accesses: Vec<&Access> =
        by_instruction.values().flat_map(|own| own.sample(&mut random, whole::or(OF_EACH))).collect();
    assert!(accesses.len() > 400, "{} forms", accesses.len());
    let all = accesses.par_iter().map(|access| {
        let there = GPUS.iter().filter(|sm| access.is_on(**sm));
        let rows: Vec<(Sm, Row)> =
            there.map(|sm| (*sm, Row::of(&read[access.instruction.as_str()], access, *sm))).collect();
        let wrong = rows.iter().filter_map(|(sm, row)| {
            let opcodes: Vec<&str> = row.opcodes.iter().map(String::as_str).collect();
            disagreement(access, *sm, row, &words(&access.ptx, &opcodes, row.policy, sm.number))
        });
        (rows.len(), wrong.collect::<Vec<_>>())
    });
    let all: Vec<(usize, Vec<String>)> = all.collect();
    let judged: usize = all.iter().map(|(rows, _)| rows).sum();
    let wrong: Vec<&String> = all.iter().flat_map(|(_, wrong)| wrong).collect();
    println!("{judged} rows of {} forms", accesses.len());
    let shown: Vec<&&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{} are wrong: {shown:#?}", wrong.len());
    assert!(judged > 6 * accesses.len());
}

/// What was assembled, disassembled and audited, in a folder: the kernels, and the text for the reader below.
pub(crate) struct Audited {
    ptx: Text,
    pub(crate) kernels: Vec<Kernel>,
    cubin: PathBuf,
    _folder: TempDir,
}

impl Audited {
    /// nvdisasm's text.
    fn listing(&self) -> String {
        let nvdisasm = or_panic(Command::tool(&tools().nvdisasm));
        or_panic(nvdisasm.args(["-gp", "-c", "-ndf"]).arg(&self.cubin).run()).stdout
    }
}

pub(crate) fn audited(text: &str, sm: Sm) -> Audited {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = Text::read(text);
    let assembler = Assembler::new(&tools().ptxas).lineinfo(true);
    let cubin = or_panic(assembler.assemble_text(&ptx.ptx, sm, &folder.path().join("k.cubin")));
    let cubin = cubin.unwrap_or_else(|rejected| panic!("{rejected}"));
    let functions = or_panic(Disassembler::new(&tools().nvdisasm).disassemble(&cubin.path));
    let bytes = std::fs::read(&cubin.path).expect("the cubin is there");
    let takes = ptx_sass::cubin::takes(&bytes).expect("a whole cubin");
    let spilled = BTreeMap::new();
    let code =
        Code { functions: &functions, sm: sm.number, takes: &takes, spilled: &spilled, ptx: Some(&ptx), bounded: None };
    let kernels = audit(&code);
    Audited { ptx, kernels, cubin: cubin.path, _folder: folder }
}

/// How many forms are assembled at a time.
const AT_A_TIME: usize = 512;

/// The forms that the audit judges: accesses and fences. Parameters are constants, which no hint and no order reaches.
fn judged_forms() -> BTreeMap<String, Vec<Access>> {
    let names = [
        "ld",
        "ldu",
        "st",
        "atom",
        "red",
        "cp.async.ca",
        "cp.async.cg",
        "cp.async.bulk",
        "prefetch",
        "prefetchu",
        "discard",
        "applypriority",
        "fence",
        "membar",
    ];
    let is_judged =
        |ptx: &str| names.iter().any(|name| ptx.starts_with(&format!("{name}."))) && !ptx.contains(".param");
    // Groups of copies touch no memory themselves.
    let waits = |ptx: &str| ["commit_group", "wait_group", "wait_all"].iter().any(|word| ptx.contains(word));
    let mut by_instruction: BTreeMap<String, Vec<Access>> = BTreeMap::new();
    for access in sass::accesses().into_iter().filter(|access| is_judged(&access.ptx) && !waits(&access.ptx)) {
        by_instruction.entry(access.instruction.clone()).or_default().push(access);
    }
    by_instruction
}

/// Assembles these forms, each in a kernel of its own, and compares what the audit says of each with its page.
fn judge(kept: &BTreeMap<String, String>, sm: Sm, accesses: &[&Access]) -> usize {
    let texts: Vec<&str> = accesses.iter().map(|access| access.ptx.as_str()).collect();
    let (module, target, lines) = sass::one_each(sm, &texts);
    let audited = audited(&module, target);
    let mut by_line: BTreeMap<u32, Vec<&ptx_audit::Access>> = BTreeMap::new();
    for own in audited.kernels.iter().flat_map(|kernel| &kernel.accesses) {
        by_line.entry(own.ptx_line.unwrap_or_default()).or_default().push(own);
    }
    for (access, line) in accesses.iter().zip(lines) {
        let page = or_panic(Page::read(&kept[&access.instruction]));
        let row = Row::of(&page, access, sm);
        let own = by_line.get(&line).map_or(&[][..], Vec::as_slice);
        if row.opcodes == [sass::NOTHING] {
            let lost = own.iter().flat_map(|own| &own.words).find(|one| one.fate == Fate::Lost);
            assert_eq!(lost, None, "{} on {sm}", access.ptx);
            continue;
        }
        let [own] = own else { panic!("{} on {sm}: {} accesses on its line", access.ptx, own.len()) };
        assert_eq!(disagreement(access, sm, &row, &own.words), None);
        assert!(row.opcodes.iter().any(|opcode| own.opcodes.contains(opcode)), "{}: {:?}", access.ptx, own.opcodes);
    }
    // The policy that each was given is the one in its descriptor, and what each orders is ordered.
    let wrong = [Kind::PolicyLost, Kind::PolicyChanged, Kind::PolicyUndefined, Kind::OrderLost];
    let findings = audited.kernels.iter().flat_map(|kernel| &kernel.findings);
    let wrong: Vec<_> = findings.filter(|one| wrong.contains(&one.kind)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    accesses.len()
}

/// A slice of the forms, each in a kernel of its own, by the tools.
#[test]
fn one_line_kernels_are_judged_as_the_pages_show() {
    /// How many forms are drawn of each instruction.
    const OF_EACH: usize = 1;
    let mut random = forms_check::random("the slice is");
    let of_each = whole::or(OF_EACH);
    let by_instruction = judged_forms();
    let drawn: Vec<&Access> =
        by_instruction.values().flat_map(|own| own.sample(&mut random, of_each.min(own.len()))).collect();
    let kept = kept();
    let judged = [75, 80, 90, 100, 120].map(|number| {
        let there: Vec<&Access> = drawn.iter().filter(|access| access.is_on(Sm::new(number))).copied().collect();
        there.par_chunks(AT_A_TIME).map(|part| judge(&kept, Sm::new(number), part)).sum::<usize>()
    });
    println!("{judged:?} forms on sm_75, 80, 90, 100 and 120");
    assert!(judged.iter().sum::<usize>() > 100, "{judged:?}");
}

fn compiled(package: &str, sm: Sm, ptx: PtxVersion, features: &[&str]) -> String {
    let folder = if package == "kernels" { kernels_folder() } else { PAIRS.into() };
    let mut build = DeviceBuild::new(folder, package, sm);
    build.ptx = Some(ptx);
    build.features.extend(features.iter().map(|feature| (*feature).to_owned()));
    let path = or_panic(build.build(&toolchain()));
    std::fs::read_to_string(path).expect("the PTX is there")
}

const AMPERE: (Sm, PtxVersion) = (Sm::new(80), PtxVersion::new(7, 4));
/// Stores that a barrier counts need the newer version.
const HOPPER: (Sm, PtxVersion) = (Sm::new(90), PtxVersion::new(8, 1));

/// On sm_80 a prefetch of 256 bytes is one of 128: that is true, and all that is found.
#[test]
fn the_worked_kernels_have_no_false_alarm() {
    for (sm, ptx) in [AMPERE, HOPPER] {
        let audited = audited(&compiled("kernels", sm, ptx, &[]), sm);
        let weakened = |kind: Kind, text: &str| {
            sm.number == 80 && kind == Kind::HintWeakened && text.starts_with("`.L2::256B` became `LTC128B`")
        };
        let named =
            |kernel: &Kernel| kernel.findings.iter().map(|one| (kernel.name.clone(), one.clone())).collect::<Vec<_>>();
        let all: Vec<_> = audited.kernels.iter().flat_map(named).collect();
        let (true_ones, false_ones): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, one)| weakened(one.kind, &one.text));
        assert!(false_ones.is_empty(), "{false_ones:#?}");
        assert_eq!(true_ones.is_empty(), sm.number != 80, "{true_ones:?}");
        assert!(audited.kernels.len() >= 10);
    }
}

/// The words that are not in the machine code, as one sees them who holds the two texts beside each other: a word of a line of
/// PTX is looked for in the lines of nvdisasm's text that name that line. Nothing is shared with the audit.
fn by_eye(ptx: &str, listing: &str) -> BTreeSet<(u32, &'static str)> {
    const SHOWN: [(&str, &[&str]); 10] = [
        (".L1::evict_first", &[".EF"]),
        (".L1::evict_last", &[".EL"]),
        (".L1::no_allocate", &[".NA"]),
        (".L1::evict_unchanged", &[".EU"]),
        (".L2::256B", &[".LTC256B"]),
        (".L2::128B", &[".LTC128B"]),
        (".cs", &[".EF"]),
        (".cg", &[".STRONG.GPU", ".STRONG.SYS"]),
        (".volatile.global", &[".STRONG.SYS"]),
        (".nc", &[".CONSTANT"]),
    ];
    let mut machine: BTreeMap<u32, String> = BTreeMap::new();
    let mut own = None;
    for line in listing.lines() {
        if let Some((_, number)) = line.split_once(".nv_debug_ptx_txt\", line ") {
            own = number.split(' ').next().and_then(|number| number.parse().ok());
        } else if line.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$') {
            own = None;
        } else if let Some(number) =
            own.filter(|_| [" LD", " ST", " ATOM", " RED"].iter().any(|name| line.contains(name)))
        {
            machine.entry(number).or_default().push_str(line);
        }
    }
    let mut found = BTreeSet::new();
    for (number, line) in (1..).zip(ptx.lines()) {
        let Some(code) = machine.get(&number) else { continue };
        let space = ["ld.global", "ld.volatile.global", "st.global", "st.volatile.global"];
        if !space.iter().any(|begin| line.contains(begin)) {
            continue;
        }
        let opcode =
            line.split_whitespace().find(|word| space.iter().any(|begin| word.starts_with(begin))).unwrap_or("");
        for (word, modifiers) in SHOWN {
            let has = opcode.contains(&format!("{word}.")) || opcode.ends_with(word);
            if has && !modifiers.iter().any(|modifier| code.contains(modifier)) {
                found.insert((number, word));
            }
        }
    }
    found
}

/// Sources in CUDA C++ of which kernels are drawn.
const SOURCES: usize = 5;

/// Kernels that are audited and read by eye, in Rust and in CUDA C++.
fn public_modules() -> Vec<(String, Sm)> {
    let entries = std::fs::read_dir(PAIRS).expect("the folder is there");
    let sources: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "cu"))
        .collect();
    let nvcc = or_panic(tools().nvcc(&Progress::kept()));
    let out = tempfile::tempdir().expect("a folder");
    let compile = |(number, source): (usize, &PathBuf)| {
        let pair = KERNELS.iter().find(|pair| source.ends_with(format!("{}.cu", pair.source)));
        let sm = pair.unwrap_or_else(|| panic!("no pair is in {}", source.display())).first;
        let path = out.path().join(format!("{number}.ptx"));
        or_panic(nvcc.ptx(source, sm, &path));
        (std::fs::read_to_string(&path).expect("nvcc wrote it"), sm)
    };
    let mut random = forms_check::random("the kernels are");
    let sources: Vec<&PathBuf> = sources.sample(&mut random, whole::or(SOURCES)).collect();
    let mut all: Vec<(String, Sm)> = sources.into_par_iter().enumerate().map(compile).collect();
    all.push((compiled("parity", AMPERE.0, AMPERE.1, &[]), AMPERE.0));
    all.push((compiled("parity", HOPPER.0, HOPPER.1, &["bulk"]), HOPPER.0));
    all.push((compiled("kernels", AMPERE.0, AMPERE.1, &[]), AMPERE.0));
    // CUB and libcu++, if their headers were downloaded before.
    if let Some(cccl) = CCCL.provided(&Machine::current()) {
        let include = format!("-I{}", cccl.join("nvidia/cu13/include/cccl").display());
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for source in ["ptx-build/tests/check/cub.cu", "host-tests/tests/assembler/libcudacxx.cu"] {
            let path = out.path().join("cccl.ptx");
            or_panic(nvcc.ptx_with(&repository.join(source), Sm::new(80), &[&include, "-std=c++17"], &path));
            all.push((std::fs::read_to_string(&path).expect("nvcc wrote it"), Sm::new(80)));
        }
    }
    // And on a newer GPU.
    let newer = [90, 120].sample(&mut random, whole::or(1)).flat_map(|number| {
        let older = all.iter().filter(|(_, sm)| sm.number < *number);
        older.map(|(text, _)| (text.clone(), Sm::new(*number)))
    });
    let newer: Vec<(String, Sm)> = newer.collect();
    all.extend(newer);
    all
}

#[test]
fn a_reader_of_its_own_finds_the_same() {
    let modules = public_modules();
    let compared = modules.par_iter().map(|(text, sm)| {
        let audited = audited(text, *sm);
        let eye = by_eye(&audited.ptx.ptx, &audited.listing());
        let words: BTreeSet<&str> = eye.iter().map(|(_, word)| *word).collect();
        let all = audited.kernels.iter().flat_map(|kernel| &kernel.accesses);
        let mut said = BTreeSet::new();
        for access in all {
            let opcode = access.ptx.as_deref().unwrap_or_default();
            let opcode = opcode.split_whitespace().find(|word| word.contains(".global")).unwrap_or_default();
            if !opcode.starts_with("ld") && !opcode.starts_with("st") {
                continue;
            }
            for word in access.words.iter().filter(|word| matches!(word.fate, Fate::Lost | Fate::Weakened(_))) {
                let name = if word.word == ".volatile" { ".volatile.global" } else { &word.word };
                said.insert((access.ptx_line.expect("it is from PTX"), name.to_owned()));
            }
        }
        let eye: BTreeSet<(u32, String)> = eye.iter().map(|(line, word)| (*line, (*word).to_owned())).collect();
        assert_eq!(said, eye, "on {sm}, words {words:?}");
        (audited.kernels.iter().filter(|kernel| !kernel.name.contains('$')).count(), said.len())
    });
    let compared: Vec<(usize, usize)> = compared.collect();
    let kernels: usize = compared.iter().map(|(kernels, _)| kernels).sum();
    let found: usize = compared.iter().map(|(_, found)| found).sum();
    println!("{kernels} kernels, {found} words lost or weakened");
    assert!(kernels >= 60 && found >= 10, "{kernels} kernels, {found} words");
}
