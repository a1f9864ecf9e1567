//! A slice of `cargo xtask conformance`, another one each time: the types accept a spelling exactly where the
//! assembler does.

use std::sync::LazyLock;

use host_tests::check::conformance::grammar::{GRAMMARS, Operands, Spelling};
use host_tests::check::conformance::types::types_say;
use host_tests::check::conformance::{self, Extent, Report, known, suffixed};
use host_tests::check::forms_check;
use host_tests::check::ledger;
use host_tests::check::only;
use host_tests::check::whole;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::Result;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::On;
use host_tests::tools::toolchain::{DeviceToolchain, Route};
use ptx_intrinsics::catalogue;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

/// Those of them that are accepted somewhere, each with one of its family, at least: every GPU is asked about these.
const LIVE: usize = 4_000;
/// What is accepted nowhere: each GPU is asked about so many of these.
const SAMPLED: usize = 1_500;
/// Assemblers, and GPUs.
const ASKED: (usize, usize) = (2, 21);
/// GPUs, drawn by the seed, for which what is accepted becomes machine code.
const ASSEMBLED: usize = 4;
/// Targets of the compiler, drawn by the seed, and expressions for each.
const COMPILED: (usize, usize) = (1, 200);

static PROGRESS: LazyLock<Progress> = LazyLock::new(Progress::new);

/// Forms of each instruction that are looked for in the grammars.
const OF_EACH: usize = 50;

/// What draws the slices.
fn seed() -> u64 {
    let seed = forms_check::seed().unwrap_or_else(|error| panic!("{error}"));
    println!("the slice is drawn by {}={seed}", forms_check::SEED_VARIABLE);
    seed
}

fn gpus() -> Vec<On> {
    let every = CudaTools::find(&PROGRESS).and_then(|tools| tools.every_gpu(&PROGRESS));
    every.unwrap_or_else(|error| panic!("{error}"))
}

fn report(seed: u64) -> Result<Report> {
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &PROGRESS)?;
    conformance::compare(&toolchain, &gpus(), Extent::QUICK, seed, &PROGRESS)
}

#[test]
fn a_slice_agrees() {
    let seed = seed();
    let report = report(seed).unwrap_or_else(|error| panic!("{error}"));
    println!("{}", report.table());
    report.verify().unwrap_or_else(|error| panic!("{error}"));
    let walked: Vec<usize> = report.walked.iter().map(|walked| walked.spellings).collect();
    assert_eq!(walked, [walked[0]; ASKED.0]);
    assert_eq!(report.gpus.len(), ASKED.1);
    if only::is_set() {
        // Of what only targets with a suffix have, the next test asks.
        let has_plain = catalogue::forms().any(|form| only::has(&form) && form.targets().is_empty());
        return assert!(report.live > 0 || !has_plain);
    }
    assert!(report.live >= LIVE, "{} are accepted somewhere", report.live);
    for gpu in &report.gpus {
        assert_eq!(gpu.accepted + gpu.refused + gpu.alone, report.live, "{}", gpu.sm);
        assert!(gpu.sampled >= SAMPLED, "{} of {} were asked about what is refused", gpu.sm, gpu.sampled);
    }
    assert_eq!(report.gpus.iter().filter(|gpu| gpu.assembled > 0).count(), ASSEMBLED);
    let newest = report.gpus.last().map_or(0, |gpu| gpu.accepted);
    assert!(report.gates / 2 == newest && newest > LIVE / 4, "{newest} accepted, {} gates found", report.gates);
    let compiled: Vec<usize> = report.compiled.iter().map(|on| on.accepted + on.refused).collect();
    assert_eq!(compiled, [COMPILED.1; COMPILED.0]);
    ledger::compare("WALKED", &[ledger::WALKED], &walked[..1]);
}

