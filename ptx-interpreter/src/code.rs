//! A function, ready to run: registers have numbers, labels are places, and each instruction is a step.

use std::collections::HashMap;

use crate::alu::{Alu, Kind, Type, alu};
use crate::convert;
use crate::text::{self, Function, Parameter};

/// Where a name is.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In shared memory.
    Shared(u64),
    /// In the frame of the function: local memory, and what is handed to functions. Its address is in local space.
    Local(u64),
    /// The same; its address is a generic one.
    Frame(u64),
    /// Among the parameters of the kernel.
    Entry(u64),
    /// A variable of the module: where the host has it, or else at that place of the module's own.
    Variable { name: String, constant: bool, at: u64 },
}

/// What an instruction is told.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Register(usize),
    Predicate(usize),
    /// `!%p`
    Not(usize),
    Number(u128),
    /// A number with a point in it.
    Decimal(f64),
    Special(String),
    Name(Place),
    Vector(Vec<Operand>),
    /// `_`
    Sink,
    /// `[base+offset]`; of a tensor map, with its coordinates.
    Address(Box<Operand>, u64, usize),
    /// `%p|%q`
    Pair(Box<Operand>, Box<Operand>),
}

/// An instruction.
pub(crate) enum Step {
    Compute {
        alu: Alu,
        to: [Option<usize>; 2],
        from: Vec<Operand>,
    },
    /// A vector of registers becomes one, or one becomes a vector.
    Move {
        bits: u32,
        to: Vec<Operand>,
        from: Vec<Operand>,
    },
    Load {
        space: Space,
        bytes: usize,
        signed: bool,
        to: Vec<Operand>,
        from: Operand,
    },
    Store {
        space: Space,
        bytes: usize,
        to: Operand,
        from: Vec<Operand>,
    },
    Branch(usize),
    /// `brx.idx`
    Table(Operand, Vec<usize>),
    Call {
        name: String,
        results: Vec<u64>,
        arguments: Vec<u64>,
    },
    Return,
    Exit,
    /// What the machine knows by its words.
    Other {
        words: Vec<String>,
        operands: Vec<Operand>,
    },
    Unknown(String),
    /// It is no instruction.
    Malformed(String),
}

/// A state space, as an access names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    Cluster,
    Const,
    Local,
    Entry,
    Func,
}

impl Space {
    pub(crate) fn parse(word: &str) -> Option<Space> {
        Some(match word {
            "global" => Space::Global,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::Cluster,
            "const" => Space::Const,
            "local" => Space::Local,
            "param" | "param::entry" => Space::Entry,
            "param::func" => Space::Func,
            _ => return None,
        })
    }

    pub(crate) fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Space {
        words.into_iter().find_map(Space::parse).unwrap_or(Space::Generic)
    }
}

pub(crate) struct Line {
    /// A register, and what it has to be.
    pub(crate) guard: Option<(usize, u128)>,
    pub(crate) text: String,
    pub(crate) step: Step,
}

pub(crate) struct Code {
    pub(crate) is_entry: bool,
    pub(crate) parameters: Vec<Parameter>,
    /// Where the parameters and the results are: of a kernel among the parameters, of others in the frame.
    pub(crate) places: Vec<u64>,
    pub(crate) results: Vec<(u64, usize)>,
    pub(crate) frame: usize,
    pub(crate) registers: usize,
    pub(crate) cluster: Option<u32>,
    pub(crate) lines: Vec<Line>,
}

struct Names<'a> {
    registers: HashMap<String, Operand>,
    places: HashMap<String, Place>,
    module: &'a HashMap<String, Place>,
    labels: HashMap<String, usize>,
    tables: HashMap<String, Vec<String>>,
}

/// The register of the carry.
pub(crate) const CARRY: usize = 0;

/// A place for so many bytes, after what is there already.
fn reserve(length: &mut usize, parameter: &Parameter) -> u64 {
    let at = length.next_multiple_of(parameter.align.clamp(1, 128));
    *length = at + parameter.bytes;
    at as u64
}

