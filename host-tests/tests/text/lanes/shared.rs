//! Where a `SharedPtr` is after it went forward and backward.

use ptx_interpreter::Program;

use crate::lanes::ptx_of;
use crate::lanes::values::{BYTEWISE, Memory, kernel_of, same};

/// Types of each size, and their bytes.
const TYPES: [(&str, usize); 8] =
    [("u8", 1), ("i16", 2), ("f32", 4), ("V4<u8>", 4), ("u64", 8), ("V4<u32>", 16), ("V2<f64>", 16), ("B128", 16)];

/// How to go to a place, and how many elements further it is; `n` and `m` are 3 and 1, and the compiler does not know it.
const WAYS: [(&str, isize); 11] = [
    ("q", 0),
    ("q.add(1)", 1),
    ("q.sub(1)", -1),
    ("q.add(n)", 3),
    ("q.sub(n)", -3),
    ("q.add(n).sub(m)", 2),
    ("q.sub(n).add(m)", -2),
    ("q.sub(m).sub(2)", -3),
    ("q.add(0u32.wrapping_sub(m))", -1),
    ("SharedPtr::new(cvta_shared::<u8>(320)).cast().sub(m)", -1),
    ("SharedPtr::from_address(core::mem::transmute(SharedClusterPtr::new(cvta_shared::<u8>(320))))", 0),
];

/// The middle of what is in shared memory.
const MIDDLE: usize = 64;

#[test]
fn a_shared_ptr_goes_forward_and_backward() {
    let mut functions = BYTEWISE.to_owned();
    let mut kernels = Vec::new();
    for (ty, bytes) in TYPES {
        for (way, elements) in WAYS {
            let (load, store) = (format!("load_{}", kernels.len()), format!("store_{}", kernels.len()));
            let before = format!(
                "let (n, m) = (*out.cast::<u32>(), *out.cast::<u32>().add(1)); \
                 let room = cvta_shared::<u8>(256); let q = SharedPtr::<{ty}>::from_address(320);"
            );
            let at = format!("let at: SharedPtr<{ty}> = {way};");
            functions += &kernel_of(
                &load,
                &format!(
                    "{before} bytes(from, room); {at} *to.cast::<{ty}>() = at.read(); *out.cast::<{ty}>() = at.read_if(cond, *from.cast::<{ty}>());"
                ),
            );
            functions += &kernel_of(
                &store,
                &format!(
                    "{before} bytes(to, room); {at} at.write(*from.cast::<{ty}>()); bytes(room, to); at.write_if(cond, *out.cast::<{ty}>()); bytes(room, out);"
                ),
            );
            kernels.push((load, store, bytes, elements, format!("{way} of {ty}")));
        }
    }
    let program = Program::parse(&ptx_of("shared", &functions));
    assert!(program.gaps().is_empty(), "the interpreter does not know {:?}", program.gaps());
    let mut memory = Memory::new();
    memory.out[..8].copy_from_slice(&[3, 0, 0, 0, 1, 0, 0, 0]);
    for (load, store, bytes, elements, what) in &kernels {
        let place = MIDDLE.checked_add_signed(elements * *bytes as isize).expect("it is within the memory");
        let (first, place) = (0..*bytes, place..place + bytes);
        for cond in [true, false] {
            let mut loaded = memory.clone();
            loaded.to[first.clone()].copy_from_slice(&memory.from[place.clone()]);
            let guarded = if cond { place.clone() } else { first.clone() };
            loaded.out[first.clone()].copy_from_slice(&memory.from[guarded]);
            let mut stored = memory.clone();
            stored.to[place.clone()].copy_from_slice(&memory.from[first.clone()]);
            stored.out = stored.to;
            if cond {
                stored.out[place.clone()].copy_from_slice(&memory.out[first.clone()]);
            }
            for (kernel, expected) in [(load, loaded), (store, stored)] {
                let after = memory.after(&program, kernel, cond);
                let checked = after.and_then(|after| {
                    same("the memory", &expected.to, &after.to)?;
                    same("the memory under a predicate", &expected.out, &after.out)
                });
                checked.unwrap_or_else(|error| panic!("{kernel} at {what}, {cond}: {error}"));
            }
        }
    }
    assert_eq!(kernels.len(), TYPES.len() * WAYS.len());
}
