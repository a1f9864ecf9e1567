//! Loads, stores and atomics of each shape: what they move, run on an interpreter of their PTX.

use std::collections::BTreeSet;
use std::fmt::Write;

use host_tests::check::forms::{self, Case, Syntax};
use host_tests::check::forms_check;
use ptx_interpreter::{Launch, Outside, Program};
use ptx_intrinsics::catalogue::Operation;
use rand::seq::IndexedRandom;

use crate::lanes::{first, ptx_of};

/// What a kernel has of each: where it reads, where it writes, and where an atomic's result goes.
const BYTES: usize = 128;
/// Where a value is that a predicate leaves, and what is compared.
const OTHER: usize = 64;
/// Choices of lanes that are drawn, beside those of one lane.
const LANES: usize = 40;
/// Shapes, at least.
const SHAPES: usize = 2_000;

/// The cases to run: one for each operation, type, space, and way to write it.
fn shapes() -> Vec<Case> {
    let all = forms::cases(&forms_check::every_form());
    let moves =
        |case: &Case| case.form.operation() != Operation::Other || case.form.is_atomic() || case.form.is_multimem();
    // Where a function's parameters are is the function's own matter: `tests/suite` tries them.
    let all: Vec<Case> =
        all.into_iter().filter(|case| moves(case) && case.form.space() != Some("param::func")).collect();
    let mut seen = BTreeSet::new();
    let (lanes, plain): (Vec<Case>, Vec<Case>) =
        all.into_iter().partition(|case| matches!(case.syntax, Syntax::Lanes(_)));
    let mut shapes: Vec<Case> = plain.into_iter().filter(|case| seen.insert(shape(case))).collect();
    let one = |case: &&Case| matches!(case.syntax, Syntax::Lanes(mask) if mask.count_ones() == 1);
    let mut random = forms_check::random("choices of lanes are");
    let drawn: BTreeSet<&str> = lanes.sample(&mut random, LANES).map(|case| case.name.as_str()).collect();
    let of_each = lanes.iter().filter(one).filter(|case| seen.insert(shape(case)));
    let wanted: BTreeSet<&str> = of_each.map(|case| case.name.as_str()).chain(drawn).collect();
    shapes.extend(lanes.iter().filter(|case| wanted.contains(case.name.as_str())).cloned());
    shapes
}

/// What decides which register holds what.
fn shape(case: &Case) -> [String; 5] {
    let form = &case.form;
    let ptx = form.ptx();
    let words = ptx.trim_start_matches(form.instruction()).split('.').filter(|word| is_type(word));
    let element = words.collect::<String>();
    let spelled = case.rust().starts_with("ptx!");
    // `ptx!` is the same in every space, and in every order; an atomic by every operation that combines two numbers.
    let compares = if ptx.contains(".cas") {
        "cas"
    } else if ptx.contains(".exch") {
        "exch"
    } else {
        ""
    };
    let operation = match ptx.split('.').next().unwrap_or_default() {
        "ld" if !spelled && ptx.contains(".nc") => "ld.nc",
        "multimem" => form.instruction(),
        name => name,
    };
    let space = if spelled { None } else { form.space() };
    [
        format!("{operation} {compares}"),
        element,
        format!("{:?}", case.syntax),
        format!("{space:?}"),
        format!("{spelled} {}", form.takes_policy()),
    ]
}

fn is_type(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_lowercase());
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'x')
}

