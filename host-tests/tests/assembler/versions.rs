//! The assemblers of CUDA 13 that were downloaded before: no access reads a descriptor that nothing wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::slice;

use host_tests::check::forms_check;
use host_tests::check::here::tools;
use host_tests::check::sass::versions::{self, Difference};
use host_tests::check::sass::{self, Access, Seen, pages, trace};
use host_tests::check::whole;
use host_tests::tools::assemblers;
use host_tests::tools::command::Machine;
use host_tests::tools::disassembler::Disassembler;
use host_tests::tools::explain;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Release, Sm};
use ptx_sass::nvdisasm::{SassFunction, SassInstruction};
use rand::seq::IndexedRandom;

fn fetched() -> Vec<(Release, Assembler)> {
    let releases = assemblers::RELEASES.iter().map(|(release, _)| *release);
    let found = releases.filter_map(|release| {
        let assembler = assemblers::fetched(release, &Machine::current()).unwrap_or_else(|error| panic!("{error}"));
        Some((release, assembler?))
    });
    found.collect()
}

/// More assemblers to ask, separated by `:`. Those of CUDA 12 were asked so.
const MORE_VARIABLE: &str = "VERSIONS_PTXAS";

/// Those that were downloaded, and those that a variable names.
fn asked() -> Vec<(String, Assembler)> {
    let named = std::env::var(MORE_VARIABLE).unwrap_or_default();
    let named = named.split(':').filter(|path| !path.is_empty()).map(|path| (path.to_owned(), Assembler::new(path)));
    let found = fetched().into_iter().map(|((major, minor), assembler)| (format!("CUDA {major}.{minor}"), assembler));
    found.chain(named).collect()
}

/// Copies of a loop that is unrolled, under a policy that is made before or inside of it, and 256-bit accesses: what
/// ptxas 13.1 (marlin#44), 13.3 (triton#11660) and 13.0 (cccl#6319) were said to break.
fn kernels(sm: Sm, version: PtxVersion) -> String {
    const MADE: [&str; 4] = [
        "createpolicy.fractional.L2::evict_first.b64 p;",
        "createpolicy.fractional.L2::evict_first.b64 p, 1.0;",
        "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 p, 0.5;",
        "mov.b64 p, 0x12f0000000000000;",
    ];
    let mut ptx = format!(".version {version}\n.target {sm}\n.address_size 64\n");
    let mut kernel = |name: String, body: &str| {
        write!(
            ptx,
            ".visible .entry {name}(.param .u64 in, .param .u64 out, .param .u32 count) {{\n\
             .reg .b64 a, b, o, p, made; .reg .b32 v<8>, t, n, s; .reg .pred q, r;\n\
             .shared .align 16 .b8 {name}_buffer[32768];\n\
             ld.param.u64 a, [in]; ld.param.u64 b, [out]; ld.param.u32 n, [count]; mov.u32 t, %tid.x;\n\
             mul.wide.u32 o, t, 32; add.u64 a, a, o; add.u64 b, b, o;\n\
             mov.u32 s, {name}_buffer; mad.lo.u32 s, t, 16, s; setp.lt.u32 q, t, n;\n{body}\nret;\n}}\n"
        )
        .expect("a string takes all");
    };
    for (at, made) in MADE.into_iter().enumerate() {
        for (predicate, place) in [("@q ", "a"), ("", "b")] {
            for inside in [true, false] {
                let policy = if inside { made } else { "mov.b64 p, made;" };
                let copy = |stage: usize| {
                    format!(
                        "{policy} {predicate}cp.async.cg.shared.global.L2::cache_hint [s+{}], [a+{}], 16, p;\n\
                         cp.async.commit_group;\n",
                        stage * 4096,
                        stage * 8192
                    )
                };
                let copies: String = (0..4).map(copy).collect();
                let name = format!("copies{at}{place}{}", u8::from(inside));
                let body = format!(
                    "{made} mov.b64 made, p;\n{copies}again_{name}:\n{copies}cp.async.wait_group 2; bar.sync 0;\n\
                     ld.shared.u32 v0, [s]; st.global.u32 [b], v0; add.u64 a, a, 65536; sub.u32 n, n, 1;\n\
                     setp.ne.u32 r, n, 0; @r bra again_{name};"
                );
                kernel(name, &body);
            }
        }
        let wide = sm.number >= 100 && version >= PtxVersion::new(8, 8);
        for lanes in [4, 8].into_iter().filter(|lanes| *lanes == 4 || wide) {
            let values: Vec<String> = (0..lanes).map(|lane| format!("v{lane}")).collect();
            let values = values.join(", ");
            let body = format!(
                "{made}\nld.global.L2::cache_hint.v{lanes}.b32 {{{values}}}, [a], p;\n\
                 st.global.L2::cache_hint.v{lanes}.b32 [b], {{{values}}}, p;"
            );
            kernel(format!("wide{at}x{lanes}"), &body);
        }
    }
    ptx
}

