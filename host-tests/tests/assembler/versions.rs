//! The assemblers of CUDA 13 that were downloaded before: what they make otherwise than today's is what `explain` warns of.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use host_tests::check::forms_check;
use host_tests::check::here::tools;
use host_tests::check::sass::versions::{self, Difference};
use host_tests::check::sass::{self, Access, Seen, pages, trace};
use host_tests::check::whole;
use host_tests::tools::assemblers;
use host_tests::tools::command::Machine;
use host_tests::tools::explain;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{Release, Sm};
use rand::seq::IndexedRandom;

fn fetched() -> Vec<(Release, Assembler)> {
    let releases = assemblers::RELEASES.iter().map(|(release, _)| *release);
    let found = releases.filter_map(|release| {
        let assembler = assemblers::fetched(release, &Machine::current()).unwrap_or_else(|error| panic!("{error}"));
        Some((release, assembler?))
    });
    found.collect()
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
