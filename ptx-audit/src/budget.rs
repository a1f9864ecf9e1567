//! What must hold: the limits of an `audit.toml`, and a comparison with the last run.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::report::{Kernel, Record};

/// Numbers of a kernel that can be limited, by their names in `audit.toml`.
const NUMBERS: [(&str, Number); 9] = [
    ("spills", |kernel| kernel.spilled.map(|bytes| bytes as usize)),
    ("stack", |kernel| kernel.stack.map(|bytes| bytes as usize)),
    ("registers", |kernel| kernel.registers.map(|count| count as usize)),
    ("in_flight", |kernel| Some(kernel.in_flight)),
    ("lost", |kernel| Some(kernel.lost())),
    ("weakened", |kernel| Some(kernel.weakened())),
    ("instructions", |kernel| Some(kernel.instructions)),
    ("hot_instructions", |kernel| Some(kernel.hot_instructions)),
    ("findings", |kernel| Some(kernel.findings.len())),
];

/// Reads a number of a kernel; machine code alone does not say all of them.
type Number = fn(&Kernel) -> Option<usize>;

/// The limits of a file: for all kernels, and in `[kernels.NAME]` for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    all: Limits,
    kernels: BTreeMap<String, Limits>,
}

type Limits = BTreeMap<String, Limit>;

/// `0`, `">= 8"`, `"<= 64"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    relation: Relation,
    number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtLeast,
    AtMost,
    Exactly,
}

/// A number that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kernel, and the GPU and the assembler that it was made by and for.
    pub place: String,
    /// What was found, and what must hold or held.
    pub text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.text)
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    kernels: BTreeMap<String, BTreeMap<String, toml::Value>>,
    #[serde(flatten)]
    all: BTreeMap<String, toml::Value>,
}

impl Budget {
    /// Reads an `audit.toml`. An error says what is wrong with it.
    pub fn read(text: &str) -> Result<Budget, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let kernels = file.kernels.into_iter().map(|(name, own)| Ok((name, limits(own)?)));
        Ok(Budget { all: limits(file.all)?, kernels: kernels.collect::<Result<_, String>>()? })
    }

    /// What is not as the budget wants it. A kernel that the budget names must be there.
    pub fn check(&self, records: &[Record]) -> Vec<Difference> {
        let missing = self.kernels.keys().filter(|name| !records.iter().any(|record| record.kernel.name == **name));
        let missing = missing.map(|name| Difference {
            place: name.clone(),
            text: "the budget names this kernel, and there is none of that name".into(),
        });
        let over = records.iter().flat_map(|record| {
            let own = self.kernels.get(&record.kernel.name);
            let inherited = self.all.iter().filter(move |(name, _)| own.is_none_or(|own| !own.contains_key(*name)));
            let limits = inherited.chain(own.into_iter().flatten());
            limits.filter_map(|(name, limit)| limit.exceeded(name, record)).collect::<Vec<_>>()
        });
        missing.chain(over).collect()
    }
}

fn limits(values: BTreeMap<String, toml::Value>) -> Result<Limits, String> {
    let known = || NUMBERS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let read = |(name, value): (String, toml::Value)| {
        if !NUMBERS.iter().any(|(known, _)| *known == name) {
            return Err(format!("`{name}` is nothing that can be limited: write one of {}", known()));
        }
        let limit = Limit::read(&value);
        let limit =
            limit.ok_or_else(|| format!("`{name} = {value}` is no limit: write a number, \">= 8\" or \"<= 64\""))?;
        Ok((name, limit))
    };
    values.into_iter().map(read).collect()
}

impl Limit {
    fn read(value: &toml::Value) -> Option<Limit> {
        let exactly = |number| Limit { relation: Relation::Exactly, number };
        let text = match value {
            toml::Value::Integer(number) => return Some(exactly(usize::try_from(*number).ok()?)),
            toml::Value::String(text) => text.trim(),
            _ => return None,
        };
        let relations = [(">=", Relation::AtLeast), ("<=", Relation::AtMost), ("==", Relation::Exactly)];
        let found = relations.into_iter().find_map(|(sign, relation)| Some((relation, text.strip_prefix(sign)?)));
        let (relation, number) = found.unwrap_or((Relation::Exactly, text));
        Some(Limit { relation, number: number.trim().parse().ok()? })
    }

