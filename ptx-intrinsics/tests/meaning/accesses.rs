//! Every load and store of the catalogue, by what its words mean, and every method, on all bits: a NaN keeps its own.

use ptx_intrinsics::catalogue::{self, Form, Operation};
use ptx_intrinsics::prelude::*;
use ptx_intrinsics::ptx::Meaning;

use crate::{FORMS, Memory, kind};

/// What an order is on a CPU, told from the words alone.
fn meaning_of(ptx: &str) -> Meaning {
    let says = |word: &str| ptx.split('.').any(|found| found == word);
    match () {
        () if says("mmio") => Meaning::Volatile,
        () if says("acquire") => Meaning::Acquire,
        () if says("release") => Meaning::Release,
        () if says("relaxed") || says("volatile") => Meaning::Relaxed,
        () => Meaning::Plain,
    }
}

/// A value of up to 32 bytes, and as much on both sides of it.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Line([u8; 96]);

/// What NaNs are of: `f64`, `f32`, floats of 16 bits.
const KINDS: [usize; 3] = [0, 1, 2];

/// Bytes that are signalling NaNs of one kind, no two numbers the same.
fn nans(kind: usize) -> Line {
    let mut memory = Line([0; 96]);
    for (at, word) in memory.0.chunks_mut(8).enumerate() {
        let at = at as u8;
        let long = [at | 1, 2, 3, 0x80 | at, 0x7f, at, 0xf1, 0x7f];
        let short = [at | 1, 2, 0x91, 0x7f, at | 1, 4, 0xa3, 0xff];
        let half = [at | 1, 0x7c, at | 1, 0xfd, at | 2, 0x7d, at | 4, 0xfc];
        word.copy_from_slice(&[long, short, half][kind]);
    }
    memory
}

