//! How a form is tried on a GPU: where its address lies, what its kernel does, and what must come out.

use ptx_intrinsics::catalogue::{Form, Operation};

use host_tests::check::forms::{Case, Syntax};

use super::atomic::Sum;
use super::other::{Other, all, truth};
use super::room::{Room, SLOT};
use super::{asynchronous, atomic, barriers, later, launch_control, policy, reduced, tensor, tensor_wide, warp};

/// An instruction that nobody has said how to try.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{form}: no check\n  → add its instruction to OTHERS in host-tests/suite/src/trial.rs")]
pub struct NoCheck {
    /// The form.
    pub form: String,
}

/// Where the catalogue's form has its address; an error if nobody has said how to try its instruction.
pub(super) fn room_of(form: &Form) -> Result<Room, NoCheck> {
    if form.is_atomic() || form.is_multimem() {
        return Ok(atomic::room(form));
    }
    if !matches!(form.operation(), Operation::Load | Operation::Store) {
        return other(form).map(|other| other.room);
    }
    let of_the_system = form.ptx().contains(".sys");
    Ok(match form.space() {
        None | Some("global") if of_the_system => Room::Mapped,
        None | Some("global") => Room::Global,
        Some("shared") => Room::Shared,
        Some("shared::cluster") => Room::Cluster,
        Some("const") => Room::Const,
        Some("local") => Room::Local,
        Some("param::entry") => Room::Entry,
        Some("param::func") => Room::Func,
        Some(_) => return Err(NoCheck { form: form.ptx().to_owned() }),
    })
}

/// How to try a form of an instruction.
type HowTo = fn(&Form) -> Other;

