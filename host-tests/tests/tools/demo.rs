//! The demo's association of Rust, PTX and machine code: on recorded text, where whole lines are compared, and on
//! the kernels as they are.

use host_tests::check::here::{toolchain, tools};
use std::path::{Path, PathBuf};

use demo::compile::{self, OLDEST};
use demo::{self, Access};
use host_tests::show::forms_list;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptx;
use host_tests::tools::target::Sm;
use ptx_intrinsics::catalogue::{self, Form};
use ptx_sass::line_table::{Located, Site};
use ptx_sass::nvdisasm;
use workloads::ALL;

/// `read_if` of the same type is at two places, once in a loop that is unrolled: only the first of each place
/// comes with the whole chain of calls.
const PTX: &str = include_str!("demo/recorded.ptx");

const SOURCE: &str = "\
const X: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();
let a = [
      X.read(p),
      Y.read_if(ok, q, 0),
];
for k in .. { X.read(p.add(k)) }
";

/// Lines 15, 27, 35 and 39 of the PTX are its loads.
const SASS: &str = include_str!("demo/recorded.sass");

fn recorded() -> Vec<Access> {
    let located = Located::read(PTX);
    let module = ptx::Module::parse(&located.ptx).unwrap();
    let function = module.function("k").unwrap();
    let blocks = function.inline_asm();
    let sites: Vec<_> = blocks.iter().map(|block| located.sites(block.line, Path::new("/crate/src"))).collect();
    let mut accesses = demo::in_ptx(function, &sites, &|_| Ok(SOURCE.to_owned())).unwrap();
    accesses.iter_mut().for_each(|access| access.add_sass(Sm::new(80), &nvdisasm::parse(SASS)[0]));
    accesses
}