/// Every spelling of the instructions that name targets with a suffix, for each such target.
#[test]
fn targets_with_a_suffix_agree() {
    let targets = CudaTools::find(&PROGRESS).and_then(|tools| tools.every_suffix());
    let targets = targets.unwrap_or_else(|error| panic!("{error}"));
    let found = suffixed::compare(&targets).unwrap_or_else(|error| panic!("{error}"));
    println!("{} questions about {} targets, {} accepted", found.asked, targets.len(), found.accepted);
    let shown: Vec<_> = found.wrong.iter().take(30).collect();
    assert!(found.wrong.is_empty(), "{} disagreements: {shown:#?}", found.wrong.len());
    if !only::is_set() {
        assert!(targets.len() >= 10 && found.accepted > 1_000, "{} of {}", found.accepted, found.asked);
    }
}

#[test]
fn the_grammars_spell_the_whole_catalogue() {
    let spelled = |told: &str| GRAMMARS.iter().any(|grammar| grammar.number(told).is_some());
    let mut random = StdRng::seed_from_u64(seed());
    let forms = forms_check::by_instruction(&forms_check::every_form());
    let drawn = forms.iter().flat_map(|(_, own)| own.sample(&mut random, whole::or(OF_EACH)));
    let drawn: Vec<String> = drawn.map(|form| form.full_ptx()).collect();
    assert!(drawn.len() >= forms.len());
    let outside: Vec<_> = drawn.into_iter().filter(|told| !spelled(told)).collect();
    assert_eq!(
        outside, [""; 0],
        "no words spell these: add them to host-tests/src/check/conformance/grammar/words.txt"
    );
}

/// What the assembler was seen to do by hand.
#[test]
fn known_answers() {
    let accepted_on = [
        ("ld.global.nc.f32", Operands::Plain, 50),
        ("ld.global.nc.L2::128B.f32", Operands::Plain, 75),
        ("ld.global.nc.L2::256B.f32", Operands::Plain, 80),
        ("ld.global.b128", Operands::Plain, 70),
        ("ld.global.v8.f32", Operands::Plain, 100),
        ("ld.global.v8.f32", Operands::OneSink, 100),
        ("ld.global.v8.f32", Operands::AllSinks, u32::MAX),
        ("ld.global.v4.f32", Operands::OneSink, 50),
        ("ld.global.f32", Operands::Unified, 50),
        ("ld.global.lu.nc.f32", Operands::Plain, u32::MAX),
        ("ld.global.v2.b128", Operands::Plain, u32::MAX),
        ("prefetch.L2::evict_last", Operands::Plain, 80),
        ("cp.async.ca.shared.global [%s], [%p], 4", Operands::Plain, 80),
        ("cp.async.ca.shared.global [%s], [%p], 12", Operands::Plain, u32::MAX),
        ("cp.async.cg.shared.global [%s], [%p], 4", Operands::Plain, u32::MAX),
        ("mbarrier.try_wait.parity.shared.b64 %done, [%s], %phase", Operands::Plain, 90),
        ("cp.async.bulk.global.shared::cta.bulk_group [%dst], [%src], %r0", Operands::Plain, 90),
    ];
    let spellings: Vec<Spelling> =
        accepted_on.iter().map(|&(ptx, operands, _)| Spelling { ptx: ptx.into(), operands }).collect();
    for on in gpus() {
        let parsed = conformance::ask::Asked::new(&on).parsed(&spellings, on.sm, on.version);
        let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
        let expected: Vec<bool> = accepted_on.iter().map(|(.., first)| on.sm.number >= *first).collect();
        assert_eq!(parsed, expected, "{}", on.sm);
    }
}

/// Nothing that the types accept has a reason to be refused.
#[test]
fn reasons_are_for_what_is_refused() {
    let seed = seed() as usize;
    let accepted = GRAMMARS.iter().flat_map(|grammar| {
        // No length of an axis divides it.
        let step = if grammar.typed { 997 } else { 7 };
        (seed % step..grammar.len()).step_by(step).map(|number| grammar.spelling(number))
    });
    let accepted: Vec<Spelling> = accepted.filter(|spelling| types_say(spelling).is_some()).collect();
    assert!(accepted.len() > 100, "{}", accepted.len());
    for spelling in accepted {
        let reason = known::reason(&spelling.to_string()).map(|at| &known::REASONS[at]);
        assert!(reason.is_none(), "{spelling} is accepted, and: {reason:?}");
    }
}