    fn exceeded(self, name: &str, record: &Record) -> Option<Difference> {
        let (_, number) = NUMBERS.iter().find(|(known, _)| *known == name)?;
        let Limit { relation, number: limit } = self;
        // What machine code alone does not say is not held to a limit.
        let found = number(&record.kernel)?;
        let (holds, wanted) = match relation {
            Relation::AtLeast => (found >= limit, format!("at least {limit}")),
            Relation::AtMost => (found <= limit, format!("at most {limit}")),
            Relation::Exactly => (found == limit, limit.to_string()),
        };
        (!holds).then(|| Difference { place: place(record), text: format!("{name} is {found}, and must be {wanted}") })
    }
}

fn place(record: &Record) -> String {
    format!("{} on {}", record.kernel.name, record.made())
}

/// Numbers that must not grow, and those that must not shrink.
const WORSE_IF_MORE: [&str; 5] = ["spills", "stack", "lost", "weakened", "findings"];
const WORSE_IF_LESS: [&str; 1] = ["in_flight"];

/// What became worse since these records, which were written as lines of JSON. A kernel that was not there is not compared.
pub fn worse(before: &[Record], now: &[Record]) -> Vec<Difference> {
    let same = |one: &Record, other: &Record| {
        (&one.kernel.name, &one.gpu, &one.assembler) == (&other.kernel.name, &other.gpu, &other.assembler)
    };
    let mut all = Vec::new();
    for record in now {
        let Some(old) = before.iter().find(|old| same(old, record)) else { continue };
        for (name, number) in NUMBERS {
            let Some((old, new)) = number(&old.kernel).zip(number(&record.kernel)) else { continue };
            let more = WORSE_IF_MORE.contains(&name) && new > old;
            if more || WORSE_IF_LESS.contains(&name) && new < old {
                all.push(Difference { place: place(record), text: format!("{name} was {old}, and is {new}") });
            }
        }
    }
    all
}

/// Reads records that were written as lines of JSON. An error says which line is wrong.
pub fn records(text: &str) -> Result<Vec<Record>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {at}: {error}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, in_flight: usize, spilled: u32) -> Record {
        let kernel = Kernel {
            name: name.into(),
            registers: Some(32),
            stack: None,
            spilled: Some(spilled),
            instructions: 10,
            hot_instructions: 5,
            has_loop: true,
            loads: 8,
            in_flight,
            accesses: Vec::new(),
            findings: Vec::new(),
        };
        Record { file: "k.ptx".into(), gpu: "sm_90".into(), assembler: Some("13.5".into()), kernel }
    }

    fn told(budget: &str, records: &[Record]) -> Vec<String> {
        Budget::read(budget).expect("a budget").check(records).iter().map(Difference::to_string).collect()
    }

    #[test]
    fn limits_are_held() {
        let budget = "spills = 0\nstack = 0\nin_flight = \">= 8\"\nregisters = \"<= 32\"\n";
        assert_eq!(told(budget, &[record("k", 8, 0)]), Vec::<String>::new());
        let expected = ["in_flight is 6, and must be at least 8", "spills is 4, and must be 0"];
        let expected = expected.map(|text| format!("k on sm_90 by ptxas 13.5: {text}"));
        assert_eq!(told(budget, &[record("k", 6, 4)]), expected);
        // A kernel's own limit counts in place of that of all.
        let own = format!("{budget}[kernels.k]\nin_flight = \">= 6\"\n[kernels.other]\nlost = 0\n");
        let missing = "other: the budget names this kernel, and there is none of that name";
        assert_eq!(told(&own, &[record("k", 6, 0)]), [missing]);
    }

    #[test]
    fn a_wrong_budget_is_told() {
        let wrong = |text| Budget::read(text).expect_err("it is wrong");
        assert!(wrong("spill = 0").contains("`spill` is nothing that can be limited: write one of spills, "));
        assert!(wrong("in_flight = \"> 8\"").contains("is no limit"));
        assert!(wrong("lost = ").contains("line 1"));
    }

    #[test]
    fn what_became_worse_is_told() {
        let before = [record("k", 8, 0)];
        let text: String = before.iter().map(|one| serde_json::to_string(one).expect("JSON") + "\n").collect();
        assert_eq!(records(&text).expect("records"), before);
        assert!(records("{\"file\"").is_err_and(|error| error.starts_with("line 1: ")));
        let now = [record("k", 6, 12), record("fresh", 1, 1)];
        let told: Vec<String> = worse(&before, &now).iter().map(Difference::to_string).collect();
        let expected = ["spills was 0, and is 12", "in_flight was 8, and is 6"];
        assert_eq!(told, expected.map(|text| format!("k on sm_90 by ptxas 13.5: {text}")));
        assert_eq!(worse(&now, &before), []);
    }
}
