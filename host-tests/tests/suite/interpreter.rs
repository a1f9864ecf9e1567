//! Runs the PTX of the suite's kernels, all threads of a launch in step, or one after the other where they part ways:
//! what a GPU would do with it, as far as these kernels go. An instruction that it does not know is an error.
//!
//! A state space has addresses of its own: an access that forgets to convert its address goes astray, and an access
//! outside of every piece of memory is an error.

mod asynchronous;

use std::collections::HashMap;

use host_tests::ptx::{Function, Module};
use ptx_intrinsics::atom::{change, judge_atomic};
use ptx_intrinsics::{CachePolicy, L2EvictUnchanged};

use asynchronous::Copies;

/// A launch: its kernel, its blocks, its threads, and where each argument stands.
pub(crate) struct Launch<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) arguments: &'a [*const u8],
}

/// The memory outside of the kernel.
pub(crate) struct Outside<'a> {
    /// Whether so many bytes at an address are the GPU's to use.
    pub(crate) holds: &'a dyn Fn(u64, usize) -> bool,
    /// Where a variable of the module stands.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<u64>,
}

/// Where shared memory, parameters and local memory seem to lie: no host has memory there.
const SHARED: u64 = 0x1000_0000_0000_0000;
const PARAMETERS: u64 = 0x2000_0000_0000_0000;
const LOCAL: u64 = 0x3000_0000_0000_0000;
const PIECE: u64 = 1 << 24;

type Result<T> = std::result::Result<T, String>;

/// Memory of the kernel's own, by where it begins.
type Pieces = HashMap<u64, Vec<u8>>;

struct Thread {
    block: u32,
    thread: u32,
    registers: HashMap<String, u128>,
    copies: Copies,
    bulk: Copies,
}

struct Run<'a> {
    module: &'a Module,
    outside: &'a Outside<'a>,
    launch: &'a Launch<'a>,
    pieces: Pieces,
    threads: Vec<Thread>,
    /// Where the parameters of the function stand, by name, for each thread.
    names: Vec<HashMap<String, u64>>,
    /// How many pieces have been made for calls.
    calls: u64,
}

/// Runs a launch.
pub(crate) fn run(module: &Module, outside: &Outside<'_>, launch: &Launch<'_>) -> Result<()> {
    let function = module.function(launch.kernel).ok_or(format!("no kernel {}", launch.kernel))?;
    let threads = (0..launch.blocks).flat_map(|block| (0..launch.threads).map(move |thread| (block, thread)));
    let thread = |(block, thread)| Thread {
        block,
        thread,
        registers: HashMap::new(),
        copies: Copies::default(),
        bulk: Copies::default(),
    };
    let threads: Vec<Thread> = threads.map(thread).collect();
    let mut names = HashMap::new();
    let mut parameters = Vec::new();
    let declared = declared(function);
    if declared.len() != launch.arguments.len() {
        return Err(format!("{} takes {} arguments, not {}", launch.kernel, declared.len(), launch.arguments.len()));
    }
    for ((name, bytes), argument) in declared.into_iter().zip(launch.arguments) {
        let aligned = parameters.len().next_multiple_of(bytes.min(16));
        parameters.resize(aligned, 0);
        names.insert(name, PARAMETERS + aligned as u64);
        // SAFETY: whoever launches hands over as many bytes as the kernel takes.
        parameters.extend_from_slice(unsafe { std::slice::from_raw_parts(*argument, bytes) });
    }
    let mut pieces = Pieces::from([(PARAMETERS, parameters)]);
    for block in 0..u64::from(launch.blocks) {
        pieces.insert(SHARED + block * PIECE, vec![0x5e; 48 << 10]);
    }
    for thread in 0..threads.len() as u64 {
        pieces.insert(LOCAL + thread * PIECE, vec![0x10; 64 << 10]);
    }
    let names = vec![names; threads.len()];
    Run { module, outside, launch, pieces, threads, names, calls: 0 }.function(function)
}

