//! What the types say, asked of the compiler itself: programs of legal and illegal expressions, a line each, and the
//! lines about which `cargo check` complains.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{self, IMPORTS};
use rand::Rng;
use rand::seq::IndexedRandom;

use crate::check::conformance::grammar::{Operands, Spelling};
use crate::check::conformance::types::types_say;
use crate::check::refused::refused_lines;
use crate::tools::command::Machine;
use crate::tools::core_library;
use crate::tools::device_build::Profile;
use crate::tools::error::Result;
use crate::tools::target::{PtxVersion, Sm};
use crate::tools::toolchain::DeviceToolchain;

/// An expression, and what it needs where it is legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The Rust.
    rust: String,
    /// The type that it moves.
    element: String,
    /// The oldest SM and PTX ISA version, 80 and 74, that have it; none where nothing has.
    needs: Option<(u32, u32)>,
}

/// A target with the flags of a user.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// `-Ctarget-cpu`.
    pub sm: Sm,
    /// `-Ctarget-feature`.
    pub ptx: PtxVersion,
}

/// What the compiler said about a target's programs.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The target: `sm_90 with ptx80`.
    pub target: String,
    /// Expressions that both accept.
    pub accepted: usize,
    /// Expressions that both refuse.
    pub refused: usize,
    /// Where it is not of the catalogue's opinion.
    pub wrong: Vec<String>,
}

/// The targets of the check: one without cache policies, one without 256 bits, one with everything.
pub const TARGETS: [Target; 3] = [
    Target { sm: Sm::new(75), ptx: PtxVersion::new(7, 4) },
    Target { sm: Sm::new(90), ptx: PtxVersion::new(8, 0) },
    Target { sm: Sm::new(100), ptx: PtxVersion::new(8, 8) },
];

impl Target {
    fn has(&self, expression: &Expression) -> bool {
        expression.needs.is_some_and(|(sm, ptx)| sm <= self.sm.number && PtxVersion::of_number(ptx) <= self.ptx)
    }
}

/// Compiles these expressions for a target, and holds what is refused against what they need.
pub fn check(toolchain: &DeviceToolchain, target: &Target, expressions: &[Expression]) -> Result<Compiled> {
    let name = format!("{} with {}", target.sm, target.ptx.feature());
    let mut compiled = Compiled { target: name, accepted: 0, refused: 0, wrong: Vec::new() };
    // What is read while macros are expanded would hide what is found later.
    let (spelled, called): (Vec<_>, Vec<_>) = expressions.iter().partition(|this| this.rust.starts_with("ptx!"));
    // A folder for each target, so that one does not wait for the other.
    let folder = Machine::current().target().join("conformance").join(target.sm.to_string());
    for (name, part) in [("spelled", spelled), ("called", called)] {
        let refused = refused(toolchain, target, &folder.join(name), &part)?;
        for (at, expression) in part.into_iter().enumerate() {
            match (target.has(expression), refused.contains(&at)) {
                (true, false) => compiled.accepted += 1,
                (false, true) => compiled.refused += 1,
                (true, true) => compiled.wrong.push(format!("{} is refused for {}", expression.rust, compiled.target)),
                (false, false) => {
                    compiled.wrong.push(format!("{} is accepted for {}", expression.rust, compiled.target))
                }
            }
        }
    }
    Ok(compiled)
}

/// Which of these expressions the compiler refuses for a target.
fn refused(
    toolchain: &DeviceToolchain,
    Target { sm, ptx }: &Target,
    folder: &Path,
    expressions: &[&Expression],
) -> Result<BTreeSet<usize>> {
    let mut flags = vec![format!("-Ctarget-cpu={sm}"), format!("-Ctarget-feature=+{}", ptx.feature())];
    flags.extend(core_library::flags(toolchain, Profile::Release)?);
    let target = folder.with_file_name("cargo");
    let cargo = || {
        let cargo =
            toolchain.cargo().env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).env("CARGO_TARGET_DIR", &target);
        cargo.env("CARGO_BUILD_TARGET", "nvptx64-nvidia-cuda").env_without(|name| name == "PTX_INTRINSICS_TARGET")
    };
    let lines: Vec<String> = expressions.iter().enumerate().map(|(at, expression)| expression.function(at)).collect();
    Ok(refused_lines(folder, cargo, &HEAD, &lines, |_| false)?.into_keys().collect())
}

