//! Words of an opcode in another order than the ISA's page has them. `ptxas` takes each of these.

use ptx_interpreter::{Program, Trial};

/// What an instruction leaves in `%r2`, where `%r1` and memory have these bits.
fn made(instruction: &str, word: u32) -> Result<u32, String> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n.reg .b64 %d;\n.reg .b32 %r<4>;\n\
         .reg .b16 %h<2>;\n.reg .pred %p;\nld.param.u64 %d, [out];\nld.global.b32 %r1, [%d];\nmov.b32 %r2, 0;\n{instruction}\n\
         st.global.b32 [%d], %r2;\nret;\n}}\n"
    );
    let program = Program::parse(&text);
    let mut trial = Trial::new(&program, "k");
    trial.block([1, 1, 1]);
    trial.buffer(&word.to_le_bytes()).expect("a little memory");
    let report = trial.check();
    assert!(report.findings.is_empty(), "{instruction}: {report}");
    match report.stop {
        Some(stop) => Err(stop.text),
        None => Ok(u32::from_le_bytes(trial.content(0).try_into().expect("one word"))),
    }
}

const SMALL: u32 = 0x0020_0000;
const TWO: u32 = 2.0f32.to_bits();

#[test]
fn words_have_any_order() {
    for (other, page) in [
        ("ex2.approx.f32.ftz %r2, %r1;", "ex2.approx.ftz.f32 %r2, %r1;"),
        ("mul.ftz.rz.f32 %r2, %r1, 0f3f800001;", "mul.rz.ftz.f32 %r2, %r1, 0f3f800001;"),
        ("add.f32.ftz %r2, %r1, %r1;", "add.ftz.f32 %r2, %r1, %r1;"),
        ("fma.f32.sat.ftz.rm %r2, %r1, %r1, %r1;", "fma.rm.ftz.sat.f32 %r2, %r1, %r1, %r1;"),
        ("cvt.f16.rn.f32 %h1, %r1; cvt.u32.u16 %r2, %h1;", "cvt.rn.f16.f32 %h1, %r1; cvt.u32.u16 %r2, %h1;"),
        (
            "setp.f32.ftz.gt %p, %r1, 0f00000000; selp.b32 %r2, 1, 2, %p;",
            "setp.gt.ftz.f32 %p, %r1, 0f00000000; selp.b32 %r2, 1, 2, %p;",
        ),
        ("ld.f32.relaxed.global.gpu %r2, [%d];", "ld.relaxed.gpu.global.f32 %r2, [%d];"),
        ("atom.u32.add.global %r2, [%d], 1;", "atom.global.add.u32 %r2, [%d], 1;"),
        ("shfl.b32.idx.sync %r2, %r1, 0, 31, 1;", "shfl.sync.idx.b32 %r2, %r1, 0, 31, 1;"),
    ] {
        for word in [SMALL, TWO] {
            assert!(made(page, word).is_ok(), "{page}");
            assert_eq!(made(other, word), made(page, word), "{other}");
        }
    }
}

/// `ptxas` takes none of these.
#[test]
fn not_every_order_is_known() {
    for text in ["cvt.rn.f32.f16 %r2, %r1;", "cvta.u64.to.global %d, %d;", "ex2.f32.f32.approx %r2, %r1;"] {
        let opcode = text.split(' ').next().expect("an opcode");
        let known = made(text, TWO).expect_err(text);
        assert!(known.contains(opcode), "{text}: {known}");
    }
}
