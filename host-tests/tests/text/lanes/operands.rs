//! The operands of instructions that are neither loads nor stores nor atomics, followed through the PTX: each register of
//! the instruction holds the parameter that the ISA has in its place, unchanged, and what comes out is what the function
//! gives.

use std::collections::HashMap;
use std::sync::LazyLock;

use host_tests::check::forms::{self, Case, Syntax};
use host_tests::check::{forms_check, ledger};
use host_tests::tools::ptx::{Function, Module};
use regex::Regex;

use crate::lanes::{first, ptx_of};

/// Registers that no instruction writes.
const SPECIAL: [&str; 3] = ["%clock", "%clock64", "%globaltimer"];

/// What a register holds: a parameter, an element of one, what the instruction gives; or another value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Holds {
    Parameter(String),
    Result,
    Other(String),
}

impl Holds {
    /// The element after this one.
    fn next(self) -> Holds {
        let Holds::Parameter(name) = &self else { return self };
        let Some((name, at)) = name.split_once('.').and_then(|(name, at)| Some((name, at.parse::<usize>().ok()?)))
        else {
            return self;
        };
        Holds::Parameter(format!("{name}.{}", at + 1))
    }
}

/// The parameters of a case, in order: names and types.
fn parameters(case: &Case) -> Vec<(String, String)> {
    let call = case.call();
    let result = call.result.map(|result| ("result".to_owned(), format!("&mut {result}")));
    let own = call.parameters.split(", ").filter_map(|one| one.split_once(": "));
    result.into_iter().chain(own.map(|(name, of)| (name.to_owned(), of.to_owned()))).collect()
}

/// How many elements an array or a vector has; none if it is one number.
fn elements(of: &str) -> Option<usize> {
    match of.strip_prefix('V') {
        Some(vector) => vector.split_once('<')?.0.parse().ok(),
        None => of.strip_prefix('[')?.trim_end_matches(']').split_once("; ")?.1.parse().ok(),
    }
}

/// The bits of an element of an array or a vector.
fn element_bits(of: &str) -> Option<usize> {
    elements(of)?;
    let element = of.split(['<', '[']).nth(1)?;
    element.chars().filter(char::is_ascii_digit).take(2).collect::<String>().parse().ok()
}

/// How many registers a result has: a tuple, one for each part.
fn results(case: &Case) -> usize {
    case.call().result.map_or(0, |result| if result.starts_with('(') { result.split(',').count() } else { 1 })
}

/// What the registers of the instruction have to hold, in order.
fn expected(case: &Case) -> Vec<Holds> {
    let ptx = case.form.ptx();
    let row = ledger::OPERANDS.iter().find(|(begin, _)| ptx.starts_with(begin));
    let (_, order) = row.unwrap_or_else(|| panic!("{ptx}: add its operands to {}", ledger::TABLE));
    let parameters = parameters(case);
    let of = |name: &&str| {
        let (name, of) = parameters.iter().find(|(own, _)| own == name)?;
        let elements = elements(of);
        let held = |at| if elements.is_some() { format!("{name}.{at}") } else { name.clone() };
        Some((0..elements.unwrap_or(1)).map(held).collect::<Vec<_>>())
    };
    let named: Vec<Vec<String>> = order.iter().filter_map(of).collect();
    assert_eq!(
        named.len(),
        parameters.len(),
        "{ptx}: {parameters:?} are not all among {order:?}, in {}",
        ledger::TABLE
    );
    let hold = |name: String| if name == "result" { Holds::Result } else { Holds::Parameter(name) };
    let more = std::iter::repeat_n(Holds::Result, results(case).saturating_sub(1));
    more.chain(named.into_iter().flatten().map(hold)).collect()
}

/// The registers of a line, in order; names of the block's own count too, and none that the hardware has.
fn registers(text: &str) -> Vec<&str> {
    static REGISTER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"%[A-Za-z_]\w*").expect("the pattern is valid"));
    let found = REGISTER.find_iter(text).map(|found| found.as_str());
    found.filter(|name| !SPECIAL.contains(name)).collect()
}

/// What a function's registers hold, line by line: what its instruction is given, and what it stores as its result.
struct Followed<'a> {
    case: &'a Case,
    held: HashMap<String, Holds>,
    /// Whether the line is one of ours, and not of the compiler's: a collective has no lines of ours.
    in_asm: bool,
    given: Option<Vec<Holds>>,
    stored: Vec<(Holds, Holds)>,
}