/// By instruction. A form without a row is not tried, which fails a test and shows in every report.
const OTHERS: &[(&str, HowTo)] = &[
    ("prefetch", |form| {
        let room = match form.ptx() {
            "prefetch.tensormap" => Room::TensorMap,
            "prefetch.const.tensormap" => Room::ConstTensorMap,
            "prefetch.param.tensormap" => Room::EntryTensorMap,
            ptx if ptx.contains(".local") => Room::Local,
            _ => Room::Lines,
        };
        Other { room, before: "", then: "{}; copy(from, to);".into(), expected: all }
    }),
    ("applypriority", |_| Other { room: Room::Lines, before: "", then: "{}; copy(from, to);".into(), expected: all }),
    // What was in the line is lost; what is written to it then is not.
    ("discard", |_| Other {
        room: Room::Lines,
        before: "let p = to;",
        then: "{}; copy(from, to);".into(),
        expected: all,
    }),
    // What was in the first 16 bytes is zero then.
    ("st.bulk", |form| {
        let p = if form.ptx().ends_with(".shared::cta") { "SharedPtr::new(p)" } else { "p" };
        Other {
            room: Room::Shared,
            before: "copy(from, p); let size = 16;",
            then: format!("{{ let p = {p}; {{}} }} copy(p, to);").into(),
            expected: |_, _, from, to| {
                to.copy_from_slice(from);
                to[..16].fill(0);
            },
        }
    }),
    ("st.async", later::trial),
    ("red.async", later::trial),
    ("bar", barriers::of_block),
    ("barrier", barriers::of_block),
    ("barrier.cluster", barriers::of_cluster),
    ("multimem.st.async", later::trial),
    ("multimem.red.async", later::trial),
    ("elect.sync", warp::elect),
    ("match.sync", warp::matches),
    ("redux.sync", warp::redux),
    // On a GPU a kernel without a maximal number of registers keeps those that it has.
    ("setmaxnreg", |_| Other { room: Room::Lines, before: "", then: "{}; copy(from, to);".into(), expected: all }),
    ("clusterlaunchcontrol.try_cancel", launch_control::request),
    ("clusterlaunchcontrol.query_cancel", launch_control::query),
    ("griddepcontrol", |_| Other { room: Room::Lines, before: "", then: "{}; copy(from, to);".into(), expected: all }),
    ("nanosleep", |_| Other {
        room: Room::Lines,
        before: "let nanoseconds = 100;",
        then: "{}; copy(from, to);".into(),
        expected: all,
    }),
    ("activemask", |_| Other {
        room: Room::Global,
        before: "",
        then: "put(to, ({} >> thread & 1) as u64);".into(),
        expected: truth,
    }),
    // Time does not go back.
    ("mov", |_| Other {
        room: Room::Global,
        before: "",
        then: "let before = {}; put(to, ({}.wrapping_sub(before) < 1 << 31) as u64);".into(),
        expected: truth,
    }),
    ("createpolicy", policy::trial),
    ("cp.async", asynchronous::copy),
    ("cp.async.commit_group", asynchronous::group),
    ("cp.async.wait_group", asynchronous::group),
    ("cp.async.wait_all", asynchronous::group),
    ("cp.async.mbarrier.arrive", asynchronous::arrive),
    ("mbarrier", asynchronous::mbarrier),
    ("cp.async.bulk", asynchronous::bulk),
    ("cp.reduce.async.bulk", reduced::trial),
    ("cp.async.bulk.prefetch.tensor", tensor::prefetch),
    ("cp.async.bulk.tensor", tensor_wide::trial),
    ("cp.reduce.async.bulk.tensor", tensor::trial),
    ("tensormap.replace", tensor::replace),
    ("fence", |_| Other { room: Room::Lines, before: "", then: "{}; copy(from, to);".into(), expected: all }),
    ("membar", |_| Other { room: Room::Lines, before: "", then: "{}; copy(from, to);".into(), expected: all }),
    // Of an address in the space, and of one in global memory.
    ("isspacep", |form| Other {
        room: space_of(form),
        before: "",
        then: "put(to, [({}) as u64, { let p = from; {} } as u64]);".into(),
        expected: |form, _, _, to| {
            to[..8].copy_from_slice(&1u64.to_le_bytes());
            to[8..16].copy_from_slice(&u64::from(form.ptx() == "isspacep.global").to_le_bytes());
        },
    }),
    // There and back again.
    ("cvta", |form| {
        let name = form.rust().split(['(', ':']).next().unwrap_or_default();
        let space = name.trim_start_matches("cvta_").trim_start_matches("to_");
        let then = if name.starts_with("cvta_to_") {
            format!("put(to, (cvta_{space}::<u8>({{}}) == p) as u64);")
        } else {
            format!("let address = cvta_to_{space}(p); put(to, ({{}} == p) as u64);")
        };
        Other { room: space_of(form), before: "", then: then.into(), expected: truth }
    }),
    // What lies at `p` in the other block lies at `own` in this one.
    ("mapa", |form| {
        let then = match form.ptx() {
            "mapa.u64" => "let (there, p) = (p, own); put(to, ({} == there) as u64);",
            "mapa.shared::cluster.u32" => {
                "let (there, p) = (p, SharedPtr::new(own)); \
                 put(to, (getctarank_shared_cluster({}) == rank && mapa(own, rank) == there) as u64);"
            }
            _ => "let address = cvta_to_shared_cluster(own); put(to, (cvta_shared_cluster::<u8>({}) == p) as u64);",
        };
        Other { room: Room::Cluster, before: IN_CLUSTER, then: then.into(), expected: truth }
    }),
    ("getctarank", |form| {
        let then = match form.ptx() {
            "getctarank.u64" => "put(to, ({} == rank) as u64);",
            "getctarank.shared::cluster.u32" => "let p = SharedClusterPtr::new(p); put(to, ({} == rank) as u64);",
            _ => "let address = cvta_to_shared_cluster(p); put(to, ({} == rank) as u64);",
        };
        Other { room: Room::Cluster, before: IN_CLUSTER, then: then.into(), expected: truth }
    }),
];

/// The other block's rank, and the place in this block that corresponds to `p` in that one.
const IN_CLUSTER: &str = "let mine = rank(); let rank = 1 - mine; let own = of_rank(p, mine);";

/// The room that a form's word for a space names.
fn space_of(form: &Form) -> Room {
    match form.ptx().trim_end_matches(".u64").rsplit('.').next() {
        Some("shared" | "shared::cta") => Room::Shared,
        Some("shared::cluster") => Room::Cluster,
        Some("const") => Room::Const,
        Some("local") => Room::Local,
        Some("param" | "param::entry") => Room::Entry,
        _ => Room::Global,
    }
}

fn other(form: &Form) -> Result<Other, NoCheck> {
    let row = OTHERS.iter().find(|(name, _)| *name == form.instruction());
    row.map(|(_, other)| other(form)).ok_or_else(|| NoCheck { form: form.ptx().to_owned() })
}

/// Whether a thread's predicate holds in the trial of that number.
fn holds(trial: usize, thread: usize) -> bool {
    (trial + thread).is_multiple_of(2)
}