const HEAD: [&str; 3] =
    ["#![no_std]", "#![allow(unused_variables, unused_imports, unused_parens, clippy::all)]", IMPORTS];

impl Expression {
    /// A function on one line.
    fn function(&self, number: usize) -> String {
        let Expression { rust, element, .. } = self;
        let parameters = format!("p: *mut u8, v: {element}, or: {element}, cond: bool, policy: CachePolicy");
        format!("pub unsafe fn e{number}({parameters}) {{ unsafe {{ let _ = {rust}; }} }}")
    }

    /// A spelling as `ptx!` takes it.
    pub fn spelled(spelling: &Spelling) -> Expression {
        let element = rust_type(&spelling.ptx);
        let (ptx, policy) = (&spelling.ptx, if spelling.takes_policy() { ", policy" } else { "" });
        let unified = if spelling.operands == Operands::Unified { ".unified" } else { "" };
        let sinks = match spelling.operands {
            Operands::Plain | Operands::Unified => None,
            Operands::OneSink => Some(["_"].into_iter().chain(vec!["v"; spelling.lanes() - 1]).collect::<Vec<_>>()),
            Operands::AllSinks => Some(vec!["_"; spelling.lanes()]),
        };
        let sinks = sinks.map(|lanes| format!("{{{}}}", lanes.join(", ").replace('v', "(or.0[0])")));
        let compare = if ptx.contains(".cas.") { "or, " } else { "" };
        let rust = match (ptx.starts_with("ld"), sinks) {
            (true, None) => format!("ptx!({ptx} [p as *const {element}]{unified}{policy})"),
            (true, Some(sinks)) => {
                let sinks = sinks.replace("(or.0[0])", "d");
                format!("ptx!({ptx} {sinks}, [p as *const {element}]{unified}{policy})")
            }
            (false, None) => format!("ptx!({ptx} [p as *mut {element}], {compare}v{policy})"),
            (false, Some(sinks)) => format!("ptx!({ptx} [p as *mut {element}], {sinks}{policy})"),
        };
        Expression { rust, element, needs: types_say(spelling) }
    }
}

/// The Rust type of the PTX type that ends a mnemonic.
fn rust_type(ptx: &str) -> String {
    let mut words = ptx.rsplit('.');
    let scalar = words.next().unwrap_or_default();
    let scalar = match scalar.split_at(1) {
        _ if scalar.ends_with("16x2") => "B32".into(),
        _ if scalar.ends_with("f16") => "B16".into(),
        ("b", bits) => format!("B{bits}"),
        ("s", bits) => format!("i{bits}"),
        _ => scalar.to_owned(),
    };
    match words.next().and_then(|word| word.strip_prefix('v')?.parse::<u32>().ok()) {
        Some(lanes) => format!("V{lanes}<{scalar}>"),
        None => scalar,
    }
}

const LOADS: [&str; 8] =
    ["ld", "ld_shared", "ld_shared_cluster", "ld_const", "ld_local", "ld_param_entry", "ld_param_func", "ld_global"];