/// The parameters of a function: their names and bytes.
fn declared(function: &Function) -> Vec<(String, usize)> {
    let header = function.body.iter().map(|line| line.text.as_str()).take_while(|line| *line != "{");
    let parameter = |line: &str| {
        let words: Vec<&str> = line.trim_end_matches(',').split_whitespace().collect();
        let (name, _) = words.last()?.split_once('[').unwrap_or((words.last()?, ""));
        let of_type = words.iter().find_map(|word| bytes_of(word.strip_prefix('.')?))?;
        let array =
            words.last()?.split_once('[').and_then(|(_, rest)| rest.trim_end_matches(']').parse::<usize>().ok());
        Some((name.to_owned(), of_type * array.unwrap_or(1)))
    };
    header.filter(|line| line.starts_with(".param")).filter_map(parameter).collect()
}

/// The bytes of a type.
fn bytes_of(word: &str) -> Option<usize> {
    let bits: usize = word.strip_prefix(['b', 'u', 's', 'f'])?.parse().ok()?;
    Some(bits / 8)
}

impl Run<'_> {
    fn function(&mut self, function: &Function) -> Result<()> {
        let text: String = function.body.iter().map(|line| code(&line.text)).collect::<Vec<_>>().join("\n");
        let (_, body) = text.split_once("\n{").ok_or("a function without a body")?;
        let statements = statements(body);
        if statements.iter().any(|statement| statement.contains("bra ") || statement.contains("bra.uni ")) {
            let mut next = vec![0; self.threads.len()];
            // Every thread as far as the next barrier, until none is left.
            while (0..next.len())
                .try_fold(false, |left, at| Ok::<_, String>(self.alone(at, &statements, &mut next[at])? | left))?
            {
            }
            return Ok(());
        }
        for statement in statements.iter().filter(|statement| !statement.ends_with(':')) {
            if statement == "ret" {
                return Ok(());
            }
            self.statement(statement).map_err(|error| format!("{statement}: {error}"))?;
        }
        Ok(())
    }

    /// Threads that part ways run one after the other; whether this one came to a barrier and not to its end.
    fn alone(&mut self, at: usize, statements: &[String], next: &mut usize) -> Result<bool> {
        while let Some(statement) = statements.get(*next).filter(|statement| *statement != "ret") {
            *next += 1;
            if statement.starts_with("barrier.cluster.wait") {
                return Ok(true);
            }
            let words: Vec<&str> = statement.split_whitespace().collect();
            let taken = match words[..] {
                [branch, _] if branch.starts_with("bra") => true,
                [guard, branch, _] if branch.starts_with("bra") => match guard.strip_prefix("@!") {
                    Some(name) => self.get(at, name)? == 0,
                    None => self.get(at, &guard[1..])? == 1,
                },
                _ if statement.starts_with('.') || statement.ends_with(':') => false,
                _ => {
                    self.instruction(at, statement).map_err(|error| format!("{statement}: {error}"))?;
                    false
                }
            };
            if taken {
                let label = format!("{}:", words.last().ok_or("no label")?);
                *next = statements.iter().position(|statement| *statement == label).ok_or("an unknown label")?;
            }
        }
        Ok(false)
    }

    fn statement(&mut self, statement: &str) -> Result<()> {
        if statement.starts_with('.') {
            return self.declare(statement);
        }
        if let Some(callee) = statement.strip_prefix("call.uni ") {
            return self.call(callee);
        }
        for at in 0..self.threads.len() {
            self.instruction(at, statement)?;
        }
        Ok(())
    }

    /// Local memory has a name, and so has what a call is handed; registers come as they are written.
    fn declare(&mut self, statement: &str) -> Result<()> {
        let name = statement.split_whitespace().last().unwrap_or_default();
        let (name, length) = name
            .split_once('[')
            .map_or((name, 8), |(name, rest)| (name, rest.trim_end_matches(']').parse().unwrap_or_default()));
        for at in 0..self.threads.len() as u64 {
            let place = if statement.starts_with(".local") {
                LOCAL + at * PIECE
            } else if statement.starts_with(".param") {
                self.calls += 1;
                let place = PARAMETERS + (1 << 60) / 2 + self.calls * PIECE;
                self.pieces.insert(place, vec![0xca; length]);
                place
            } else {
                return Ok(());
            };
            self.names[at as usize].insert(name.to_owned(), place);
        }
        Ok(())
    }

    fn call(&mut self, callee: &str) -> Result<()> {
        let (name, arguments) = callee.split_once(", ").ok_or("a call without arguments")?;
        let function = self.module.function(name).ok_or(format!("no function {name}"))?;
        let parameters = declared(function);
        let arguments: Vec<&str> = arguments.trim_matches(['(', ')']).split(", ").collect();
        if parameters.len() != arguments.len() {
            return Err("another number of parameters".into());
        }
        let names = self.names.iter().map(|own| {
            parameters.iter().zip(&arguments).map(|((name, _), argument)| (name.clone(), own[*argument])).collect()
        });
        let names = names.collect();
        let names = std::mem::replace(&mut self.names, names);
        let registers: Vec<_> = self.threads.iter_mut().map(|thread| std::mem::take(&mut thread.registers)).collect();
        self.function(function)?;
        for (thread, registers) in self.threads.iter_mut().zip(registers) {
            thread.registers = registers;
        }
        self.names = names;
        Ok(())
    }

    fn instruction(&mut self, at: usize, statement: &str) -> Result<()> {
        let (guard, instruction) = match statement.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            Some((guard, rest)) => (Some(guard), rest),
            None => (None, statement),
        };
        if let Some(guard) = guard {
            let (name, holds) = guard.strip_prefix('!').map_or((guard, 1), |name| (name, 0));
            if self.get(at, name)? != holds {
                return Ok(());
            }
        }
        let (opcode, operands) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
        let words: Vec<&str> = opcode.split('.').collect();
        let operands = operands_of(operands);
        let operand = |number: usize| operands.get(number).map(String::as_str).ok_or("an operand is missing");
        match words[0] {
            "ld" | "ldu" => self.load(at, &words, operand(0)?, operand(1)?),
            "st" => self.store(at, &words, operand(0)?, operand(1)?),
            "prefetch" | "prefetchu" | "applypriority" => {
                let bytes = if words.contains(&"tensormap") || words[0] == "applypriority" { 128 } else { 1 };
                let address = self.address(at, &words, operand(0)?)?;
                if words.contains(&"tensormap") || words[0] == "applypriority" {
                    aligned(address, if words[0] == "applypriority" { 128 } else { 64 })?;
                }
                self.read(address, bytes).map(drop)
            }
            "discard" => {
                let address = self.address(at, &words, operand(0)?)?;
                aligned(address, 128)?;
                self.write(address, &[0xdd; 128])
            }
            "createpolicy" => {
                let policy = self.policy(at, &words, &operands)?;
                self.set(at, operand(0)?, policy.into())
            }
            "cp" => self.copy(at, &words, &operands),
            "mbarrier" => self.mbarrier(at, &words, &operands),
            "barrier" | "fence" | "membar" => Ok(()),
            "atom" | "red" => self.atomic(at, &words, &operands),
            _ => self.compute(at, &words, &operands),
        }
    }

    fn compute(&mut self, at: usize, words: &[&str], operands: &[String]) -> Result<()> {
        let last = words.last().copied().unwrap_or_default();
        let bits = bytes_of(last).map_or(1, |bytes| 8 * bytes as u32);
        let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        let value =
            |number: usize| -> Result<u128> { self.get(at, operands.get(number).ok_or("an operand is missing")?) };
        let signed = |value: u128| (value << (128 - bits)) as i128 >> (128 - bits);
        let float = |value: u128| f32::from_bits(value as u32);
        let result = match (words[0], words.get(1).copied().unwrap_or_default()) {
            ("mov", _) if operands[0].starts_with('{') || operands[1].starts_with('{') => {
                return self.move_parts(at, operands, bits);
            }
            ("mov", _) => value(1)? & mask,
            ("cvta", "to") => value(1)?.wrapping_sub(self.base(at, words[2])?.into()) & mask,
            ("cvta", space) => value(1)?.wrapping_add(self.base(at, space)?.into()) & mask,
            ("isspacep", space) => u128::from(self.is_in(at, value(1)? as u64, space)?),
            ("getctarank", _) => value(1)? % u128::from(SHARED) / u128::from(PIECE),
            ("mapa", "shared::cluster") => value(1)? % u128::from(PIECE) + value(2)? * u128::from(PIECE),
            ("mapa", _) => value(1)? % u128::from(PIECE) + u128::from(SHARED) + value(2)? * u128::from(PIECE),
            ("cvt", "rn") if words[2] == "f32" => ((value(1)? & mask) as u32 as f32).to_bits().into(),
            ("cvt", to) => {
                let from = if last.starts_with('s') { signed(value(1)?) as u128 } else { value(1)? & mask };
                let bits = 8 * bytes_of(to).ok_or("an unknown type")?;
                from & ((1 << bits) - 1)
            }
            ("add", "rn") | ("mul", "rn") | ("add" | "mul", "f32") if last == "f32" => {
                let (left, right) = (float(value(1)?), float(value(2)?));
                (if words[0] == "add" { left + right } else { left * right }).to_bits().into()
            }
            ("add", _) => value(1)?.wrapping_add(value(2)?) & mask,
            ("sub", _) => value(1)?.wrapping_sub(value(2)?) & mask,
            ("neg", _) => 0u128.wrapping_sub(value(1)?) & mask,
            ("mul", "wide") if last.starts_with('u') => (value(1)? & mask) * (value(2)? & mask),
            ("mul", "hi") if last.starts_with('u') => ((value(1)? & mask) * (value(2)? & mask)) >> bits,
            ("mul", "lo") => value(1)?.wrapping_mul(value(2)?) & mask,
            ("mad", "lo") => value(1)?.wrapping_mul(value(2)?).wrapping_add(value(3)?) & mask,
            ("and", _) => value(1)? & value(2)? & mask,
            ("or", _) => (value(1)? | value(2)?) & mask,
            ("xor", _) => (value(1)? ^ value(2)?) & mask,
            ("not", _) => !value(1)? & mask,
            ("shl", _) => (value(1)? << value(2)?.min(64)) & mask,
            ("shr", _) if !last.starts_with('s') => (value(1)? & mask) >> value(2)?.min(64),
            ("selp", _) => value(if value(3)? == 1 { 1 } else { 2 })? & mask,
            ("setp", "eq") => u128::from(value(1)? & mask == value(2)? & mask),
            ("setp", "ne") => u128::from(value(1)? & mask != value(2)? & mask),
            ("setp", order) if !last.starts_with('f') => {
                let of = |value: u128| if last.starts_with('s') { signed(value) } else { (value & mask) as i128 };
                let (left, right) = (of(value(1)?), of(value(2)?));
                match order {
                    "lt" => left < right,
                    "le" => left <= right,
                    "gt" => left > right,
                    "ge" => left >= right,
                    _ => return Err("a comparison that the interpreter does not know".into()),
                }
                .into()
            }
            _ => return Err("an instruction that the interpreter does not know".into()),
        };
        self.set(at, &operands[0], result)
    }

    /// `mov.b128 %value, {%a, %b}`, and the way back.
    fn move_parts(&mut self, at: usize, operands: &[String], bits: u32) -> Result<()> {
        let (to, from) = (lanes_of(&operands[0]), lanes_of(&operands[1]));
        let part = bits / to.len().max(from.len()) as u32;
        let mask = if part >= 128 { u128::MAX } else { (1 << part) - 1 };
        let mut whole = 0;
        for (number, lane) in from.iter().enumerate() {
            let mask = if from.len() == 1 { u128::MAX } else { mask };
            whole |= (self.get(at, lane)? & mask) << (part * number as u32);
        }
        for (number, lane) in to.iter().enumerate() {
            let value = if to.len() == 1 { whole } else { whole >> (part * number as u32) & mask };
            self.set(at, lane, value)?;
        }
        Ok(())
    }

    fn load(&mut self, at: usize, words: &[&str], to: &str, from: &str) -> Result<()> {
        let bytes = words.last().and_then(|word| bytes_of(word)).ok_or("a load of no type")?;
        let address = self.address(at, words, from)?;
        let lanes = lanes_of(to);
        aligned(address, bytes * lanes.len())?;
        let all = self.read(address, bytes * lanes.len())?;
        for (lane, value) in lanes.iter().zip(all.chunks(bytes)).filter(|(lane, _)| **lane != "_") {
            let mut number = [0; 16];
            number[..bytes].copy_from_slice(value);
            self.set(at, lane, u128::from_le_bytes(number))?;
        }
        Ok(())
    }

    fn store(&mut self, at: usize, words: &[&str], to: &str, from: &str) -> Result<()> {
        let bytes = words.last().and_then(|word| bytes_of(word)).ok_or("a store of no type")?;
        let address = self.address(at, words, to)?;
        let lanes = lanes_of(from);
        aligned(address, bytes * lanes.len())?;
        for (number, lane) in lanes.iter().enumerate().filter(|(_, lane)| **lane != "_") {
            let value = self.get(at, lane)?.to_le_bytes();
            self.write(address + (number * bytes) as u64, &value[..bytes])?;
        }
        Ok(())
    }

    /// What stood there, and after it what stands there now, by the crate's own meaning.
    fn atomic(&mut self, at: usize, words: &[&str], operands: &[String]) -> Result<()> {
        let text = words.join(".");
        let hinted = text.contains("::cache_hint");
        let (atomic, _) = judge_atomic(&text, hinted).map_err(|wrong| wrong.why)?;
        let place = usize::from(words[0] == "atom");
        let bytes = atomic.bytes();
        let address = self.address(at, words, operands.get(place).ok_or("an operand is missing")?)?;
        aligned(address, bytes)?;
        let mut values = Vec::new();
        for operand in &operands[place + 1..operands.len() - usize::from(hinted)] {
            let lanes = lanes_of(operand);
            let mut value = [0; 16];
            for (lane, part) in lanes.iter().zip(value.chunks_mut(bytes / lanes.len())) {
                part.copy_from_slice(&self.get(at, lane)?.to_le_bytes()[..part.len()]);
            }
            values.push(u128::from_le_bytes(value));
        }
        let mut memory = [0; 16];
        memory[..bytes].copy_from_slice(&self.read(address, bytes)?);
        let mut new = u128::from_le_bytes(memory);
        let value = *values.last().ok_or("an operand is missing")?;
        let compare = (values.len() > 1).then(|| values[0]);
        // SAFETY: the number is this thread's own, and as wide as any.
        unsafe {
            let new = &raw mut new;
            match bytes {
                2 => drop(change(atomic, new.cast(), value as u16, compare.map(|value| value as u16))),
                4 => drop(change(atomic, new.cast(), value as u32, compare.map(|value| value as u32))),
                8 => drop(change(atomic, new.cast(), value as u64, compare.map(|value| value as u64))),
                _ => drop(change(atomic, new, value, compare)),
            }
        }
        self.write(address, &new.to_le_bytes()[..bytes])?;
        if place == 1 {
            let lanes = lanes_of(&operands[0]);
            for (lane, part) in lanes.iter().zip(memory.chunks(bytes / lanes.len())) {
                let mut number = [0; 16];
                number[..part.len()].copy_from_slice(part);
                self.set(at, lane, u128::from_le_bytes(number))?;
            }
        }
        Ok(())
    }

    /// Whether a generic address is in a space.
    fn is_in(&self, at: usize, address: u64, space: &str) -> Result<bool> {
        let near = |begin: u64, bytes: u64| (begin..begin + bytes).contains(&address);
        let cluster = u64::from(self.launch.blocks) * PIECE;
        let constants = (self.outside.variable)("suite_constants");
        Ok(match space {
            "shared" | "shared::cta" => near(self.base(at, space)?, PIECE),
            "shared::cluster" => near(SHARED, cluster),
            "local" => near(self.base(at, space)?, PIECE),
            "param" | "param::entry" => near(PARAMETERS, PIECE),
            "const" => constants.is_some_and(|begin| near(begin, 64 << 10)),
            "global" => address < SHARED && !constants.is_some_and(|begin| near(begin, 64 << 10)),
            _ => return Err(format!("an unknown space {space}")),
        })
    }

    /// The generic address of an operand in brackets.
    fn address(&self, at: usize, words: &[&str], operand: &str) -> Result<u64> {
        let operand = operand.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or("no address")?;
        let (place, offset) = operand.split_once('+').unwrap_or((operand, "0"));
        let offset: u64 = offset.trim().parse().map_err(|_| "no offset")?;
        if let Some(place) = self.names[at].get(place) {
            return Ok(place + offset);
        }
        let spaces = [
            "global",
            "shared",
            "shared::cta",
            "shared::cluster",
            "const",
            "local",
            "param",
            "param::entry",
            "param::func",
        ];
        let space = words.iter().find(|word| spaces.contains(word)).unwrap_or(&"global");
        let address = (self.get(at, place)? as u64).wrapping_add(offset);
        Ok(address.wrapping_add(self.base(at, space)?))
    }

    /// Where a space begins among the generic addresses.
    fn base(&self, at: usize, space: &str) -> Result<u64> {
        Ok(match space {
            "global" | "param::func" => 0,
            // A block's own window; the cluster's begins with the first block.
            "shared" | "shared::cta" => SHARED + u64::from(self.threads[at].block) * PIECE,
            "shared::cluster" => SHARED,
            "param" | "param::entry" => PARAMETERS,
            "local" => LOCAL + at as u64 * PIECE,
            "const" => (self.outside.variable)("").ok_or("no constant bank")?,
            _ => return Err(format!("an unknown space {space}")),
        })
    }

    fn policy(&self, at: usize, words: &[&str], operands: &[String]) -> Result<u64> {
        let value = |number: usize| self.get(at, &operands[number]);
        if words[1] == "cvt" {
            return Ok(value(1)? as u64);
        }
        let priorities: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("L2::evict_")).collect();
        let primary = ["unchanged", "first", "last", "normal"].iter().position(|word| *word == priorities[0]);
        let primary = (primary.ok_or("an unknown priority")? as u64) << 57;
        let secondary = u64::from(priorities.get(1) == Some(&"first")) << 56;
        if words[1] == "range" {
            let address = self.get(at, operands[1].trim_matches(['[', ']']))? as u64;
            let range = CachePolicy::encode_range::<L2EvictUnchanged>(address, value(2)? as u32, value(3)? as u32);
            return Ok(range.bits() | primary | secondary);
        }
        let fraction = if operands.len() == 1 { 1.0 } else { f32::from_bits(value(1)? as u32) };
        Ok(2 << 59 | primary | secondary | ((fraction * 15.99) as u64) << 52)
    }

    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>> {
        let piece = address / PIECE * PIECE;
        if let Some(memory) = self.pieces.get(&piece) {
            let start = (address - piece) as usize;
            let found = memory.get(start..start + bytes);
            return found.map(<[u8]>::to_vec).ok_or(format!("outside of its memory: {address:#x}"));
        }
        if !(self.outside.holds)(address, bytes) {
            return Err(format!("a read of no memory: {bytes} bytes at {address:#x}"));
        }
        // SAFETY: the memory is the GPU's to use.
        Ok(unsafe { std::slice::from_raw_parts(address as *const u8, bytes) }.to_vec())
    }

    fn write(&mut self, address: u64, content: &[u8]) -> Result<()> {
        let piece = address / PIECE * PIECE;
        if let Some(memory) = self.pieces.get_mut(&piece) {
            let start = (address - piece) as usize;
            let place = memory.get_mut(start..start + content.len());
            place.ok_or(format!("outside of its memory: {address:#x}"))?.copy_from_slice(content);
            return Ok(());
        }
        if !(self.outside.holds)(address, content.len()) {
            return Err(format!("a write to no memory: {} bytes at {address:#x}", content.len()));
        }
        // SAFETY: the memory is the GPU's to use.
        unsafe { std::slice::from_raw_parts_mut(address as *mut u8, content.len()) }.copy_from_slice(content);
        Ok(())
    }

    fn get(&self, at: usize, operand: &str) -> Result<u128> {
        let thread = &self.threads[at];
        Ok(match operand {
            "%tid.x" => thread.thread.into(),
            "%cluster_ctarank" | "%ctaid.x" => thread.block.into(),
            "%ntid.x" => self.launch.threads.into(),
            _ if operand.starts_with('%') => *thread.registers.get(operand).ok_or(format!("{operand} has no value"))?,
            _ if operand.starts_with("0d") => u64::from_str_radix(&operand[2..], 16).map_err(|_| "no number")?.into(),
            _ if operand.starts_with("0f") => u32::from_str_radix(&operand[2..], 16).map_err(|_| "no number")?.into(),
            _ if operand.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                operand.parse::<i128>().map_err(|_| "no number")? as u128
            }
            name => self.name(at, name)?.into(),
        })
    }

    /// The address of a variable or a parameter in its space.
    fn name(&self, at: usize, name: &str) -> Result<u64> {
        if let Some(place) = self.names[at].get(name) {
            let in_function = *place >= PARAMETERS + (1 << 60) / 2 && *place < LOCAL;
            return Ok(match *place {
                place if in_function => place,
                place if place >= LOCAL => place - self.base(at, "local")?,
                place => place - PARAMETERS,
            });
        }
        if name.ends_with("_shared") {
            return Ok(0);
        }
        let place = (self.outside.variable)(name).ok_or(format!("no variable {name}"))?;
        Ok(place.wrapping_sub(self.base(at, "const")?))
    }

    fn set(&mut self, at: usize, register: &str, value: u128) -> Result<()> {
        self.threads[at].registers.insert(register.to_owned(), value);
        Ok(())
    }
}