impl Code {
    pub(crate) fn new(function: &Function, module: &HashMap<String, Place>, shared: &mut usize) -> Code {
        let mut names = Names {
            registers: HashMap::new(),
            places: HashMap::new(),
            module,
            labels: HashMap::new(),
            tables: HashMap::new(),
        };
        let (mut frame, mut entry) = (0, 0);
        let mut places = Vec::new();
        for parameter in &function.parameters {
            let at = reserve(if function.is_entry { &mut entry } else { &mut frame }, parameter);
            places.push(at);
            let place = if function.is_entry { Place::Entry(at) } else { Place::Frame(at) };
            names.places.insert(parameter.name.clone(), place);
        }
        let mut results = Vec::new();
        for result in &function.results {
            let at = reserve(&mut frame, result);
            results.push((at, result.bytes));
            names.places.insert(result.name.clone(), Place::Frame(at));
        }
        let mut instructions = Vec::new();
        for statement in &function.statements {
            if let Some(label) = statement.strip_suffix(':') {
                names.labels.insert(label.to_owned(), instructions.len());
                continue;
            }
            let (registers, are_predicates) = text::registers(statement);
            for name in registers {
                let number = names.registers.len() + 1;
                let register = if are_predicates { Operand::Predicate(number) } else { Operand::Register(number) };
                names.registers.entry(name).or_insert(register);
            }
            if let Some((space, variables)) = text::declaration(statement) {
                for variable in variables {
                    let place = match space {
                        "shared" => Place::Shared(reserve(shared, &variable)),
                        "local" => Place::Local(reserve(&mut frame, &variable)),
                        _ => Place::Frame(reserve(&mut frame, &variable)),
                    };
                    names.places.insert(variable.name, place);
                }
            }
            if !statement.starts_with('.') {
                instructions.push(statement);
            }
        }
        // A table's label is written as one, and its list after it.
        let lists = function
            .statements
            .windows(2)
            .filter_map(|pair| Some((pair[0].strip_suffix(':')?, pair[1].strip_prefix(".branchtargets ")?)));
        for (name, list) in lists {
            names.tables.insert(name.to_owned(), text::operands(list));
        }
        let lines = instructions.into_iter().map(|statement| names.line(statement)).collect();
        Code {
            is_entry: function.is_entry,
            parameters: function.parameters.clone(),
            places,
            results,
            frame: frame.next_multiple_of(128),
            registers: names.registers.len() + 1,
            cluster: function.cluster,
            lines,
        }
    }
}

