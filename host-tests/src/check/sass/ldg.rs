//! NVIDIA's page about Maxwell's `LDG`, row by row: what it says, our call, and the instruction that it becomes.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use ptx_intrinsics::catalogue::{self, Form};
use regex::Regex;

use crate::check::sass::Shape;
use crate::tools::command::Machine;
use crate::tools::cuda_tools::CudaTools;
use crate::tools::disassembler::Disassembler;
use crate::tools::error::{Error, Result};
use crate::tools::files::write_whole;
use crate::tools::progress::Progress;
use crate::tools::ptxas::Assembler;
use crate::tools::target::Sm;
use ptx_sass::nvdisasm::SassInstruction;

const SM: Sm = Sm::new(50);

/// Where an access's address comes from.
#[derive(Clone, Copy)]
enum Address {
    /// A parameter, and a constant added to it.
    Register(i64),
    /// A constant.
    Absolute(u64),
    /// A parameter, and the access is under a predicate.
    Guarded,
}
use Address::{Absolute, Guarded, Register};

/// A row of the page: what it says, an access, what the page lets expect, and why something else is seen.
struct Claim {
    says: &'static str,
    ptx: &'static str,
    address: Address,
    expected: &'static str,
    why: &'static str,
}

const fn claim(says: &'static str, ptx: &'static str, address: Address, expected: &'static str) -> Claim {
    Claim { says, ptx, address, expected, why: "" }
}

impl Claim {
    const fn but(mut self, why: &'static str) -> Self {
        self.why = why;
        self
    }
}

const UNIFORM: &str =
    "the assembler makes a `.U.128` of a 128-bit load with `.nc`, `.ca` or no operator, whoever its threads are";

const CLAIMS: [Claim; 35] = [
    claim("`@Pg`", "ld.global.nc.f32", Guarded, "@P0 LDG.E.CI Rd, [Ra]"),
    claim("`.E`: 64-bit address", "ld.global.u32", Register(0), "LDG.E Rd, [Ra]"),
    claim("`.CA`, the default", "ld.global.u32", Register(0), "LDG.E Rd, [Ra]"),
    claim("`.CA`, written out", "ld.global.ca.u32", Register(0), "LDG.E Rd, [Ra]"),
    claim("`.CG`", "ld.global.cg.u32", Register(0), "LDG.E.CG Rd, [Ra]"),
    claim("`.CS` maps to `.CA`", "ld.global.cs.u32", Register(0), "LDG.E Rd, [Ra]"),
    claim("`.LU` maps to `.CG`", "ld.global.lu.u32", Register(0), "LDG.E.CG Rd, [Ra]"),
    claim("`.CV`", "ld.global.cv.u32", Register(0), "LDG.E.CV Rd, [Ra]"),
    claim("`.CV`", "ld.volatile.global.u32", Register(0), "LDG.E.CV Rd, [Ra]"),
    claim("`.CI`", "ld.global.nc.u32", Register(0), "LDG.E.CI Rd, [Ra]"),
    claim("`.CI` with `.CA`", "ld.global.ca.nc.u32", Register(0), "LDG.E.CI Rd, [Ra]"),
    claim("`.CI` with `.CG`", "ld.global.cg.nc.u32", Register(0), "LDG.E.CI Rd, [Ra]"),
    claim("`.CI` with `.CS`", "ld.global.cs.nc.u32", Register(0), "LDG.E.CI Rd, [Ra]"),
    claim("`.U8`", "ld.global.nc.u8", Register(0), "LDG.E.CI.U8 Rd, [Ra]"),
    claim("`.S8`", "ld.global.nc.s8", Register(0), "LDG.E.CI.S8 Rd, [Ra]"),
    claim("`.U16`", "ld.global.nc.u16", Register(0), "LDG.E.CI.U16 Rd, [Ra]"),
    claim("`.S16`", "ld.global.nc.s16", Register(0), "LDG.E.CI.S16 Rd, [Ra]"),
    claim("`.32`, the default", "ld.global.nc.f32", Register(0), "LDG.E.CI Rd, [Ra]"),
    claim("`.64`", "ld.global.nc.v2.f32", Register(0), "LDG.E.CI.64 Rd, [Ra]"),
    claim("`.128`", "ld.global.nc.v4.f32", Register(0), "LDG.E.CI.128 Rd, [Ra]").but(UNIFORM),
    claim("`.128`", "ld.global.v4.f32", Register(0), "LDG.E.128 Rd, [Ra]").but(UNIFORM),
    claim("`.128`", "ld.global.cs.v4.f32", Register(0), "LDG.E.128 Rd, [Ra]"),
    claim("`.128`", "ld.global.cg.v4.f32", Register(0), "LDG.E.CG.128 Rd, [Ra]"),
    claim("`.U.128`", "ld.global.nc.v4.f32", Register(0), "LDG.E.CI.U.128 Rd, [Ra]"),
    claim("`.U.128`", "ld.global.ca.v4.f32", Register(0), "LDG.E.U.128 Rd, [Ra]"),
    claim("`.128` with `.CI`", "ld.global.cs.nc.v4.f32", Register(0), "LDG.E.CI.128 Rd, [Ra]"),
    claim("`[Ra + ImmS24]`", "ld.global.nc.f32", Register(4), "LDG.E.CI Rd, [Ra+0x4]"),
    claim("`[Ra + -offset]`", "ld.global.nc.f32", Register(-4), "LDG.E.CI Rd, [Ra+-0x4]"),
    claim("the greatest offset, 2^23 - 1", "ld.global.nc.u8", Register(0x7f_ffff), "LDG.E.CI.U8 Rd, [Ra+0x7fffff]"),
    claim("one more is no offset", "ld.global.nc.u8", Register(0x80_0000), SPLIT),
    claim("the least offset, -2^23", "ld.global.nc.u8", Register(-0x80_0000), "LDG.E.CI.U8 Rd, [Ra+-0x800000]"),
    claim("one less is no offset", "ld.global.nc.u8", Register(-0x80_0001), SPLIT),
    claim("`[ImmU24]`", "ld.global.nc.f32", Absolute(0x1000), "LDG.E.CI Rd, [0x1000]"),
    claim("the greatest address, 2^24 - 1", "ld.global.nc.u8", Absolute(0xff_ffff), "LDG.E.CI.U8 Rd, [0xffffff]"),
    claim("one more needs a register", "ld.global.nc.u8", Absolute(0x100_0000), "LDG.E.CI.U8 Rd, [Ra]"),
];

