//! `ptx-audit` says of each form what `docs/sass` shows, and finds nothing in the worked kernels that is not there.

use std::collections::{BTreeMap, BTreeSet};

use host_tests::check::forms_check;
use host_tests::check::here::{or_panic, toolchain, tools};
use host_tests::check::sass::golden::Page;
use host_tests::check::sass::trace::without_hints;
use host_tests::check::sass::{self, Access, GPUS, pages};
use host_tests::check::whole;
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::disassembler::Disassembler;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_audit::fate::{Fate, Word, words};
use ptx_audit::finding::Kind;
use ptx_audit::report::Kernel;
use ptx_audit::{Code, Text, audit};
use rand::seq::IndexedRandom;
use rayon::prelude::*;
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

/// The kernels of a module that was assembled, disassembled and audited.
pub(crate) fn audited(text: &str, sm: Sm) -> Vec<Kernel> {
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
    audit(&code)
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
    for own in audited.iter().flat_map(|kernel| &kernel.accesses) {
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
    let findings = audited.iter().flat_map(|kernel| &kernel.findings);
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

/// The worked kernels.
fn worked(sm: Sm, ptx: PtxVersion) -> String {
    let build = DeviceBuild { ptx: Some(ptx), ..DeviceBuild::new(kernels_folder(), "kernels", sm) };
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
        let audited = audited(&worked(sm, ptx), sm);
        let weakened = |kind: Kind, text: &str| {
            sm.number == 80 && kind == Kind::HintWeakened && text.starts_with("`.L2::256B` became `LTC128B`")
        };
        let named =
            |kernel: &Kernel| kernel.findings.iter().map(|one| (kernel.name.clone(), one.clone())).collect::<Vec<_>>();
        let all: Vec<_> = audited.iter().flat_map(named).collect();
        let (true_ones, false_ones): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, one)| weakened(one.kind, &one.text));
        assert!(false_ones.is_empty(), "{false_ones:#?}");
        assert_eq!(true_ones.is_empty(), sm.number != 80, "{true_ones:?}");
        assert!(audited.len() >= 10);
    }
}