#[test]
fn every_descriptor_is_written_before_it_is_read() {
    let disassembler = Disassembler::new(&tools().nvdisasm);
    let scratch = tempfile::tempdir().expect("a temporary folder");
    for (name, assembler) in asked() {
        let (mut read, mut found) = (0, Vec::new());
        // Those before 12.9 do not tell.
        let known = assembler.supported_sms().expect("ptxas runs");
        let version = assembler.newest_version().unwrap_or(PtxVersion::new(8, 0)).min(PtxVersion::new(9, 0));
        for sm in [80, 90, 100, 120].map(Sm::new).into_iter().filter(|sm| known.contains(sm)) {
            let text = kernels(sm, version.max(PtxVersion::default_for(sm)));
            let cubin = assembler.assemble_text(&text, sm, &scratch.path().join("versions.cubin"));
            let cubin = cubin.expect("ptxas runs").unwrap_or_else(|rejected| panic!("{name}: {rejected}"));
            for function in disassembler.disassemble(&cubin.path).expect("nvdisasm reads it") {
                let (descriptors, unwritten) = unwritten(&function);
                found.extend(unwritten.into_iter().map(|text| format!("{sm}, {}: {text}", function.name)));
                read += descriptors;
            }
        }
        println!("{name}: {read} descriptors");
        assert_eq!(found, [""; 0], "{name}");
        assert!(read > 150, "{name}: {read} descriptors");
    }
}

/// No PTX ISA version separates the assemblers that take it from those that do not.
#[test]
fn older_assemblers_refuse_a_fence_of_their_isa() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let taken = |assembler: &Assembler, fence: &str, version: PtxVersion| {
        let text =
            format!(".version {version}\n.target sm_90\n.address_size 64\n.visible .entry k() {{ {fence}; ret; }}\n");
        assembler.assemble_text(&text, Sm::new(90), &scratch.path().join("k.cubin")).expect("ptxas runs").is_ok()
    };
    for (release, assembler) in fetched() {
        for version in [PtxVersion::new(8, 0), assembler.newest_version().expect("ptxas runs")] {
            assert!(taken(&assembler, "fence.proxy.async", version), "CUDA {release:?}, PTX ISA {version}");
            let old = taken(&assembler, "membar.proxy.async", version);
            assert_eq!(old, release >= (13, 4), "CUDA {release:?}, PTX ISA {version}");
        }
    }
}

/// A slice of the table that `explain` warns by: what an assembler that is drawn makes of these forms is what it says, on GPUs of each kind.
#[test]
fn the_table_of_versions_is_what_the_assemblers_make() {
    const DRAWN: usize = 12;
    let mut random = forms_check::random("the slice is");
    let all = versions::one_of_each_width(sass::accesses());
    let rows = explain::versions::all();
    let (told, others): (Vec<&Access>, Vec<&Access>) =
        all.iter().partition(|access| rows.iter().any(|row| row.tells_of(&access.ptx)));
    let drawn: BTreeSet<&str> = [told, others]
        .iter()
        .flat_map(|own| own.sample(&mut random, DRAWN))
        .map(|access| access.ptx.as_str())
        .collect();
    // Whether a hint has a trace is seen beside the form without it.
    let beside: BTreeSet<String> =
        drawn.iter().flat_map(|ptx| trace::without_hints(ptx)).map(|(_, without)| without).collect();
    let asked: Vec<Access> =
        all.iter().filter(|one| drawn.contains(one.ptx.as_str()) || beside.contains(&one.ptx)).cloned().collect();
    let (tools, progress) = (tools(), Progress::new());
    let sms = [80, 90, 100, 120].map(Sm::new);
    let mut compared = 0;
    let older: Vec<_> = fetched().into_iter().filter(|(release, _)| *release < tools.release).collect();
    for (release, assembler) in older.sample(&mut random, whole::or(1)).cloned() {
        let seen = versions::seen_by(assembler.clone(), tools, &asked, &sms, &progress).expect("it assembles");
        let found = differences(&asked, release, seen.clone());
        for ptx in &drawn {
            for (sm, _) in seen.iter().filter(|(_, codes)| codes.contains_key(*ptx)) {
                let of_it = |found: &[Difference]| -> Vec<(String, String)> {
                    found.iter().filter(|one| one.ptx == *ptx && one.sm == *sm).map(Difference::parts).collect()
                };
                let told = explain::versions::of(ptx).into_iter().filter(|row| is_of(row, release, *sm));
                let told: Vec<(String, String)> = told.map(|row| (row.then.to_owned(), row.now.to_owned())).collect();
                let mut made = of_it(&found);
                if made != told {
                    made = of_it(&alone(&asked, ptx, *sm, release, &assembler));
                }
                assert_eq!(made, told, "{ptx} on {sm} by CUDA {release:?}: cargo xtask sass --matrix --write");
                compared += 1;
            }
        }
    }
    println!("{compared} forms on GPUs by older assemblers");
    assert!(older.is_empty() || compared > 12, "{compared}");
}

