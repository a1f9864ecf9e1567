//! The ISA's own syntax, expanded: what the catalogue has to hold, no more and no less.

mod named;

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use libtest_mimic::Failed;
use ptx_intrinsics::catalogue;

pub(crate) use named::names_agree;

/// The ISA's syntax. A new instruction gets its lines here.
const PRODUCTIONS: &str = include_str!("grammar/productions.txt");

/// The words that the name of a qualifier stands for.
static CHOICES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let words = lines(include_str!("grammar/choices.txt")).map(|line| line.split(' '));
    words.filter_map(|mut words| Some((words.next()?, words.collect()))).collect()
});

/// How many forms each instruction has.
const COUNTS: &str = include_str!("grammar/counts.txt");

/// The lines of a table.
fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Instructions, and how many forms each has.
pub(crate) fn counts() -> Vec<(&'static str, usize)> {
    let count = |line: &'static str| {
        let (name, count) = line.split_once(' ').expect("a name and a count");
        (name, count.parse().expect("a number"))
    };
    lines(COUNTS).map(count).collect()
}

/// The forms that a line stands for.
fn forms_of(line: &str) -> Vec<String> {
    if let Some(whole) = line.strip_prefix("= ") {
        return vec![whole.to_owned()];
    }
    let Some((production, operands)) = line.split_once(" |") else {
        return expand(line).into_iter().filter(|ptx| is_legal(ptx)).collect();
    };
    let policy = |ptx: &str| if ptx.contains("cache_hint") { ", %" } else { "" };
    let each = |ptx: String| operands.split(';').map(move |own| format!("{ptx} {}{}", own.trim(), policy(&ptx)));
    expand(production).into_iter().flat_map(each).map(|told| told.trim_end().to_owned()).collect()
}

/// Every spelling of a production: `{.name}` may be left out, `.name` may not, anything else is itself.
fn expand(production: &str) -> Vec<String> {
    let Some(first) = production.chars().next() else { return vec![String::new()] };
    let end = match first {
        '{' => production.find('}').map_or(production.len(), |at| at + 1),
        _ => production[1..].find(['.', '{']).map_or(production.len(), |at| at + 1),
    };
    let (item, rest) = production.split_at(end);
    let name = item.trim_matches(['{', '}']);
    let mut heads = CHOICES.get(name).cloned().unwrap_or_else(|| vec![name]);
    if first == '{' {
        heads.push("");
    }
    let tails = expand(rest);
    heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}"))).collect()
}

/// What the pages say in words about which qualifiers meet.
fn is_legal(ptx: &str) -> bool {
    if ["atom.", "red."].iter().any(|atomic| ptx.starts_with(atomic)) {
        return !loses_its_loop_s_order(ptx);
    }
    if !ptx.starts_with("ld") && !ptx.starts_with("st") {
        return true;
    }
    let words: Vec<&str> = ptx.split('.').filter(|word| !word.is_empty()).collect();
    let Some(bits) = words.last().and_then(|ty| ty.trim_start_matches(['b', 'u', 's', 'f']).parse::<u32>().ok()) else {
        return true;
    };
    let lanes = words.iter().find_map(|word| word.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
    let wide = (lanes, bits) == (8, 32) || (lanes, bits) == (4, 64);
    let vector = match lanes {
        1 => true,
        2 => bits <= 64,
        4 => bits <= 64,
        _ => bits == 32,
    };
    let far = !["const", "local", "param::entry", "param::func", "shared", "shared::cluster"]
        .iter()
        .any(|near| words.contains(near));
    let placed = (far || !wide) && !(wide && words.contains(&"ldu"));
    vector && placed && (wide || !ptx.contains(".L2::evict")) && !loses_its_order(&words, wide)
}

/// What `ptxas` takes and gives up the order of: what is a loop in a block's own shared memory.
fn loses_its_loop_s_order(ptx: &str) -> bool {
    let looped = [".b64", ".u64", ".s64", ".f64", ".f32", ".f16x2", ".bf16x2"].iter().any(|ty| ptx.ends_with(ty));
    let swapped = ptx.contains(".exch") || ptx.contains(".cas");
    let ordered = [".acquire", ".release", ".acq_rel"].iter().any(|order| ptx.contains(order));
    ptx.contains(".shared.") && looped && !swapped && ordered && !ptx.contains(".acquire.cta")
}

/// What `ptxas` takes and gives up the order of: a 256-bit acquire or release, and `ld.relaxed.L1::evict_first`.
fn loses_its_order(words: &[&str], wide: bool) -> bool {
    let says = |word| words.contains(&word);
    wide && (says("acquire") || says("release")) || says("ld") && says("relaxed") && says("L1::evict_first")
}

/// The catalogue holds each spelling of the ISA once, and nothing else.
pub(crate) fn agrees() -> Result<(), Failed> {
    let isa: BTreeSet<String> = lines(PRODUCTIONS).flat_map(forms_of).collect();
    let listed: Vec<String> = catalogue::forms().map(|form| form.full_ptx()).collect();
    let held: BTreeSet<String> = listed.iter().cloned().collect();
    if let Some(missing) = isa.difference(&held).next() {
        let fix =
            "its row is in ptx-intrinsics/src/instructions, and the file of the row in `contents!` in mod.rs there";
        return Err(format!("the catalogue lacks {missing}: {fix}").into());
    }
    if let Some(extra) = held.difference(&isa).next() {
        let fix = "if it has, add its syntax to host-tests/tests/forms/grammar/productions.txt";
        return Err(format!("the ISA has no {extra}: {fix}").into());
    }
    // One mnemonic has two forms: the fraction of a policy may be left out.
    let fractions = held.iter().filter(|ptx| ptx.starts_with("createpolicy.fractional")).count();
    if listed.len() != held.len() + fractions {
        return Err("a form is listed twice".into());
    }
    Ok(())
}