/// Expected where an offset does not fit: the assembler adds to the register, so the offset is another one.
const SPLIT: &str = "another offset";

/// What the page shows and PTX has no words for.
const UNREACHED: &str = "\
| Without `.E`: a 32-bit address | PTX for 64-bit addresses always has `.E`; the assembler no longer takes `.address_size 32`. |
| `Ps, Rd, [Ra + ImmS20]`: sparse tile status | no PTX instruction. |
| `Ra` omitted is `RZ` | the disassembler shows an absolute address, and no register. |
| addresses are forced to be aligned | what a GPU does, not what the instruction says. |
";

/// The page, as the tools show it.
pub struct Page {
    text: String,
    rows: usize,
    agreeing: usize,
}

impl Page {
    /// Assembles and disassembles each row.
    pub fn see(tools: &CudaTools, progress: &Progress) -> Result<Page> {
        let assembler = tools.assembler(SM, progress)?.lineinfo(true);
        let disassembler = Disassembler::new(tools.nvdisasm12(progress)?);
        let seen = see(&assembler, &disassembler)?;
        let calls: HashMap<String, Form> = catalogue::forms().map(|form| (form.ptx().to_owned(), form)).collect();
        let mut page = Page { text: HEAD.into(), rows: CLAIMS.len(), agreeing: 0 };
        for (claim, seen) in CLAIMS.iter().zip(seen) {
            let call = calls.get(claim.ptx).ok_or_else(|| {
                Error::new(format_args!("the catalogue has no {}", claim.ptx)).at("host-tests/src/check/sass/ldg.rs")
            })?;
            let verdict = claim.verdict(&seen)?;
            page.agreeing += usize::from(verdict == AGREES);
            let Claim { says, ptx, .. } = claim;
            writeln!(
                page.text,
                "| {says} | `{}` | `{ptx} {}` | `{seen}` | {verdict} |",
                claim.called(call),
                claim.place()
            )
            .map_err(Error::new)?;
        }
        page.text += &format!("\n{} of {} rows agree. {TAIL}", page.agreeing, page.rows);
        page.text +=
            &format!("\n## Not reached by PTX\n\n| The page says | Why there is no row |\n| --- | --- |\n{UNREACHED}");
        Ok(page)
    }

    /// Writes it.
    pub fn write(&self) -> Result<()> {
        write_whole(&file(), &self.text)
    }

    /// An error where the file says something else.
    pub fn compare(&self) -> Result<()> {
        let kept = std::fs::read_to_string(file()).map_err(|error| Error::io("read", &file(), error))?;
        if kept == self.text {
            return Ok(());
        }
        let other = self.text.lines().find(|line| !kept.contains(line)).unwrap_or("a row is gone");
        Err(Error::new("the tools show something else than the page")
            .at("docs/sass-ldg.md")
            .because(other)
            .fix("cargo xtask sass --ldg writes it anew"))
    }

    /// In a line.
    pub fn summary(&self) -> String {
        format!("{} rows, {} agree: docs/sass-ldg.md\n", self.rows, self.agreeing)
    }
}

const AGREES: &str = "yes";

const TAIL: &str = "\
Where an offset is out of reach, the assembler adds 2^24 to the register or takes it away,
and the offset that is left is in reach again.
";

const HEAD: &str = include_str!("ldg-head.md");

fn file() -> PathBuf {
    Machine::current().repository.join("docs/sass-ldg.md")
}

