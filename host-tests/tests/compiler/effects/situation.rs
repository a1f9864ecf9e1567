//! A function with a call among plain accesses, and what the compiler made of it.

use std::collections::BTreeSet;
use std::fmt::Write;

use host_tests::check::forms::{self, Call, Case};
use host_tests::tools::device_build::DeviceBuild;
use host_tests::tools::error::{Error, Result};
use host_tests::tools::ptx::{Function, Module};
use host_tests::tools::target::Sm;
use host_tests::tools::toolchain::DeviceToolchain;
use ptx_intrinsics::catalogue::IMPORTS;

use host_tests::check::ledger::{self, Effect};

/// What the functions are compiled for: a GPU that has every form.
const BUILT_FOR: Sm = Sm::OF_EVERY_FORM;

/// A call among plain accesses.
#[derive(Debug)]
pub(crate) struct Situation {
    name: String,
    call: Call,
    /// How the instruction begins.
    ptx: String,
    /// Whether the parameters are those of a function, and not of a kernel.
    in_function: bool,
    /// Whether it is a line of LLVM's own.
    is_collective: bool,
    pub(crate) effect: Effect,
}

impl Situation {
    pub(crate) fn of(case: &Case) -> Situation {
        let ptx = case.form.ptx().to_owned();
        let effect = ledger::effect(&ptx).unwrap_or_else(|| panic!("{ptx}: say its effect in {}", ledger::TABLE));
        let in_function = case.form.space() == Some("param::func");
        Situation {
            name: case.name.clone(),
            call: case.call(),
            ptx,
            in_function,
            is_collective: case.form.is_collective(),
            effect,
        }
    }

    /// The data is written, the call made, the data read and written again; then the call is made twice, and once more for
    /// nothing.
    fn source(&self) -> String {
        let Situation { name, call, .. } = self;
        let Call { parameters, before, result, expression } = call;
        let abi = if self.in_function { "C" } else { "ptx-kernel" };
        let comma = if parameters.is_empty() { "" } else { ", " };
        let first = "data.write(1);";
        let between = "let seen = data.read(); data.write(2);";
        let (results, body) = match result {
            Some(result) => (
                format!(", d: *mut {result}"),
                format!(
                    "{first} let a = {expression}; {between} let b = {expression}; let c = {expression}; \
                     d.write(a); d.add(1).write(b); d.add(2).write(c); let _ = {expression};"
                ),
            ),
            None => {
                (String::new(), format!("{first} {expression}; {between} {expression}; {expression}; {expression};"))
            }
        };
        format!(
            "#[unsafe(no_mangle)]\npub unsafe extern \"{abi}\" fn {name}(data: *mut u64{results}, out: *mut u64{comma}{parameters}) \
             {{ unsafe {{ {before}{body} out.write(seen); }} }}\n"
        )
    }

    /// What has to become of it: `W` and `R` are plain accesses to the data, `X` is the instruction.
    fn expected(&self) -> &'static str {
        match self.effect {
            // Its place says nothing.
            Effect::Computes => "X W",
            Effect::Reads => "W X W X",
            Effect::Hints => "W X W X X X",
            // Its place says nothing, but each call is there.
            Effect::Meets => "X X X X W",
            Effect::Acts => "W X R W X X X",
        }
    }

    /// What became of it.
    fn found(&self, function: &Function) -> String {
        let mut data: BTreeSet<&str> = BTreeSet::new();
        let mut events = Vec::new();
        let parameter = format!("[{}_param_0]", self.name);
        let mut in_asm = false;
        for line in &function.body {
            let words: Vec<&str> = line.text.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()).collect();
            match words[..] {
                ["//", "begin", "inline", "asm"] => in_asm = true,
                ["//", "end", "inline", "asm"] => in_asm = false,
                _ if in_asm || self.is_collective && self.is_own(&line.text) => {
                    events.extend(self.is_own(&line.text).then_some("X"))
                }
                [load, to, from] if load.starts_with("ld.param") && from == parameter => {
                    data.insert(to);
                }
                [convert, to, from] if convert.starts_with("cvta.to.global") && data.contains(from) => {
                    data.insert(to);
                }
                [load, _, from] if load.starts_with("ld.") && data.contains(from.trim_matches(['[', ']'])) => {
                    events.push("R");
                }
                [store, to, _] if store.starts_with("st.") && data.contains(to.trim_matches(['[', ']'])) => {
                    events.push("W");
                }
                _ => {}
            }
        }
        if matches!(self.effect, Effect::Computes | Effect::Meets) {
            events.sort_by_key(|event| *event == "W");
        }
        events.join(" ")
    }

    /// Whether a line is the instruction.
    fn is_own(&self, line: &str) -> bool {
        let line = line.strip_prefix("@%cond ").unwrap_or(line);
        line.strip_prefix(&self.ptx).is_some_and(|rest| rest.starts_with([' ', ';']))
    }
}

/// What has an effect and is no form.
pub(crate) fn beyond() -> impl Iterator<Item = Situation> {
    let all: [(&str, &str, Option<&str>, &str, &str); 4] = [
        ("shared_read", "p: SharedPtr<u32>", Some("u32"), "p.read()", "ld.shared.u32"),
        ("shared_read_if", "p: SharedPtr<u32>, cond: bool", Some("u32"), "p.read_if(cond, 7)", "ld.shared.u32"),
        ("shared_write", "p: SharedPtr<u32>", None, "p.write(7)", "st.shared.u32"),
        ("shared_write_if", "p: SharedPtr<u32>, cond: bool", None, "p.write_if(cond, 7)", "st.shared.u32"),
    ];
    all.into_iter().map(|(name, parameters, result, expression, ptx)| Situation {
        name: name.to_owned(),
        call: Call {
            parameters: parameters.to_owned(),
            before: String::new(),
            result: result.map(str::to_owned),
            expression: expression.to_owned(),
        },
        ptx: ptx.to_owned(),
        in_function: false,
        is_collective: false,
        effect: if result.is_some() { Effect::Reads } else { Effect::Acts },
    })
}

/// Compiles these, and gives what is wrong, a line each.
pub(crate) fn look(toolchain: &DeviceToolchain, number: usize, situations: &[Situation]) -> Result<Vec<String>> {
    let mut source = format!(
        "#![no_std]\n#![feature(abi_ptx)]\n#![allow(warnings)]\n{IMPORTS}\n\n\
         #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{\n    loop {{}}\n}}\n",
    );
    for situation in situations {
        writeln!(source, "\n{}", situation.source().trim_end()).expect("a string takes all");
    }
    let folder = toolchain.machine().target().join("effects").join(format!("part-{number}"));
    forms::write_package(&folder, "effects", &source)?;
    let (ptx, _) = DeviceBuild::of_every_form(folder, "effects", BUILT_FOR).build_quietly(toolchain)?;
    let module = Module::read(&ptx)?;
    let wrong = situations.iter().map(|situation| {
        let function = module.function(&situation.name);
        let function = function.ok_or_else(|| Error::new(format_args!("{} is not in the PTX", situation.name)))?;
        let (expected, found) = (situation.expected(), situation.found(function));
        let what = &situation.call.expression;
        Ok((expected != found).then(|| format!("{what} {:?}: expected {expected}, found {found}", situation.effect)))
    });
    Ok(wrong.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}
