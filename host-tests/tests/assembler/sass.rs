//! The pages of `docs/sass` are what the tools show: of a slice of the forms, drawn anew each time, on every GPU.

use std::collections::{BTreeMap, BTreeSet};

use host_tests::check::forms_check;
use host_tests::check::here::{or_panic, tools};
use host_tests::check::ledger;
use host_tests::check::only;
use host_tests::check::sass::golden::{self, Page};
use host_tests::check::sass::{self, Access, GPUS, Reader, pages};
use host_tests::tools::target::Sm;
use rand::seq::IndexedRandom;
use rayon::prelude::*;

/// How many forms are drawn of each instruction.
const OF_EACH: usize = 1;

/// How many, where some instructions alone are looked at.
const OF_FEW: usize = 40;

fn kept() -> BTreeMap<String, String> {
    let pages = or_panic(pages::kept()).into_iter();
    pages.filter_map(|(name, text)| Some((name.strip_suffix(".txt")?.to_owned(), text))).collect()
}

/// Those that are looked at.
fn accesses() -> Vec<Access> {
    let all = sass::accesses().into_iter();
    all.filter(|access| only::names(&access.instruction, &access.ptx)).collect()
}

/// Each form in a kernel of its own, where nothing that becomes of it can be taken for another's; the pages are read from
/// kernels of many.
#[test]
fn a_slice_of_the_forms_is_as_the_pages_say() {
    let sms = or_panic(sass::gpus(tools()));
    assert_eq!(sms, GPUS, "set CUDA_HOME to a toolkit of CUDA 13.5 or later, or unset it");
    let mut random = forms_check::random("the slice is");
    let mut drawn: Vec<Access> = Vec::new();
    let mut by_instruction: BTreeMap<String, Vec<Access>> = BTreeMap::new();
    for access in accesses() {
        by_instruction.entry(access.instruction.clone()).or_default().push(access);
    }
    for own in by_instruction.values() {
        drawn.extend(own.sample(&mut random, if only::is_set() { OF_FEW } else { OF_EACH }).cloned());
    }
    if drawn.is_empty() && only::is_set() {
        return println!("none of these forms touches memory: docs/sass has no page of them");
    }
    let all = pages::with_bases(&drawn);
    let reader = Reader::new(tools());
    let seen = sms.par_iter().map(|sm| {
        let there: Vec<&str> =
            all.iter().filter(|access| access.is_on(*sm)).map(|access| access.ptx.as_str()).collect();
        let codes = or_panic(reader.alone(*sm, &there));
        (*sm, there.into_iter().map(str::to_owned).zip(codes).collect())
    });
    let seen = seen.collect::<Vec<_>>().into_iter().collect();
    let (looked_at, wrong) = or_panic(golden::disagreements(&kept(), &drawn, &seen));
    assert_eq!(wrong, [""; 0], "if this is meant, run: cargo xtask sass --write");
    // Every instruction exists on sm_90 and later.
    let newer = sms.iter().filter(|sm| sm.number >= 90).count();
    assert!(
        looked_at > drawn.len() * newer / 2 && (only::is_set() || drawn.len() > OF_EACH * 20),
        "{looked_at} of {}",
        drawn.len()
    );
}

/// No form is without a row, and no page without its instruction.
#[test]
fn every_form_has_its_row_on_every_gpu() {
    let kept = kept();
    let read: BTreeMap<&str, Page<'_>> =
        kept.iter().map(|(name, text)| (name.as_str(), or_panic(Page::read(text)))).collect();
    let accesses = accesses();
    let rows = accesses.par_iter().map(|access| {
        let there: Vec<&Sm> = GPUS.iter().filter(|sm| access.is_on(**sm)).collect();
        for sm in &there {
            let row = read.get(access.instruction.as_str()).and_then(|page| page.look_up(&access.ptx, **sm));
            assert!(
                row.is_some_and(|(code, _)| !code.is_empty()),
                "{} on {sm} has no row; run: cargo xtask sass --write",
                access.ptx
            );
        }
        there.len()
    });
    ledger::compare("ROWS", &[ledger::ROWS], &[rows.sum()]);
    let instructions: BTreeSet<&str> = accesses.iter().map(|access| access.instruction.as_str()).collect();
    if only::is_set() {
        return;
    }
    assert_eq!(read.into_keys().collect::<BTreeSet<_>>(), instructions);
}
