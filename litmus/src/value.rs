//! What a thread computes with: registers, values and comparisons.

/// `r0`, `r1`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u32);

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Constant(i64),
    /// A register's.
    Register(Register),
}

/// What an atomic, or arithmetic, does with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `add`
    Add,
    /// `sub`
    Sub,
    /// `mul`
    Mul,
    /// `div`
    Div,
    /// `and`
    And,
    /// `or`
    Or,
    /// `xor`
    Xor,
    /// `exch`
    Exch,
    /// `cas`
    Cas,
}

impl Operation {
    /// What comes out of `a` and `b`. A division by zero gives all ones, as PTX leaves it open.
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Operation::Add => a.wrapping_add(b),
            Operation::Sub => a.wrapping_sub(b),
            Operation::Mul => a.wrapping_mul(b),
            Operation::Div => a.checked_div(b).unwrap_or(-1),
            Operation::And => a & b,
            Operation::Or => a | b,
            Operation::Xor => a ^ b,
            Operation::Exch | Operation::Cas => b,
        }
    }
}

/// A comparison, of a branch or in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Compare {
    /// Whether the values compare so.
    pub fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Compare::Equal => a == b,
            Compare::NotEqual => a != b,
            Compare::Less => a < b,
            Compare::LessOrEqual => a <= b,
            Compare::Greater => a > b,
            Compare::GreaterOrEqual => a >= b,
        }
    }
}
