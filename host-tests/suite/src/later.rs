//! How `st.async` and `red.async`, and those of `multimem`, are tried: each thread changes the slot of a thread of the other block of a cluster, whose barrier it
//! tells; or a thread changes its slot of the output.

use ptx_intrinsics::catalogue::Form;

use super::other::Other;
use super::reduced::change_all;
use super::room::Room;

/// Where the second value is in a slot.
const SECOND: usize = 16;
/// Where the barrier is, and then whether its phase is complete.
const BARRIER: usize = 96;

/// In a cluster the other block sends what is in its own slot. Elsewhere the second value of a slot changes the first.
pub(super) fn trial(form: &Form) -> Other {
    let (ty, bytes) = (value_of(form), bytes_of(form));
    if form.ptx().contains(".release") {
        let then =
            format!("copy(from, to); let (p, value) = (to.cast::<{ty}>(), get::<{ty}>(from.add({SECOND}))); {{}};");
        let is_multimem = form.instruction().starts_with("multimem");
        let room = if is_multimem { Room::Multimem } else { Room::Lines };
        return Other { room, before: "", then: then.into(), expected: by_second };
    }
    let then = format!(
        "copy(to, own); let home = SharedPtr::new(own.add({BARRIER}).cast::<Mbarrier>()); mbarrier_init(home, 1); \
         mbarrier_arrive_expect_tx(home, {bytes}); fence_mbarrier_init_release_cluster(); sync_cluster(); \
         let bar = SharedClusterPtr::new(p.add({BARRIER}).cast::<Mbarrier>()); \
         let (dst, value) = (SharedClusterPtr::new(p.cast::<{ty}>()), get::<{ty}>(from)); {{}}; \
         let done = waited(home); copy(own, to); put(to.add({BARRIER}), done as u64);"
    );
    Other { room: Room::ClusterLines, before: "let own = home_of(p);", then: then.into(), expected: by_other_block }
}

fn by_other_block(form: &Form, _: usize, from: &[u8], to: &mut [u8]) {
    change(form, from, to);
    to[BARRIER..BARRIER + 8].copy_from_slice(&1u64.to_le_bytes());
}

fn by_second(form: &Form, _: usize, from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
    change(form, &from[SECOND..], to);
}

/// What becomes of the bytes of a value by those of another one.
fn change(form: &Form, by: &[u8], to: &mut [u8]) {
    let bytes = bytes_of(form);
    match form.instruction().ends_with("st.async") {
        true => to[..bytes].copy_from_slice(&by[..bytes]),
        false => change_all(form.ptx(), &mut to[..bytes], &by[..bytes]),
    }
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
