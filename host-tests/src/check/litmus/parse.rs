//! The field's `.litmus` format for PTX, as herd and Dat3M write it.
//!
//! Beyond it this parser takes what newer PTX has: the scope `.cluster` (`P0@cta 0,cluster 0,gpu 0`), `.volatile`, loads through
//! the async proxy (`ald.weak r0, x`) and `fence.proxy.async`.

use std::fmt;

use super::condition::{Condition, Quantifier, Term, Test};
use super::program::{
    Address, Barrier, Fence, Instruction, Memory, Placement, Program, Proxy, Scope, Semantics, Thread,
};
use super::value::{Compare, Operation, Register, Value};

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What is wrong.
    pub why: String,
    /// The line, from 1, if it is one line's.
    pub line: Option<usize>,
    /// Whether the file is well-formed, and asks for what is outside of the model's scope.
    pub outside: bool,
}

impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "line {line}: {}", self.why),
            None => out.write_str(&self.why),
        }
    }
}

type Read<T> = Result<T, Unread>;

fn wrong<T>(why: impl fmt::Display) -> Read<T> {
    Err(Unread { why: why.to_string(), line: None, outside: false })
}

fn outside<T>(why: impl fmt::Display) -> Read<T> {
    Err(Unread { why: why.to_string(), line: None, outside: true })
}

/// Names the line of a mistake, unless a deeper place did.
fn at<T>(line: usize, read: Read<T>) -> Read<T> {
    read.map_err(|unread| Unread { line: unread.line.or(Some(line)), ..unread })
}

/// Reads a file's text.
pub fn parse(text: &str) -> Read<Program> {
    let text = without_comments(text);
    let (head, rest) = text.split_at(after_head(&text)?);
    let mut words = head.split_whitespace();
    if !matches!(words.next(), Some("PTX" | "ptx")) {
        return wrong("the file does not begin with `PTX NAME`");
    }
    let name = words.next().unwrap_or_default().to_owned();
    let (initial, rest) = match rest[1..].split_once('}') {
        Some(halves) => halves,
        None => return wrong("the `{` of the initial state is not closed"),
    };
    let line_of = |tail: &str| 1 + text[..text.len() - tail.len()].matches('\n').count();
    let mut reader = Reader::default();
    at(1 + head.matches('\n').count(), reader.initial(initial))?;
    let mut rest = rest.trim_start().strip_prefix(';').unwrap_or(rest);
    while let Some(row) = next_row(rest) {
        at(line_of(rest.trim_start()), reader.row(row))?;
        rest = &rest[row.len() + 1..];
    }
    let line = line_of(rest.trim_start());
    let condition = at(line, reader.condition(rest))?;
    reader.finish(name, condition)
}

/// `(* … *)` becomes blank, so that lines keep their numbers.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("(*") {
        kept += before;
        let (inside, after) = comment.split_once("*)").unwrap_or((comment, ""));
        kept.extend(inside.chars().filter(|&char| char == '\n'));
        rest = after;
    }
    kept + rest
}

/// Where the `{` of the initial state is: the first outside of quotes.
fn after_head(text: &str) -> Read<usize> {
    let mut quoted = false;
    let brace = text.char_indices().find(|&(_, char)| {
        quoted ^= char == '"';
        char == '{' && !quoted
    });
    brace.map_or_else(|| wrong("there is no initial state, `{ … }`"), |(at, _)| Ok(at))
}

/// A row of the table: up to a `;`, unless the condition begins before that.
fn next_row(rest: &str) -> Option<&str> {
    let start = rest.trim_start();
    let is_condition =
        ["exists", "~", "not ", "forall", "filter", "final", "locations"].iter().any(|word| start.starts_with(word));
    (!is_condition).then(|| rest.split_once(';').map(|(row, _)| row)).flatten()
}

#[derive(Default)]
struct Reader {
    addresses: Vec<Address>,
    initial: Vec<i64>,
    /// Of registers: the thread's number, the register, the value.
    registers: Vec<(u32, Register, i64)>,
    threads: Vec<Thread>,
}

impl Reader {
    fn initial(&mut self, text: &str) -> Read<()> {
        text.split(';')
            .map(str::trim)
            .filter(|declared| !declared.is_empty())
            .try_for_each(|declared| self.declare(declared))
    }

