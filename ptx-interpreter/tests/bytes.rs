//! Atomics of a byte, made of a compare-and-swap of the word around it. Nobody has written the bytes beside it.

use ptx_interpreter::{Kind, Program, Trial};

/// The kinds, and what is done by which instruction, that four orders of two warps find. `%word` is a word of which the second byte is zero and the others
/// have no value, `%lane` is the number of the thread, and `%out` a word of it in another buffer.
fn found(space: &str, body: &str) -> Vec<(Kind, String)> {
    let word = if space == "shared" { "mov.u64 %word, s;" } else { "ld.param.u64 %word, [p];" };
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {{\n.shared .align 4 .b8 s[4];\n\
         .reg .b64 %word, %out, %at; .reg .b32 %r<9>, %lane; .reg .b16 %h<3>; .reg .pred %p<4>;\n\
         {word} ld.param.u64 %out, [q]; mov.u32 %lane, %tid.x; mul.wide.u32 %at, %lane, 4; add.u64 %out, %out, %at;\n\
         setp.eq.u32 %p1, %lane, 0; mov.u16 %h1, 0; @%p1 st.{space}.u8 [%word+1], %h1; bar.sync 0;\n{body}\nret;\n}}\n"
    )
    .replace("SPACE", space);
    let program = Program::parse(&text);
    let mut all = Vec::new();
    for seed in 0..4 {
        let mut trial = Trial::new(&program, "k");
        trial
            .block([64, 1, 1])
            .seed(seed)
            .unwritten(4)
            .expect("a little memory")
            .unwritten(256)
            .expect("a little memory");
        for finding in trial.check().findings {
            let last = finding.places.last().expect("each is somewhere");
            all.push((finding.kind, format!("{}: {}", last.instruction, last.what)));
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Adds one to the second byte.
const ADDS: &str = "ld.relaxed.cta.SPACE.b32 %r1, [%word];
    again: shr.u32 %r2, %r1, 8; add.u32 %r2, %r2, 1; and.b32 %r2, %r2, 255; shl.b32 %r2, %r2, 8;
    and.b32 %r3, %r1, 0xffff00ff; or.b32 %r3, %r2, %r3;
    atom.cas.relaxed.cta.SPACE.b32 %r4, [%word], %r1, %r3;
    setp.ne.s32 %p2, %r4, %r1; mov.u32 %r1, %r4; @%p2 bra again; bar.sync 0;";

#[test]
fn the_bytes_beside_it_may_have_no_value() {
    for space in ["shared", "global"] {
        assert_eq!(found(space, ADDS), []);
        let stored = format!("{ADDS} ld.SPACE.u8 %h2, [%word+1]; st.global.u8 [%out], %h2;");
        assert_eq!(found(space, &stored), []);
    }
}

#[test]
fn they_have_none_afterwards() {
    for space in ["shared", "global"] {
        let all =
            found(space, &format!("{ADDS} ld.SPACE.u32 %r5, [%word]; add.u32 %r5, %r5, 1; st.global.u32 [%out], %r5;"));
        let tell = |(kind, text): &(Kind, String)| (*kind, text.contains("stores it"));
        assert_eq!(all.iter().map(tell).collect::<Vec<_>>(), [(Kind::Uninitialised, true)], "{all:?}");
    }
}

#[test]
fn what_is_compared_has_to_have_a_value() {
    for space in ["shared", "global"] {
        // A lock that nobody has set free.
        let all = found(space, "@%p1 atom.cas.relaxed.cta.SPACE.b32 %r4, [%word], 0, 1;");
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].1.contains(" 4 bytes, among them byte 0 of"), "{all:?}");
        // All bytes of it have a value, and what it is compared with has not.
        let word = "ld.relaxed.cta.SPACE.b32 %r1, [%word]; bar.sync 0; @%p1 st.SPACE.u32 [%word], 0; bar.sync 0;";
        let all = found(space, &format!("{word} @%p1 atom.cas.relaxed.cta.SPACE.b32 %r4, [%word], %r1, 1;"));
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].1.contains("changes memory by it"), "{all:?}");
    }
}