fn differences(asked: &[Access], release: Release, seen: Seen) -> Vec<Difference> {
    let found =
        versions::differences(&pages::kept().expect("the pages are there"), asked, &BTreeMap::from([(release, seen)]));
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// The same of a form that has its kernel for itself, as have those without its hints. Between others it may be given an instruction of
/// theirs: the assembler moves fences.
fn alone(asked: &[Access], ptx: &str, sm: Sm, release: Release, assembler: &Assembler) -> Vec<Difference> {
    let without: Vec<String> = trace::without_hints(ptx).into_iter().map(|(_, without)| without).collect();
    let own = asked.iter().filter(|one| one.ptx == ptx || without.contains(&one.ptx));
    let mut seen = Seen::new();
    for one in own.clone() {
        let read = versions::seen_by(assembler.clone(), tools(), slice::from_ref(one), &[sm], &Progress::new());
        for (sm, codes) in read.expect("it assembles") {
            seen.entry(sm).or_default().extend(codes);
        }
    }
    differences(&own.cloned().collect::<Vec<_>>(), release, seen)
}

/// Whether a row tells of that release and GPU.
fn is_of(row: &explain::versions::Row<'_>, (major, minor): Release, sm: Sm) -> bool {
    let within = |list: &str, wanted: u32, number: &dyn Fn(&str) -> u32| {
        list.split(',').any(|run| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            (number(first)..=number(last)).contains(&wanted)
        })
    };
    let release =
        |text: &str| text.split('.').fold(0, |number, part| 100 * number + part.parse::<u32>().expect("a number"));
    let gpu = |text: &str| text.trim_end_matches(char::is_alphabetic).parse().expect("a number");
    within(row.releases, 100 * major + minor, &release) && within(row.sms, sm.number, &gpu)
}

/// How many descriptors a function's instructions have, and the instructions before which no other writes both words of
/// theirs.
fn unwritten(function: &SassFunction) -> (usize, Vec<String>) {
    let (mut written, mut count, mut found) = (BTreeSet::new(), 0, Vec::new());
    for one in &function.instructions {
        for (at, _) in one.text.match_indices("desc[UR") {
            let first = number(&one.text[at + "desc[UR".len()..]).expect("a register has a number");
            count += 1;
            // Beside a register of the address, the descriptor is the odd one alone.
            let second = if first.is_multiple_of(2) { first + 1 } else { first };
            if !(written.contains(&first) && written.contains(&second)) {
                found.push(one.text.clone());
            }
        }
        written.extend(writes(one));
    }
    (count, found)
}

/// The uniform registers that an instruction writes: its first operand, or the one after a predicate.
fn writes(one: &SassInstruction) -> std::ops::Range<u32> {
    let uniform = |operand: &&String| operand.strip_prefix("UR").is_some_and(|rest| number(rest).is_some());
    let result = one.operands.iter().take(2).find(uniform);
    let result = result.filter(|_| one.name().starts_with('U') || WRITERS.contains(&one.name()));
    let Some(first) = result.and_then(|operand| number(&operand["UR".len()..])) else { return 0..0 };
    let words = match () {
        () if one.opcode.contains(".128") => 4,
        () if one.opcode.contains(".64") || one.opcode.contains("WIDE") => 2,
        () => 1,
    };
    first..first + words
}

const WRITERS: [&str; 6] = ["R2UR", "LDCU", "CS2UR", "S2UR", "VOTEU", "REDUX"];

fn number(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[test]
fn a_descriptor_that_nothing_writes_is_found() {
    let listing = "\t.type k,@function\nk:\n/*0000*/ UMOV UR4, 0x0 ;\n/*0010*/ LDGSTS.E [R2], desc[UR4][R4.64] ;\n\
                   /*0020*/ UMOV UR5, 0x12f00000 ;\n/*0030*/ LDG.E R0, desc[UR4][R4.64] ;\n/*0040*/ EXIT ;\n";
    let [function] = &ptx_sass::nvdisasm::parse(listing)[..] else { panic!("one function") };
    assert_eq!(unwritten(function), (2, vec!["LDGSTS.E [R2], desc[UR4][R4.64]".to_owned()]));
}
