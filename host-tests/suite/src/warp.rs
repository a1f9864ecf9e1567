//! What the threads of a warp find out together.

use ptx_intrinsics::catalogue::Form;

use super::other::{Other, truth};
use super::room::Room;

/// Which lane is elected the ISA leaves open: all have to agree on one of the mask, and that one alone knows that it is it.
pub(super) fn elect(_: &Form) -> Other {
    Other {
        room: Room::Global,
        before: "let mask = u32::MAX;",
        then: "let (leader, elected) = {}; put(to, (leader < 32 && elected == (leader == thread as u32)) as u64);"
            .into(),
        expected: truth,
    }
}

/// Half of the lanes have 7 and the others 8; then all have 7.
pub(super) fn matches(form: &Form) -> Other {
    let then = if form.ptx().contains(".any") {
        "let half = { let number = (7 + thread % 2) as _; {} }; let all = { let number = 7; {} }; \
         put(to, (half == 0x5555_5555 << (thread % 2) && all == mask) as u64);"
    } else {
        "let half = { let number = (7 + thread % 2) as _; {} }; let all = { let number = 7; {} }; \
         put(to, (half == (0, false) && all == (mask, true)) as u64);"
    };
    Other { room: Room::Global, before: "let mask = u32::MAX;", then: then.into(), expected: truth }
}

/// The lanes have 1,000 and as much more as their number, and negative ones of which the sign shows.
pub(super) fn redux(form: &Form) -> Other {
    if form.ptx().ends_with(".f32") {
        return floats(form);
    }
    let expected = match form.ptx() {
        "redux.sync.add.s32" => "-(1000 * 32 + 496)",
        "redux.sync.min.s32" => "-1031",
        "redux.sync.max.s32" => "-1000",
        "redux.sync.min.u32" => "-1031i32 as u32",
        "redux.sync.max.u32" => "-1000i32 as u32",
        "redux.sync.and.b32" => "(0..32).fold(u32::MAX, |all, lane| all & (-1000 - lane) as u32)",
        "redux.sync.or.b32" => "(0..32).fold(0, |all, lane| all | (-1000 - lane) as u32)",
        _ => "(0..32).fold(0, |all, lane| all ^ (-1000 - lane) as u32)",
    };
    Other {
        room: Room::Global,
        before: "let mask = u32::MAX; let number = (-1000 - thread as i32) as _;",
        then: format!("put(to, ({{}} == {expected}) as u64);").into(),
        expected: truth,
    }
}

/// Half of the lanes have a number, from -15 to 0, and the others NaN; then all have a number, from -15.5 to 15.5.
fn floats(form: &Form) -> Other {
    let says = |word| form.ptx().contains(word);
    let [half, all] = match (says(".max"), says(".abs")) {
        (false, false) => ["-15.0f32", "-15.5f32"],
        (false, true) => ["0.0f32", "0.5f32"],
        (true, false) => ["-0.0f32", "15.5f32"],
        (true, true) => ["15.0f32", "15.5f32"],
    };
    let half = if says(".NaN") { "f32::from_bits(0x7fff_ffff)" } else { half };
    let then = format!(
        "let half = {{ let number = if thread % 2 == 0 {{ -(thread as f32 / 2.0) }} else {{ f32::NAN }}; {{}} }}; \
         let all = {{ let number = thread as f32 - 15.5; {{}} }}; \
         put(to, (half.to_bits() == ({half}).to_bits() && all == {all}) as u64);"
    );
    Other { room: Room::Global, before: "let mask = u32::MAX;", then: then.into(), expected: truth }
}
