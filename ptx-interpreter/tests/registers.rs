//! Registers whose values matter at different times have one place.

use ptx_interpreter::{Program, Trial};

/// Nobody reads `%r1`, so `%r2` has its place.
const DEAD: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.relaxed.gpu.global.u32 %r1, [%rd1];
    mov.u32 %r2, 5;
    st.global.u32 [%rd2], %r2;
    ret;
}
";

/// Both ways through the loop need what the other one leaves.
const LOOP: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 to)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    mov.u32 %r3, 1;
    mov.u32 %r4, 1;
TURN:
    and.b32 %r5, %r2, 1;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra EVEN;
    add.u32 %r6, %r3, %r4;
    mov.u32 %r3, %r6;
    bra NEXT;
EVEN:
    add.u32 %r7, %r4, %r3;
    mov.u32 %r4, %r7;
NEXT:
    add.u32 %r2, %r2, 1;
    setp.le.u32 %p2, %r2, %r1;
    @%p2 bra TURN;
    mad.wide.u32 %rd2, %r1, 8, %rd1;
    st.global.v2.u32 [%rd2], {%r3, %r4};
    ret;
}
";

#[test]
fn a_late_load_leaves_what_has_its_place() {
    let program = Program::parse(DEAD);
    for seed in 0..500 {
        let mut trial = Trial::new(&program, "test");
        trial.buffer(&7u32.to_le_bytes()).unwrap();
        trial.buffer(&[0; 4]).unwrap();
        let report = trial.weak(true).seed(seed).check();
        assert!(report.is_clean(), "seed {seed}: {report}");
        assert_eq!(trial.content(1), 5u32.to_le_bytes(), "seed {seed}");
    }
}

#[test]
fn a_loop_keeps_its_values() {
    let program = Program::parse(LOOP);
    let mut trial = Trial::new(&program, "test");
    trial.block([32, 1, 1]).buffer(&[0; 32 * 8]).unwrap();
    let report = trial.check();
    assert!(report.is_clean(), "{report}");
    let (mut odd, mut even) = (1u32, 1u32);
    for (turn, left) in trial.content(0).chunks(8).enumerate() {
        if turn % 2 == 0 {
            even += odd
        } else {
            odd += even
        }
        assert_eq!(left, [odd.to_le_bytes(), even.to_le_bytes()].concat(), "after turn {turn}");
    }
}