    /// `x = 0`, `P0:r1 = 0` or `s @ surface aliases x`.
    fn declare(&mut self, declared: &str) -> Read<()> {
        if let Some((name, alias)) = declared.split_once('@') {
            let Some((proxy, of)) = alias.split_once("aliases") else {
                return wrong(format_args!("`{declared}` is not `NAME @ PROXY aliases NAME`"));
            };
            return self.alias(name.trim(), proxy.trim(), of.trim());
        }
        let Some((name, value)) = declared.split_once('=') else {
            return wrong(format_args!("`{declared}` is not `NAME = NUMBER`"));
        };
        let (name, value) = (name.trim(), value.trim());
        let Ok(value) = number(value) else {
            return outside(format_args!("`{declared}`: pointers in memory or in registers"));
        };
        if let Some((thread, register)) = name.split_once(':') {
            self.registers.push((thread_number(thread)?, register_of(register)?, value));
            return Ok(());
        }
        let address = self.address(name)?;
        self.initial[self.addresses[address].physical] = value;
        Ok(())
    }

    fn alias(&mut self, name: &str, proxy: &str, of: &str) -> Read<()> {
        let aliased = self.address(of)?;
        let proxy = proxy_of(proxy)?;
        let Address { physical, virtual_address, .. } = self.addresses[aliased];
        let virtual_address = if proxy == Proxy::Generic { self.addresses.len() } else { virtual_address };
        self.addresses.push(Address { name: name.to_owned(), physical, virtual_address, proxy });
        Ok(())
    }

    /// A name that the initial state does not have begins with 0.
    fn address(&mut self, name: &str) -> Read<usize> {
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') || !name.chars().all(is_of_name)
        {
            return wrong(format_args!("`{name}` is not the name of a location"));
        }
        if let Some(known) = self.addresses.iter().position(|address| address.name == name) {
            return Ok(known);
        }
        let (physical, virtual_address) = (self.initial.len(), self.addresses.len());
        self.initial.push(0);
        self.addresses.push(Address { name: name.to_owned(), physical, virtual_address, proxy: Proxy::Generic });
        Ok(self.addresses.len() - 1)
    }

