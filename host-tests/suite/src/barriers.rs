//! The barriers of a block, here of one warp, and of a cluster.

use ptx_intrinsics::catalogue::Form;

use super::other::{Other, all, truth};
use super::room::Room;

/// What a thread leaves, from what was there.
type Expected = fn(&Form, usize, &[u8], &mut [u8]);

/// Each thread reads what the next one wrote. A `.red` counts 11 threads of 32. Who only arrives is seen to go on.
pub(super) fn of_block(form: &Form) -> Other {
    let says = |word| form.ptx().contains(word);
    let (room, then, expected): (_, _, Expected) = match () {
        _ if says(".arrive") => (Room::Lines, "{}; {}; copy(from, to);".to_owned(), all),
        _ if says(".sync") => (
            Room::Shared,
            "let other = (thread + 1) % 32; put(p, thread as u64); {}; \
             put(to, (get::<u64>(p.sub(32 * thread).add(32 * other)) == other as u64) as u64);"
                .to_owned(),
            truth,
        ),
        _ => {
            let [some, each] = match () {
                _ if says(".popc") => ["11", "32"],
                _ if says(".and") => ["false", "true"],
                _ => ["true", "true"],
            };
            let then = format!(
                "let some = {{ let holds = thread % 3 == 0; {{}} }}; let each = {{ let holds = thread < 32; {{}} }}; \
                 let none = {{ let holds = thread > 31; {{}} }}; \
                 put(to, (some == {some} && each == {each} && none == Default::default()) as u64);"
            );
            (Room::Global, then, truth)
        }
    };
    Other { room, before: "let barrier = 3; let threads = 32;", then: then.into(), expected }
}

/// Each block writes into the other one's memory, and reads what that one wrote into its own.
pub(super) fn of_cluster(form: &Form) -> Other {
    let (before, after) = match form.ptx() {
        ptx if ptx.contains(".wait") => ("barrier_cluster_arrive();", ""),
        ptx if ptx.contains(".relaxed") => ("fence_acq_rel::<Cluster>();", "barrier_cluster_wait();"),
        _ => ("", "barrier_cluster_wait();"),
    };
    let then = format!(
        "let home = if mine == 1 {{ own.add(1024) }} else {{ own.sub(1024) }}; put(p, 7 + thread as u64); {before} {{}}; {after} \
         put(to, (get::<u64>(home) == 7 + thread as u64) as u64);"
    );
    Other {
        room: Room::Cluster,
        before: "let mine = rank(); let own = of_rank(p, mine);",
        then: then.into(),
        expected: truth,
    }
}