const STORES: [&str; 5] = ["st", "st_shared", "st_shared_cluster", "st_local", "st_global"];
const ORDERS: [&str; 10] = [
    "",
    "",
    ".volatile()",
    ".mmio()",
    ".relaxed::<Cta>()",
    ".relaxed::<Gpu>()",
    ".acquire::<Cluster>()",
    ".acquire::<Sys>()",
    ".release::<Gpu>()",
    ".release::<Sys>()",
];
const CACHINGS: [&str; 16] = [
    "NoHint",
    "Ca",
    "Cg",
    "Cs",
    "Lu",
    "Cv",
    "Wb",
    "Wt",
    "EvictNormal",
    "EvictUnchanged",
    "EvictFirst",
    "EvictLast",
    "NoAllocate",
    "L2EvictNormal",
    "L2EvictFirst",
    "L2EvictLast",
];
const SIZES: [&str; 4] = ["NoPrefetch", "Prefetch64", "Prefetch128", "Prefetch256"];
const SCALARS: [&str; 17] = [
    "B8", "B16", "B32", "B64", "B128", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "bool",
    "char",
];
const VERBS: [(&str, &str, &str); 4] =
    [("", "", ""), ("_if", "cond, ", ", or"), ("_with", "", ", policy"), ("_if_with", "cond, ", ", or, policy")];

/// An expression with a method, out of everything that the names of the crate can make.
fn called(random: &mut impl Rng) -> Expression {
    static LEGAL: LazyLock<HashMap<String, (u32, u32)>> = LazyLock::new(|| {
        let forms = catalogue::forms().flat_map(|form| {
            let expressions = [Some(form.rust().to_owned()), form.rust_if()];
            expressions.into_iter().flatten().map(move |rust| (rust, (form.min_sm(), form.min_ptx())))
        });
        forms.filter(|(rust, _)| !rust.starts_with("ptx!")).collect()
    });
    let mut one = |of: &[&'static str]| *of.choose(random).unwrap_or(&"");
    let load = one(&["ld", "st"]) == "ld";
    let global = one(&["", "", "global"]) != "global";
    let name = match (load, global) {
        (true, true) => one(&["ld_global", "ld_global_nc"]),
        (true, false) => one(&LOADS),
        (false, true) => "st_global",
        (false, false) => one(&STORES),
    };
    let order = if name == "ld_global_nc" { "" } else { one(&ORDERS) };
    let caching = match one(&["none", "one", "one", "one", "two"]) {
        "none" => "NoHint".to_owned(),
        "one" => one(&CACHINGS).to_owned(),
        _ => format!("({}, {})", one(&CACHINGS), one(&CACHINGS)),
    };
    let parameters = match (name, load) {
        ("ld_global" | "ld_global_nc", _) => format!("::<{caching}, {}>", one(&SIZES)),
        ("st_global", _) => format!("::<{caching}>"),
        _ => String::new(),
    };
    let lanes = one(&["", "", "V2", "V4", "V8"]);
    let scalar = one(&SCALARS);
    let element = if lanes.is_empty() { scalar.to_owned() } else { format!("{lanes}<{scalar}>") };
    let (with, cond, behind) = *VERBS.choose(random).unwrap_or(&VERBS[0]);
    let rust = if load {
        format!("{name}{parameters}(){order}.read{with}({cond}p as *const {element}{behind})")
    } else {
        let behind = behind.replace(", or", "");
        format!("{name}{parameters}(){order}.write{with}({cond}p as *mut {element}, v{behind})")
    };
    let needs = LEGAL.get(&rust).copied();
    Expression { rust, element, needs }
}

/// So many expressions with methods: half of them legal.
pub fn methods(count: usize, random: &mut impl Rng) -> Vec<Expression> {
    let (mut legal, mut illegal) = (Vec::new(), Vec::new());
    while legal.len() < count / 2 {
        let expression = called(random);
        if expression.needs.is_some() { legal.push(expression) } else { illegal.push(expression) }
    }
    illegal.truncate(count - legal.len());
    [legal, illegal].concat()
}

/// So many of these spellings with `ptx!`, the first ones.
pub fn spellings(all: impl Iterator<Item = Spelling>, count: usize) -> Vec<Expression> {
    all.filter(|spelling| spelling.moves() || spelling.is_atomic())
        .take(count)
        .map(|spelling| Expression::spelled(&spelling))
        .collect()
}
