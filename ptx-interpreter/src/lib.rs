//! Runs PTX on a CPU: what a kernel computes and where its control flow goes, not how long it takes.
//!
//! Warps take turns, a few instructions each, in an order that a seed makes, and the threads of a warp may come apart; so
//! blocks can wait for each other, and threads for what other threads write. Memory is sequentially consistent, unless a launch
//! asks for an [`L1`] or for [`Delays`], or a [`Trial`] is [weak](Trial::weak). A state
//! space has addresses of its own: an access that forgets to convert its address goes astray, and an access outside of
//! every piece of memory is an error. Copies are done when somebody waits for them, and what goes to another block
//! arrives later.
//!
//! [`Program::check`] also finds what is wrong with a kernel although it computed the right values this time: see [`Kind`].
//! A [`Trial`] is a launch with buffers of its own, for a test.
//!
//! What instructions compute was compared with an H100, bit by bit. Where the ISA leaves a result open, it is the H100's, and so are
//! sums of matrices of floats by `mma.sync` and `wgmma`. Of approximate instructions, of `tcgen05.mma`, and of `mma.sync` with
//! a `.kind`, the last bits may differ.
//!
//! An instruction that the interpreter does not know is a [gap](Why::Gap) of the interpreter, and no fault of the kernel.

mod allowed;
mod buffer;
// Its macros are for numbers of every width, among them the widest.
#[allow(clippy::useless_conversion)]
mod alu;
mod causes;
mod check;
mod counts;
mod ended;
mod instructions;
mod lines;
mod machine;
mod memory;
mod parts;
mod ptx;
#[cfg(feature = "serde")]
mod record;
mod report;
mod trial;
mod watch;
mod weak;

use std::collections::BTreeSet;

/// Tensor maps of the interpreter's own layout, which a CPU reads too: `ptx-intrinsics` has it.
pub mod tensor_map {
    pub use ptx_intrinsics::on_cpu::tensor::{Along, BYTES, Columns, TensorMap};
}

pub use allowed::Allowed;
pub use check::{Before, Call, Finding, Kind, Piece, Place, Use, Used, UsedRange};
pub use counts::{Counting, Counts, Moved, Taken};
pub use lines::{CountedAccess, CountedLine};
pub use machine::Program;
pub use machine::in_order::{Choice, Ready};
pub use machine::launch::{Delays, DeviceLaunch, L1, Launch, Outside, Parts, Peer};
pub use machine::resources::available_memory;
pub use machine::stop::{Stop, Why};
pub use memory::alias::{Alias, first_address};
pub use memory::gaps::Gaps;
pub use memory::heap::Heap;
pub use memory::overwritten::{Left, Overwritten};
pub use memory::texture::{Element, Number, Objects, Outer, Resource, Shape, Texture};
pub use ptx::linker::link;
pub use ptx::shape::Kernel;
pub use ptx::variable::{Pointer, Variable};
#[cfg(feature = "serde")]
pub use record::Record;
pub use report::Report;
pub use trial::Trial;
pub use weak::compared::{Again, Newest, Order};

use machine::Action;

impl Program {
    /// Its variables are as they were before the first launch. They keep what kernels write.
    pub fn reset(&mut self) {
        *self.module.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner) = self.initial.clone();
    }

    /// The instructions of the module that the interpreter does not know.
    pub fn gaps(&self) -> BTreeSet<String> {
        let lines = self.functions.values().flat_map(|code| &code.lines);
        lines
            .filter_map(|line| if let Action::Unknown(opcode) = &line.action { Some(opcode.clone()) } else { None })
            .collect()
    }

    /// How many parameters a kernel has, if there is a kernel of that name.
    pub fn parameters(&self, kernel: &str) -> Option<usize> {
        self.functions.get(kernel).map(|code| code.parameters.len())
    }

    /// How many bytes each parameter of a kernel has, if there is a kernel of that name.
    pub fn sizes(&self, kernel: &str) -> Option<Vec<usize>> {
        let code = self.functions.get(kernel).filter(|code| code.is_entry)?;
        Some(code.parameters.iter().map(|parameter| parameter.bytes).collect())
    }

    /// The names of the kernels, sorted.
    pub fn kernels(&self) -> Vec<&str> {
        let kernels = self.functions.iter().filter(|(_, code)| code.is_entry);
        let mut names: Vec<&str> = kernels.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Runs a launch to its end, and says how many instructions all threads together took.
    ///
    /// # Safety
    /// The arguments are as long as the kernel's parameters. The memory that `outside` holds is readable and writable, and so is
    /// that of the launch's [objects](Launch::objects).
    pub unsafe fn run(&self, outside: &Outside<'_>, launch: &Launch<'_>) -> std::result::Result<u64, Stop> {
        // SAFETY: the caller promises the same.
        let report = unsafe { self.run_only(outside, launch) };
        print!("{}", report.printed);
        report.stop.map_or(Ok(report.instructions), Err)
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Whether the interpreter knows an instruction that only computes.
pub fn computes(opcode: &str) -> bool {
    alu::alu(opcode).is_some()
}
