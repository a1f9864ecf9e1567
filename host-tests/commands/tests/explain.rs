//! `cargo xtask explain` to the letter: what it prints, and how it ends.
//!
//! `PTX_INTRINSICS_BLESS=1` writes the goldens anew; then read them.

use std::path::{Path, PathBuf};
use std::process::Command;

use host_tests::check::{forms_check, whole};
use rand::seq::IteratorRandom;

/// Set, it writes the goldens.
const BLESS: &str = "PTX_INTRINSICS_BLESS";

/// How many questions about what is no form are drawn: to say what is like it takes a second each.
const DRAWN: usize = 3;

/// A golden's name, and what is asked. A name that begins with `no` is of what is no form.
const ASKED: [(&str, &str); 23] = [
    ("weights", "ld.global.nc.L1::evict_last.L2::256B.f32"),
    ("any-order", "ld.shared::cta.weak.v2.u32"),
    ("type", "LdGlobalNc<EvictFirst, NoPrefetch>"),
    ("cuda-name", "stcs(p as *mut V4<f32>, v)"),
    ("macro", "ptx!(@ready ld.acquire.sys.global.u32 [p], else 0)"),
    ("atomic", "atom.shared::cta.add.u32"),
    ("release", "st.release.gpu.global.v4.f32"),
    ("policy", "st.global.L2::cache_hint.v2.u32 [%rd1], {%r1, %r2}, %rd2;"),
    ("prefetch", "prefetch.global.L2::evict_normal"),
    ("createpolicy", "CachePolicy::fractional::<(L2EvictLast, L2EvictFirst)>(0.5)"),
    ("discard", "discard.global.L2"),
    ("copy", "cp.async.cg.shared.global.L2::cache_hint.L2::128B"),
    ("barrier", "mbarrier_try_wait_parity(bar, parity)"),
    ("bulk-copy", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"),
    ("no-copy", "cp.async.cg.shared"),
    ("no-instruction", "ldg.f32"),
    ("no-word", "ld.gobal.nc.L1::evict_lst.f32"),
    ("no-type", "ld.global.nc.L1::evict_last"),
    ("no-priority", "ld.shared.L1::evict_last.f32"),
    ("no-order", "ld.acquire.gpu.global.v8.f32"),
    ("no-prefetch", "prefetch.L3"),
    ("no-method", "ld_global_nc::<EvictLst, Prefetch256>().read(p)"),
    ("no-operator", "LdGlobalNc<Cv, NoPrefetch>"),
];

#[test]
fn each_answer_is_its_golden() {
    let (none, forms): (Vec<_>, Vec<_>) = ASKED.into_iter().partition(|(name, _)| name.starts_with("no-"));
    // In one run: to start the tools takes longer than to answer.
    let asked: Vec<&str> = forms.iter().map(|(_, asked)| *asked).collect();
    let (code, out, complaint) = explain(&asked);
    assert_eq!(code, Some(0), "{out}{complaint}");
    let answers: Vec<&str> = out.split("\n\n").collect();
    assert_eq!(answers.len(), forms.len(), "an empty line between the pages, and none in them: {out}");
    for ((name, asked), answer) in forms.iter().zip(answers) {
        is_its_golden(name, asked, answer.trim_end());
    }
    let mut random = forms_check::random("what is no form is");
    let drawn = if std::env::var_os(BLESS).is_some() { none.len() } else { whole::or(DRAWN) };
    for (name, asked) in none.into_iter().sample(&mut random, drawn) {
        let (code, out, complaint) = explain(&[asked]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{asked}\n{complaint}");
        is_its_golden(name, asked, complaint.trim_end());
    }
    let goldens = std::fs::read_dir(folder()).expect("the folder is there").count();
    assert_eq!(goldens, ASKED.len(), "a golden that nothing asks for");
}

/// One form alone is told as it is among others, and one misspelt among others ends all.
#[test]
fn a_page_is_the_same_alone() {
    let (name, asked) = ASKED.into_iter().find(|(name, _)| *name == "bulk-copy").expect("it is asked");
    let (code, out, complaint) = explain(&[asked]);
    assert_eq!(code, Some(0), "{complaint}");
    is_its_golden(name, asked, out.trim_end());
    let (code, out, complaint) = explain(&[asked, "ldg.f32"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{complaint}");
    assert!(complaint.contains("`ldg.f32` is no form"), "{complaint}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain")
}

/// How `cargo xtask explain` ends, and what it writes. Where the tools come from is told on stderr too, before a page.
fn explain(asked: &[&str]) -> (Option<i32>, String, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_commands")).arg("explain").args(asked).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

fn is_its_golden(name: &str, asked: &str, answer: &str) {
    let answer = format!("$ cargo xtask explain '{asked}'\n{answer}\n");
    let golden = folder().join(format!("{name}.txt"));
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&golden, &answer).expect("the golden is written");
    }
    assert_eq!(
        answer,
        std::fs::read_to_string(&golden).unwrap_or_default(),
        "{} differs; if the answer is right, write it: PTX_INTRINSICS_BLESS=1",
        golden.display()
    );
}
