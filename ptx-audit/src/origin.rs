//! Where the registers of a kernel's PTX come from: which parameter or state space an address is of, and what divides it.

use std::collections::HashMap;

use crate::ptx::{Function, Module, Statement, number};

/// What a register holds, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) base: Base,
    /// It is a multiple of two to this.
    pub(crate) align: u32,
}

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A number.
    Number,
    /// The parameter of that position.
    Parameter(usize),
    /// A variable, or a generic address that was made of one.
    Shared,
    Local,
    Global,
    Unknown,
}

/// No number is known to be a multiple of more.
const MOST: u32 = 8;

/// Memory from the driver begins at a multiple of 256: a parameter is taken to be aligned for every vector.
const OF_PARAMETER: u32 = 5;

/// The values of a kernel's registers.
pub(crate) struct Origins<'a> {
    module: &'a Module,
    function: &'a Function,
    values: HashMap<&'a str, Value>,
}

impl<'a> Origins<'a> {
    /// Goes through the kernel until nothing changes: a register that a loop changes holds what all its definitions have in
    /// common.
    pub(crate) fn of(module: &'a Module, function: &'a Function) -> Self {
        let mut definitions: Vec<(&str, &Statement)> = Vec::new();
        for statement in function.statements.iter().filter(|one| defines(one)) {
            let Some(first) = statement.operands.first() else { continue };
            definitions.extend(registers(first).map(|register| (register, statement)));
        }
        let mut origins = Origins { module, function, values: HashMap::new() };
        let mut changed = true;
        while changed {
            changed = false;
            for (register, statement) in &definitions {
                let Some(value) = origins.result(statement) else { continue };
                let old = origins.values.get(register).copied();
                // What is not known yet counts as anything: values only become vaguer.
                let value = old.map_or(value, |old| met(old, value));
                changed |= old != Some(value);
                origins.values.insert(register, value);
            }
        }
        origins
    }

    /// What an operand is: a register, a number or a name.
    pub(crate) fn operand(&self, text: &str) -> Option<Value> {
        if let Some(number) = number(text) {
            let align = if number == 0 { MOST } else { number.trailing_zeros().min(MOST) };
            return Some(Value { base: Base::Number, align });
        }
        if text.starts_with('%') {
            return self.values.get(text).copied().or_else(|| {
                // Registers like `%tid.x`; ones that are not read yet have no value.
                text.contains('.').then_some(Value { base: Base::Number, align: 0 })
            });
        }
        if let Some(value) = self.values.get(text) {
            return Some(*value);
        }
        let space = self.function.variables.get(text).or_else(|| self.module.variables.get(text))?;
        let base = match space.as_str() {
            "shared" => Base::Shared,
            "local" => Base::Local,
            "global" => Base::Global,
            _ => Base::Unknown,
        };
        Some(Value { base, align: 0 })
    }

    /// What a statement's result is; nothing as long as what it comes from is not known.
    fn result(&self, statement: &Statement) -> Option<Value> {
        let Statement { operands, .. } = statement;
        let of = |at: usize| operands.get(at).and_then(|operand| self.operand(operand));
        let number = |align: u32| Value { base: Base::Number, align: align.min(MOST) };
        let bits = |wanted: &str| statement.opcode.ends_with(wanted);
        Some(match statement.name() {
            "ld" if statement.has("param") => {
                let (name, offset) = statement.address()?;
                let at = self.function.parameters.iter().position(|parameter| parameter.name == name);
                match at {
                    Some(at) if bits("64") && offset == 0 => {
                        let align = self.function.parameters[at].align.map_or(OF_PARAMETER, u32::trailing_zeros);
                        Value { base: Base::Parameter(at), align }
                    }
                    _ if bits("64") => Value { base: Base::Unknown, align: 0 },
                    _ => number(0),
                }
            }
            "mov" | "cvta" | "cvt" => {
                let from = of(1)?;
                match statement.has("cvta") && !statement.has("to") {
                    true => Value { base: space_of(statement).unwrap_or(from.base), ..from },
                    false => from,
                }
            }
            "add" => sum(of(1)?, of(2)?),
            "sub" => {
                let (from, less) = (of(1)?, of(2)?);
                sum(from, Value { base: if less.base == Base::Number { Base::Number } else { Base::Unknown }, ..less })
            }
            "mul" => number(of(1)?.align + of(2)?.align),
            "mad" | "fma" => sum(number(of(1)?.align + of(2)?.align), of(3)?),
            "shl" => {
                let by = operands.get(2).and_then(|text| crate::ptx::number(text)).unwrap_or(0);
                number(of(1)?.align + u32::try_from(by).unwrap_or(0))
            }
            "and" => match (of(1)?, of(2)?) {
                (a, b) if a.base == Base::Number && b.base == Base::Number => number(a.align.max(b.align)),
                (a, b) => Value { base: Base::Unknown, align: a.align.max(b.align) },
            },
            "or" | "min" | "max" => met(of(1)?, of(2)?),
            "selp" => met(of(1)?, of(2)?),
            _ if bits("64") => Value { base: Base::Unknown, align: 0 },
            _ => number(0),
        })
    }
}