    fn row(&mut self, row: &str) -> Read<()> {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if self.threads.is_empty() {
            self.threads = cells.into_iter().map(thread).collect::<Read<_>>()?;
            return Ok(());
        }
        if cells.len() > self.threads.len() {
            return wrong(format_args!("{} cells for {} threads", cells.len(), self.threads.len()));
        }
        for (at, cell) in cells.into_iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let instruction = self
                .instruction(cell)
                .map_err(|unread| Unread { why: format!("`{cell}`: {}", unread.why), ..unread })?;
            self.threads[at].code.push(instruction);
        }
        Ok(())
    }

    fn instruction(&mut self, cell: &str) -> Read<Instruction> {
        if let Some(label) = cell.strip_suffix(':') {
            return Ok(Instruction::Label(label.trim().to_owned()));
        }
        let (mnemonic, operands) = cell.split_once(char::is_whitespace).unwrap_or((cell, ""));
        let operands: Vec<&str> = operands.split(',').map(str::trim).filter(|operand| !operand.is_empty()).collect();
        let words: Vec<&str> = mnemonic.split('.').collect();
        match words[..] {
            ["fence", "proxy", "alias"] => none_of(&operands, Instruction::Fence(Fence::Alias)),
            ["fence", "proxy", proxy] => none_of(&operands, Instruction::Fence(Fence::Proxy(proxy_of(proxy)?))),
            ["fence", semantics, scope] => {
                none_of(&operands, Instruction::Fence(Fence::Memory(semantics_of(semantics)?, scope_of(scope)?)))
            }
            ["bar", "cta", mode] => barrier(mode, &operands),
            ["goto"] => Ok(Instruction::Jump(one(&operands)?.to_owned())),
            ["ld"] => match operands[..] {
                [to, value] => Ok(Instruction::Move(register_of(to)?, value_of(value)?)),
                _ => wrong("it takes a register and a value"),
            },
            [word] => compute_or_branch(word, &operands),
            [access, ref words @ ..] => self.access(access, words, &operands),
            [] => wrong("no instruction"),
        }
    }

    fn access(&mut self, access: &str, words: &[&str], operands: &[&str]) -> Read<Instruction> {
        let Some((kind, proxy)) = access_of(access) else { return wrong("no such instruction") };
        let [semantics, ref words @ ..] = *words else { return wrong("its order is missing") };
        let semantics = semantics_of(semantics)?;
        let (scope, words) = match *words {
            [scope, ref words @ ..] if scope_of(scope).is_ok() => (Some(scope_of(scope)?), words),
            ref words => (None, words),
        };
        match (semantics, scope) {
            (Semantics::Weak | Semantics::Volatile, Some(_)) => return wrong("a weak or volatile access has no scope"),
            (Semantics::Weak | Semantics::Volatile, None) | (_, Some(_)) => {}
            (_, None) => return wrong("its scope is missing"),
        }
        let mut memory = |name| Ok(Memory { address: self.address(name)?, semantics, scope, proxy });
        let fits = match kind {
            Kind::Load => !matches!(semantics, Semantics::Release | Semantics::AcqRel | Semantics::Sc),
            Kind::Store => !matches!(semantics, Semantics::Acquire | Semantics::AcqRel | Semantics::Sc),
            Kind::Atomic | Kind::Reduction => {
                !matches!(semantics, Semantics::Weak | Semantics::Volatile | Semantics::Sc)
            }
        };
        if !fits {
            return wrong(format_args!("it cannot be .{semantics}"));
        }
        match (kind, words, operands) {
            (Kind::Load, [], [to, from]) => Ok(Instruction::Load(register_of(to)?, memory(from)?)),
            (Kind::Store, [], [to, value]) => Ok(Instruction::Store(memory(to)?, value_of(value)?)),
            (Kind::Atomic, [operation], [to, at, values @ ..]) => {
                atomic(Some(register_of(to)?), memory(at)?, operation, values)
            }
            (Kind::Reduction, [operation], [at, values @ ..]) => atomic(None, memory(at)?, operation, values),
            _ => wrong("its words or its operands are not those of this instruction"),
        }
    }

    fn condition(&mut self, text: &str) -> Read<Condition> {
        let text = text.trim();
        if text.starts_with("filter") || text.starts_with("final") {
            return outside("`filter` and `final`");
        }
        let text = match text.strip_prefix("locations") {
            Some(listed) => listed.split_once(']').map_or(listed, |(_, rest)| rest).trim_start(),
            None => text,
        };
        let denied = text.strip_prefix('~').or_else(|| text.strip_prefix("not ")).map(str::trim_start);
        let quantified = [
            (Quantifier::NotExists, denied.and_then(|text| text.strip_prefix("exists"))),
            (Quantifier::Exists, text.strip_prefix("exists")),
            (Quantifier::Forall, text.strip_prefix("forall")),
        ];
        let Some((quantifier, Some(asked))) = quantified.into_iter().find(|(_, asked)| asked.is_some()) else {
            return wrong("there is no condition: exists, ~exists or forall");
        };
        let tokens = tokens(asked.trim_end().trim_end_matches(';'))?;
        let mut tokens = tokens.as_slice();
        let test = self.any(&mut tokens)?;
        match tokens {
            [] => Ok(Condition { quantifier, test }),
            [left, ..] => wrong(format_args!("`{left}` is left over in the condition")),
        }
    }

    /// What `\/` joins: `/\` binds closer.
    fn any(&mut self, tokens: &mut &[String]) -> Read<Test> {
        let mut test = self.all(tokens)?;
        while eat(tokens, "\\/") {
            test = Test::Or(Box::new(test), Box::new(self.all(tokens)?));
        }
        Ok(test)
    }

    fn all(&mut self, tokens: &mut &[String]) -> Read<Test> {
        let mut test = self.single(tokens)?;
        while eat(tokens, "/\\") {
            test = Test::And(Box::new(test), Box::new(self.single(tokens)?));
        }
        Ok(test)
    }

    fn single(&mut self, tokens: &mut &[String]) -> Read<Test> {
        if eat(tokens, "~") || eat(tokens, "not") {
            return Ok(Test::Not(Box::new(self.single(tokens)?)));
        }
        if eat(tokens, "(") {
            let test = self.any(tokens)?;
            return if eat(tokens, ")") { Ok(test) } else { wrong("a `(` of the condition is not closed") };
        }
        let left = self.term(tokens)?;
        let compare = match take(tokens)?.as_str() {
            "=" | "==" => Compare::Equal,
            "!=" => Compare::NotEqual,
            "<" => Compare::Less,
            "<=" => Compare::LessOrEqual,
            ">" => Compare::Greater,
            ">=" => Compare::GreaterOrEqual,
            other => return wrong(format_args!("`{other}` does not compare")),
        };
        Ok(Test::Compare(compare, left, self.term(tokens)?))
    }

    fn term(&mut self, tokens: &mut &[String]) -> Read<Term> {
        if eat(tokens, "[") {
            let name = take(tokens)?;
            return if eat(tokens, "]") { self.memory(&name) } else { wrong("a `[` of the condition is not closed") };
        }
        let word = take(tokens)?;
        if eat(tokens, ":") {
            let (number, register) = (thread_number(&word)?, register_of(&take(tokens)?)?);
            return match self.threads.iter().position(|thread| thread.number == number) {
                Some(thread) => Ok(Term::Register(thread, register)),
                None => wrong(format_args!("there is no thread P{number}")),
            };
        }
        number(&word).map(Term::Constant).or_else(|_| self.memory(&word))
    }

    fn memory(&mut self, name: &str) -> Read<Term> {
        let address = self.address(name)?;
        Ok(Term::Memory(self.addresses[address].physical))
    }

    fn finish(mut self, name: String, condition: Condition) -> Read<Program> {
        for (number, register, value) in self.registers {
            // The field's files give registers to threads that they have not.
            let own = self.threads.iter_mut().find(|thread| thread.number == number);
            own.into_iter().for_each(|thread| thread.initial.push((register, value)));
        }
        for thread in &self.threads {
            for instruction in &thread.code {
                let (Instruction::Branch(.., label) | Instruction::Jump(label)) = instruction else { continue };
                if Program::target(thread, label).is_none() {
                    return wrong(format_args!("P{} has no label {label}", thread.number));
                }
            }
        }
        Ok(Program { name, addresses: self.addresses, initial: self.initial, threads: self.threads, condition })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Load,
    Store,
    Atomic,
    Reduction,
}

