//! A kernel: what it reads, does and writes.

use std::fmt::Write;

use crate::approximate::Function;
use crate::product::Product;
use crate::types::{Kind, Type};

/// Threads of a block.
pub const BLOCK: usize = 128;

/// How a result is judged.
#[derive(Debug)]
pub(crate) enum Judge {
    /// Bit by bit.
    Exact,
    /// Not at all: the ISA leaves the result open, and it is told.
    Told,
    /// By its distance from the exact result.
    Approximate(Function),
    /// As sums of products, bit by bit; those of floats with their distance from the exact sums.
    Products(Box<Product>),
}

/// A kernel. Thread `i` reads its operands, each in parts of eight bytes, and writes its results likewise.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    pub(crate) body: String,
    pub(crate) results: Vec<Type>,
    pub(crate) operands: Vec<Type>,
    pub(crate) judge: Judge,
    /// Whether it needs the GPU's own target: `sm_90a`.
    pub is_specific: bool,
    /// Whether `%room` is the thread's 32 bytes of shared memory.
    pub(crate) has_room: bool,
}

/// What a module begins with.
pub fn header(version: &str, target: &str) -> String {
    format!(".version {version}\n.target {target}\n.address_size 64\n")
}

fn slots(types: &[Type]) -> usize {
    types.iter().map(|ty| ty.slots()).sum()
}

impl Case {
    /// Whether its results are compared bit by bit.
    pub fn is_exact(&self) -> bool {
        matches!(self.judge, Judge::Exact)
    }

    /// The numbers of 64 bits that a thread reads.
    pub fn reads(&self) -> usize {
        slots(&self.operands)
    }

    /// And those that it writes.
    pub fn writes(&self) -> usize {
        slots(&self.results)
    }

    /// The text of the kernel, without the module around it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("a string takes all");
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let (name, reads, writes) = (&self.name, 8 * self.reads(), 8 * self.writes());
        writeln!(text, ".visible .entry {name}(.param .u64 {name}_from, .param .u64 {name}_to)\n{{")?;
        writeln!(text, ".reg .b64 %from, %to, %l<8>;\n.reg .b32 %i<8>, %room;\n.reg .pred %p<4>;")?;
        for (letter, types) in [('a', &self.operands), ('d', &self.results)] {
            for (at, ty) in types.iter().enumerate() {
                writeln!(text, ".reg .{} %{letter}{at};", ty.register())?;
            }
        }
        if self.has_room {
            writeln!(text, ".shared .align 128 .b8 {name}_room[{}];", 32 * BLOCK)?;
        }
        writeln!(text, "ld.param.u64 %from, [{name}_from];\nld.param.u64 %to, [{name}_to];")?;
        writeln!(text, "mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %tid.x;\nmad.lo.u32 %i0, %i0, {BLOCK}, %i1;")?;
        writeln!(text, "mad.wide.u32 %from, %i0, {reads}, %from;\nmad.wide.u32 %to, %i0, {writes}, %to;")?;
        if self.has_room {
            writeln!(text, "mov.u32 %room, {name}_room;\nmad.lo.u32 %room, %i1, 32, %room;")?;
        }
        let mut at = 0;
        for (number, ty) in self.operands.iter().enumerate() {
            load(text, *ty, number, at)?;
            at += 8 * ty.slots();
        }
        text.push_str(&self.body.replace("; ", ";\n").replace("%name", name));
        text.push('\n');
        let mut at = 0;
        for (number, ty) in self.results.iter().enumerate() {
            store(text, *ty, number, at)?;
            at += 8 * ty.slots();
        }
        text.push_str("ret;\n}\n");
        Ok(())
    }
}

fn load(text: &mut String, ty: Type, number: usize, at: usize) -> std::fmt::Result {
    match (ty.kind, ty.width()) {
        (Kind::Predicate, _) => writeln!(text, "ld.global.b32 %i7, [%from+{at}];\nsetp.ne.u32 %a{number}, %i7, 0;"),
        (_, 128) => {
            writeln!(text, "ld.global.v2.b64 {{%l6, %l7}}, [%from+{at}];\nmov.b128 %a{number}, {{%l6, %l7}};")
        }
        (_, width) => writeln!(text, "ld.global.b{width} %a{number}, [%from+{at}];"),
    }
}

fn store(text: &mut String, ty: Type, number: usize, at: usize) -> std::fmt::Result {
    match (ty.kind, ty.width()) {
        (Kind::Predicate, _) => writeln!(text, "selp.u32 %i7, 1, 0, %d{number};\nst.global.b32 [%to+{at}], %i7;"),
        (_, 128) => {
            writeln!(text, "mov.b128 {{%l6, %l7}}, %d{number};\nst.global.v2.b64 [%to+{at}], {{%l6, %l7}};")
        }
        (_, width) => writeln!(text, "st.global.b{width} [%to+{at}], %d{number};"),
    }
}