impl Names<'_> {
    fn line(&self, statement: &str) -> Line {
        let (guard, instruction) = match statement.strip_prefix('@').and_then(|rest| rest.trim_start().split_once(' '))
        {
            Some((guard, rest)) => (Some(guard), rest.trim()),
            None => (None, statement),
        };
        let register = |guard: &str| {
            let (name, holds) = guard.strip_prefix('!').map_or((guard, 1), |name| (name, 0));
            match self.registers.get(name) {
                Some(Operand::Predicate(number)) => Some((*number, holds)),
                _ => None,
            }
        };
        let (step, guard) = match guard.map(register) {
            Some(None) => (Step::Malformed(format!("{} is no predicate", guard.unwrap_or_default())), None),
            guard => (self.step(instruction), guard.flatten()),
        };
        Line { guard, text: statement.to_owned(), step }
    }

    fn step(&self, instruction: &str) -> Step {
        let (opcode, rest) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
        let words: Vec<&str> = opcode.split('.').collect();
        let operands = text::operands(rest);
        match words[0] {
            "bra" => return self.target(rest.trim()).map_or_else(|| no_label(rest), Step::Branch),
            "brx" => return self.table(&operands),
            "call" => return self.call(rest),
            "ret" => return Step::Return,
            "exit" => return Step::Exit,
            _ => {}
        }
        let read = operands.iter().map(|operand| self.operand(operand));
        let Some(read) = read.collect::<Option<Vec<Operand>>>() else {
            return Step::Malformed(format!("an operand of {rest} is unknown"));
        };
        let vector = |at: usize| matches!(read.get(at), Some(Operand::Vector(_)));
        match words[0] {
            "ld" | "ldu" | "st" if words.last().is_some_and(|word| Type::parse(word).is_some()) => access(&words, read),
            "mov" if vector(0) || vector(1) => {
                let bits = words.last().and_then(|word| Type::parse(word)).map_or(0, |ty| ty.bits);
                let [to, from] = <[Operand; 2]>::try_from(read).unwrap_or([Operand::Sink, Operand::Sink]).map(lanes);
                Step::Move { bits, to, from }
            }
            _ => match alu(opcode) {
                Some(alu) => Self::compute(opcode, alu, read),
                None if crate::control::knows(&words) => {
                    let words = words.into_iter().map(str::to_owned).collect();
                    Step::Other { words, operands: read }
                }
                None => Step::Unknown(opcode.to_owned()),
            },
        }
    }

    fn compute(opcode: &str, alu: Alu, mut operands: Vec<Operand>) -> Step {
        if operands.len() != 1 + alu.from.len() {
            // The same words have other meanings with more operands.
            return Step::Unknown(format!("{opcode} of {} operands", operands.len()));
        }
        let from: Vec<Operand> =
            operands.drain(1..).zip(&alu.from).map(|(operand, ty)| number_of(operand, *ty)).collect();
        let register = |operand: Operand| match operand {
            Operand::Register(number) | Operand::Predicate(number) => Some(Some(number)),
            Operand::Sink => Some(None),
            _ => None,
        };
        let to = match operands.pop() {
            Some(Operand::Pair(first, second)) if alu.to.len() == 2 => register(*first).zip(register(*second)),
            Some(one) => register(one).map(|one| (one, None)),
            None => None,
        };
        match to {
            Some((first, second)) => Step::Compute { alu, to: [first, second], from },
            None => Step::Malformed(format!("{opcode} has no register for its result")),
        }
    }

    fn target(&self, label: &str) -> Option<usize> {
        self.labels.get(label).copied()
    }

    fn table(&self, operands: &[String]) -> Step {
        let [index, table] = operands else { return Step::Malformed("a table without an index".into()) };
        let targets = self.tables.get(table).map(|labels| labels.iter().map(|label| self.target(label)).collect());
        match (self.operand(index), targets.flatten()) {
            (Some(index), Some(targets)) => Step::Table(index, targets),
            _ => no_label(table),
        }
    }

    /// `(result), name, (arguments)`
    fn call(&self, rest: &str) -> Step {
        let parts = text::operands(rest);
        let (results, parts) = match parts.split_first() {
            Some((first, others)) if first.starts_with('(') => (first.as_str(), others),
            _ => ("", &parts[..]),
        };
        let list = |list: &str| {
            let names = list.trim_matches(['(', ')']).split(',').map(str::trim).filter(|name| !name.is_empty());
            names
                .map(|name| match self.places.get(name) {
                    Some(Place::Frame(at)) => Some(*at),
                    _ => None,
                })
                .collect::<Option<Vec<u64>>>()
        };
        let Some(name) = parts.first() else { return Step::Malformed("a call of nothing".into()) };
        if self.registers.contains_key(name) {
            return Step::Unknown("call of a register".into());
        }
        match (list(results), list(parts.get(1).map_or("", String::as_str))) {
            (Some(results), Some(arguments)) => Step::Call { name: name.clone(), results, arguments },
            _ => Step::Malformed(format!("what is handed to {name} is not declared")),
        }
    }

    fn operand(&self, text: &str) -> Option<Operand> {
        let inner = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close).map(str::trim);
        if let Some(register) = self.registers.get(text) {
            return Some(register.clone());
        }
        if let Some(list) = inner('{', '}') {
            let all = list.split(',').map(|one| self.operand(one.trim())).collect::<Option<Vec<_>>>()?;
            return Some(Operand::Vector(all));
        }
        if let Some(place) = inner('[', ']') {
            let (place, coordinates) = place.split_once(',').unwrap_or((place, ""));
            let count = if coordinates.is_empty() { 0 } else { coordinates.split(',').count() };
            let (base, offset) = match place.rsplit_once(['+', '-']) {
                Some((base, offset)) => {
                    let offset = offset.trim().parse::<u64>().ok()?;
                    let negative = place[base.len()..].starts_with('-')
                        || base.trim_end().ends_with(['+', '-']) && place.contains('-');
                    (base.trim_end_matches(['+', '-', ' ']), if negative { offset.wrapping_neg() } else { offset })
                }
                None => (place, 0),
            };
            return Some(Operand::Address(Box::new(self.operand(base.trim())?), offset, count));
        }
        if let Some((first, second)) = text.split_once('|') {
            let [first, second] = [first, second].map(|one| self.operand(one.trim()));
            return Some(Operand::Pair(Box::new(first?), Box::new(second?)));
        }
        if let Some(name) = text.strip_prefix('!') {
            return match self.registers.get(name.trim()) {
                Some(Operand::Predicate(number)) => Some(Operand::Not(*number)),
                _ => None,
            };
        }
        match text.as_bytes().first()? {
            b'_' if text == "_" => Some(Operand::Sink),
            b'%' => Some(Operand::Special(text[1..].to_owned())),
            b'0'..=b'9' | b'-' => number(text),
            _ => {
                let place = self.places.get(text).or_else(|| self.module.get(text)).cloned();
                place.map(Operand::Name)
            }
        }
    }
}