fn access_of(word: &str) -> Option<(Kind, Proxy)> {
    Some(match word {
        "ld" => (Kind::Load, Proxy::Generic),
        "tld" => (Kind::Load, Proxy::Texture),
        "suld" => (Kind::Load, Proxy::Surface),
        "cold" => (Kind::Load, Proxy::Constant),
        "ald" => (Kind::Load, Proxy::Async),
        "st" => (Kind::Store, Proxy::Generic),
        "sust" => (Kind::Store, Proxy::Surface),
        "atom" => (Kind::Atomic, Proxy::Generic),
        "suatom" => (Kind::Atomic, Proxy::Surface),
        "red" => (Kind::Reduction, Proxy::Generic),
        "sured" => (Kind::Reduction, Proxy::Surface),
        _ => return None,
    })
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn number(text: &str) -> Result<i64, std::num::ParseIntError> {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| i64::from_str_radix(digits, 16))
}

fn thread_number(text: &str) -> Read<u32> {
    let text = text.trim();
    let digits = text.strip_prefix('P').unwrap_or(text);
    digits.parse().or_else(|_| wrong(format_args!("`{text}` is not a thread")))
}

fn register_of(text: &str) -> Read<Register> {
    let digits = text.trim().strip_prefix('r').and_then(|digits| digits.parse().ok());
    digits.map_or_else(|| wrong(format_args!("`{text}` is not a register")), |number| Ok(Register(number)))
}

fn value_of(text: &str) -> Read<Value> {
    match number(text) {
        Ok(number) => Ok(Value::Constant(number)),
        Err(_) => Ok(Value::Register(register_of(text)?)),
    }
}

fn proxy_of(word: &str) -> Read<Proxy> {
    match word {
        "generic" => Ok(Proxy::Generic),
        "surface" => Ok(Proxy::Surface),
        "texture" => Ok(Proxy::Texture),
        "constant" => Ok(Proxy::Constant),
        "async" => Ok(Proxy::Async),
        _ => wrong(format_args!("`{word}` is not a proxy")),
    }
}

fn semantics_of(word: &str) -> Read<Semantics> {
    match word {
        "weak" => Ok(Semantics::Weak),
        "volatile" => Ok(Semantics::Volatile),
        "relaxed" => Ok(Semantics::Relaxed),
        "acquire" => Ok(Semantics::Acquire),
        "release" => Ok(Semantics::Release),
        "acq_rel" => Ok(Semantics::AcqRel),
        "sc" => Ok(Semantics::Sc),
        _ => wrong(format_args!("`{word}` is not an order")),
    }
}

fn scope_of(word: &str) -> Read<Scope> {
    match word {
        "cta" => Ok(Scope::Cta),
        "cluster" => Ok(Scope::Cluster),
        "gpu" => Ok(Scope::Gpu),
        "sys" => Ok(Scope::Sys),
        _ => wrong(format_args!("`{word}` is not a scope")),
    }
}

fn operation_of(word: &str) -> Read<Operation> {
    match word {
        "add" => Ok(Operation::Add),
        "sub" => Ok(Operation::Sub),
        "mul" => Ok(Operation::Mul),
        "div" => Ok(Operation::Div),
        "and" => Ok(Operation::And),
        "or" => Ok(Operation::Or),
        "xor" => Ok(Operation::Xor),
        "exch" => Ok(Operation::Exch),
        "cas" => Ok(Operation::Cas),
        _ => wrong(format_args!("`{word}` is not an operation")),
    }
}

