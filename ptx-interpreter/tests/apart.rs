//! Variables in shared memory are apart, where it is known which one an address is computed from.

use ptx_interpreter::{Kind, Program, Trial};

/// A warp executes it. `one` and `two` have 16 bytes each, and all lanes have the address of the first one in `%a`.
fn findings(body: &str) -> Vec<(Kind, String)> {
    let program = Program::parse(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry kernel(.param .u32 p) {{\n\
         .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b32 %a; .reg .pred %q;\n\
         .shared .align 16 .b8 one[16];\n.shared .align 16 .b8 two[16];\n\
         mov.u32 %a, one; ld.param.u32 %r1, [p]; setp.ne.u32 %q, %r1, 0;\n\
         st.shared.u32 [one], 1; st.shared.u32 [one+4], 1; st.shared.u32 [two], 1; bar.warp.sync -1;\n{body}\nret;\n}}"
    ));
    let mut trial = Trial::new(&program, "kernel");
    trial.value(&16u32.to_le_bytes());
    let report = trial.check();
    assert!(report.stop.is_none(), "{report}");
    report.findings.iter().map(|finding| (finding.kind, finding.to_string())).collect()
}

#[test]
fn an_address_stays_in_its_variable() {
    for body in [
        "ld.shared.u32 %r2, [%a+16];",
        "ld.shared.u32 %r2, [one+16];",
        "add.u32 %r3, %a, %r1; ld.shared.u32 %r2, [%r3];",
        "mad.lo.u32 %r3, %r1, 1, %a; ld.shared.u32 %r2, [%r3];",
        "cvt.u64.u32 %d1, %a; cvta.shared.u64 %d1, %d1; add.u64 %d1, %d1, 16; ld.u32 %r2, [%d1];",
        "mov.u32 %r3, %a;\nagain: add.u32 %r3, %r3, 8; setp.lt.u32 %q, %r3, 16; @%q bra again; ld.shared.u32 %r2, [%r3];",
    ] {
        let found = findings(body);
        let is_named = |(kind, text): &(Kind, String)| {
            *kind == Kind::Bounds && text.contains("byte 16 of `one`, which has 16 bytes: that is byte 0 of `two`")
        };
        assert!(found.len() == 1 && is_named(&found[0]), "{body}: {found:?}");
    }
}

#[test]
fn where_it_is_not_known_nothing_is_said() {
    for body in [
        "ld.shared.u32 %r2, [%a];",
        "ld.shared.u32 %r2, [%a+4];",
        // One of two variables.
        "mov.u32 %r3, two; selp.u32 %r3, %r3, %a, %q; ld.shared.u32 %r2, [%r3];",
        "mov.u32 %r3, %a; @%q mov.u32 %r3, two; ld.shared.u32 %r2, [%r3];",
        // The distance between two.
        "mov.u32 %r3, two; sub.u32 %r3, %r3, %a; add.u32 %r3, %r3, %a; ld.shared.u32 %r2, [%r3];",
        "mov.u32 %r3, two; xor.b32 %r4, %r3, %a; xor.b32 %r4, %r4, %a; ld.shared.u32 %r2, [%r4];",
    ] {
        assert_eq!(findings(body), [], "{body}");
    }
}
