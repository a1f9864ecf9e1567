//! The units for approximate functions, whole: the results for each operand of some binades.

use rayon::prelude::*;
use serde_json::json;

use crate::approximate::Function;
use crate::float::{SINGLE, mask};
use crate::judge::Judged;

/// An instruction that one unit does, but for a product before it (`sin`, `cos`), and binades that tell what it does.
#[derive(Debug)]
pub struct Unit {
    /// Of its kernel.
    pub name: &'static str,
    opcode: &'static str,
    function: &'static str,
    /// The powers of two with which binades begin.
    powers: &'static [i32],
}

/// Operands of a binade.
const BINADE: usize = 1 << 23;

/// Of them in a dry run.
const FEW: usize = 1 << 11;

/// Each unit.
pub const UNITS: [Unit; 8] = [
    Unit { name: "unit_rcp", opcode: "rcp.approx.ftz.f32", function: "rcp", powers: &[0] },
    Unit { name: "unit_rsqrt", opcode: "rsqrt.approx.ftz.f32", function: "rsqrt", powers: &[0, 1] },
    Unit { name: "unit_sqrt", opcode: "sqrt.approx.ftz.f32", function: "sqrt", powers: &[0, 1] },
    Unit { name: "unit_lg2", opcode: "lg2.approx.ftz.f32", function: "lg2", powers: &[-1, 0, 1] },
    Unit { name: "unit_ex2", opcode: "ex2.approx.ftz.f32", function: "ex2", powers: &[-2, -1, 0] },
    Unit { name: "unit_sin", opcode: "sin.approx.ftz.f32", function: "sin", powers: &[-2, -1, 0, 1] },
    Unit { name: "unit_cos", opcode: "cos.approx.ftz.f32", function: "cos", powers: &[-2, -1, 0, 1] },
    Unit { name: "unit_tanh", opcode: "tanh.approx.f32", function: "tanh", powers: &[-3, -2, -1, 0, 1] },
];

impl Unit {
    /// The kernel: thread `i` writes the result for the operand whose bits are `i` after the first one's.
    pub fn text(&self) -> String {
        let Unit { name, opcode, .. } = self;
        format!(
            ".visible .entry {name}(.param .u64 {name}_to, .param .u32 {name}_first)\n{{\n\
             .reg .b64 %to;\n.reg .b32 %i<4>;\n\
             ld.param.u64 %to, [{name}_to];\nld.param.u32 %i3, [{name}_first];\n\
             mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\n\
             mad.lo.u32 %i0, %i0, %i1, %i2;\nmad.wide.u32 %to, %i0, 4, %to;\nadd.u32 %i3, %i3, %i0;\n\
             {opcode} %i3, %i3;\nst.global.b32 [%to], %i3;\nret;\n}}\n"
        )
    }

    /// The bits of the first operand of each binade, and how many operands there are.
    pub fn binades(&self, quick: bool) -> Vec<(u32, usize)> {
        let first = |power: &i32| ((127 + power) as u32) << SINGLE.fraction;
        self.powers.iter().map(|power| (first(power), if quick { FEW } else { BINADE })).collect()
    }

    /// Whether all results of a binade are within the bound that the ISA tells, and how far from the exact ones they are.
    pub fn judge(&self, first: u32, results: &[u32]) -> Judged {
        let function = Function::of(self.function, self.opcode);
        let one = |(at, result): (usize, &u32)| {
            let operands = [u64::from(first) + at as u64];
            let exact = function.exact(&operands);
            let result = u64::from(*result);
            let ulps = function.ulps(exact, result).unwrap_or(f64::INFINITY);
            let is_nearest = u64::from(function.format.rounded(exact) == result & mask(32));
            (ulps, is_nearest, u64::from(!function.is_within(&operands, exact, result)))
        };
        let all = results.par_iter().enumerate().map(one);
        let with = |a: (f64, u64, u64), b: (f64, u64, u64)| (a.0.max(b.0), a.1 + b.1, a.2 + b.2);
        let (ulps, nearest, outside) = all.reduce(|| (0.0, 0, 0), with);
        let count = results.len();
        let data = json!({
            "first": first, "operands": count, "ulps": ulps, "nearest": nearest, "outside": outside,
            "bound": function.bounds(),
        });
        let text = format!(
            "{nearest} of {count} are the nearest numbers, at most {ulps:.3} ulp from the exact results; {outside} outside of {}",
            function.bounds()
        );
        Judged { passed: outside == 0, text, data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `f32` that is nearest passes, one that is far from it does not.
    #[test]
    fn a_binade_is_judged() {
        let unit = &UNITS[0];
        let (first, _) = unit.binades(true)[0];
        let mut results: Vec<u32> = (0..1 << 10).map(|at| (1.0 / f32::from_bits(first + at)).to_bits()).collect();
        let judged = unit.judge(first, &results);
        assert!(judged.passed && judged.data["nearest"] == 1 << 10, "{}", judged.text);
        results[77] += 2;
        assert_eq!(unit.judge(first, &results).data["outside"], 1);
    }
}