/// `P0@cta 0,gpu 0`
fn thread(cell: &str) -> Read<Thread> {
    let Some((number, place)) = cell.split_once('@') else {
        return wrong(format_args!("`{cell}` does not say where the thread runs: `P0@cta 0,gpu 0`"));
    };
    let mut placement = Placement { cta: 0, cluster: None, gpu: 0 };
    for part in place.split(',') {
        let id = |word| part.trim().strip_prefix(word).and_then(|id: &str| id.trim().parse().ok());
        match (id("cta"), id("cluster"), id("gpu")) {
            (Some(cta), ..) => placement.cta = cta,
            (_, Some(cluster), _) => placement.cluster = Some(cluster),
            (.., Some(gpu)) => placement.gpu = gpu,
            _ => return wrong(format_args!("`{part}` is no place")),
        }
    }
    Ok(Thread { number: thread_number(number)?, placement, initial: Vec::new(), code: Vec::new() })
}

fn one<'o>(operands: &[&'o str]) -> Read<&'o str> {
    match operands {
        [operand] => Ok(operand),
        _ => wrong("it takes one operand"),
    }
}

fn none_of(operands: &[&str], instruction: Instruction) -> Read<Instruction> {
    if operands.is_empty() { Ok(instruction) } else { wrong("it takes no operand") }
}

fn barrier(mode: &str, operands: &[&str]) -> Read<Instruction> {
    let waits = match mode {
        "sync" => true,
        "arrive" => false,
        _ => return wrong(format_args!("`{mode}` is not a mode of a barrier")),
    };
    let (instance, rest) = match operands {
        [instance, rest @ ..] if rest.len() <= 2 => (instance, rest),
        _ => return wrong("it takes one to three operands"),
    };
    let instance = number(instance).or_else(|_| wrong(format_args!("`{instance}` is not a number")))?;
    let mut rest = rest.iter().map(|operand| value_of(operand));
    let resource = rest.next().transpose()?.unwrap_or(Value::Constant(0));
    Ok(Instruction::Barrier(Barrier { waits, instance, resource, quorum: rest.next().transpose()? }))
}

fn compute_or_branch(word: &str, operands: &[&str]) -> Read<Instruction> {
    let [first, second, third] = *operands else { return wrong("it takes three operands") };
    let compare = match word {
        "beq" => Compare::Equal,
        "bne" => Compare::NotEqual,
        "blt" => Compare::Less,
        "ble" => Compare::LessOrEqual,
        "bgt" => Compare::Greater,
        "bge" => Compare::GreaterOrEqual,
        "add" | "sub" | "mul" | "div" => {
            let operation = operation_of(word)?;
            return Ok(Instruction::Compute(register_of(first)?, operation, value_of(second)?, value_of(third)?));
        }
        _ => return wrong("no such instruction"),
    };
    Ok(Instruction::Branch(compare, value_of(first)?, value_of(second)?, third.to_owned()))
}

fn atomic(to: Option<Register>, memory: Memory, operation: &str, values: &[&str]) -> Read<Instruction> {
    let operation = operation_of(operation)?;
    let wanted = if operation == Operation::Cas { 2 } else { 1 };
    if values.len() != wanted {
        return wrong(format_args!("`{operation}` takes {wanted} values"));
    }
    let values = values.iter().map(|value| value_of(value)).collect::<Read<_>>()?;
    Ok(Instruction::Atomic(to, memory, operation, values))
}

fn tokens(text: &str) -> Read<Vec<String>> {
    const SIGNS: [&str; 16] = ["/\\", "\\/", "==", "!=", "<=", ">=", "=", "<", ">", "(", ")", "[", "]", ":", "~", ";"];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).map(|sign| sign.len());
        let word = rest.find(|char: char| !is_of_name(char) && char != '-').unwrap_or(rest.len());
        let Some(length) = sign.or((word > 0).then_some(word)) else {
            return wrong(format_args!("the condition has a strange sign: `{rest}`"));
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn eat(tokens: &mut &[String], token: &str) -> bool {
    let is_it = tokens.first().is_some_and(|first| first == token);
    *tokens = &tokens[usize::from(is_it)..];
    is_it
}

fn take(tokens: &mut &[String]) -> Read<String> {
    let Some((first, rest)) = tokens.split_first() else { return wrong("the condition ends early") };
    *tokens = rest;
    Ok(first.clone())
}
