//! The words of the format: numbers, registers, proxies, orders, scopes and operations.

use super::unread::{Read, wrong};
use crate::program::{Proxy, Scope, Semantics};
use crate::value::{Operation, Register, Value};

pub(super) fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

pub(super) fn number(text: &str) -> Result<i64, std::num::ParseIntError> {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| i64::from_str_radix(digits, 16))
}

pub(super) fn thread_number(text: &str) -> Read<u32> {
    let text = text.trim();
    let digits = text.strip_prefix('P').unwrap_or(text);
    digits.parse().or_else(|_| wrong(format_args!("`{text}` is not a thread")))
}

pub(super) fn register_of(text: &str) -> Read<Register> {
    let digits = text.trim().strip_prefix('r').and_then(|digits| digits.parse().ok());
    digits.map_or_else(|| wrong(format_args!("`{text}` is not a register")), |number| Ok(Register(number)))
}

pub(super) fn value_of(text: &str) -> Read<Value> {
    match number(text) {
        Ok(number) => Ok(Value::Constant(number)),
        Err(_) => Ok(Value::Register(register_of(text)?)),
    }
}

pub(super) fn proxy_of(word: &str) -> Read<Proxy> {
    match word {
        "generic" => Ok(Proxy::Generic),
        "surface" => Ok(Proxy::Surface),
        "texture" => Ok(Proxy::Texture),
        "constant" => Ok(Proxy::Constant),
        "async" => Ok(Proxy::Async),
        _ => wrong(format_args!("`{word}` is not a proxy")),
    }
}

pub(super) fn semantics_of(word: &str) -> Read<Semantics> {
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

pub(super) fn scope_of(word: &str) -> Read<Scope> {
    match word {
        "cta" => Ok(Scope::Cta),
        "cluster" => Ok(Scope::Cluster),
        "gpu" => Ok(Scope::Gpu),
        "sys" => Ok(Scope::Sys),
        _ => wrong(format_args!("`{word}` is not a scope")),
    }
}

pub(super) fn operation_of(word: &str) -> Read<Operation> {
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
