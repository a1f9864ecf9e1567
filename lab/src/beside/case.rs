//! How a kernel of a pair is launched: its arguments, its grid, and what it has to do.

use crate::device::Shape;
use workloads::Matrix;

use super::data::First;

/// How the outputs of both kernels of a pair are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Then {
    /// They are not compared.
    Unseen,
    /// The bytes are equal.
    Equal,
    /// Floats differ by at most a part of the larger one, or of `least` if that is more: their sums may run in another order.
    F32 { part: f32, least: f32 },
    /// The same of `bf16`.
    Bf16 { part: f32, least: f32 },
    /// The words are the same, in any order: as many as the piece of memory after this one says.
    AnyOrder,
}

/// A piece of memory that a kernel is given.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) bytes: u64,
    pub(super) first: First,
    pub(super) then: Then,
    /// Whether it is made zero before each launch.
    pub(super) again: bool,
}

/// An argument.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// The address of a piece of memory, by its number.
    At(usize),
    /// A tensor map of it.
    Map(usize, Matrix),
    U32(u32),
    U64(u64),
    F32(f32),
    /// Another number at each launch, never zero.
    Turn32,
    /// The same of 64 bits, and far from what is drawn.
    Turn64,
}

/// What a kernel has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    /// To read and write at least so many bytes.
    Moves(u64),
    /// To multiply and add: so many operations.
    Computes(u64),
}

/// A launch of both kernels of a pair.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) shape: Shape,
    pub(super) memory: Vec<Piece>,
    pub(super) values: Vec<Value>,
    pub(super) work: Work,
    /// The size, in words.
    pub(super) size: String,
    /// Whether the driver's own copy from the second piece to the first does the same.
    pub(super) is_copy: bool,
}

impl Case {
    /// A launch of so many blocks of so many threads. The arguments are added in their order.
    pub(super) fn of(blocks: u64, threads: u32) -> Case {
        Case::over([blocks, 1], [threads, 1])
    }

    /// The same in two dimensions.
    pub(super) fn over(blocks: [u64; 2], threads: [u32; 2]) -> Case {
        let shape = Shape { blocks: blocks.map(|blocks| blocks as u32), threads, shared: 0 };
        let (memory, values) = (Vec::new(), Vec::new());
        Case { shape, memory, values, work: Work::Moves(0), size: String::new(), is_copy: false }
    }

    fn piece(mut self, bytes: u64, first: First, then: Then) -> Case {
        self.values.push(Value::At(self.memory.len()));
        self.memory.push(Piece { bytes, first, then, again: false });
        self
    }

    fn value(mut self, value: Value) -> Case {
        self.values.push(value);
        self
    }

    /// Memory that the kernel writes, compared byte by byte.
    pub(super) fn out(self, bytes: u64) -> Case {
        self.out_as(bytes, Then::Equal)
    }

    /// Memory that the kernel writes, compared in another way.
    pub(super) fn out_as(self, bytes: u64, then: Then) -> Case {
        self.piece(bytes, First::Poison, then)
    }

    /// Memory that the kernel reads.
    pub(super) fn input(self, bytes: u64, first: First) -> Case {
        self.piece(bytes, first, Then::Unseen)
    }

    /// Memory that the kernel reads and writes.
    pub(super) fn changed(self, bytes: u64, first: First, then: Then) -> Case {
        self.piece(bytes, first, then)
    }

    /// Memory for the kernel's own use.
    pub(super) fn own(self, bytes: u64) -> Case {
        self.piece(bytes, First::Zero, Then::Unseen)
    }

    /// Memory that has to be zero before each launch.
    pub(super) fn counter(self, bytes: u64) -> Case {
        let mut case = self.piece(bytes, First::Zero, Then::Equal);
        if let Some(piece) = case.memory.last_mut() {
            piece.again = true;
        }
        case
    }

    /// The last piece of memory is given as a map.
    pub(super) fn mapped(mut self, matrix: Matrix) -> Case {
        self.values.pop();
        let last = self.memory.len() - 1;
        self.value(Value::Map(last, matrix))
    }

    pub(super) fn u32(self, number: u64) -> Case {
        self.value(Value::U32(number as u32))
    }

    pub(super) fn u64(self, number: u64) -> Case {
        self.value(Value::U64(number))
    }

    pub(super) fn f32(self, number: f32) -> Case {
        self.value(Value::F32(number))
    }

    /// Another number at each launch.
    pub(super) fn turn32(self) -> Case {
        self.value(Value::Turn32)
    }

    /// The same of 64 bits.
    pub(super) fn turn64(self) -> Case {
        self.value(Value::Turn64)
    }

    /// Each block has so many bytes of dynamic shared memory.
    pub(super) fn shared(mut self, bytes: usize) -> Case {
        self.shape.shared = bytes as u32;
        self
    }

    /// It reads and writes at least so many bytes.
    pub(super) fn moves(self, bytes: u64) -> Case {
        let size = match bytes {
            few if few < 10 << 20 => format!("{} KiB", few >> 10),
            many => format!("{} MiB", many >> 20),
        };
        Case { work: Work::Moves(bytes), size, ..self }
    }

    /// It has so many operations.
    pub(super) fn computes(self, operations: u64, size: String) -> Case {
        Case { work: Work::Computes(operations), size, ..self }
    }

    /// The driver's own copy does the same.
    pub(super) fn like_the_drivers_copy(self) -> Case {
        Case { is_copy: true, ..self }
    }
}