fn aligned(address: u64, bytes: usize) -> Result<()> {
    if address.is_multiple_of(bytes as u64) { Ok(()) } else { Err(format!("{address:#x} is no multiple of {bytes}")) }
}

/// A line without its comment.
fn code(line: &str) -> &str {
    let line = line.split("//").next().unwrap_or_default().trim();
    if line.starts_with("/*") { "" } else { line }
}

/// The statements of a body: braces of blocks are dropped, those of vectors kept.
fn statements(body: &str) -> Vec<String> {
    let lines = body.lines().map(|line| line.trim()).filter(|line| !line.is_empty() && *line != "{" && *line != "}");
    let lines = lines.map(|line| if line.ends_with(':') { format!("{line};") } else { line.to_owned() });
    let text = lines.collect::<Vec<_>>().join(" ");
    let statements = text.split(';').map(|statement| statement.split_whitespace().collect::<Vec<_>>().join(" "));
    statements.filter(|statement| !statement.is_empty()).collect()
}

/// The operands of an instruction: a vector is one.
fn operands_of(text: &str) -> Vec<String> {
    let (mut operands, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            operands.push(String::new());
        } else if let Some(last) = operands.last_mut() {
            last.push(c);
        }
    }
    operands.into_iter().map(|operand| operand.trim().to_owned()).collect()
}

/// The lanes of a vector operand, or the one register.
fn lanes_of(operand: &str) -> Vec<&str> {
    operand.trim_matches(['{', '}']).split(',').map(str::trim).collect()
}
