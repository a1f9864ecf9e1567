//! What a GPU's results are beside the interpreter's.

use serde_json::{Map, Value, json};

use crate::approximate::{Bound, Function};
use crate::case::{Case, Judge};
use crate::float::mask;
use crate::sums;
use crate::types::{Kind, Type};

/// What came of a kernel.
#[derive(Debug)]
pub struct Judged {
    /// Whether it is as it should be.
    pub passed: bool,
    /// In a line.
    pub text: String,
    /// All of it.
    pub data: Value,
}

/// Tuples that are told in full.
const TOLD: usize = 8;

/// A tuple of operands and its results.
pub(crate) struct Tuple<'a> {
    pub(crate) operands: &'a [u64],
    pub(crate) found: &'a [u64],
    pub(crate) interpreted: &'a [u64],
}

pub(crate) fn tuples<'a>(
    case: &Case,
    from: &'a [u64],
    found: &'a [u64],
    interpreted: &'a [u64],
) -> impl Iterator<Item = Tuple<'a>> {
    let results = found.chunks(case.writes()).zip(interpreted.chunks(case.writes()));
    let all = from.chunks(case.reads()).zip(results);
    all.map(|(operands, (found, interpreted))| Tuple { operands, found, interpreted })
}

impl Tuple<'_> {
    pub(crate) fn told(&self) -> Value {
        let hex = |numbers: &[u64]| numbers.iter().map(|number| format!("{number:x}")).collect::<Vec<_>>().join(" ");
        json!({ "operands": hex(self.operands), "found": hex(self.found), "interpreted": hex(self.interpreted) })
    }
}

/// How two results of a tuple differ.
#[derive(Default)]
struct Difference {
    bits: u32,
    /// Whether two NaN differ in their bits, of which the ISA leaves most open.
    is_of_nan: bool,
}

fn difference(types: &[Type], found: &[u64], interpreted: &[u64]) -> Difference {
    let mut difference = Difference::default();
    let mut at = 0;
    for ty in types {
        for slot in at..at + ty.slots() {
            if ty.width() == 128 || ty.kind == Kind::Predicate {
                difference.bits += (found[slot] ^ interpreted[slot]).count_ones();
                continue;
            }
            for (found, interpreted) in ty.numbers(found[slot]).zip(ty.numbers(interpreted[slot])) {
                if found == interpreted {
                    continue;
                }
                match ty.format() {
                    Some(format) if format.is_nan(found) && format.is_nan(interpreted) => difference.is_of_nan = true,
                    _ => difference.bits += (found ^ interpreted).count_ones(),
                }
            }
        }
        at += ty.slots();
    }
    difference
}

/// Judges the results of a GPU by those of the interpreter.
pub fn judge(case: &Case, from: &[u64], found: &[u64], interpreted: &[u64]) -> Judged {
    let (mut different, mut bits, mut of_nan, mut count) = (0u64, 0u64, 0u64, 0u64);
    let (mut first, mut nans) = (Vec::new(), Vec::new());
    for tuple in tuples(case, from, found, interpreted) {
        let Difference { bits: own, is_of_nan } = difference(&case.results, tuple.found, tuple.interpreted);
        count += 1;
        bits += u64::from(own);
        different += u64::from(own > 0);
        of_nan += u64::from(is_of_nan);
        if own > 0 && first.len() < TOLD {
            first.push(tuple.told());
        }
        if is_of_nan && nans.len() < TOLD {
            nans.push(tuple.told());
        }
    }
    let mut data = Map::new();
    data.insert("body".into(), case.body.clone().into());
    data.insert("tuples".into(), count.into());
    data.insert("different".into(), different.into());
    data.insert("bits".into(), bits.into());
    data.insert("nan_different".into(), of_nan.into());
    let more = |first: Vec<Value>, name: &str, data: &mut Map<String, Value>| {
        if !first.is_empty() {
            data.insert(name.into(), first.into());
        }
    };
    more(first, "first", &mut data);
    more(nans, "first_nan", &mut data);
    let nans = if of_nan > 0 { format!(", and {of_nan} in the bits of a NaN") } else { String::new() };
    let differs = format!("{different} of {count} differ in {bits} bits{nans}");
    let (passed, text) = match &case.judge {
        Judge::Exact => (different == 0, differs),
        Judge::Told => (true, format!("{differs}, as they may")),
        Judge::Approximate(function) => {
            let tuples = tuples(case, from, found, interpreted);
            approximate(case, *function, tuples, &mut data)
        }
        Judge::Products(product) => match product.to.format() {
            Some(format) => sums::judge(case, product, format, [from, found, interpreted], &mut data),
            None => (different == 0, differs),
        },
    };
    Judged { passed, text, data: data.into() }
}