impl Claim {
    fn verdict(&self, seen: &str) -> Result<String> {
        let agrees = if self.expected == SPLIT { self.is_split(seen) } else { self.expected == seen };
        match (agrees, self.why) {
            (true, _) => Ok(AGREES.into()),
            (false, "") => Err(Error::new(format_args!("`{}` became `{seen}`, not `{}`", self.ptx, self.expected))
                .at("host-tests/src/check/sass/ldg.rs")
                .fix("say there why, with `.but(…)`, or correct what is expected")),
            (false, why) => Ok(format!("no, `{}` is expected: {why}", self.expected)),
        }
    }

    /// Whether the instruction has an offset that is not the one asked for, and in reach.
    fn is_split(&self, seen: &str) -> bool {
        static OFFSET: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[Ra\+(-?)0x([0-9a-f]+)\]$").expect("valid"));
        let Register(asked) = self.address else { return false };
        let found = OFFSET.captures(seen).and_then(|found| {
            let offset = i64::from_str_radix(&found[2], 16).ok()?;
            Some(if found[1].is_empty() { offset } else { -offset })
        });
        found.is_some_and(|found| found != asked && (-(1 << 23)..1 << 23).contains(&found))
    }

    /// The call with its address.
    fn called(&self, form: &Form) -> String {
        let call = form.rust();
        match self.address {
            Guarded => form.rust_if().unwrap_or_default(),
            Register(0) => call.to_owned(),
            Register(bytes) => call.replacen("p as", &format!("p.byte_offset({bytes}) as"), 1),
            Absolute(address) => call.replacen("p as", &format!("{address:#x} as"), 1),
        }
    }

    fn place(&self) -> String {
        match self.address {
            Register(0) | Guarded => "[p]".into(),
            Register(bytes) => format!("[p+{bytes}]"),
            Absolute(address) => format!("[{address:#x}]"),
        }
    }

    fn kernel(&self, number: usize) -> [String; LINES] {
        let Shape { bits, lanes } = Shape::of(self.ptx);
        let register = bits.max(16);
        let registers: Vec<String> = (0..lanes).map(|lane| format!("d{lane}")).collect();
        let value = if lanes == 1 { "d0".into() } else { format!("{{{}}}", registers.join(", ")) };
        let (address, offset) = match self.address {
            Register(offset) => ("ld.param.u64 p, [address];".to_owned(), offset),
            Absolute(address) => (format!("mov.b64 p, {address};"), 0),
            // With another load on its way the assembler does not branch around the access.
            Guarded => {
                let before = "ld.param.u64 p, [another]; ld.global.nc.b32 other, [p]; mov.b32 d0, 0; \
                     st.shared.b32 [buffer+4], other; ld.param.u64 p, [address]; \
                     ld.param.u32 other, [condition]; setp.ne.b32 g, other, 0;";
                (before.to_owned(), 0)
            }
        };
        let guard = if matches!(self.address, Guarded) { "@g " } else { "" };
        let kept = registers.iter().enumerate().map(|(lane, own)| {
            let at = lane * register / 8;
            format!("st.shared.b{register} [buffer+{at}], {own}; ")
        });
        [
            format!(".visible .entry k{number}(.param .u64 address, .param .u64 another, .param .u32 condition) {{"),
            format!(
                ".reg .pred g; .reg .u64 p; .reg .b32 other; .reg .b{register} d<{lanes}>; .shared .align 16 .b8 buffer[16];"
            ),
            address,
            format!("{guard}{} {value}, [p+{offset}];", self.ptx),
            kept.collect(),
            "ret; }".into(),
        ]
    }
}

/// The lines of a module before its kernels, of a kernel, and the line of its access.
const HEADER: usize = 3;
const LINES: usize = 6;
const ACCESS: usize = 4;

/// The instruction of each row.
fn see(assembler: &Assembler, disassembler: &Disassembler) -> Result<Vec<String>> {
    let kernels = CLAIMS.iter().enumerate().flat_map(|(number, claim)| claim.kernel(number));
    let lines: Vec<String> = [".version 8.8".to_owned(), format!(".target {SM}"), ".address_size 64".to_owned()]
        .into_iter()
        .chain(kernels)
        .collect();
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    let cubin = assembler.assemble_text(&lines.join("\n"), SM, &scratch.path().join("ldg.cubin"))??;
    let functions = disassembler.disassemble(&cubin.path)?;
    let instruction = |number: usize| {
        let function = functions.iter().find(|function| function.name == format!("k{number}"))?;
        let line = (HEADER + LINES * number + ACCESS) as u32;
        function.instructions.iter().find(|one| one.name() == "LDG" && one.ptx_line == Some(line)).map(shown)
    };
    let missing = |number: usize| Error::new(format_args!("{} became no LDG", CLAIMS[number].ptx));
    (0..CLAIMS.len()).map(|number| instruction(number).ok_or_else(|| missing(number))).collect()
}

/// The instruction without the numbers of its registers.
fn shown(one: &SassInstruction) -> String {
    static REGISTER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\[?)R\d+").expect("the pattern is valid"));
    let named = |found: &regex::Captures<'_>| if found[1].is_empty() { "Rd".to_owned() } else { "[Ra".to_owned() };
    REGISTER.replace_all(&one.text, named).into_owned()
}
