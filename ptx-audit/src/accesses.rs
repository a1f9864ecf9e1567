//! The memory instructions of a kernel: what each was in PTX, and what became of its words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ptx_sass::hot_loop::width;
use ptx_sass::nvdisasm::SassInstruction;
use serde::{Deserialize, Serialize};

use crate::descriptor::{Descriptors, Holds};
use crate::fate::{Fate, Word, words};
use crate::finding::{Finding, Kind};
use crate::machine::{is_memory, is_ordering};
use crate::orders::Orders;
use crate::ptx::{Function, Statement, number};
use crate::source::Place;

/// A memory instruction of PTX and its machine instructions, or one machine instruction where there is no PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The PTX.
    pub ptx: Option<String>,
    /// Its line.
    pub ptx_line: Option<u32>,
    /// Where it came from.
    pub place: Option<Place>,
    /// The addresses of its machine instructions.
    pub addresses: Vec<u64>,
    /// The opcodes of its machine instructions, each once.
    pub opcodes: Vec<String>,
    /// Whether one of them stands in the hot loop.
    pub hot: bool,
    /// What became of its words.
    pub words: Vec<Word>,
}

/// A statement of PTX with its function.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) function: &'a Function,
    pub(crate) statement: &'a Statement,
}

/// The statements that touch memory or order what does, by their lines.
pub(crate) fn by_line(functions: &[Function]) -> HashMap<u32, Vec<Origin<'_>>> {
    let mut found: HashMap<u32, Vec<Origin<'_>>> = HashMap::new();
    for function in functions {
        for statement in function.statements.iter().filter(|one| touches_memory(one) || is_fence(one)) {
            found.entry(statement.line).or_default().push(Origin { function, statement });
        }
    }
    found
}

/// Whether it reads or writes memory that the kernel's author means: parameters are constants.
pub(crate) fn touches_memory(statement: &Statement) -> bool {
    let names = ["ld", "ldu", "st", "atom", "red", "cp", "prefetch", "prefetchu", "discard", "applypriority"];
    names.contains(&statement.name())
        && !statement.opcode.split('.').any(|word| word.starts_with("param"))
        && statement.operands.iter().any(|operand| operand.starts_with('['))
}

/// Whether it only orders accesses.
pub(crate) fn is_fence(statement: &Statement) -> bool {
    ["fence", "membar"].contains(&statement.name())
}

/// Whether it is a store or reduction that a barrier waits for, which has machine instructions of its own, or one that releases.
fn is_asynchronous(statement: &Statement) -> bool {
    ["st", "red"].contains(&statement.name()) && statement.has("async")
}

/// Which kinds of machine instructions a statement becomes.
fn fits(statement: &Statement, one: &SassInstruction) -> bool {
    let name = one.name();
    let begins = |all: &[&str]| all.iter().any(|begin| name.starts_with(begin));
    match statement.name() {
        "fence" | "membar" => is_ordering(one),
        _ if is_ordering(one) => false,
        "st" if is_asynchronous(statement) && statement.has("release") => begins(&["STG", "USTGR"]),
        "st" if is_asynchronous(statement) => name == "STAS",
        "red" if is_asynchronous(statement) && statement.has("release") => begins(&["REDG", "UREDGR"]),
        "red" if is_asynchronous(statement) => name == "REDAS",
        "ld" | "ldu" => begins(&["LD", "ULDC"]) && name != "LDGSTS",
        "st" => begins(&["ST", "UMEMSETS"]) && name != "STAS",
        // Where the machine has no atomic of a type there is a loop around others.
        "atom" | "red" => begins(&["ATOM", "RED", "LD", "ST"]) && !["LDGSTS", "STAS", "REDAS"].contains(&name),
        "cp" => begins(&["LDGSTS", "UBLK", "UTMA"]),
        _ => begins(&["CCTL", "UTMACCTL"]),
    }
}

/// A kernel's code as it is audited.
pub(crate) struct Body<'a> {
    pub(crate) code: &'a [SassInstruction],
    pub(crate) hot: &'a BTreeSet<u64>,
    pub(crate) sm: u32,
    /// A function's descriptors may be made by those that call it.
    pub(crate) is_entry: bool,
}

/// A statement's machine instructions, by their positions.
pub(crate) struct Became<'a> {
    pub(crate) origin: Origin<'a>,
    pub(crate) at: Vec<usize>,
}