/// A kernel that takes what the call takes from plain memory, and brings what it gives there.
fn kernel(case: &Case) -> String {
    let call = case.call();
    let pointer = case.pointer();
    let own_room = matches!(case.form.space(), Some("shared" | "shared::cluster" | "local"));
    let is_load = case.form.operation() == Operation::Load;
    let mut body = String::new();
    // A room of the kernel's own is filled and emptied byte by byte.
    match case.form.space() {
        Some("local") => body += "let mut room = [0u64; 16]; let room = (&raw mut room).cast::<u8>(); ",
        _ if own_room => body += "let room = cvta_shared::<u8>(256); ",
        _ => {}
    }
    if own_room {
        body += if is_load { "bytes(from, room); " } else { "bytes(to, room); " };
    }
    let p = match (pointer, case.form.space()) {
        ("SharedPtr<u8>", _) => "SharedPtr::<u8>::from_address(256)",
        ("SharedClusterPtr<u8>", _) => "SharedClusterPtr::<u8>::from_address(256)",
        (_, Some("param::entry")) => "cvta_param_entry::<u8>(0)",
        _ if own_room => "room",
        _ if is_load => "from",
        _ => "to",
    };
    write!(body, "let p = {p}; ").expect("a string takes all");
    for (name, at) in [("v", "from"), ("compare", "from.add(64)"), ("or", if is_load { "to" } else { "out" })] {
        let of = format!(", {}", call.parameters);
        if let Some((_, ty)) = of.split_once(&format!(", {name}: ")) {
            let ty = type_in(ty);
            write!(body, "let {name} = *{at}.cast::<{ty}>(); ").expect("a string takes all");
        }
    }
    let (result, expression) = (call.result, call.expression);
    match result {
        Some(ty) => {
            let at = if is_load { "to" } else { "out" };
            write!(body, "let a: {ty} = {expression}; *{at}.cast::<{ty}>() = a; ").expect("a string takes all");
        }
        None => write!(body, "{expression}; ").expect("a string takes all"),
    }
    if own_room && !is_load {
        body += "bytes(room, to); ";
    }
    kernel_of(&case.name, &body)
}

/// A kernel with the parameters of every kernel here.
pub(crate) fn kernel_of(name: &str, body: &str) -> String {
    format!(
        "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}(content: [u64; 16], from: *const u8, to: *mut u8, \
         out: *mut u8, policy: CachePolicy, cond: bool) {{ unsafe {{ {body} }} }}\n"
    )
}

/// The type that a list of parameters begins with.
fn type_in(rest: &str) -> &str {
    rest.split(", ").next().unwrap_or_default().trim_start_matches('&')
}

/// Copies the bytes of a piece of memory.
pub(crate) const BYTEWISE: &str = "#[inline(never)]\nunsafe fn bytes(from: *const u8, to: *mut u8) {\n    let mut at = 0;\n    \
    while at < 128 { unsafe { to.add(at).write_volatile(from.add(at).read_volatile()) }; at += 1; }\n}\n\n";

/// What is in memory before a launch and after it.
#[derive(Clone)]
#[repr(C, align(128))]
pub(crate) struct Memory {
    pub(crate) from: [u8; BYTES],
    pub(crate) to: [u8; BYTES],
    pub(crate) out: [u8; BYTES],
}

impl Memory {
    /// No two bytes of one piece are the same, and no two pieces have one in the same place.
    pub(crate) fn new() -> Memory {
        Memory {
            from: std::array::from_fn(|at| at as u8 ^ 0x11),
            to: std::array::from_fn(|at| at as u8 ^ 0x95),
            out: std::array::from_fn(|at| at as u8 ^ 0x62),
        }
    }

    /// After a launch of a kernel that takes what every kernel here takes.
    pub(crate) fn after(&self, program: &Program, kernel: &str, cond: bool) -> Result<Memory, String> {
        let mut after = self.clone();
        let pointers =
            [&raw mut after.from, &raw mut after.to, &raw mut after.out].map(|at| at.expose_provenance() as u64);
        let begin = pointers[0];
        let policy = 0u64;
        let arguments: [*const u8; 6] = [
            self.from.as_ptr(),
            (&raw const pointers[0]).cast(),
            (&raw const pointers[1]).cast(),
            (&raw const pointers[2]).cast(),
            (&raw const policy).cast(),
            (&raw const cond).cast(),
        ];
        let holds = |address: u64, bytes: usize| {
            begin <= address && address + bytes as u64 <= begin + size_of::<Memory>() as u64
        };
        let variable = |name: &str| name.is_empty().then_some(begin);
        let outside = Outside { holds: &holds, variable: &variable };
        let launch = Launch { threads: [1; 3], shared: 4096, ..Launch::new(kernel, &arguments) };
        // SAFETY: the arguments are those of every kernel here, and what it may touch is `after`.
        let ran = unsafe { program.run(&outside, &launch) };
        ran.map(|_| after).map_err(|stop| stop.to_string())
    }
}