fn is_guarded(case: &Case) -> bool {
    matches!(case.syntax, Syntax::Guarded | Syntax::MacroGuarded)
}

/// Whether the threads of a warp have to give one address: that of the first one's slot.
pub(super) fn is_uniform(form: &Form) -> bool {
    form.instruction().starts_with("ldu")
}

/// The statements of a trial in its kernel, where `thread` is the thread, and `from`, `other`, `to` and `p` are its slot
/// in what is read, in what a load gives whose predicate does not hold, in the output, and under the form's address.
pub(super) fn body(case: &Case, room: Room, trial: usize) -> String {
    let form = &case.form;
    let expression = case.rust();
    if let Ok(other) = other(form) {
        return format!("{} {}", other.before, other.then.replace("{}", &expression));
    }
    let element = form.element().unwrap_or_default();
    let guard = match (is_guarded(case), trial % 2) {
        (false, _) => "",
        (true, 0) => "let cond = thread % 2 == 0; let p = if cond { p } else { core::ptr::null_mut() };",
        (true, _) => "let cond = thread % 2 == 1; let p = if cond { p } else { core::ptr::null_mut() };",
    };
    let guard = format!(
        "{guard}{}",
        match case.pointer() {
            "SharedPtr<u8>" => " let p = SharedPtr::new(p);",
            "SharedClusterPtr<u8>" => " let p = SharedClusterPtr::new(p);",
            _ => "",
        }
    );
    if form.is_atomic() || form.is_multimem() {
        return atomic::body(form, &expression, &guard, room);
    }
    let first = if is_uniform(form) { format!("let p = p.sub({SLOT} * thread);") } else { String::new() };
    let store_out = matches!(room, Room::Shared | Room::Local);
    match form.operation() {
        Operation::Load if is_guarded(case) => {
            format!("{first} {guard} let or = get::<{element}>(other); put::<{element}>(to, {expression});")
        }
        Operation::Load => format!("{first} {guard} put::<{element}>(to, {expression});"),
        _ if store_out => {
            format!("let p0 = p; {guard} let v = get::<{element}>(from); copy(to, p0); {expression}; copy(p0, to);")
        }
        _ => format!("{guard} let v = get::<{element}>(from); {expression};"),
    }
}

/// What has to be in a thread's slot of the output, which held poison: `from` and `or` are what it reads.
pub(super) fn expected(case: &Case, trial: usize, thread: usize, from: &[u8], or: &[u8], to: &mut [u8]) {
    let form = &case.form;
    if let Ok(other) = other(form) {
        return (other.expected)(form, thread, from, to);
    }
    if form.is_atomic() || form.is_multimem() {
        return of_atomic(case, Sum::OfItsType, trial, thread, [from, or], to);
    }
    let moved = form.bytes();
    match (form.operation(), case.syntax) {
        (Operation::Load, Syntax::Lanes(mask)) => {
            to[..moved].fill(0);
            move_lanes(mask, form, from, to);
        }
        (_, Syntax::Lanes(mask)) => move_lanes(mask, form, from, to),
        (Operation::Load, _) if is_guarded(case) && !holds(trial, thread) => to[..moved].copy_from_slice(&or[..moved]),
        (_, _) if is_guarded(case) && !holds(trial, thread) => {}
        _ => to[..moved].copy_from_slice(&from[..moved]),
    }
}

fn of_atomic(case: &Case, sum: Sum, trial: usize, thread: usize, read: [&[u8]; 2], to: &mut [u8]) {
    atomic::expected(&case.form, sum, !is_guarded(case) || holds(trial, thread), thread, read, to);
}

/// The same where a GPU leaves something else and it is known why: [`known`].
pub(super) fn expected_if_known(case: &Case, trial: usize, thread: usize, from: &[u8], or: &[u8], to: &mut [u8]) {
    of_atomic(case, Sum::OfIntegers, trial, thread, [from, or], to);
}

/// Why a GPU leaves something else, where that is known.
pub(super) fn known(case: &Case) -> Option<&'static str> {
    atomic::known(&case.form)
}

fn move_lanes(mask: u32, form: &Form, from: &[u8], to: &mut [u8]) {
    let lanes = host_tests::check::forms::lanes(form.element().unwrap_or_default()) as usize;
    let bytes = form.bytes() / lanes;
    for lane in (0..lanes).filter(|lane| mask >> lane & 1 == 1) {
        let place = lane * bytes..(lane + 1) * bytes;
        to[place.clone()].copy_from_slice(&from[place]);
    }
}
