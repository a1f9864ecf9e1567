//! Runs the machine code of sm_80 that `createpolicy` becomes: straight, without memory, a dozen opcodes.

use std::collections::HashMap;

use ptx_sass::nvdisasm::{SassFunction, SassInstruction};

/// Where a kernel's parameters begin in the constant bank.
const PARAMETERS: u32 = 0x160;

/// Registers, predicates and parameters.
pub(crate) struct Machine<'a> {
    registers: HashMap<String, u32>,
    predicates: HashMap<String, bool>,
    parameters: &'a [u32],
}

/// The 64 bits that the kernel with these parameters stores first.
pub(crate) fn stored(function: &SassFunction, parameters: &[u32]) -> u64 {
    let mut machine = Machine { registers: HashMap::new(), predicates: HashMap::new(), parameters };
    for instruction in &function.instructions {
        assert_eq!(instruction.predicate, None, "{}", instruction.text);
        if instruction.opcode == "STG.E.64" {
            let low = instruction.operands[1].trim_start_matches('R').parse::<u32>().expect("a register");
            let [low, high] = [low, low + 1].map(|number| u64::from(machine.value(&format!("R{number}"))));
            return high << 32 | low;
        }
        machine.step(instruction);
    }
    panic!("{} stores nothing", function.name);
}

impl Machine<'_> {
    fn step(&mut self, instruction: &SassInstruction) {
        let operands: Vec<&str> =
            instruction.operands.iter().map(|operand| operand.trim_end_matches(".reuse")).collect();
        let of = |at: usize| self.value(operands[at]);
        let wide = |low: usize, high: usize| u64::from(of(high)) << 32 | u64::from(of(low));
        let float = |at: usize| self.float(operands[at]);
        let result = match instruction.opcode.as_str() {
            "MOV" => of(1),
            "IMAD.MOV.U32" => of(1).wrapping_mul(of(2)).wrapping_add(of(3)),
            "IMAD.SHL.U32" => of(1).wrapping_mul(of(2)),
            "IMAD.X" => of(1).wrapping_mul(of(2)).wrapping_add(of(3)).wrapping_add(self.predicate(operands[4]).into()),
            "IADD3" if operands[1].starts_with('P') => return self.add_with_carry(&operands),
            "IADD3" => of(1).wrapping_add(of(2)).wrapping_add(of(3)),
            "IMNMX" if operands[3] == "!PT" => (of(1) as i32).max(of(2) as i32) as u32,
            "SHF.L.U32" => of(1) << (of(2) & 31),
            "SHF.R.U64" => (wide(1, 3) >> (of(2) & 63)) as u32,
            "SHF.R.U32.HI" => of(3) >> (of(2) & 31),
            "LOP3.LUT" => lut(of(1), of(2), of(3), of(4)),
            "ISETP.LT.U32.AND" => return self.compare(&operands, of(2) < of(3)),
            "ISETP.LT.U32.AND.EX" => {
                let below = of(2) < of(3) || of(2) == of(3) && self.predicate(operands[5]);
                return self.compare(&operands, below);
            }
            "SEL" => of(if self.predicate(operands[3]) { 1 } else { 2 }),
            "F2I.U32.CEIL.NTZ" => float(1).ceil() as u32,
            "F2I.U32.TRUNC.NTZ" => float(1) as u32,
            "FMUL" => (float(1) * float(2)).to_bits(),
            // Constants go through the multiplier of halves: its last operands are the halves.
            "HFMA2.MMA" => half(operands[3]) << 16 | half(operands[4]),
            // The descriptor of global memory, which only the store takes.
            "ULDC.64" => return,
            _ => panic!("what is {}?", instruction.text),
        };
        self.registers.insert(operands[0].to_owned(), result);
    }

    fn value(&self, operand: &str) -> u32 {
        if let Some(operand) = operand.strip_prefix('-') {
            return self.value(operand).wrapping_neg();
        }
        if let Some(operand) = operand.strip_prefix('~') {
            return !self.value(operand);
        }
        if let Some(hex) = operand.strip_prefix("0x") {
            return u32::from_str_radix(hex, 16).expect("hexadecimal digits");
        }
        if let Some(offset) = operand.strip_prefix("c[0x0][0x") {
            let offset = u32::from_str_radix(offset.trim_end_matches(']'), 16).expect("hexadecimal digits");
            // What lies before the parameters is the stack's business.
            return offset.checked_sub(PARAMETERS).map_or(0, |at| self.parameters[at as usize / 4]);
        }
        match operand {
            "RZ" | "URZ" => 0,
            _ => *self.registers.get(operand).unwrap_or_else(|| panic!("{operand} has no value yet")),
        }
    }

    /// A literal, or the bits of a register.
    fn float(&self, operand: &str) -> f32 {
        operand.parse().unwrap_or_else(|_| f32::from_bits(self.value(operand)))
    }

    fn predicate(&self, operand: &str) -> bool {
        match operand.strip_prefix('!') {
            Some(operand) => !self.predicate(operand),
            None => operand == "PT" || self.predicates[operand],
        }
    }

    fn compare(&mut self, operands: &[&str], holds: bool) {
        self.predicates.insert(operands[0].to_owned(), holds);
    }

    /// `IADD3 R, P, a, b, c`.
    fn add_with_carry(&mut self, operands: &[&str]) {
        let sum: u64 = operands[2..5].iter().map(|operand| u64::from(self.value(operand))).sum();
        // A subtraction is the sum with the two's complement, whose carry is that nothing was borrowed; of zero it is
        // that too.
        let of_zero = operands[2..5].iter().any(|operand| operand.starts_with('-') && self.value(operand) == 0);
        self.predicates.insert(operands[1].to_owned(), sum >> 32 > 0 || of_zero);
        self.registers.insert(operands[0].to_owned(), sum as u32);
    }
}

/// Bit by bit, the table's entry for the bits of the three.
fn lut(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..32).fold(0, |result, bit| {
        let [a, b, c] = [a, b, c].map(|word| word >> bit & 1);
        result | (table >> (a << 2 | b << 1 | c) & 1) << bit
    })
}

/// The bits of a half-precision number that is written in decimal.
fn half(operand: &str) -> u32 {
    let value: f64 = operand.parse().expect("a number");
    (0..0x8000)
        .find(|&bits| {
            let (exponent, fraction) = (bits >> 10, f64::from(bits & 0x3ff));
            let scale = if exponent == 0 { -24.0 } else { f64::from(exponent) - 25.0 };
            let whole = if exponent == 0 { fraction } else { fraction + 1024.0 };
            whole * scale.exp2() == value.abs()
        })
        .map(|bits| if value.is_sign_negative() { bits | 0x8000 } else { bits })
        .expect("a half-precision number")
}