/// What is wrong with a load or store.
fn access(case: &Case, program: &Program) -> Result<(), String> {
    let before = Memory::new();
    let bytes = case.form.bytes();
    let guarded = matches!(case.syntax, Syntax::Guarded | Syntax::MacroGuarded);
    for cond in if guarded { vec![true, false] } else { vec![true] } {
        let after = before.after(program, &case.name, cond)?;
        let mut expected = before.to;
        if cond {
            expected[..bytes].copy_from_slice(&before.from[..bytes]);
        }
        if let Syntax::Lanes(mask) = case.syntax {
            let lanes = case.form.element().map_or(1, |element| if element.starts_with("V8") { 8 } else { 4 });
            let is_load = case.form.operation() == Operation::Load;
            for at in (0..bytes).filter(|at| mask >> (at * lanes / bytes) & 1 == 0) {
                expected[at] = if is_load { 0 } else { before.to[at] };
            }
        }
        same("the memory", &expected, &after.to)?;
        same("the rest", &before.out, &after.out)?;
    }
    Ok(())
}

/// What is wrong with an atomic. What it makes of two numbers is the suite's matter: here one of them is such that what
/// comes out is known.
fn atomic(case: &Case, program: &Program) -> Result<(), String> {
    let ptx = case.form.ptx();
    let ty = ptx.rsplit('.').next().unwrap_or_default();
    let lane = match ty {
        "f16" | "bf16" | "f16x2" | "bf16x2" | "b16" => 2,
        "b128" => 16,
        _ if ty.ends_with("64") => 8,
        _ => 4,
    };
    let parameters = case.call().parameters;
    let (_, value) = parameters.split_once(", v: ").ok_or("an atomic without a value".to_owned())?;
    let bytes = size_of_type(type_in(value));
    let before = Memory::new();
    let (guarded, gives) = (matches!(case.syntax, Syntax::Guarded | Syntax::MacroGuarded), ptx.starts_with("atom"));
    let run = |before: &Memory, cond: bool, expected: &[u8]| {
        let after = before.after(program, &case.name, cond)?;
        let mut to = before.to;
        to[..bytes].copy_from_slice(expected);
        same("the memory", &to, &after.to)?;
        let mut out = before.out;
        if gives && cond {
            out[..bytes].copy_from_slice(&before.to[..bytes]);
        }
        same("what it gives", &out, &after.out)
    };
    if guarded {
        run(&before, false, &before.to[..bytes])?;
    }
    if ptx.contains(".cas") {
        run(&before, true, &before.to[..bytes])?;
        let mut equal = before.clone();
        equal.from[OTHER..OTHER + bytes].copy_from_slice(&before.to[..bytes]);
        return run(&equal, true, &before.from[..bytes]);
    }
    if ptx.contains(".exch") {
        return run(&before, true, &before.from[..bytes]);
    }
    // Numbers from one up, all different and below two: what a two is added to, or greater than, becomes another one.
    let (one, step, two): (u64, u64, u64) = match ty {
        "f16" | "f16x2" => (0x3c00, 0x40, 0x4000),
        "bf16" | "bf16x2" => (0x3f80, 4, 0x4000),
        "f32" => (1f32.to_bits().into(), 1 << 16, 2f32.to_bits().into()),
        "f64" => (1f64.to_bits(), 1, 2f64.to_bits()),
        _ => (1, 0, 2),
    };
    let lanes = bytes / lane;
    for which in 0..lanes {
        let mut numbers = before.clone();
        for at in 0..lanes {
            let place = at * lane..(at + 1) * lane;
            numbers.to[place.clone()].copy_from_slice(&(one + at as u64 * step).to_le_bytes()[..lane]);
            // Nothing to an addition and to a maximum of positive numbers.
            let value = if at == which { two } else { 0 };
            numbers.from[place].copy_from_slice(&value.to_le_bytes()[..lane]);
        }
        let after = numbers.after(program, &case.name, true)?;
        same("the rest of the memory", &numbers.to[bytes..], &after.to[bytes..])?;
        if gives {
            same("what it gives", &numbers.to[..bytes], &after.out[..bytes])?;
        }
        // What else comes out of two numbers is not this test's matter.
        let known = ptx.contains(".add") || ptx.contains(".max");
        let changed: Vec<usize> = (0..lanes)
            .filter(|at| numbers.to[at * lane..(at + 1) * lane] != after.to[at * lane..(at + 1) * lane])
            .collect();
        if known && changed != [which] {
            return Err(format!("the lanes {changed:?} are changed, and not {which}"));
        }
    }
    Ok(())
}

