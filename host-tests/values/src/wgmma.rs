//! `wgmma`: a block of four warps copies A and B into shared memory, and multiplies them.
//!
//! A row of A, and a column of B, is 32 bytes along K, in two chunks of 16 bytes. Eight chunks of as many rows lie side by side.

use ptx_intrinsics::on_cpu::matrix::Operand;

use crate::case::{BLOCK, Case, Judge};
use crate::name::name_of;
use crate::product::{KINDS, Product, width};
use crate::random::Random;
use crate::types::Type;

/// Blocks of a kernel at most: the registers of D are many.
const BLOCKS: usize = 32;

/// Rows of D that a warp has.
pub(crate) const ROWS: usize = 16;

/// The kernel of an opcode; one that ends with a blank and `registers` has A in registers.
pub(crate) fn case(line: &str) -> Case {
    let (opcode, in_registers) = line.strip_suffix(" registers").map_or((line, false), |opcode| (opcode, true));
    let mut product = product(opcode).unwrap_or_else(|| panic!("{opcode} is no product of matrices"));
    product.in_registers = in_registers;
    let operands = vec![Type::parse("b64").expect("a type"); 2 * product.chunks_of_b()];
    let of_register = Type::parse("b32").expect("a type");
    let of_a = if in_registers { vec![of_register; 4] } else { operands[..2].to_vec() };
    let results = vec![product.to; product.registers()];
    let added = vec![of_register; results.len()];
    Case {
        name: name_of(opcode) + if in_registers { "_registers" } else { "" },
        body: body(opcode, &product, of_a.len()),
        operands: [of_a, operands, added].concat(),
        results,
        judge: Judge::Products(Box::new(product)),
        is_specific: true,
        has_room: false,
    }
}

/// A warp does the same with eight columns as an `mma.sync` of this shape.
fn product(opcode: &str) -> Option<Product> {
    let rest = opcode.strip_prefix("wgmma.mma_async.sync.aligned.m64n")?;
    let (columns, rest) = rest.split_once('k')?;
    let (depth, rest) = rest.split_once('.')?;
    let (saturates, rest) = rest.strip_prefix("satfinite.").map_or(("", rest), |rest| (".satfinite", rest));
    let [to, a, b, after @ ..] = &rest.split('.').collect::<Vec<_>>()[..] else { return None };
    let after: String = after.iter().map(|word| format!(".{word}")).collect();
    let alike = format!("mma.sync.aligned.m16n8k{depth}.row.col{saturates}.{to}.{a}.{b}.{to}{after}");
    let mut product = Product::of(&alike)?;
    product.columns = columns.parse().ok()?;
    Some(product)
}

impl Product {
    /// Registers of D of a thread of `wgmma`.
    fn registers(&self) -> usize {
        self.columns / 8 * self.layout.registers(Operand::D)
    }

    /// Chunks of B that a thread copies.
    fn chunks_of_b(&self) -> usize {
        (2 * self.columns).div_ceil(BLOCK)
    }

    /// Of a thread of `wgmma`, the numbers before those of B, and before those of D.
    pub(crate) fn places(&self) -> [usize; 2] {
        let of_a = if self.in_registers { 4 } else { 2 };
        [of_a, of_a + 2 * self.chunks_of_b()]
    }
}

fn body(opcode: &str, product: &Product, of_a: usize) -> String {
    let name = "%name_matrices";
    let (registers, chunks) = (product.registers(), product.chunks_of_b());
    let mut lines = vec![
        format!(".shared .align 128 .b8 {name}[{}];", 2048 + 2048 * chunks),
        format!("mov.u32 %i2, {name};"),
        "shr.u32 %i3, %i1, 4;".into(),
        "shl.b32 %i3, %i3, 8;".into(),
        "and.b32 %i4, %i1, 1;".into(),
        "shl.b32 %i4, %i4, 7;".into(),
        "shr.u32 %i5, %i1, 1;".into(),
        "and.b32 %i5, %i5, 7;".into(),
        "shl.b32 %i5, %i5, 4;".into(),
        "add.u32 %i6, %i2, %i3;".into(),
        "add.u32 %i6, %i6, %i4;".into(),
        "add.u32 %i6, %i6, %i5;".into(),
    ];
    if !product.in_registers {
        lines.push("st.shared.v2.b64 [%i6], {%a0, %a1};".into());
    }
    for chunk in 0..chunks {
        let (at, first) = (2048 + 2048 * chunk, of_a + 2 * chunk);
        lines.push(format!("st.shared.v2.b64 [%i6+{at}], {{%a{first}, %a{}}};", first + 1));
    }
    lines.extend(["fence.proxy.async.shared::cta;".into(), "bar.sync 0;".into()]);
    lines.extend((0..registers).map(|at| format!("mov.b32 %d{at}, %a{};", of_a + 2 * chunks + at)));
    lines.extend([
        // Descriptors: the address, 128 bytes from chunk to chunk of a row, 256 from eight rows to the next.
        "shr.u32 %i2, %i2, 4;".to_owned(),
        "cvt.u64.u32 %l0, %i2;".into(),
        format!("add.u64 %l0, %l0, {};", (128u64 / 16) << 16 | (256u64 / 16) << 32),
        "add.u64 %l1, %l0, 128;".into(),
        "setp.eq.u32 %p0, 0, 0;".into(),
        "wgmma.fence.sync.aligned;".into(),
    ]);
    let d: Vec<String> = (0..registers).map(|at| format!("%d{at}")).collect();
    let a = if product.in_registers { "{%a0, %a1, %a2, %a3}" } else { "%l0" };
    let scales = match (width(product.factor()), product.in_registers, product.is_float()) {
        (_, _, false) => "",
        (16, true, _) => ", 1, 1, 0",
        (16, false, _) => ", 1, 1, 0, 0",
        _ => ", 1, 1",
    };
    lines.push(format!("{opcode} {{{}}}, {a}, %l1, %p0{scales};", d.join(", ")));
    lines.extend(["wgmma.commit_group.sync.aligned;".into(), "wgmma.wait_group.sync.aligned 0;".into()]);
    lines.join("\n")
}

/// What whole blocks read, each with matrices of a kind.
pub(crate) fn input(case: &Case, product: &Product, threads: usize, random: &mut Random) -> Vec<u64> {
    let threads = threads.min(BLOCKS * BLOCK);
    let [of_b, of_d] = product.places();
    let mut input = Vec::new();
    for thread in 0..threads {
        let kind = thread / BLOCK % KINDS;
        for at in 0..case.reads() {
            let operand = match at {
                at if at < of_b => Operand::A,
                at if at < of_d => Operand::B,
                _ => Operand::C,
            };
            let mut register = || product.drawn(operand, kind, random);
            let is_chunk = at < of_d && !(product.in_registers && at < of_b);
            input.push(if is_chunk { register() | register() << 32 } else { register() });
        }
    }
    input
}

/// The number at `at` of 32 bits along the chunks of a row of A, or a column of B, of a block.
pub(crate) fn word(block: &[u64], reads: usize, first: usize, row: usize, at: usize) -> u64 {
    let chunk = 2 * row + at / 4;
    let (thread, number) = (chunk % BLOCK, chunk / BLOCK);
    block[thread * reads + first + 2 * number + at / 2 % 2] >> (32 * (at % 2)) & 0xffff_ffff
}