impl Followed<'_> {
    fn holds(&self, register: &str) -> Holds {
        self.held.get(register).cloned().unwrap_or(Holds::Other(register.to_owned()))
    }

    fn line(&mut self, text: &str) {
        let ptx = self.case.form.ptx();
        self.in_asm = match text {
            "// begin inline asm" => true,
            "// end inline asm" => self.case.form.is_collective(),
            _ => self.in_asm,
        };
        let own = text.strip_prefix(ptx).filter(|rest| self.in_asm && rest.starts_with([' ', ';']));
        if let Some(operands) = own {
            let registers = registers(operands);
            for result in &registers[..results(self.case).min(registers.len())] {
                self.held.insert((*result).to_owned(), Holds::Result);
            }
            self.given = Some(registers.into_iter().map(|register| self.holds(register)).collect());
            return;
        }
        let (opcode, operands) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let names = registers(operands);
        if opcode.starts_with("ld.param") {
            return self.parameter(opcode, operands, &names);
        }
        let words: Vec<&str> = opcode.split('.').collect();
        // What leaves a value as it is, or says it in a register of another kind.
        let moved = match (words[0], names.as_slice()) {
            // Two elements lie in one register: this is the second.
            ("mov", [to, from]) if operands.trim_start().starts_with("{_, ") => Some((to, self.holds(from).next())),
            // The halves of one number, the lower one first.
            ("mov", [to, low, high]) if words[1] == "b128" => {
                whole(self.holds(low), self.holds(high)).map(|all| (to, all))
            }
            ("mov" | "cvt", [to, from]) => Some((to, self.holds(from))),
            ("cvta", [to, from]) => Some((to, self.holds(from))),
            ("ld", [to, from]) => Some((to, self.holds(from))),
            ("setp", [to, from]) if words[1] == "ne" && operands.ends_with(", 0;") => Some((to, self.holds(from))),
            ("setp", [to, from]) if words[1] == "eq" && operands.ends_with(", 1;") => Some((to, self.holds(from))),
            ("and", [to, from]) if operands.ends_with(", 1;") => Some((to, self.holds(from))),
            ("selp", [to, from]) if operands.ends_with(&format!(" 1, 0, {from};")) => Some((to, self.holds(from))),
            _ => None,
        };
        if let Some((to, holds)) = moved {
            self.held.insert((*to).to_owned(), holds);
        } else if let ("st", [to, from]) = (words[0], names.as_slice()) {
            self.stored.push((self.holds(to), self.holds(from)));
        } else if let Some(to) = names.first().filter(|_| !text.starts_with('.')) {
            self.held.insert((*to).to_owned(), Holds::Other(text.to_owned()));
        }
    }

    /// `ld.param.v2.b32 {%r1, %r2}, [name_param_1+4];`
    fn parameter(&mut self, opcode: &str, operands: &str, names: &[&str]) {
        static PLACE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"_param_(\d+)(?:\+(\d+))?\]").expect("the pattern is valid"));
        let place = PLACE.captures(operands).expect("a parameter has a place");
        let number: usize = place[1].parse().expect("a number");
        let offset: usize = place.get(2).map_or(0, |offset| offset.as_str().parse().expect("a number"));
        let (name, of) = parameters(self.case).swap_remove(number);
        let bits: usize =
            opcode.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|bits| bits.parse().ok()).unwrap_or(0);
        for (at, register) in names.iter().enumerate() {
            let element = element_bits(&of).unwrap_or(if of == "u128" { 64 } else { bits });
            let place = offset * 8 / element + at * bits.div_ceil(element);
            let held = if elements(&of).is_some() || of == "u128" { format!("{name}.{place}") } else { name.clone() };
            self.held.insert((*register).to_owned(), Holds::Parameter(held));
        }
    }
}

/// The parameter whose halves these are.
fn whole(low: Holds, high: Holds) -> Option<Holds> {
    match (low, high) {
        (Holds::Parameter(low), Holds::Parameter(high)) => {
            let name = low.strip_suffix(".0")?;
            (high.strip_suffix(".1")? == name).then(|| Holds::Parameter(name.to_owned()))
        }
        _ => None,
    }
}

/// What is wrong with a function.
fn wrong(case: &Case, function: &Function) -> Option<String> {
    let mut followed =
        Followed { case, held: HashMap::new(), in_asm: case.form.is_collective(), given: None, stored: Vec::new() };
    function.body.iter().for_each(|line| followed.line(&line.text));
    let expected = expected(case);
    let given = followed.given.unwrap_or_default();
    if given != expected {
        return Some(format!("{}: takes {given:?}, not {expected:?}", case.rust()));
    }
    let stored = vec![(Holds::Parameter("result".into()), Holds::Result); results(case)];
    (followed.stored != stored).then(|| format!("{}: stores {:?}, not {stored:?}", case.rust(), followed.stored))
}

#[test]
fn each_operand_is_in_its_place() {
    let of_operands = |case: &Case| {
        let (form, plain) = (&case.form, case.syntax == Syntax::Plain);
        plain
            && !form.is_atomic()
            && !form.is_multimem()
            && form.signature().is_some_and(|signature| signature.operands.contains('%'))
    };
    let cases: Vec<Case> = forms::cases(&forms_check::every_form()).into_iter().filter(of_operands).collect();
    let function = |case: &Case| {
        let rest = case.parameters_and_body();
        format!("#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {}{rest}\n", case.name)
    };
    let text = ptx_of("operands", &cases.iter().map(function).collect::<String>());
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let found = |case: &Case| {
        let function = module.function(&case.name).unwrap_or_else(|| panic!("{} is not in the PTX", case.name));
        wrong(case, function)
    };
    let wrong: Vec<String> = cases.iter().filter_map(found).collect();
    println!("operands: {} forms, {} wrong", cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), first(&wrong));
    ledger::compare("WITH_OPERANDS", &[ledger::WITH_OPERANDS], &[cases.len()]);
}
