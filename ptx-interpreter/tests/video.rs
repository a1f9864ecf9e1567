//! Video instructions: parts of registers, two halves and four bytes.

use ptx_interpreter::{Program, Trial};

/// What an instruction with `%r4` as its result makes of `%r1` to `%r3`.
fn made(instruction: &str, [a, b, c]: [u32; 3]) -> u32 {
    let text = format!(
        ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 a, .param .u32 b, .param .u32 c) {{\n\
         .reg .b64 %p;\n.reg .b32 %r<5>;\nld.param.u64 %p, [out];\nld.param.u32 %r1, [a];\nld.param.u32 %r2, [b];\nld.param.u32 %r3, [c];\n\
         {instruction}\nst.global.b32 [%p], %r4;\nret;\n}}\n"
    );
    let program = Program::parse(&text);
    let mut trial = Trial::new(&program, "k");
    trial.buffer(&[0; 4]).unwrap();
    for value in [a, b, c] {
        trial.value(&value.to_le_bytes());
    }
    let report = trial.check();
    assert!(report.is_clean(), "{instruction}: {report}");
    u32::from_le_bytes(trial.content(0).try_into().unwrap())
}

const NUMBERS: [[u32; 3]; 6] = [
    [0, 0, 0],
    [0x0180_ff7f, 0xff01_807f, 0x1234_5678],
    [0x7fff_8000, 0x8000_7fff, 0xffff_ffff],
    [0xffff_ffff, 1, 0x8000_0000],
    [0x8081_0203, 0x7f03_fe82, 7],
    [0xdead_beef, 0x0bad_cafe, 0x7fff_fff0],
];

fn check(instruction: &str, reference: impl Fn(u32, u32, u32) -> u32) {
    for [a, b, c] in NUMBERS {
        let made = made(instruction, [a, b, c]);
        assert_eq!(made, reference(a, b, c), "{instruction} {a:#x} {b:#x} {c:#x}: {made:#x}");
    }
}

fn bytes(a: u32, b: u32, of: impl Fn(u8, u8) -> u8) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u32::from_le_bytes(std::array::from_fn(|at| of(a[at], b[at])))
}