/// The space that a `cvta` makes generic.
fn space_of(cvta: &Statement) -> Option<Base> {
    [("shared", Base::Shared), ("local", Base::Local), ("global", Base::Global)]
        .into_iter()
        .find(|(name, _)| cvta.has(name) || cvta.has("shared::cta") && *name == "shared")
        .map(|(_, base)| base)
}

fn sum(a: Value, b: Value) -> Value {
    let base = match (a.base, b.base) {
        (Base::Number, other) | (other, Base::Number) => other,
        _ => Base::Unknown,
    };
    Value { base, align: a.align.min(b.align) }
}

/// What two values have in common.
fn met(a: Value, b: Value) -> Value {
    Value { base: if a.base == b.base { a.base } else { Base::Unknown }, align: a.align.min(b.align) }
}

/// Whether the first operand is a result.
fn defines(statement: &Statement) -> bool {
    !["st", "red", "bra", "bar", "ret", "exit", "call", "cp", "prefetch", "membar", "fence"].contains(&statement.name())
}

/// The registers of an operand: one, or those in braces.
pub(crate) fn registers(operand: &str) -> impl Iterator<Item = &str> {
    operand.split(|c: char| "{}[](), |+!".contains(c)).filter(|word| !word.is_empty() && number(word).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {
.shared .align 16 .b8 tile[64];
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 16;
add.s64 %rd4, %rd2, %rd3;
mad.wide.u32 %rd5, %r1, 4, %rd1;
mov.u64 %rd6, tile;
cvta.shared.u64 %rd7, %rd6;
mov.u64 %rd8, %rd4;
loop: add.s64 %rd8, %rd8, 32;
ld.param.u64 %rd9, [q];
selp.b64 %rd10, %rd1, %rd9, %p1;
ld.global.u64 %rd11, [%rd4];
}";

    #[test]
    fn registers_are_traced_to_their_parameters_and_multiples() {
        let module = Module::read(TEXT);
        let origins = Origins::of(&module, &module.functions[0]);
        let value = |register: &str| origins.operand(register).map(|value| (value.base, value.align));
        assert_eq!(value("%rd2"), Some((Base::Parameter(0), 5)));
        assert_eq!(value("%rd4"), Some((Base::Parameter(0), 4)));
        assert_eq!(value("%rd5"), Some((Base::Parameter(0), 2)));
        assert_eq!(value("%rd7").map(|value| value.0), Some(Base::Shared));
        assert_eq!(value("%rd8"), Some((Base::Parameter(0), 4)));
        assert_eq!(value("%rd10").map(|value| value.0), Some(Base::Unknown));
        assert_eq!(value("%rd11").map(|value| value.0), Some(Base::Unknown));
        assert_eq!(value("%r1"), Some((Base::Number, 0)));
        assert_eq!(value("12"), Some((Base::Number, 2)));
    }
}
