//! A vector of which some elements are of no use to anyone: nvcc loads four words where a program has three.

use ptx_interpreter::{Kind, Program, Trial};

/// What is found if two threads execute a text, and have 28 bytes of shared memory and 28 bytes of global memory. `%own` is the number of a
/// thread, `%global` and `%shared` are where the memory begins, and `%out` is elsewhere.
fn found(body: &str) -> Vec<(Kind, String)> {
    let module = format!(
        ".version 8.8\n.target sm_100\n.address_size 64\n.extern .shared .align 32 .b8 dynamic[];\n\
         .visible .entry k(.param .u64 p, .param .u64 q) {{\n.reg .b64 %global, %out; .reg .b32 %r<9>, %own, %shared; .reg .pred %p<3>;\n\
         ld.param.u64 %global, [p]; ld.param.u64 %out, [q]; mov.u32 %own, %tid.x; mov.u32 %shared, dynamic;\n\
         setp.eq.u32 %p1, %own, 0; @%p1 st.shared.v4.u32 [%shared], {{0, 0, 0, 0}}; @%p1 st.shared.v2.u32 [%shared+16], {{0, 0}};\n\
         @%p1 st.shared.u32 [%shared+24], 0; bar.sync 0;\n{body}\nret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([64, 1, 1]).shared(28).buffer(&[0; 28]).expect("a little memory");
    let report = trial.buffer(&[0; 64]).expect("a little memory").check();
    let findings = report.findings.iter().map(|finding| (finding.kind, finding.places[0].what.clone())).collect();
    assert!(report.stop.is_none() || !report.findings.is_empty(), "{body}");
    findings
}

fn bounds(what: &str) -> Vec<(Kind, String)> {
    vec![(Kind::Bounds, what.to_owned())]
}

/// The first thread stores a sum of some registers.
fn sum(of: &[u32]) -> String {
    let add = |number: &u32| format!("add.u32 %r8, %r8, %r{number};");
    format!("mov.u32 %r8, 0; {} @%p1 st.global.u32 [%out], %r8;", of.iter().map(add).collect::<String>())
}

#[test]
fn an_element_that_nobody_reads_may_be_beyond_the_end() {
    for (load, what) in [
        (
            "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%shared+16];",
            "accesses 16 bytes at byte 16 of the shared memory of block 0",
        ),
        (
            "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%global+16];",
            "accesses 16 bytes, the last 4 beyond the end of argument 0, which has 28 bytes",
        ),
    ] {
        for few in [&[1, 2, 3][..], &[3, 1], &[2], &[3]] {
            assert_eq!(found(&format!("{load} {}", sum(few))), [], "{load} {few:?}");
        }
        let all = found(&format!("{load} {}", sum(&[1, 2, 3, 4])));
        assert_eq!(all, bounds(what), "{load}");
        let last = found(&format!("{load} {}", sum(&[4])));
        assert!(matches!(&last[..], [(Kind::Bounds, what)] if what.starts_with("accesses 4 bytes at ")), "{last:?}");
    }
    // Without any that is read, the load is what the text has.
    let none = found("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%shared+16];");
    assert_eq!(none, bounds("accesses 16 bytes at byte 16 of the shared memory of block 0"));
}

#[test]
fn a_sink_is_not_read() {
    let load = "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, _}, [%global];";
    assert_eq!(found(&format!("{load} {}", sum(&[1, 7]))), []);
}

#[test]
fn another_thread_may_change_what_nobody_reads() {
    for space in ["shared", "global"] {
        let change = |word: u32| format!("setp.eq.u32 %p2, %own, 32; @%p2 st.{space}.u32 [%{space}+{}], 7;", 4 * word);
        let load = format!("ld.{space}.v4.u32 {{%r1, %r2, %r3, %r4}}, [%{space}];");
        let of = |word: u32, read: &[u32]| {
            found(&format!("{load} {} {}", sum(read), change(word)))
                .into_iter()
                .map(|(kind, _)| kind)
                .collect::<Vec<_>>()
        };
        for word in 0..4 {
            let others: Vec<u32> = (1..5).filter(|register| *register != word + 1).collect();
            assert_eq!(of(word, &others), [], "{space} {word}");
            assert_eq!(of(word, &[word + 1]), [Kind::Race], "{space} {word}");
            assert_eq!(of(word, &[1, 2, 3, 4]), [Kind::Race], "{space} {word}");
        }
    }
}

#[test]
fn alignment_is_that_of_the_whole_vector() {
    let text = format!("ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [%shared+4]; {}", sum(&[2]));
    let kinds: Vec<Kind> = found(&text).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Kind::Misaligned]);
}
