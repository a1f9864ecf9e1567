//! How an atomic or a `multimem` is tried: a thread has the value in memory to itself, and operation and operands have a known outcome.

use ptx_intrinsics::catalogue::Form;
use ptx_intrinsics::grammar::atomic::judge_atomic;
use ptx_intrinsics::grammar::multimem::judge_multimem;
use ptx_intrinsics::ptx::{change, multimem};

use super::room::Room;

/// Where its value lies. (Memory of the host has no atomics that every bus passes on.)
pub(super) fn room(form: &Form) -> Room {
    match form.space() {
        _ if form.is_multimem() => Room::Multimem,
        Some("shared") => Room::Shared,
        Some("shared::cluster") => Room::Cluster,
        _ => Room::Global,
    }
}

/// What makes bits a float that is added, compared and rounded alike everywhere: which of them stay, and which are set.
pub(super) fn tame(form: &Form) -> (u64, u64) {
    match form.ptx().rsplit('.').next() {
        Some("f16" | "f16x2") => (0x83ff_83ff_83ff_83ff, 0x3800_3800_3800_3800),
        Some("bf16" | "bf16x2") => (0x807f_807f_807f_807f, 0x3f00_3f00_3f00_3f00),
        Some("f32") => (0x807f_ffff_807f_ffff, 0x3f00_0000_3f00_0000),
        Some("f64") => (0x800f_ffff_ffff_ffff, 0x3fe0_0000_0000_0000),
        _ => (u64::MAX, 0),
    }
}

/// The statements of a trial: what stood in memory, where the form gives it, in the first half of the slot, and what
/// is then in the other half.
pub(super) fn body(form: &Form, expression: &str, guard: &str, room: Room) -> String {
    let (kept, set) = tame(form);
    let tamed = |bits: &str| format!("tame({bits}, {kept:#x}, {set:#x})");
    let signature = form.signature();
    let value = signature.and_then(|signature| signature.parameters.rsplit_once("v: ")).map(|(_, of)| of);
    let of_type = value.or(signature.and_then(|signature| signature.result)).unwrap_or("u8");
    // Global memory that may be written is the output's.
    let place = match room {
        Room::Global | Room::Multimem => "let p = to.add(16); put::<Bits>(p, get(from));",
        _ => "",
    };
    // The address is chosen and not the value, so that no thread leaves the others.
    let compare = match form.instruction() {
        "atom.cas" => {
            format!("let compare = get::<{of_type}>(if thread % 2 == 0 {{ p.cast_const() }} else {{ other.add(16) }});")
        }
        _ => String::new(),
    };
    let put = if form.signature().is_some_and(|signature| signature.result.is_some()) {
        format!("put::<{of_type}>(to, {expression});")
    } else {
        format!("{expression};")
    };
    format!(
        "{place} put::<Bits>(p, {}); let memory = p; \
         let v = of::<{of_type}>({}); let or = of::<{of_type}>(get(other.add(16))); \
         {compare} {guard} {put} put::<Bits>(to.add(16), get(memory));",
        tamed("get(p)"),
        tamed("get(other)"),
    )
}

/// Sixteen bytes, aligned for every type.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Bits([u8; 16]);

impl Bits {
    fn of(bytes: &[u8]) -> Bits {
        let mut bits = Bits([0; 16]);
        bits.0.copy_from_slice(&bytes[..16]);
        bits
    }

    /// As integers of 32 bits.
    fn add(&mut self, other: Bits) {
        let [own, other] = [&self.0, &other.0].map(|bits| u32::from_le_bytes([bits[0], bits[1], bits[2], bits[3]]));
        self.0[..4].copy_from_slice(&own.wrapping_add(other).to_le_bytes());
    }

    fn tamed(mut self, (kept, set): (u64, u64)) -> Bits {
        for part in self.0.chunks_exact_mut(8) {
            let bits = u64::from_le_bytes(part.try_into().expect("eight bytes"));
            part.copy_from_slice(&(bits & kept | set).to_le_bytes());
        }
        self
    }
}

/// Why a GPU leaves something else, where that is known: [`Sum::OfIntegers`].
pub(super) fn known(form: &Form) -> Option<&'static str> {
    let is_packed = form.is_atomic() && form.ptx().contains(".add.") && form.ptx().ends_with("f16x2");
    let why = "in another block's shared memory an H100 adds integers of 32 bits, and not two floats";
    (is_packed && room(form) == Room::Cluster).then_some(why)
}

/// How values are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    /// As the form says.
    OfItsType,
    /// As an H100 does it instead.
    OfIntegers,
}

/// What has to be in a thread's slot: `from` is what stood in memory, `other` the operands.
pub(super) fn expected(form: &Form, sum: Sum, holds: bool, thread: usize, [from, other]: [&[u8]; 2], to: &mut [u8]) {
    let tame = tame(form);
    let (mut memory, operand, or) = (Bits::of(from).tamed(tame), Bits::of(other).tamed(tame), Bits::of(&other[16..]));
    let compare = if thread.is_multiple_of(2) { memory } else { or };
    let mut old = or;
    if holds {
        old = memory;
        match sum {
            Sum::OfItsType => done(form, &mut memory, operand, compare),
            Sum::OfIntegers => memory.add(operand),
        }
    }
    if form.signature().is_some_and(|signature| signature.result.is_some()) {
        let bytes = bytes_of(form);
        to[..bytes].copy_from_slice(&old.0[..bytes]);
    }
    to[16..32].copy_from_slice(&memory.0);
}

fn bytes_of(form: &Form) -> usize {
    host_tests::check::sass::Shape::of(form.ptx()).total() / 8
}

/// What becomes of the memory.
fn done(form: &Form, memory: &mut Bits, operand: Bits, compare: Bits) {
    let bytes = bytes_of(form);
    macro_rules! changed {
        ($($bytes:literal $t:ident)*) => {
            match bytes {
                $($bytes => {
                    let [v, compare] = [operand, compare].map(|bits| {
                        let mut value = [0; $bytes];
                        value.copy_from_slice(&bits.0[..$bytes]);
                        $t::from_le_bytes(value)
                    });
                    let p = (&raw mut *memory).cast::<$t>();
                    // SAFETY: it is aligned for every type, and this thread's own.
                    unsafe {
                        if form.is_multimem() {
                            let (words, _) = judge_multimem(form.ptx()).expect("the catalogue's forms are legal");
                            multimem::changed(words, p, v);
                        } else {
                            let judged = judge_atomic(form.ptx(), form.takes_policy());
                            let (words, _) = judged.expect("the catalogue's forms are legal");
                            change(words, p, v, Some(compare));
                        }
                    }
                })*
                bytes => unreachable!("an atomic of {bytes} bytes"),
            }
        };
    }
    match form.instruction() {
        "multimem.ld_reduce" => {}
        "multimem.st" => memory.0[..bytes].copy_from_slice(&operand.0[..bytes]),
        _ => changed! { 2 u16 4 u32 8 u64 16 u128 },
    }
}
