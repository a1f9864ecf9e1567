//! How `cp.reduce.async.bulk` is tried: each thread changes values of its slot of the output, or of a thread of the other block of a
//! cluster, by those in its slot of shared memory.

use ptx_intrinsics::catalogue::Form;
use ptx_intrinsics::grammar::atomic::{Atomic, judge_atomic};
use ptx_intrinsics::ptx::change;

use super::asynchronous::into_other_block;
use super::atomic::tame;
use super::other::Other;
use super::room::Room;

pub(super) fn trial(form: &Form) -> Other {
    let ty = type_of(form);
    if form.ptx().contains(".shared::cluster") {
        let before = into_other_block!("2", "put(home.add(64), get::<Slot>(from));");
        let then = format!(
            "let dst = SharedClusterPtr::new(p.cast::<{ty}>()); let src = SharedPtr::new(home.add(64).cast::<{ty}>()); {{}}; \
             let done = waited(own); sync_cluster(); put(home.add(64), get::<Slot>(to.add(64))); copy(home, to); \
             put(to.add(96), done as u64);"
        );
        return Other { room: Room::ClusterLines, before, then: then.into(), expected: in_other_block };
    }
    let (kept, set) = tame(form);
    let then = format!(
        "for part in 0..8 {{ let [own, next] = [part, (part + 1) % 8].map(|part| \
             tame(get::<Bits>(from.add(16 * part)), {kept:#x}, {set:#x})); \
             put(p.add(16 * part), own); put(to.add(16 * part), next); }} fence_proxy_async(); \
         let (dst, src, size) = (to.cast::<{ty}>(), SharedPtr::new(p.cast::<{ty}>()), 16 * (1 + thread as u32 % 8)); {{}}; \
         cp_async_bulk_commit_group(); cp_async_bulk_wait_group::<0>();"
    );
    Other { room: Room::SharedLines, before: "", then: then.into(), expected: in_global }
}

/// The type of the values in Rust.
fn type_of(form: &Form) -> &str {
    let parameters = form.signature().map_or("", |signature| signature.parameters);
    parameters.split([',', '<', '>', ' ']).nth(2).unwrap_or_default()
}

fn in_other_block(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    let size = 16 * (1 + thread % 2);
    change_all(form.ptx(), &mut to[..size], &from[..size]);
    to[96..104].copy_from_slice(&1u64.to_le_bytes());
}

fn in_global(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    let (kept, set) = tame(form);
    let tamed = from[..128].chunks_exact(8).flat_map(|part| {
        let bits = u64::from_le_bytes(part.try_into().expect("eight bytes"));
        (bits & kept | set).to_le_bytes()
    });
    let mut from: Vec<u8> = tamed.collect();
    let own = from.clone();
    from.rotate_left(16);
    to[..128].copy_from_slice(&from);
    let size = 16 * (1 + thread % 8);
    change_all(form.ptx(), &mut to[..size], &own[..size]);
}

/// Changes each value by the one at the same place.
pub(super) fn change_all(ptx: &str, values: &mut [u8], by: &[u8]) {
    let (atomic, bytes) = meaning(ptx);
    for (value, by) in values.chunks_exact_mut(bytes).zip(by.chunks_exact(bytes)) {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let (mut old, by) = (number(value), number(by));
        let place = &raw mut old;
        // SAFETY: the number is this function's own, and as wide as any value.
        unsafe {
            match bytes {
                2 => _ = change(atomic, place.cast(), by as u16, None),
                4 => _ = change(atomic, place.cast(), by as u32, None),
                _ => _ = change(atomic, place, by, None),
            }
        }
        value.copy_from_slice(&old.to_le_bytes()[..bytes]);
    }
}

/// The reduction of one value, and its bytes. `red` has minima of 16-bit floats only as vectors.
fn meaning(ptx: &str) -> (Atomic, usize) {
    let [ty, op, before] = {
        let mut words = ptx.rsplit('.');
        [(); 3].map(|()| words.next().unwrap_or_default())
    };
    let op = if op == "noftz" { format!("{before}.noftz") } else { op.to_owned() };
    // An addition knows no sign.
    let ty = if (op.as_str(), ty) == ("add", "s64") { "u64" } else { ty };
    let is_half = ["f16", "bf16"].contains(&ty);
    let text =
        if is_half && !op.contains("noftz") { format!("red.{op}.noftz.v2.{ty}") } else { format!("red.{op}.{ty}") };
    let (atomic, _) = judge_atomic(&text, false).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    (atomic, if is_half { 2 } else { atomic.bytes() })
}
