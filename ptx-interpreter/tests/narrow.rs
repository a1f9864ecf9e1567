//! Conversions of pairs of floats of 4, 6 and 8 bits, and of scales.

use ptx_interpreter::{Program, Trial};

/// What instructions make of one word, as the register that they leave.
fn made(body: &str, word: u32) -> u32 {
    let text = format!(
        ".version 9.2\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 word) {{\n.reg .b64 %p;\n\
         .reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .b16 %h<4>;\n.reg .b8 %b<4>;\nld.param.u64 %p, [out];\nld.param.u32 %r1, [word];\n\
         mov.b32 %f1, %r1;\nneg.f32 %f2, %f1;\nmov.b32 {{%h1, %h2}}, %r1;\ncvt.u8.u16 %b1, %h1;\n{body}\nst.global.b32 [%p], %r2;\n\
         ret;\n}}\n"
    );
    let program = Program::parse(&text);
    let mut trial = Trial::new(&program, "k");
    trial.buffer(&[0; 4]).unwrap().value(&word.to_le_bytes());
    let report = trial.check();
    assert!(report.is_clean(), "{body}: {report}");
    u32::from_le_bytes(trial.content(0).try_into().unwrap())
}

/// Of a number and its negative: the negative is the upper one.
fn pair(format: &str, relu: &str, number: f32) -> [u32; 2] {
    let (to, widen, bits) = match format {
        "e2m1x2" => ("%b2", "cvt.u32.u8 %r2, %b2;", 4),
        _ => ("%h3", "cvt.u32.u16 %r2, %h3;", 8),
    };
    let body = format!("cvt.rn.satfinite{relu}.{format}.f32 {to}, %f2, %f1;\n{widen}");
    let pair = made(&body, number.to_bits());
    [pair & ((1 << bits) - 1), pair >> bits]
}

#[test]
fn numbers_are_rounded_to_the_nearest_and_even_one() {
    for (format, number, code) in [
        ("e2m1x2", 0.25, 0),
        ("e2m1x2", 0.2500001, 1),
        ("e2m1x2", 0.75, 2),
        ("e2m1x2", 2.5, 4),
        ("e2m1x2", 3.6, 6),
        ("e2m1x2", 5.0, 6),
        ("e2m1x2", 5.1, 7),
        ("e2m1x2", 1e30, 7),
        ("e2m3x2", 0.0625, 0),
        ("e2m3x2", 0.9375, 8),
        ("e2m3x2", 7.4, 31),
        ("e2m3x2", f32::INFINITY, 31),
        ("e3m2x2", 0.0625, 1),
        ("e3m2x2", 0.03125, 0),
        ("e3m2x2", 27.0, 31),
        ("e3m2x2", 25.9, 30),
        ("e4m3x2", 0.0009765625, 0),
        ("e4m3x2", 448.0, 0x7e),
        ("e4m3x2", 1e9, 0x7e),
        ("e5m2x2", 57344.0, 0x7b),
        ("e5m2x2", f32::INFINITY, 0x7b),
    ] {
        let sign = [("e2m1x2", 8), ("e2m3x2", 32), ("e3m2x2", 32)].into_iter().find(|(name, _)| *name == format);
        let sign = sign.map_or(128, |(_, sign)| sign);
        assert_eq!(pair(format, "", number), [code, sign | code], "{format} {number}");
        assert_eq!(pair(format, ".relu", number), [code, 0], "{format} {number}");
    }
    for (format, code) in [("e2m1x2", 7), ("e2m3x2", 31), ("e3m2x2", 31), ("e4m3x2", 0x7f), ("e5m2x2", 0x7f)] {
        assert_eq!(pair(format, "", f32::NAN), [code; 2], "{format}");
    }
}

/// Each number comes back, by way of `f16` and of `bf16`.
#[test]
fn each_code_comes_back() {
    for (format, bits, codes) in [("e2m1x2", 4, 8), ("e2m3x2", 8, 32), ("e3m2x2", 8, 32), ("e4m3x2", 8, 127)] {
        let (register, narrow) = if bits == 4 { ("%b", "cvt.u32.u8") } else { ("%h", "cvt.u32.u16") };
        for wide in ["f16x2", "bf16x2"] {
            for code in 0..codes {
                let word = code << bits | (codes - 1 - code);
                let body = format!(
                    "cvt.rn.{wide}.{format} %r3, {register}1;\ncvt.rn.satfinite.{format}.{wide} {register}3, %r3;\n\
                     {narrow} %r2, {register}3;"
                );
                assert_eq!(made(&body, word), word, "{format} {wide}");
            }
        }
    }
}

#[test]
fn scales_are_powers_of_two() {
    for (words, number, code) in [
        ("rz", 1.0, 127),
        ("rz", 1.99, 127),
        ("rp", 1.0, 127),
        ("rp", 1.01, 128),
        ("rp", 0.0, 0),
        ("rp", f32::from_bits(0x40_0000), 0),
        ("rp", f32::from_bits(0x40_0001), 1),
        ("rz", f32::INFINITY, 255),
        ("rp.satfinite", f32::INFINITY, 254),
        ("rp.satfinite", f32::MAX, 254),
        ("rp.satfinite", f32::NAN, 255),
    ] {
        let body = format!("cvt.{words}.ue8m0x2.f32 %h3, %f2, %f1;\ncvt.u32.u16 %r2, %h3;");
        assert_eq!(made(&body, number.to_bits()), code << 8 | code, "{words} {number}");
    }
    assert_eq!(made("cvt.rn.bf16x2.ue8m0x2 %r2, %h1;", 0x0080), 0x0040_4000);
    assert_eq!(made("cvt.rn.bf16x2.ue8m0x2 %r2, %h1;", 0xff7f), 0x7fff_3f80);
    assert_eq!(made("cvt.rp.ue8m0x2.bf16x2 %h3, %r1;\ncvt.u32.u16 %r2, %h3;", 0x3f81_4000), 0x8080);
}

/// What would be infinite is the greatest number.
#[test]
fn halves_may_be_finite() {
    for (words, number, code) in [
        ("rn.satfinite.bf16x2", f32::INFINITY, 0xff7f_7f7f),
        ("rn.satfinite.bf16x2", f32::MAX, 0xff7f_7f7f),
        ("rn.bf16x2", f32::MAX, 0xff80_7f80),
        ("rn.satfinite.relu.bf16x2", f32::MAX, 0x7f7f),
        ("rn.satfinite.f16x2", 1e6, 0xfbff_7bff),
        ("rn.satfinite.f16x2", 1.0, 0xbc00_3c00),
        ("rn.satfinite.bf16x2", f32::NAN, 0x7fff_7fff),
    ] {
        let body = format!("cvt.{words}.f32 %r2, %f2, %f1;");
        assert_eq!(made(&body, f32::to_bits(number)), code, "{words} {number}");
    }
    let one = "cvt.rn.satfinite.f16.f32 %h3, %f2;\ncvt.u32.u16 %r2, %h3;";
    assert_eq!(made(one, 1e6f32.to_bits()), 0xfbff);
    assert_eq!(made("cvt.rna.satfinite.tf32.f32 %r2, %f1;", f32::MAX.to_bits()), 0x7f7f_e000);
}
