//! What a launch overwrites is kept, and put back.

use std::sync::Mutex;

use ptx_interpreter::{Element, Launch, Left, Number, Objects, Outside, Overwritten, Parts, Program, Resource, Shape};

/// Bytes of memory: it begins and ends within a page.
const BYTES: usize = 40_000;
const PAGE: u64 = 4096;

/// Threads read and write a byte every 37, two vectors, an atomic, and what a bulk copy brings.
const TEXT: &str = "
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to) {
    .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .b16 %h; .reg .pred %p;
    .shared .align 16 .b8 from[64];
    ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 32, %r1;
    mul.wide.u32 %d2, %r1, 37; add.u64 %d2, %d1, %d2; ld.global.u8 %h, [%d2+1]; cvt.u16.u32 %h, %r1; st.global.u8 [%d2+1], %h;
    setp.ne.u32 %p, %r1, 0; @%p ret;
    mov.u32 %r3, 7; st.global.v4.u32 [%d1+38400], {%r3, %r3, %r3, %r3}; st.global.u32 [%d1+39996], %r3;
    atom.cta.global.add.u32 %r3, [%d1+38656], 1;
    mov.u32 %r3, from; st.shared.v2.u32 [%r3], {%r1, %r1}; st.shared.v2.u32 [%r3+8], {%r1, %r1}; fence.proxy.async;
    add.u64 %d3, %d1, 38912;
    cp.async.bulk.global.shared::cta.bulk_group [%d3], [%r3], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    ret;
}";

/// Where the writes of `blocks` blocks are, and how many bytes each has.
fn written(blocks: usize) -> Vec<(usize, usize)> {
    let bytes = (0..blocks * 32).map(|thread| (thread * 37 + 1, 1));
    bytes.chain([(38400, 16), (39996, 4), (38656, 4), (38912, 16)]).collect()
}

fn check(to: &mut [u8], blocks: u32, parts: Parts, overwritten: &Mutex<Overwritten>) -> usize {
    let program = Program::parse(TEXT);
    let range = to.as_mut_ptr_range();
    let (begin, end) = (range.start.expose_provenance() as u64, range.end as u64);
    let holds = |address: u64, bytes: usize| begin <= address && address + bytes as u64 <= end;
    let arguments = [std::ptr::from_ref(&begin).cast()];
    let launch =
        Launch { blocks: [blocks, 1, 1], parts, overwritten: Some(overwritten), ..Launch::new("k", &arguments) };
    // SAFETY: the argument is an address, and the memory is this launch's own.
    let report = unsafe { program.check(&Outside { holds: &holds, variable: &|_| None }, &launch, Vec::new()) };
    assert!(report.is_clean(), "{report}");
    report.parts
}

/// Memory that begins 16 bytes before the end of a page.
fn memory() -> &'static mut [u8] {
    let room = Vec::leak(vec![0xaa; BYTES + 2 * PAGE as usize]);
    let begin = room.as_ptr().align_offset(PAGE as usize) + PAGE as usize - 16;
    &mut room[begin..begin + BYTES]
}

#[test]
fn a_launch_is_taken_back() {
    for (blocks, parts, are_many) in
        [(1, Parts::None, false), (32, Parts::None, false), (32, Parts::OfOneCluster, true)]
    {
        let (to, overwritten) = (memory(), Mutex::default());
        to.iter_mut().zip(0..).for_each(|(byte, at)| *byte = (at % 251) as u8);
        let before = to.to_vec();
        assert_eq!(check(to, blocks, parts, &overwritten) > 0, are_many);
        let (after, begin, kept) = (to.to_vec(), to.as_ptr() as u64, overwritten.into_inner().expect("no panic"));
        let writes = written(blocks as usize);
        let pages: Vec<u64> = writes.iter().map(|(at, _)| (begin + *at as u64) / PAGE).collect();
        // SAFETY: the memory is there, and nobody writes it.
        let left = unsafe { kept.left() };
        let mut changed = 0;
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            let address = begin + at as u64;
            assert_eq!(left.at(address), (before != after).then_some(*after), "byte {at}");
            let is_written = writes.iter().any(|(begin, bytes)| (*begin..begin + bytes).contains(&at));
            assert!(is_written || before == after, "byte {at}");
            assert!(!is_written || kept.before(address) == Some(*before), "byte {at}");
            assert!(pages.contains(&(address / PAGE)) || kept.before(address).is_none(), "byte {at}");
            changed += usize::from(before != after);
        }
        assert!(changed > 30 * blocks as usize, "{changed}");
        // SAFETY: as above.
        unsafe { kept.put_back() };
        assert!(to == before, "{blocks} blocks");
        // SAFETY: as above.
        unsafe { left.put() };
        assert!(to == after, "{blocks} blocks");
    }
}

#[test]
fn launches_that_leave_the_same_are_alike() {
    let to = memory();
    let begin = to.as_ptr() as u64;
    let mut left = |blocks: u32| -> Left {
        let overwritten = Mutex::default();
        check(to, blocks, Parts::None, &overwritten);
        let kept = overwritten.into_inner().expect("no panic");
        // SAFETY: the memory is there, and nobody writes it.
        let left = unsafe { kept.left() };
        // SAFETY: as above.
        unsafe { kept.put_back() };
        left
    };
    let all = [left(1), left(1), left(2)];
    assert!(all[0] == all[1] && all[0] != all[2]);
    let first = |one: &Left, other: &Left| one.words_other_than(other).next();
    assert_eq!(first(&all[0], &all[1]), None);
    for (one, other) in [(0, 2), (2, 0)] {
        assert_eq!(first(&all[one], &all[other]), Some(begin + 32 * 37));
    }
}

/// An array is memory that no pointer reaches.
#[test]
fn what_is_stored_to_a_surface_is_taken_back() {
    const STORE: &str = "
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 surface) {
    .reg .b64 %d; .reg .b32 %r<3>;
    ld.param.u64 %d, [surface]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; sust.b.1d.b32.trap [%d, {%r2}], {%r1};
    ret;
}";
    let array = Vec::leak(vec![5u32; 64]);
    let (handle, begin) = (9u64, array.as_mut_ptr().expose_provenance() as u64);
    let element = Element { number: Number::Unsigned, bytes: 4, channels: 1 };
    let surface = Resource { begin, shape: Shape::One, size: [64, 1, 1], row: 256, plane: 256, element };
    let objects = Objects { surfaces: [(handle, surface)].into(), ..Objects::default() };
    let (program, overwritten, arguments) =
        (Program::parse(STORE), Mutex::default(), [std::ptr::from_ref(&handle).cast()]);
    let launch = Launch { objects: Some(&objects), overwritten: Some(&overwritten), ..Launch::new("k", &arguments) };
    // SAFETY: the argument is a handle, and the array is this launch's own.
    let report = unsafe { program.check(&Outside { holds: &|_, _| false, variable: &|_| None }, &launch, Vec::new()) };
    assert!(report.is_clean(), "{report}");
    let (stored, others) = array.split_at(32);
    assert_eq!((stored, others), (&(0..32).collect::<Vec<_>>()[..], &[5; 32][..]));
    // SAFETY: the array is still there.
    unsafe { overwritten.into_inner().expect("no panic").put_back() };
    assert_eq!(array, [5; 64]);
}