#[test]
fn every_access_is_found_in_its_source_and_in_its_machine_code() {
    let note = "ptxas makes the prefetch 128 bytes on this GPU, not 256";
    let last = "ld.global.nc.L1::evict_last.L2::256B.f32 ";
    let policy = "const X: LdGlobalNc<EvictLast, Prefetch256> = ld_global_nc();";
    let access = |rust: &str,
                  policy: Option<&str>,
                  place: Option<&str>,
                  ptx: &str,
                  count: usize,
                  sass: &[(&str, usize)],
                  note: Option<&str>| {
        let instructions: Vec<_> =
            sass.iter().map(|(text, count)| serde_json::json!({"text": text, "count": count})).collect();
        serde_json::json!({
            "rust": rust, "policy": policy, "place": place, "ptx": ptx, "ptx_count": count,
            "sass": [{"sm": "sm_80", "instructions": instructions, "note": note}],
        })
    };
    let expected = [
        access("prefetch_l2(p)", None, None, "prefetch.L2 [%rd5];", 1, &[], None),
        access(
            "X.read(p)",
            Some(policy),
            Some("k.rs:3"),
            &format!("{last}%r1, [%rd1];"),
            2,
            &[("LDG.E.EL.LTC128B.CONSTANT R1, [R2.64]", 2)],
            Some(note),
        ),
        access(
            "Y.read_if(ok, q, 0)",
            None,
            Some("k.rs:4"),
            "@t ld.global.nc.L1::evict_first.u32 %r3, [%rd2];",
            1,
            &[("@!P0 LDG.E.EF.CONSTANT R3, [R4.64]", 1)],
            None,
        ),
        access(
            "X.read(p.add(k))",
            Some(policy),
            Some("k.rs:6"),
            &format!("{last}%r4, [%rd3];"),
            1,
            &[("LDG.E.EL.LTC256B.CONSTANT R9, [R10.64]", 1)],
            None,
        ),
    ];
    let found: Vec<_> = recorded().iter().map(|access| serde_json::to_value(access).unwrap()).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_line_table_goes_and_leaves_every_line_where_it_was() {
    let located = Located::read(PTX);
    let (before, after): (Vec<_>, Vec<_>) = (PTX.lines().collect(), located.ptx.lines().collect());
    assert_eq!(after.len(), PTX.lines().position(|line| line.contains(".section")).unwrap());
    let mut blanked = 0;
    for (before, after) in before.iter().zip(&after) {
        let table = [".loc", ".file"].iter().any(|word| before.trim_start().starts_with(word));
        blanked += usize::from(table);
        let expected = if table { "" } else { before.trim_end_matches(", debug") };
        assert_eq!(*after, expected);
    }
    assert_eq!(blanked, 18);
    let third = Site { file: PathBuf::from("/crate/src/k.rs"), line: 3, column: 9 };
    assert_eq!(located.sites(15, Path::new("/crate/src")), [third]);
    assert_eq!(located.sites(15, Path::new("/another/src")), []);
    assert_eq!(located.sites(0, Path::new("/crate/src")), []);
    assert_eq!(located.sites(1000, Path::new("/crate/src")), []);
}

/// A modifier in machine code, and the qualifiers in PTX that it means.
const MODIFIERS: [(&str, &[&str]); 6] = [
    (".EF.", &[".L1::evict_first", "st.global.cs"]),
    (".EL.", &[".L1::evict_last"]),
    (".NA.", &[".L1::no_allocate"]),
    (".LTC128B.", &[".L2::128B"]),
    (".LTC256B.", &[".L2::256B"]),
    (".PF2.", &["prefetch.L2"]),
];

/// The policy in the Rust expression, the qualifiers in the PTX and the modifiers in the machine code must name the
/// same hints: none of the three is made from another.
#[test]
fn the_kernels_show_the_same_hints_in_rust_in_ptx_and_in_machine_code() {
    let progress = Progress::kept();
    let compiled = compile::compile(&toolchain(), &progress).unwrap();
    let assembled = demo::assemble_all(&compiled, &[Sm::new(90)], tools(), &progress).unwrap();
    let mut needs = 0;
    for workload in ALL {
        let accesses = demo::accesses(&compiled, workload, &assembled).unwrap();
        let asm = compiled.module.function(workload.name()).unwrap().inline_asm().len();
        assert_eq!(accesses.iter().map(|access| access.ptx_count).sum::<usize>(), asm, "{}", workload.name());
        for access in &accesses {
            needs = needs.max(check(access));
        }
    }
    let (oldest, _) = OLDEST;
    assert_eq!(needs, oldest.number, "the oldest GPU that has all the kernels' hints");
}

/// Checks one access on sm_90 and gives the SM that it needs.
fn check(access: &Access) -> u32 {
    let name = access.ptx.split_whitespace().find(|word| !word.starts_with('@')).unwrap().trim_end_matches(';');
    let form = catalogue::forms().find(|form| form.ptx() == name).unwrap();
    assert!(access.place.is_some(), "{access:?} has a place in the source");
    assert!(spells(access, &form), "{access:?} is {}", form.rust());
    assert_eq!(access.ptx.starts_with('@'), access.rust.contains(".read_if("), "{access:?}");
    let [sass] = &access.sass[..] else { panic!("one GPU: {access:?}") };
    assert_eq!((sass.sm, &sass.note), (Sm::new(90), &None));
    assert!(!sass.instructions.is_empty(), "{access:?} has machine code");
    for one in &sass.instructions {
        let opcode = one.text.split_whitespace().find(|word| !word.starts_with('@')).unwrap().to_owned() + ".";
        for (modifier, qualifiers) in MODIFIERS {
            let asked = qualifiers.iter().any(|qualifier| name.contains(qualifier));
            assert_eq!(opcode.contains(modifier), asked, "{modifier} in {access:?}");
        }
    }
    form.min_sm()
}

/// Whether the expression, or the policy that it names, is this form.
fn spells(access: &Access, form: &Form) -> bool {
    let call = form.rust().split(['(']).next().unwrap_or_default();
    let policy = access.policy.as_ref().and_then(|policy| policy.split_once("LdGlobalNc")?.1.split_once(" ="));
    match policy {
        Some((qualifiers, _)) => call == format!("ld_global_nc::{qualifiers}"),
        None => access.rust.starts_with(&format!("{call}(")),
    }
}

#[test]
fn wrong_names_are_told_what_there_is() {
    let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        demo::workloads(&strings(&["triad", "nope"])).err().unwrap().to_string(),
        "there is no kernel `nope`\n  at --kernel\n  → use one of triad gather spmv probe"
    );
    assert_eq!(
        demo::architectures(&strings(&["sm_90", "sm_75"])).unwrap_err().to_string(),
        "sm_75 is too old for the kernels: it lacks some of their hints\n  at --sm\n  → use sm_80 or later\n  \
         → `cargo xtask forms` lists what each hint needs"
    );
    let unknown = demo::architectures(&strings(&["sm_91"])).unwrap_err().to_string();
    assert!(unknown.starts_with("`sm_91` is not a GPU architecture\n  at --sm\n  → use one of sm_50 "), "{unknown}");
    let twice = demo::architectures(&strings(&["sm_90", "sm_80", "sm_90"])).unwrap();
    assert_eq!(twice, [Sm::new(90), Sm::new(80)]);
    let names: Vec<_> = demo::workloads(&[]).unwrap().iter().map(|workload| workload.name()).collect();
    assert_eq!(names, ["triad", "gather", "spmv", "probe"]);
    let unknown = forms_list::select(Some("ld.nope")).unwrap_err().to_string();
    let message = "there is no instruction `ld.nope`\n  at --instruction\n  → use one of ld.global.nc ld.global ";
    assert!(unknown.starts_with(message), "{unknown}");
}

#[test]
fn a_form_is_a_line_of_json() {
    let forms = forms_list::select(None).unwrap();
    assert_eq!(forms.len(), catalogue::forms().count());
    let name = "ld.global.nc.L1::evict_last.L2::256B.f32";
    let form = forms.iter().find(|form| form.ptx() == name).unwrap();
    assert_eq!(
        forms_list::json_line(form),
        r#"{"instruction":"ld.global.nc","min_ptx":"7.4","min_sm":80,"ptx":"ld.global.nc.L1::evict_last.L2::256B.f32","rust":"ld_global_nc::<EvictLast, Prefetch256>().read(p as *const f32)","rust_if":"ld_global_nc::<EvictLast, Prefetch256>().read_if(cond, p as *const f32, or)","unified":null}"#
    );
    for form in &forms {
        let line: serde_json::Value = serde_json::from_str(&forms_list::json_line(form)).unwrap();
        let keys: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["instruction", "min_ptx", "min_sm", "ptx", "rust", "rust_if", "unified"]);
        assert_eq!(line["min_ptx"], format!("{}.{}", form.min_ptx() / 10, form.min_ptx() % 10));
    }
}

#[test]
fn a_table_counts_its_forms() {
    let forms = forms_list::select(Some("prefetch")).unwrap();
    let table = forms_list::table(&forms);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "PTX                               SM       ISA  Rust");
    assert_eq!(lines[1], "prefetch.L1                       sm_20    2.0  prefetch_l1(p)");
    let count = forms.len();
    assert_eq!(lines[count + 1..], ["".to_owned(), format!("{count:>6}  prefetch"), format!("{count:>6}  forms")]);
}
