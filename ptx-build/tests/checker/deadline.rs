//! `cargo ptx run --deadline`: what has no time, and what does not end.

use std::fs;

use tempfile::TempDir;

use crate::program::cargo_ptx;

/// The deadline cuts orders off. That some had no time is said, and is no finding; what came of the comparison is said too.
#[test]
fn what_the_deadline_cuts_off_is_told() {
    let folder = TempDir::new().expect("a folder");
    // It takes some milliseconds.
    let kernel = "\
        .version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 rounds) {\n\
        .reg .b64 %d<2>; .reg .b32 %r<3>; .reg .pred %p<2>;\nld.param.u64 %d1, [p]; ld.param.u32 %r1, [rounds];\n\
        again: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;\nst.global.u32 [%d1], %r1; ret;\n}\n";
    fs::write(folder.path().join("k.ptx"), kernel).expect("it is written");
    let run = |rounds: u32, more: &[&str]| {
        let rounds = format!("u32:{rounds}");
        let words = ["run", "k.ptx", "k", "--block", "1", "--arg", "buf:4:zeros", "--arg", &rounds];
        cargo_ptx(folder.path(), &[&words[..], more].concat())
    };
    let begins = "k: no findings in ";
    // Some orders of many end, and some do not.
    let (code, printed, complaint) = run(10_000, &["--seeds", "1000000", "--deadline", "2"]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    let (ended, _) =
        printed.strip_prefix(begins).and_then(|rest| rest.split_once(" of 1000000 orders of")).expect(&printed);
    assert!(ended.parse().is_ok_and(|ended: u64| ended > 0), "{printed}");
    assert!(printed.ends_with(&format!("k: the deadline came first: {ended} of 1000000 orders ran\n")), "{printed}");
    let (code, printed, complaint) = run(10_000, &["--seeds", "1000000", "--deadline", "2", "--json"]);
    assert_eq!((code, printed.as_str()), (Some(0), ""), "{complaint}");
    assert!(complaint.starts_with("k: the deadline came first: "), "{complaint}");
    // The first one does not.
    let (code, printed, _) = run(0, &["--seeds", "100", "--deadline", "0.3"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.starts_with("error[deadlock]: the kernel has not ended before the deadline"), "{printed}");
    assert!(printed.contains("k: 1 finding in 0 of 100 orders of"), "{printed}");
    let (code, printed, _) = run(0, &["--weak", "--deadline", "0.3", "--json"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains(r#""orders":{"asked":1,"compared":false,"ended":0}"#), "{printed}");
    // All end, and are compared.
    let (code, printed, complaint) = run(1, &["--weak", "--seeds", "3", "--deadline", "60"]);
    assert_eq!(code, Some(0), "{printed}{complaint}");
    assert!(printed.starts_with("k: no findings in 3 orders of"), "{printed}");
    assert!(printed.ends_with("; what they leave is compared with orders without older values\n"), "{printed}");
    // The deadline falls among the orders without older values.
    let why = "the deadline cut off an order without older values";
    let lines =
        format!("k: the deadline came first: 0 of 5 orders ran\nk: what it leaves is compared with nothing: {why}\n");
    let is_cut_off = |seconds: f64| {
        let seconds = seconds.to_string();
        let (code, printed, complaint) = run(300_000, &["--weak", "--seeds", "5", "--deadline", &seconds]);
        code == Some(2)
            && printed.starts_with("k: no findings in 0 of 5 orders of")
            && printed.ends_with(&lines)
            && complaint.contains("no order came to its end before the deadline")
    };
    // How long an order takes depends on the machine and what else it does; eight take longer than one.
    assert!((0..10).any(|doubled| is_cut_off(0.1 * f64::from(1 << doubled))), "{lines}");
}