/// What is wrong with a `multimem`, of which there is one copy.
fn multimem(case: &Case, program: &Program) -> Result<(), String> {
    let (before, call) = (Memory::new(), case.call());
    let guarded = matches!(case.syntax, Syntax::Guarded | Syntax::MacroGuarded);
    let is_load = call.result.is_some();
    let of = call.result.as_deref().or_else(|| call.parameters.split_once(", v: ").map(|(_, of)| type_in(of)));
    let bytes = size_of_type(of.ok_or("a multimem without a value".to_owned())?);
    for cond in if guarded { vec![true, false] } else { vec![true] } {
        let after = before.after(program, &case.name, cond)?;
        let (mut to, mut out) = (before.to, before.out);
        match (is_load, cond) {
            (true, true) => out[..bytes].copy_from_slice(&before.to[..bytes]),
            (false, true) => to[..bytes].copy_from_slice(&before.from[..bytes]),
            (_, false) => {}
        }
        same("the memory", &to, &after.to)?;
        same("what it gives", &out, &after.out)?;
    }
    Ok(())
}

/// The bytes of a Rust type by its name.
fn size_of_type(ty: &str) -> usize {
    let lanes = ty.strip_prefix('V').and_then(|rest| rest.split('<').next()?.parse().ok()).unwrap_or(1);
    let scalar = ty.split('<').next_back().unwrap_or_default().trim_end_matches('>');
    let bits: usize = scalar.trim_start_matches(char::is_alphabetic).parse().expect("a type has bits");
    lanes * bits / 8
}

pub(crate) fn same(what: &str, expected: &[u8], found: &[u8]) -> Result<(), String> {
    let Some(at) = (0..expected.len()).find(|at| expected[*at] != found[*at]) else { return Ok(()) };
    let end = expected.len().min(at + 16);
    Err(format!("{what} differs from byte {at} on: {:02x?}, not {:02x?}", &found[at..end], &expected[at..end]))
}

#[test]
fn each_shape_moves_what_it_says() {
    let cases = shapes();
    let functions: String = cases.iter().map(kernel).collect();
    // What `.unified` says is about a variable, and of no value.
    let text = ptx_of("values", &format!("{BYTEWISE}{functions}")).replace("].unified", "]");
    let program = Program::parse(&text);
    let gaps = program.gaps();
    assert!(gaps.is_empty(), "the interpreter, ptx-interpreter/src, does not know {gaps:?}");
    let mut wrong = Vec::new();
    for case in &cases {
        let tried = match case.form.instruction() {
            "multimem.ld_reduce" | "multimem.st" => multimem(case, &program),
            _ if case.form.is_atomic() || case.form.is_multimem() => atomic(case, &program),
            _ => access(case, &program),
        };
        wrong.extend(tried.err().map(|error| format!("{}: {error}", case.rust())));
    }
    let atomics = cases.iter().filter(|case| case.form.is_atomic()).count();
    let accesses = cases.len() - atomics;
    println!("lanes: {accesses} shapes of loads and stores and {atomics} of atomics, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), first(&wrong));
    assert!(cases.len() >= SHAPES, "{}", cases.len());
}