fn no_label(label: &str) -> Step {
    Step::Malformed(format!("there is no label {label}"))
}

/// The lanes of a vector operand, or the one register.
pub(crate) fn lanes(operand: Operand) -> Vec<Operand> {
    match operand {
        Operand::Vector(lanes) => lanes,
        one => vec![one],
    }
}

fn number(text: &str) -> Option<Operand> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest.trim()));
    let radix = |prefix: [&str; 2], radix: u32| {
        let digits = prefix.iter().find_map(|prefix| digits.strip_prefix(prefix))?;
        u128::from_str_radix(digits.trim_end_matches('U'), radix).ok()
    };
    if digits.contains('.')
        || digits.contains(['e', 'E'])
            && !digits.starts_with("0x")
            && !digits.starts_with("0f")
            && !digits.starts_with("0d")
    {
        let number: f64 = digits.parse().ok()?;
        return Some(Operand::Decimal(if negative { -number } else { number }));
    }
    let found = radix(["0f", "0F"], 16).or_else(|| radix(["0d", "0D"], 16)).or_else(|| radix(["0x", "0X"], 16));
    let found = found.or_else(|| radix(["0b", "0B"], 2)).or_else(|| digits.trim_end_matches('U').parse().ok())?;
    Some(Operand::Number(if negative { found.wrapping_neg() } else { found }))
}

/// A decimal number is one of the operand's type.
fn number_of(operand: Operand, ty: Type) -> Operand {
    match operand {
        Operand::Decimal(number) if ty.is_float() || ty.kind == Kind::Bits => {
            let bits = number.to_bits().into();
            let to = Type { kind: if ty.kind == Kind::Bits { Kind::Float } else { ty.kind }, lanes: 1, ..ty };
            Operand::Number(convert::float(crate::float::DOUBLE, to, bits, rustc_apfloat::Round::NearestTiesToEven))
        }
        other => other,
    }
}

/// A load or a store.
fn access(words: &[&str], operands: Vec<Operand>) -> Step {
    let space = Space::of(words.iter().copied());
    let Some(ty) = words.last().and_then(|word| Type::parse(word)) else {
        return Step::Unknown(words.join("."));
    };
    let bytes = ty.bits as usize / 8;
    let mut operands = operands.into_iter();
    let (Some(first), Some(second)) = (operands.next(), operands.next()) else {
        return Step::Malformed("an operand is missing".into());
    };
    if words[0] == "st" {
        let from = lanes(second).into_iter().map(|lane| number_of(lane, ty)).collect();
        return Step::Store { space, bytes, to: first, from };
    }
    Step::Load { space, bytes, signed: ty.is_signed(), to: lanes(first), from: second }
}