fn bytes_of<T>(value: &T) -> &[u8] {
    // SAFETY: no element type has padding.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

/// Loads or stores one value in one way, of each kind of NaNs, and looks at the bytes around it.
fn moves<T: Element>(is_load: bool, how: &dyn Fn(*mut T, *mut T)) {
    KINDS.into_iter().for_each(|at| moves_at(at, is_load, how));
}

fn moves_at<T: Element>(at: usize, is_load: bool, how: &dyn Fn(*mut T, *mut T)) {
    let memory = nans(at);
    let (mut from, mut to) = (memory, Line([0x5a; 96]));
    how((&raw mut from.0).wrapping_byte_add(32).cast(), (&raw mut to.0).wrapping_byte_add(32).cast());
    let behind = 32 + size_of::<T>();
    let what = if is_load { "a load" } else { "a store" };
    assert_eq!(to.0[32..behind], memory.0[32..behind], "{what} of {}", std::any::type_name::<T>());
    assert_eq!(from.0, memory.0);
    assert!(to.0[..32].iter().chain(&to.0[behind..]).all(|&byte| byte == 0x5a), "{what} keeps the bytes beside");
}

/// Tries the words of one form on a type.
fn tries<T: Element>(number: usize, form: &Form) {
    let meaning = ptx::meaning(String::leak(form.ptx().to_owned()));
    assert_eq!(meaning, meaning_of(form.ptx()), "{}", form.ptx());
    // SAFETY: both places are the memory of `moves`.
    moves_at::<T>(number % 3, form.operation() == Operation::Load, &|from, to| unsafe {
        match form.operation() {
            Operation::Load => to.write(ptx::load(meaning, from)),
            _ => ptx::store(meaning, to, from.read()),
        }
    });
}

macro_rules! by_name {
    ($($t:ty)*) => {
        /// Every type that PTX moves, by its name.
        const TYPES: &[(&str, fn(usize, &Form))] = &[$((stringify!($t), tries::<$t>)),*];
    };
}
by_name! {
    u8 i8 B8 u16 i16 B16 u32 i32 f32 B32 u64 i64 f64 B64 B128
    V2<u8> V2<i8> V2<B8> V2<u16> V2<i16> V2<B16> V2<u32> V2<i32> V2<f32> V2<B32> V2<u64> V2<i64> V2<f64> V2<B64>
    V4<u8> V4<i8> V4<B8> V4<u16> V4<i16> V4<B16> V4<u32> V4<i32> V4<f32> V4<B32> V4<u64> V4<i64> V4<f64> V4<B64>
    V8<u32> V8<i32> V8<f32> V8<B32>
}

#[test]
#[cfg_attr(miri, ignore = "it walks the whole catalogue, which takes an hour there")]
fn every_load_and_store_moves_all_bits_in_its_order() {
    let (mut forms, mut of_type) = (0, vec![0; TYPES.len()]);
    for form in catalogue::forms().filter(|form| kind(form) == 0) {
        let name = form.element().expect("a load or store moves something");
        let ty = TYPES.iter().position(|(ty, _)| *ty == name).unwrap_or_else(|| panic!("{name} is not tried"));
        TYPES[ty].1(forms / 7, &form);
        of_type[ty] += 1;
        forms += 1;
    }
    println!("{forms} forms of {} types", of_type.iter().filter(|&&forms| forms > 0).count());
    assert_eq!(forms, FORMS[0]);
    assert!(of_type.iter().all(|&forms| forms > 100));
}

const POLICY: CachePolicy = CachePolicy::EVICT_LAST;

/// Each method, on one type: out of `from` into `to`.
macro_rules! methods {
    ($tried:ident: $($t:ty)*) => { $({
        let or = <$t>::default();
        let nowhere = std::ptr::null_mut::<$t>();
        macro_rules! load {
            ($p:ident => $read:expr) => {
                // SAFETY: both places are the memory of `moves`.
                moves::<$t>(true, &|$p, to| unsafe { to.write($read) });
                $tried += 1;
            };
        }
        macro_rules! store {
            ($p:ident $v:ident => $write:expr) => {
                // SAFETY: both places are the memory of `moves`.
                moves::<$t>(false, &|from, $p| unsafe {
                    let $v = from.read();
                    $write
                });
                $tried += 1;
            };
        }
        load! { p => ld_global_nc::<NoAllocate, Prefetch64>().read(p) }
        load! { p => ld_global_nc::<EvictLast, NoPrefetch>().read_with(p, POLICY) }
        load! { p => ld_global_nc::<NoHint, NoPrefetch>().read_if(true, p, or) }
        load! { p => ld_global_nc::<NoHint, NoPrefetch>().read_if(false, nowhere, *p) }
        #[cfg(feature = "l2-combinations")]
        load! { p => ld_global_nc::<NoHint, NoPrefetch>().read_if_with(true, p, or, POLICY) }
        #[cfg(feature = "l2-combinations")]
        load! { p => ld_global_nc::<NoHint, NoPrefetch>().read_if_with(false, nowhere, *p, POLICY) }
        load! { p => ld_global::<Lu, Prefetch128>().read(p) }
        load! { p => ld_global::<NoHint, NoPrefetch>().read_with(p, POLICY) }
        load! { p => ld_global::<NoHint, NoPrefetch>().read_if(true, p, or) }
        load! { p => ld_global::<NoHint, NoPrefetch>().read_if(false, nowhere, *p) }
        #[cfg(feature = "l2-combinations")]
        load! { p => ld_global::<NoHint, NoPrefetch>().read_if_with(true, p, or, POLICY) }
        #[cfg(feature = "l2-combinations")]
        load! { p => ld_global::<NoHint, NoPrefetch>().read_if_with(false, nowhere, *p, POLICY) }
        load! { p => ld().read_if(true, p, or) }
        load! { p => ld().read_if(false, nowhere, *p) }
        load! { p => ld_global::<NoHint, NoPrefetch>().volatile().read(p) }
        load! { p => ld_global::<NoHint, NoPrefetch>().relaxed::<Gpu>().read(p) }
        load! { p => ld().volatile().read(p) }
        load! { p => ld().relaxed::<Cluster>().read(p) }
        store! { p v => st_global::<Wb>().write(p, v) }
        store! { p v => st_global::<EvictFirst>().write_with(p, v, POLICY) }
        store! { p v => st_global::<NoHint>().write_if(true, p, v) }
        store! { p v => { st_global::<NoHint>().write_if(false, nowhere, v); *p = v } }
        #[cfg(feature = "l2-combinations")]
        store! { p v => st_global::<NoHint>().write_if_with(true, p, v, POLICY) }
        #[cfg(feature = "l2-combinations")]
        store! { p v => { st_global::<NoHint>().write_if_with(false, nowhere, v, POLICY); *p = v } }
        store! { p v => st().write_if(true, p, v) }
        store! { p v => { st().write_if(false, nowhere, v); *p = v } }
        store! { p v => st_global::<NoHint>().volatile().write(p, v) }
        store! { p v => st_global::<NoHint>().relaxed::<Gpu>().write(p, v) }
        store! { p v => st().volatile().write(p, v) }
        store! { p v => st().relaxed::<Sys>().write(p, v) }
    })* };
}

#[test]
fn every_method_moves_all_bits() {
    let mut tried = 0;
    methods! { tried: f32 f64 B16 B8 B128 V2<f32> V4<f32> V2<f64> V4<u8> V4<B16> V8<f32> V4<f64> }
    let of_each = if cfg!(feature = "l2-combinations") { 30 } else { 24 };
    assert_eq!(tried, 12 * of_each);
}

/// The methods of the types that an order, or a space beside global memory, can move.
macro_rules! ordered_methods {
    ($tried:ident: $($t:ty)*) => { $({
        let or = <$t>::default();
        let nowhere = SharedPtr::new(std::ptr::null_mut::<$t>());
        macro_rules! moved {
            ($from:ident $to:ident => $moved:expr) => {
                // SAFETY: both places are the memory of `moves`.
                moves::<$t>(true, &|$from, $to| unsafe { $moved });
                $tried += 1;
            };
        }
        moved! { from to => st().release::<Cta>().write(to, ld().acquire::<Cta>().read(from)) }
        moved! { from to => st_shared().release::<Gpu>().write(to, ld_shared().acquire::<Sys>().read(from)) }
        moved! { from to => st_shared_cluster().write(to, ld_shared_cluster().read(from)) }
        moved! { from to => st_shared_cluster().relaxed::<Cta>().write(to, ld_shared_cluster().relaxed::<Cta>().read(from)) }
        moved! { from to => st_local().write(to, ld_local().read(from)) }
        moved! { from to => st_shared().write(to, ld_const().read(from)) }
        moved! { from to => st_shared().volatile().write(to, ld_shared().volatile().read(from)) }
        moved! { from to => st_shared().write(to, ld_param_entry().read(from)) }
        moved! { from to => st_shared().write(to, ld_param_func().read(from)) }
        moved! { from to => st_shared().write_if(true, to, ld_shared().read_if(true, from, or)) }
        moved! { from to => st_shared_cluster().write_if(true, to, ld_shared_cluster().read_if(true, from, or)) }
        moved! { from to => st_local().write_if(true, to, ld_local().read_if(true, from, or)) }
        moved! { from to => SharedPtr::new(to).write(SharedPtr::new(from).read()) }
        moved! { from to => SharedPtr::new(to).write_if(true, SharedPtr::new(from).read_if(true, or)) }
        moved! { from to => {
            nowhere.write_if(false, or);
            SharedPtr::new(to).write(nowhere.read_if(false, *from))
        } }
    })* };
}

#[test]
fn every_space_and_order_moves_all_bits() {
    let mut tried = 0;
    ordered_methods! { tried: f32 f64 B16 u8 V2<f32> V4<f32> V2<f64> V4<u8> V4<B16> V2<u8> B128 u128 }
    assert_eq!(tried, 12 * 15);
    // Scalars and 128 bits alone.
    macro_rules! mmio {
        ($($t:ty)*) => { $(
            // SAFETY: both places are the memory of `moves`.
            moves::<$t>(true, &|from, to| unsafe {
                st_global::<NoHint>().mmio().write(to, ld_global::<NoHint, NoPrefetch>().mmio().read(from));
                st().mmio().write(to, ld().mmio().read(from));
            });
        )* };
    }
    mmio! { u8 i16 f32 f64 B64 B128 }
}

/// Every choice of lanes of every vector of 256 bits: the others come out as zero, and are left as they are in memory.
macro_rules! lanes {
    ($tried:ident: $($vector:ident<$t:ty>, $lanes:literal;)*) => { $(
        for mask in (0..1u32 << $lanes).step_by(if cfg!(miri) { 29 } else { 1 }) {
            let named: Vec<bool> = (0..$lanes).map(|lane| mask >> lane & 1 == 1).collect();
            for meaning in [Meaning::Plain, Meaning::Relaxed] {
                let mut memory = nans(1);
                let from = (&raw mut memory.0).cast_const().wrapping_byte_add(32).cast::<$vector<$t>>();
                let mut to = Line([0x5a; 96]);
                // SAFETY: both places lie in the memory of this function.
                let loaded = unsafe {
                    let values: [Lane<$vector<$t>>; $lanes] = from.cast::<[Lane<$vector<$t>>; $lanes]>().read();
                    let some: Vec<_> = (0..$lanes).map(|lane| named[lane].then_some(values[lane])).collect();
                    ptx::store_lanes(meaning, (&raw mut to.0).wrapping_byte_add(32).cast::<$vector<$t>>(), &some);
                    ptx::load_lanes(meaning, from, &named)
                };
                for lane in 0..$lanes {
                    let bytes = lane * size_of::<$t>()..(lane + 1) * size_of::<$t>();
                    let here = memory.0[32 + bytes.start..32 + bytes.end].to_vec();
                    let kept = |instead: u8| if named[lane] { here.clone() } else { vec![instead; here.len()] };
                    assert_eq!(bytes_of(&loaded)[bytes.clone()], kept(0), "lane {lane} of {mask:#b}");
                    assert_eq!(to.0[32 + bytes.start..32 + bytes.end], kept(0x5a), "lane {lane} of {mask:#b}");
                }
                assert!(to.0[..32].iter().chain(&to.0[64..]).all(|&byte| byte == 0x5a));
                $tried += 1;
            }
        }
    )* };
}

#[test]
fn every_choice_of_lanes() {
    use ptx_intrinsics::ptx::Lane;
    let mut tried = 0;
    lanes! { tried:
        V8<f32>, 8; V8<u32>, 8; V8<i32>, 8; V8<B32>, 8; V4<f64>, 4; V4<u64>, 4; V4<i64>, 4; V4<B64>, 4;
    }
    assert_eq!(tried, if cfg!(miri) { 2 * (4 * 9 + 4) } else { 2 * 4 * (256 + 16) });
}

/// `ptx!` under a predicate: both ways, with a policy and without, of each kind.
#[test]
fn a_predicate_is_asked() {
    let (mut word, nowhere) = (7u32, std::ptr::null_mut::<u32>());
    let p = &raw mut word;
    let mut asked = 0;
    for cond in [true, false] {
        // Where it is false, the address must not be touched.
        let p = if cond { p } else { nowhere };
        let shared = SharedPtr::new(p);
        // SAFETY: `p` is the word where it is accessed, and nobody else is there.
        unsafe {
            macro_rules! is {
                ($expression:expr, $then:expr, $else:expr) => {
                    assert_eq!($expression, if cond { $then } else { $else }, "{}", stringify!($expression));
                    asked += 1;
                };
            }
            is!(ptx!(@cond ld.global.u32 [p], else 9), 7, 9);
            is!(ptx!(@(cond) ld.global.L2::cache_hint.u32 [p], POLICY, else 9), 7, 9);
            is!(ptx!(@cond ld.global.u32 [p].unified, else 9), 7, 9);
            is!(ptx!(@cond ld.shared.u32 [shared], else 9), 7, 9);
            is!(ptx!(@cond ldu.global.u32 [p], else 9), 7, 9);
            is!(
                {
                    ptx!(@cond st.global.u32 [p], 8);
                    word
                },
                8,
                7
            );
            is!(
                {
                    ptx!(@cond st.release.sys.global.L2::cache_hint.u32 [p], 9, POLICY);
                    word
                },
                9,
                7
            );
            is!(
                {
                    ptx!(@cond st.shared.u32 [shared], 10);
                    word
                },
                10,
                7
            );
            is!((ptx!(@cond atom.add.u32 [p], 5, else 3), word), (10, 15), (3, 7));
            is!((ptx!(@cond atom.global.max.L2::cache_hint.u32 [p], 16, POLICY, else 3), word), (15, 16), (3, 7));
            is!((ptx!(@cond atom.cas.b32 [p], 16, 17, else 3), word), (16, 17), (3, 7));
            is!(
                {
                    ptx!(@cond red.add.u32 [p], 1);
                    word
                },
                18,
                7
            );
            is!(
                {
                    ptx!(@cond red.shared.add.u32 [shared], 1);
                    word
                },
                19,
                7
            );
            if cond {
                word = 7;
            }
        }
    }
    assert_eq!(asked, 2 * 13);
}

/// Offsets in both directions, of types of every size.
#[test]
fn a_shared_pointer_goes_both_ways() {
    macro_rules! offsets {
        ($($t:ty)*) => { $({
            let mut memory = Memory::numbered();
            let kept = memory.clone();
            let first = SharedPtr::new((&raw mut memory.0).cast::<$t>());
            let (size, count) = (size_of::<$t>(), (2048 / size_of::<$t>()) as u32);
            for at in (0..count).step_by(if cfg!(miri) { 37 } else { 1 }) {
                let here = at as usize * size..(at as usize + 1) * size;
                let by = count - at;
                // SAFETY: the places lie in the memory.
                let found = unsafe {
                    [first.add(at), first.add(count).sub(by), first.sub(by).add(count), first.add(at).add(by).sub(by)]
                        .map(|place| place.read())
                };
                assert!(found.iter().all(|found| bytes_of(found) == &kept.0[here.clone()]), "{at} {}", stringify!($t));
                assert_eq!(format!("{:?}", first.add(at).sub(at)), format!("{first:?}"));
            }
        })* };
    }
    offsets! { u8 B16 f32 u64 B128 V2<u8> V4<f32> }
}