/// How far both are from the exact results, and from each other.
fn approximate<'a>(
    case: &Case,
    function: Function,
    tuples: impl Iterator<Item = Tuple<'a>>,
    data: &mut Map<String, Value>,
) -> (bool, String) {
    let mut most = [0.0f64; 2];
    let mut of_bound = [0.0f64; 2];
    let mut outside = [0u64; 2];
    let (mut apart, mut equal, mut all) = (0u64, 0u64, 0u64);
    let mut told = Vec::new();
    for tuple in tuples {
        for lane in 0..case.results[0].lanes {
            let bits = case.results[0].bits;
            let number = |value: u64| value >> (lane * bits) & mask(bits);
            let operands: Vec<u64> = tuple.operands.iter().map(|value| number(*value)).collect();
            let results = [number(tuple.found[0]), number(tuple.interpreted[0])];
            let exact = function.exact(&operands);
            let mut is_outside = false;
            for (side, result) in results.into_iter().enumerate() {
                let has_bound = function.bound(&operands) != Bound::None;
                if has_bound && !(function.flushed && exact.abs() < function.format.least()) {
                    most[side] = most[side].max(function.ulps(exact, result).unwrap_or_default());
                }
                of_bound[side] = of_bound[side].max(function.of_bound(&operands, exact, result).unwrap_or_default());
                let wrong = !function.is_within(&operands, exact, result);
                outside[side] += u64::from(wrong);
                is_outside |= wrong;
            }
            if is_outside && told.len() < TOLD {
                told.push(tuple.told());
            }
            all += 1;
            equal += u64::from(results[0] == results[1]);
            apart = apart.max(distance(function, results));
        }
    }
    let [of_gpu, of_interpreter] = most;
    data.insert("bound".into(), function.bounds().into());
    data.insert("equal".into(), equal.into());
    data.insert("apart_ulps".into(), apart.into());
    data.insert("gpu_ulps".into(), json!(of_gpu));
    data.insert("interpreter_ulps".into(), json!(of_interpreter));
    data.insert("of_bound".into(), json!({ "gpu": of_bound[0], "interpreter": of_bound[1] }));
    data.insert("outside".into(), json!({ "gpu": outside[0], "interpreter": outside[1] }));
    if !told.is_empty() {
        data.insert("first_outside".into(), told.into());
    }
    let text = format!(
        "{equal} of {all} equal, at most {apart} ulp apart; at most {of_gpu:.3} ulp from the exact result, the interpreter {of_interpreter:.3}; \
         {:.3} of the bound ({}); outside: {} and {}",
        of_bound[0],
        function.bounds(),
        outside[0],
        outside[1]
    );
    (outside == [0, 0], text)
}

/// How many numbers of the format lie between two; none if one of them is no number.
fn distance(function: Function, results: [u64; 2]) -> u64 {
    let format = function.format;
    if results.iter().any(|bits| format.is_nan(*bits)) {
        return 0;
    }
    let place = |bits: u64| {
        let magnitude = (bits & (format.sign() - 1)) as i64;
        if bits & format.sign() == 0 { magnitude } else { -magnitude }
    };
    place(results[0]).abs_diff(place(results[1]))
}
