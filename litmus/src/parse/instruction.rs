//! One cell of the table: an instruction.

use super::locations::Locations;
use super::unread::{Read, outside, wrong};
use super::words::{number, operation_of, proxy_of, register_of, scope_of, semantics_of, value_of};
use crate::program::{Barrier, Fence, Instruction, Memory, Proxy, Semantics};
use crate::value::{Compare, Operation, Register, Value};

/// Reads a cell.
pub(super) fn instruction(cell: &str, locations: &mut Locations) -> Read<Instruction> {
    if let Some(label) = cell.strip_suffix(':') {
        return Ok(Instruction::Label(label.trim().to_owned()));
    }
    let (mnemonic, operands) = cell.split_once(char::is_whitespace).unwrap_or((cell, ""));
    let operands: Vec<&str> = operands.split(',').map(str::trim).filter(|operand| !operand.is_empty()).collect();
    let words: Vec<&str> = mnemonic.split('.').collect();
    match words[..] {
        ["fence", "proxy", "alias"] => none_of(&operands, Instruction::Fence(Fence::Alias)),
        ["fence", "proxy", proxy] => none_of(&operands, Instruction::Fence(Fence::Proxy(proxy_of(proxy)?))),
        ["fence", order] => fence_order(order).and_then(|_| wrong("its scope is missing")),
        ["fence", order, scope] => {
            none_of(&operands, Instruction::Fence(Fence::Memory(fence_order(order)?, scope_of(scope)?)))
        }
        ["bar", "cta", mode] => barrier(mode, &operands),
        ["goto"] => Ok(Instruction::Jump(one(&operands)?.to_owned())),
        ["ld"] => match operands[..] {
            [to, value] => Ok(Instruction::Move(register_of(to)?, value_of(value)?)),
            _ => wrong("it takes a register and a value"),
        },
        [word] => compute_or_branch(word, &operands),
        [access, ref words @ ..] => access_with(access, words, &operands, locations),
        [] => wrong("no instruction"),
    }
}

fn access_with(access: &str, words: &[&str], operands: &[&str], locations: &mut Locations) -> Read<Instruction> {
    let Some((kind, proxy)) = access_of(access) else { return wrong("no such instruction") };
    words.iter().try_for_each(|word| of_one_word(word))?;
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
    let mut memory = |name| Ok(Memory { address: locations.address(name)?, semantics, scope, proxy });
    let fits = match kind {
        Kind::Load => !matches!(semantics, Semantics::Release | Semantics::AcqRel | Semantics::Sc),
        Kind::Store => !matches!(semantics, Semantics::Acquire | Semantics::AcqRel | Semantics::Sc),
        Kind::Atomic | Kind::Reduction => !matches!(semantics, Semantics::Weak | Semantics::Volatile | Semantics::Sc),
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

/// The order of a fence: PTX has none that is weak, volatile or relaxed.
fn fence_order(word: &str) -> Read<Semantics> {
    match semantics_of(word)? {
        Semantics::Weak | Semantics::Volatile | Semantics::Relaxed => {
            wrong(format_args!("a fence is .sc, .acq_rel, .acquire or .release; PTX has no fence.{word}"))
        }
        order => Ok(order),
    }
}

/// A location is a 32-bit word: the model has no access to more or to less of memory.
fn of_one_word(word: &str) -> Read<()> {
    match word {
        "v2" | "v4" | "v8" => outside(format_args!("vectors, `.{word}`")),
        "b8" | "u8" | "s8" | "b16" | "u16" | "s16" | "f16" | "bf16" => {
            outside(format_args!("bytes and halves of a word, `.{word}`"))
        }
        "b64" | "u64" | "s64" | "f64" | "b128" => outside(format_args!("more than a word, `.{word}`")),
        _ => Ok(()),
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

fn none_of(operands: &[&str], instruction: Instruction) -> Read<Instruction> {
    if operands.is_empty() { Ok(instruction) } else { wrong("it takes no operand") }
}

fn one<'o>(operands: &[&'o str]) -> Read<&'o str> {
    match operands {
        [operand] => Ok(operand),
        _ => wrong("it takes one operand"),
    }
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
