//! `add`, `sub` and `fma` of narrow numbers and an `f32`, and `min` and `max` of three, as `sm_100` has them.

use ptx_interpreter::{Program, Trial};

/// What an instruction leaves of 1 + 2^-10 and 2.5 as `f16`, and of 1 - 2^-24 as `f32`.
fn result(instruction: &str) -> f32 {
    let module = format!(
        ".version 8.8\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b16 %h<3>; .reg .f32 %f<3>; .reg .b64 %d<2>; ld.param.u64 %d1, [p];\n\
         mov.b16 %h1, 0x3c01; mov.b16 %h2, 0x4100; mov.f32 %f1, 0f3F7FFFFF;\n{instruction}\n\
         st.global.f32 [%d1], %f2; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([1, 1, 1]).buffer(&[0; 4]).expect("a little memory");
    let report = trial.check();
    assert_eq!((report.findings, report.stop), (vec![], None), "{instruction}");
    f32::from_le_bytes(trial.content(0).try_into().expect("four bytes"))
}

#[test]
fn narrow_numbers_are_exact_in_an_f32() {
    let (a, b, c) = (1.0 + 1.0 / 1024.0, 2.5, f64::from(f32::from_bits(0x3f7f_ffff)));
    let next_down = |number: f32| f32::from_bits(number.to_bits() - 1);
    assert_eq!(result("add.f32.f16 %f2, %h1, %f1;"), (a + c) as f32);
    assert_eq!(result("add.rn.f32.f16 %f2, %h1, %f1;"), (a + c) as f32);
    // The sum is nearer to the number above.
    assert!(f64::from((a + c) as f32) > a + c);
    assert_eq!(result("add.rz.f32.f16 %f2, %h1, %f1;"), next_down((a + c) as f32));
    assert_eq!(result("sub.rn.f32.f16 %f2, %h1, %f1;"), (a - c) as f32);
    assert_eq!(result("fma.rn.f32.f16 %f2, %h1, %h2, %f1;"), (a * b + c) as f32);
    assert_eq!(result("fma.rn.sat.f32.f16 %f2, %h1, %h2, %f1;"), 1.0);
    // As `bf16` the bits are 0x3c01 = 129 * 2^-14, and 0x4100 = 8.
    assert_eq!(result("add.rn.f32.bf16 %f2, %h1, %f1;"), (129.0 / 16384.0 + c) as f32);
    assert_eq!(result("fma.rn.f32.bf16 %f2, %h1, %h2, %f1;"), (129.0 / 16384.0 * 8.0 + c) as f32);
}

#[test]
fn the_least_and_the_greatest_of_three() {
    // Of -3, 1 - 2^-24 and a third number.
    let of = |words: &str, third: &str| {
        result(&format!("mov.f32 %f2, 0fC0400000; {{ .reg .f32 %c; mov.f32 %c, {third}; {words} %f2, %f2, %f1, %c; }}"))
    };
    let near_one = f32::from_bits(0x3f7f_ffff);
    let (two, nan, tiny) = ("0f40000000", "0f7FC00000", "0f80000001");
    assert_eq!((of("min.f32", two), of("max.f32", two)), (-3.0, 2.0));
    assert_eq!((of("min.abs.f32", two), of("max.abs.f32", two)), (near_one, 3.0));
    assert_eq!((of("min.f32", nan), of("max.f32", nan)), (-3.0, near_one));
    assert!(of("min.NaN.f32", nan).is_nan() && of("max.ftz.NaN.f32", nan).is_nan());
    assert_eq!(of("min.ftz.abs.f32", tiny).to_bits(), 0);
    assert_eq!(of("min.abs.f32", tiny).to_bits(), 1);
}