impl Body<'_> {
    /// The machine instructions of each statement, in the order of the PTX; of the function's own also fences without any.
    pub(crate) fn became<'p>(
        &self,
        by_line: &HashMap<u32, Vec<Origin<'p>>>,
        function: Option<&'p Function>,
    ) -> Vec<Became<'p>> {
        let mut found: BTreeMap<(u32, usize), Became<'p>> = BTreeMap::new();
        let strays = self.strays(function);
        let is_one = |one: &SassInstruction| is_memory(one) || is_ordering(one) || one.name() == "LDC";
        for (at, one) in self.code.iter().enumerate().filter(|(_, one)| is_one(one)) {
            let line = strays.get(&at).copied().or(one.ptx_line);
            let Some(line) = line else { continue };
            for (number, origin) in by_line.get(&line).into_iter().flatten().enumerate() {
                if fits(origin.statement, one) {
                    let became = found.entry((line, number)).or_insert_with(|| Became { origin: *origin, at: vec![] });
                    became.at.push(at);
                }
            }
        }
        for line in function.into_iter().flat_map(|function| &function.statements).map(|one| one.line) {
            for (number, origin) in by_line.get(&line).into_iter().flatten().enumerate() {
                if is_fence(origin.statement) {
                    found.entry((line, number)).or_insert_with(|| Became { origin: *origin, at: vec![] });
                }
            }
        }
        found.into_values().collect()
    }

    /// The lines of stores and reductions that release asynchronously, by the positions of their machine instructions. On sm_120 these
    /// are ordinary ones, without a descriptor, and on the line of another instruction: they come in the order of the PTX.
    fn strays(&self, function: Option<&Function>) -> HashMap<usize, u32> {
        let mut waiting: Vec<&Statement> = function
            .into_iter()
            .flat_map(|function| &function.statements)
            .filter(|one| is_asynchronous(one) && one.has("release"))
            .collect();
        let mut found = HashMap::new();
        for (at, one) in self.code.iter().enumerate() {
            let is_stray =
                ["STG", "REDG"].contains(&one.name()) && one.operands.iter().any(|operand| operand.starts_with("[RZ"));
            let Some(own) = waiting.iter().position(|statement| is_stray && fits(statement, one)) else { continue };
            found.insert(at, waiting.remove(own).line);
        }
        found
    }

    /// What became of a statement's words.
    pub(crate) fn access(
        &self,
        became: &Became<'_>,
        place: Option<Place>,
        descriptors: &Descriptors<'_>,
        orders: &Orders<'_>,
    ) -> Access {
        let statement = became.origin.statement;
        let own = || became.at.iter().map(|at| &self.code[*at]);
        let opcodes: Vec<&str> = own().map(|one| one.opcode.as_str()).collect();
        let policy = became.at.iter().any(|at| self.has_policy(*at, descriptors));
        let unique: BTreeSet<&str> = opcodes.iter().copied().collect();
        Access {
            ptx: Some(statement.text()),
            ptx_line: Some(statement.line),
            place,
            addresses: own().map(|one| one.address).collect(),
            hot: own().any(|one| self.hot.contains(&one.address)),
            words: words(&statement.opcode, &opcodes, policy, self.sm)
                .into_iter()
                .chain(orders.of_access(statement, &became.at))
                .collect(),
            opcodes: unique.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Whether an instruction has a policy that is not the default.
    fn has_policy(&self, at: usize, descriptors: &Descriptors<'_>) -> bool {
        // Bulk copies have their policy among their operands.
        let is_bulk = self.code[at].name().starts_with('U');
        is_bulk || descriptors.at(at).is_some_and(|held| held.iter().any(|one| *one != Holds::Default))
    }

    /// What is wrong with an access.
    pub(crate) fn findings(&self, became: &Became<'_>, access: &Access, descriptors: &Descriptors<'_>) -> Vec<Finding> {
        let found = |kind, text: String| Finding {
            kind,
            text,
            ptx_line: access.ptx_line,
            address: access.addresses.first().copied(),
            hot: access.hot,
        };
        let mut all = Vec::new();
        let machine = if access.opcodes.is_empty() { "nothing".into() } else { access.opcodes.join(" ; ") };
        for Word { word, fate } in &access.words {
            let order = is_fence(became.origin.statement) || ORDERS.contains(&word.as_str());
            match fate {
                Fate::Lost if order => all.push(found(Kind::OrderLost, format!("`{word}` is not in `{machine}`"))),
                Fate::Lost if word == ".L2::cache_hint" => {
                    all.push(found(Kind::PolicyLost, format!("`{machine}` has no policy in its descriptor")));
                }
                Fate::Lost => all.push(found(Kind::HintLost, format!("`{word}` is not in `{machine}`"))),
                Fate::Weakened(to) => {
                    all.push(found(Kind::HintWeakened, format!("`{word}` became `{to}` in `{machine}`")));
                }
                Fate::Kept | Fate::Default => {}
            }
        }
        all.extend(self.split(became).map(|text| found(Kind::VectorSplit, text)));
        all.extend(self.changed(became, descriptors).map(|text| found(Kind::PolicyChanged, text)));
        all
    }

    /// Accesses whose descriptor nothing writes.
    pub(crate) fn undefined(&self, descriptors: &Descriptors<'_>) -> Vec<Finding> {
        let memory = self.code.iter().enumerate().filter(|(_, one)| is_memory(one) && self.is_entry);
        let empty = memory.filter(|(at, _)| descriptors.at(*at).is_some_and(|held| held.is_empty()));
        let finding = |(_, one): (usize, &SassInstruction)| Finding {
            kind: Kind::PolicyUndefined,
            text: format!("nothing writes the descriptor of `{}`", one.text),
            ptx_line: one.ptx_line,
            address: Some(one.address),
            hot: self.hot.contains(&one.address),
        };
        empty.map(finding).collect()
    }

    /// Whether a vector became several accesses that stand beside each other in memory.
    fn split(&self, became: &Became<'_>) -> Option<String> {
        let statement = became.origin.statement;
        let bytes = vector_bytes(statement)?;
        if !["ld", "st"].contains(&statement.name()) || statement.has("const") {
            return None;
        }
        let parts: Vec<(&SassInstruction, &str, i64)> = became
            .at
            .iter()
            .filter_map(|at| {
                let one = &self.code[*at];
                let (base, offset) = address(one)?;
                Some((one, base, offset))
            })
            .collect();
        let narrow = parts.iter().all(|(one, ..)| width(one) < bytes);
        let beside = |(one, base, offset): &(&SassInstruction, &str, i64)| {
            parts.iter().any(|(_, other, next)| other == base && *next == offset + i64::from(width(one)))
        };
        let first = parts.iter().find(|part| narrow && beside(part))?.0;
        Some(format!("{bytes} bytes became several `{}`", first.opcode))
    }

    /// Whether a descriptor holds another constant than the source.
    fn changed(&self, became: &Became<'_>, descriptors: &Descriptors<'_>) -> Option<String> {
        let wanted = policies(&became.origin)?;
        became.at.iter().find_map(|at| {
            let held = descriptors.at(*at)?;
            let constants: Option<Vec<u32>> = held
                .iter()
                .map(|one| match one {
                    Holds::Constant(value) => Some(*value),
                    _ => None,
                })
                .collect();
            let other = *constants?.iter().find(|value| !wanted.contains(value))?;
            let source = wanted.iter().next()?;
            Some(format!("the policy is {source:#010x}_00000000 in the source, and {other:#010x}_… in the descriptor"))
        })
    }
}

/// The words that order an access, and how far.
const ORDERS: [&str; 9] =
    [".cta", ".cluster", ".gpu", ".sys", ".volatile", ".mmio", ".acquire", ".release", ".acq_rel"];

/// The upper words that an access's policy may have, if all that define its register are constants.
fn policies(origin: &Origin<'_>) -> Option<BTreeSet<u32>> {
    if !origin.statement.opcode.contains("L2::cache_hint") {
        return None;
    }
    let register = origin.statement.operands.last()?;
    let own = origin.function.statements.iter().filter(|one| one.operands.first() == Some(register));
    let values: Option<BTreeSet<u32>> = own
        .map(|one| {
            let value = (one.name() == "mov").then(|| one.operands.get(1).and_then(|text| number(text)))??;
            Some((value.cast_unsigned() >> 32) as u32)
        })
        .collect();
    values.filter(|values| !values.is_empty())
}

/// The bytes of a vector.
fn vector_bytes(statement: &Statement) -> Option<u32> {
    let lanes: u32 = statement.opcode.split('.').find_map(|word| word.strip_prefix('v')?.parse().ok())?;
    Some(lanes * type_bytes(statement)?)
}

/// The bytes of an instruction's type, which is its last word.
pub(crate) fn type_bytes(statement: &Statement) -> Option<u32> {
    let ty = statement.opcode.rsplit('.').next()?;
    let bits: u32 = ty.strip_prefix(['b', 'u', 's', 'f'])?.parse().ok()?;
    Some(bits / 8)
}

/// The base and the offset of a machine instruction's address: `[R2.64+0x10]`.
fn address(one: &SassInstruction) -> Option<(&str, i64)> {
    let operand = one.operands.iter().find(|operand| operand.contains('['))?;
    let inside = operand.rsplit('[').next()?.strip_suffix(']')?;
    let (base, offset) = inside.split_once('+').unwrap_or((inside, "0x0"));
    let (sign, digits) = offset.strip_prefix('-').map_or((1, offset), |rest| (-1, rest));
    Some((base, sign * i64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?))
}

/// A machine instruction where there is no PTX.
pub(crate) fn alone(one: &SassInstruction, hot: &BTreeSet<u64>) -> Access {
    Access {
        ptx: None,
        ptx_line: None,
        place: one.source.as_ref().map(|source| Place { file: source.file.to_string(), line: source.line, column: 0 }),
        addresses: vec![one.address],
        opcodes: vec![one.opcode.clone()],
        hot: hot.contains(&one.address),
        words: Vec::new(),
    }
}