fn halves(a: u32, b: u32, of: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(of(a as u16, b as u16)) | u32::from(of((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[test]
fn bytes_are_computed_one_by_one() {
    let of = |opcode: &str| format!("{opcode} %r4, %r1, %r2, %r3;");
    check(&of("vabsdiff4.u32.u32.u32"), |a, b, _| bytes(a, b, u8::abs_diff));
    check(&of("vabsdiff4.s32.s32.s32.sat"), |a, b, _| bytes(a, b, |a, b| (a as i8).abs_diff(b as i8).min(127)));
    check(&of("vabsdiff4.u32.u32.u32.add"), |a, b, c| {
        let [a, b] = [a, b].map(u32::to_le_bytes);
        a.into_iter().zip(b).fold(c, |sum, (a, b)| sum.wrapping_add(a.abs_diff(b).into()))
    });
    check(&of("vadd4.u32.u32.u32"), |a, b, _| bytes(a, b, u8::wrapping_add));
    check(&of("vadd4.u32.u32.u32.sat"), |a, b, _| bytes(a, b, u8::saturating_add));
    check(&of("vadd4.s32.s32.s32.sat"), |a, b, _| bytes(a, b, |a, b| (a as i8).saturating_add(b as i8) as u8));
    check(&of("vsub4.u32.u32.u32.sat"), |a, b, _| bytes(a, b, u8::saturating_sub));
    check(&of("vsub4.s32.s32.s32.sat"), |a, b, _| bytes(a, b, |a, b| (a as i8).saturating_sub(b as i8) as u8));
    check(&of("vmin4.s32.s32.s32"), |a, b, _| bytes(a, b, |a, b| (a as i8).min(b as i8) as u8));
    check(&of("vmax4.u32.u32.u32"), |a, b, _| bytes(a, b, u8::max));
    check(&of("vavrg4.u32.u32.u32"), |a, b, _| bytes(a, b, |a, b| (u16::from(a) + u16::from(b)).div_ceil(2) as u8));
    check(&of("vset4.s32.s32.lt"), |a, b, _| bytes(a, b, |a, b| u8::from((a as i8) < (b as i8))));
    check(&of("vset4.u32.u32.ge.add"), |a, b, c| {
        let [a, b] = [a, b].map(u32::to_le_bytes);
        c.wrapping_add((0..4).filter(|at| a[*at] >= b[*at]).count() as u32)
    });
}

#[test]
fn halves_are_computed_one_by_one() {
    let of = |opcode: &str| format!("{opcode} %r4, %r1, %r2, %r3;");
    check(&of("vabsdiff2.u32.u32.u32"), |a, b, _| halves(a, b, u16::abs_diff));
    check(&of("vabsdiff2.u32.s32.s32.add"), |a, b, c| {
        let of = |a: u32, b: u32| u32::from((a as i16).abs_diff(b as i16));
        c.wrapping_add(of(a, b)).wrapping_add(of(a >> 16, b >> 16))
    });
    check(&of("vadd2.s32.s32.s32.sat"), |a, b, _| halves(a, b, |a, b| (a as i16).saturating_add(b as i16) as u16));
    check(&of("vsub2.u32.u32.u32"), |a, b, _| halves(a, b, u16::wrapping_sub));
    check(&of("vmin2.u32.u32.u32"), |a, b, _| halves(a, b, u16::min));
    // Away from zero: -3 and 0 are -1.5, and -2.
    check(&of("vavrg2.s32.s32.s32"), |a, b, _| {
        let average = |a: u16, b: u16| {
            let sum = i32::from(a as i16) + i32::from(b as i16);
            (if sum >= 0 { (sum + 1).div_euclid(2) } else { sum.div_euclid(2) }) as u16
        };
        halves(a, b, average)
    });
    check(&of("vset2.u32.u32.ne"), |a, b, _| halves(a, b, |a, b| u16::from(a != b)));
}

#[test]
fn elements_and_parts_can_be_chosen() {
    check("vadd2.u32.u32.u32 %r4.h1, %r1.h01, %r2.h32, %r3;", |a, b, c| {
        let upper = (a as u16).wrapping_add((b >> 16) as u16);
        c & 0xffff | u32::from(upper) << 16
    });
    check("vmax2.s32.s32.s32.add %r4, %r1.h33, %r2.h00, %r3;", |a, b, c| {
        let greatest = i32::from((a as i16).max((b >> 16) as i16));
        c.wrapping_add_signed(2 * greatest)
    });
    check("vadd4.u32.u32.u32 %r4.b20, %r1.b7777, %r2.b3210, %r3;", |a, b, c| {
        let (a, b, mut c) = (a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes());
        [0, 2].into_iter().for_each(|at| c[at] = b[3].wrapping_add(a[at]));
        u32::from_le_bytes(c)
    });
    check("vadd.s32.u32.s32.sat %r4, %r1.b0, %r2.h0;", |a, b, _| (i32::from(a as u8) + i32::from(b as i16)) as u32);
    check("vabsdiff.s32.s32.s32.sat %r4.h0, %r1.b0, %r2.b2, %r3;", |a, b, c| {
        c & 0xffff_0000 | u32::from((a as i8).abs_diff((b >> 16) as i8))
    });
    check("vsub.u32.s32.s32.sat %r4.b3, %r1.h1, %r2.h1, %r3;", |a, b, c| {
        let difference = i32::from((a >> 16) as i16) - i32::from((b >> 16) as i16);
        c & 0x00ff_ffff | (difference.clamp(0, 255) as u32) << 24
    });
}

#[test]
fn numbers_of_32_bits_are_clamped_and_added() {
    check("vadd.s32.s32.s32.sat %r4, %r1, %r2;", |a, b, _| (a as i32).saturating_add(b as i32) as u32);
    check("vadd.u32.u32.s32 %r4, %r1, %r2;", |a, b, _| a.wrapping_add(b));
    check("vsub.u32.u32.u32.sat %r4, %r1, %r2;", |a, b, _| a.saturating_sub(b));
    check("vmin.s32.s32.s32.sat.add %r4, %r1, %r2, %r3;", |a, b, c| c.wrapping_add_signed((a as i32).min(b as i32)));
    check("vadd.s32.s32.s32.sat.max %r4, %r1, %r2, %r3;", |a, b, c| {
        (a as i32).saturating_add(b as i32).max(c as i32) as u32
    });
    check("vset.s32.u32.lt %r4, %r1, %r2;", |a, b, _| u32::from(i64::from(a as i32) < i64::from(b)));
    check("vset.u32.u32.ne.add %r4, %r1, %r2.h1, %r3;", |a, b, c| c.wrapping_add(u32::from(a != b >> 16)));
    check("vshl.u32.u32.u32.clamp %r4, %r1, %r2.b0;", |a, b, _| a.checked_shl(b & 0xff).unwrap_or(0));
    check("vshr.s32.s32.u32.wrap %r4, %r1, %r2;", |a, b, _| (a as i32).wrapping_shr(b) as u32);
    check("vshr.u32.u32.u32.clamp.add %r4, %r1, %r2.b0, %r3;", |a, b, c| {
        a.checked_shr(b & 0xff).unwrap_or(0).wrapping_add(c)
    });
}

#[test]
fn products_are_negated_shifted_and_clamped() {
    check("vmad.u32.u32.u32.shr15 %r4, %r1.h0, %r2.h0, %r3;", |a, b, c| {
        (u64::from(a as u16) * u64::from(b as u16)).wrapping_add(c.into()).wrapping_shr(15) as u32
    });
    check("vmad.s32.s32.u32.sat %r4, %r1, %r2, -%r3;", |a, b, c| {
        let product = i128::from(a as i32) * i128::from(b) - i128::from(c as i32);
        product.clamp(i32::MIN.into(), i32::MAX.into()) as u32
    });
    check("vmad.s32.s32.s32.shr7 %r4, -%r1.b1, %r2, %r3;", |a, b, c| {
        let product = -i64::from((a >> 8) as i8) * i64::from(b as i32) + i64::from(c as i32);
        (product >> 7) as u32
    });
    check("vmad.u32.u32.u32.po %r4, %r1, %r2, %r3;", |a, b, c| a.wrapping_mul(b).wrapping_add(c).wrapping_add(1));
}

/// What PTX leaves open is not guessed.
#[test]
fn what_is_open_is_a_gap() {
    for instruction in [
        "vadd.u32.u32.u32.min %r4, %r1, %r2, %r3;",
        "vadd2.u32.u32.u32.add %r4, %r1, %r2, %r3;",
        "vshl.u32.u32.u32.sat.clamp %r4, %r1, %r2;",
        "vset4.u32.u32.ne.max %r4, %r1, %r2, %r3;",
    ] {
        let program = Program::parse(&format!(
            ".version 9.0\n.target sm_80\n.address_size 64\n.entry k() {{\n.reg .b32 %r<5>;\n{instruction}\nret;\n}}\n"
        ));
        let opcode = instruction.split(' ').next().unwrap();
        assert!(program.gaps().contains(opcode), "{instruction}: {:?}", program.gaps());
    }
}

/// CUDA's headers write them so.
#[test]
fn whole_numbers_that_are_no_less_than_zero() {
    for relu in ["max.s16x2.relu", "max.relu.s16x2"] {
        check(&format!("{relu} %r4, %r1, %r2;"), |a, b, _| halves(a, b, |a, b| (a as i16).max(b as i16).max(0) as u16));
    }
    check("min.s32.relu %r4, %r1, %r2;", |a, b, _| (a as i32).min(b as i32).max(0) as u32);
}

/// So do CUDA's headers for `__bfloat162uchar_rz` and `__bfloat162char_rz`.
#[test]
fn a_bf16_becomes_a_byte() {
    let of = |ty: &str| {
        format!(
            "{{\n.reg .b16 %h<3>;\n.reg .b8 %b;\nmov.b32 {{%h1, %h2}}, %r1;\ncvt.rzi.{ty}.bf16 %b, %h1;\ncvt.u32.u8 %r4, %b;\n}}"
        )
    };
    for bits in [0x3fc0u32, 0x437f, 0x4380, 0xbfc0, 0x7fc0, 0x7f80, 0xff80, 0xc2ff, 0x42ff] {
        let number = f32::from_bits(bits << 16);
        assert_eq!(made(&of("u8"), [bits, 0, 0]), u32::from(number as u8), "{number}");
        assert_eq!(made(&of("s8"), [bits, 0, 0]), u32::from(number as i8 as u8), "{number}");
    }
}
