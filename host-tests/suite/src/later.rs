//! How `st.async` and `red.async` are tried: a block sends to the other one of a cluster what that one gave it, so that each
//! thread finds its own bytes; or each thread changes its slot of the output.

use ptx_intrinsics::catalogue::Form;

use super::other::Other;
use super::room::Room;

/// The slot in this block, which begins with the value that is changed and goes on with the other one, and its barrier.
const HERE: &str = "let own = home_of(p); let home = SharedPtr::new(own.add(64).cast::<Mbarrier>());";

/// Where the other value is in the slot.
const OTHER: usize = 16;

pub(super) fn trial(form: &Form) -> Other {
    let (ty, bytes) = (value_of(form), bytes_of(form));
    if form.ptx().contains(".release") {
        let then = format!("copy(from, to); let (p, value) = (to.cast::<{ty}>(), get::<{ty}>(from.add({OTHER}))); {{}};");
        return Other { room: Room::Lines, before: "", then: then.into(), expected: changed };
    }
    let then = format!(
        "copy(from, own); mbarrier_init(home, 1); mbarrier_arrive_expect_tx(home, {bytes}); \
         fence_mbarrier_init_release_cluster(); sync_cluster(); let value = get::<{ty}>(p.add({OTHER})); \
         let (dst, bar) = (SharedClusterPtr::new(p.cast::<{ty}>()), SharedClusterPtr::new(p.add(64).cast::<Mbarrier>())); \
         {{}}; let done = waited(home); copy(own, to); put(to.add(24), [done; 8]);"
    );
    Other { room: Room::ClusterLines, before: HERE, then: then.into(), expected: arrived }
}

fn arrived(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    changed(form, thread, from, to);
    to[24..32].fill(1);
}

/// What becomes of the bytes of a value by those of the other one.
fn changed(form: &Form, _: usize, from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
    let (bytes, other) = (bytes_of(form), &from[OTHER..]);
    let (old, value) = (number(&from[..bytes.min(8)]), number(&other[..bytes.min(8)]));
    let mut words = form.ptx().rsplit('.');
    let (ty, op) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let signed = |number: u64| number as u32 as i32;
    let new = match op {
        _ if form.instruction() == "st.async" => return to[..bytes].copy_from_slice(&other[..bytes]),
        "add" => old.wrapping_add(value),
        "and" => old & value,
        "or" => old | value,
        "xor" => old ^ value,
        "inc" => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        "dec" => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        "min" if ty == "s32" => {
            if signed(old) < signed(value) {
                old
            } else {
                value
            }
        }
        "max" if ty == "s32" => {
            if signed(old) > signed(value) {
                old
            } else {
                value
            }
        }
        "min" => old.min(value),
        "max" => old.max(value),
        _ => unreachable!("say what {} does", form.ptx()),
    };
    to[..bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The type of the value.
fn value_of(form: &Form) -> &str {
    let parameters = form.signature().map_or("", |signature| signature.parameters);
    parameters.split(", ").find_map(|parameter| parameter.strip_prefix("value: ")).unwrap_or_default()
}

fn bytes_of(form: &Form) -> usize {
    let shape = host_tests::check::sass::Shape::of(form.ptx());
    shape.total() / 8
}
