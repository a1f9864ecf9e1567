//! A launch with buffers of its own, which is safe to run.

use std::sync::{MutexGuard, PoisonError};
use std::time::Instant;

use crate::buffer::Buffer;
use crate::check::{Piece, Pieces};
use crate::counts::Counting;
use crate::machine::in_order::Choice;
use crate::machine::launch::{Delays, Launch, Outside, Parts, Peer};
use crate::machine::stop::{Result, wrong};
use crate::machine::{Machine, Program};
use crate::memory::alias::Alias;
use crate::memory::gaps::Gaps;
use crate::report::Report;
use crate::weak::compared::Order;

/// A launch of a kernel with buffers of its own.
///
/// ```
/// use ptx_interpreter::{Kind, Program, Trial};
///
/// // The first half of the block reads what the second half writes, and no barrier is between.
/// let program = Program::parse(
///     ".version 8.0\n.target sm_80\n.address_size 64\n\
///      .visible .entry swap(.param .u64 p) {\n\
///      .reg .b32 %r<3>; .reg .b64 %d<4>;\n\
///      ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;\n\
///      st.global.u32 [%d2], %r1;\n\
///      xor.b32 %r1, %r1, 32; mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d1, %d3;\n\
///      ld.global.u32 %r2, [%d3];\n\
///      ret;\n}",
/// );
/// let mut trial = Trial::new(&program, "swap");
/// trial.block([64, 1, 1]);
/// trial.buffer(&[0; 256]).unwrap();
/// let report = trial.check();
/// assert!(!report.is_clean());
/// assert_eq!(report.findings[0].kind, Kind::Race);
/// assert_eq!(trial.content(0)[4..8], [1, 0, 0, 0]);
/// ```
pub struct Trial<'p> {
    program: &'p Program,
    kernel: String,
    arguments: Vec<Argument>,
    /// What no argument points to.
    memory: Vec<Buffer>,
    blocks: [u32; 3],
    threads: [u32; 3],
    cluster: [u32; 3],
    cooperative: bool,
    resident: Option<usize>,
    gpus: usize,
    shared: usize,
    seed: u64,
    delays: Delays,
    only: Option<Vec<u64>>,
    parts: Parts,
    steps: u64,
    counting: Counting,
    deadline: Option<Instant>,
}

enum Argument {
    Buffer(Buffer),
    Value(Vec<u8>),
    Same(usize),
    /// Another address of an earlier one's memory, which has this room.
    Alias(usize, Buffer),
}

impl<'p> Trial<'p> {
    /// A launch of one block of 32 threads, without arguments.
    pub fn new(program: &'p Program, kernel: &str) -> Trial<'p> {
        Trial {
            program,
            kernel: kernel.to_owned(),
            arguments: Vec::new(),
            memory: Vec::new(),
            blocks: [1; 3],
            threads: [32, 1, 1],
            cluster: [1; 3],
            cooperative: false,
            resident: None,
            gpus: 1,
            shared: 0,
            seed: 0,
            delays: Delays::None,
            only: None,
            parts: Parts::default(),
            steps: u64::MAX,
            counting: Counting::Nothing,
            deadline: None,
        }
    }

    /// Blocks in x, y and z.
    pub fn grid(&mut self, blocks: [u32; 3]) -> &mut Self {
        self.blocks = blocks;
        self
    }

    /// Threads of a block in x, y and z.
    pub fn block(&mut self, threads: [u32; 3]) -> &mut Self {
        self.threads = threads;
        self
    }

    /// Blocks of a cluster in x, y and z, where the kernel does not say it itself. Reports number the blocks of a grid cluster by
    /// cluster.
    pub fn cluster(&mut self, blocks: [u32; 3]) -> &mut Self {
        self.cluster = blocks;
        self
    }

    /// Whether its blocks may wait for each other: a cooperative launch, which `grid.sync()` needs.
    pub fn cooperative(&mut self, cooperative: bool) -> &mut Self {
        self.cooperative = cooperative;
        self
    }

    /// How many blocks the GPU has at one time, for a kernel whose blocks wait for each other. Without it that is not asked.
    pub fn resident(&mut self, blocks: usize) -> &mut Self {
        self.resident = Some(blocks);
        self
    }

    /// So many GPUs run the launch at the same time, and their threads may wait for each other. The arguments are those of GPU 0, then
    /// those of GPU 1, and so on, by whose numbers [`same`](Trial::same) and [`content`](Trial::content) know them. Every GPU may use all
    /// buffers.
    ///
    /// ```
    /// # use ptx_interpreter::{Program, Trial};
    /// # let program = Program::parse(
    /// #     ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry exchange(.param .u64 own, .param .u64 other) {\n\
    /// #      .reg .b32 %r<2>; .reg .b64 %d<3>;\n\
    /// #      ld.param.u64 %d1, [own]; ld.param.u64 %d2, [other];\n\
    /// #      atom.global.sys.add.u32 %r1, [%d1], 1; atom.global.sys.add.u32 %r1, [%d2], 1; ret;\n}",
    /// # );
    /// let mut trial = Trial::new(&program, "exchange");
    /// trial.gpus(2);
    /// trial.buffer(&[0; 4]).unwrap().buffer(&[0; 4]).unwrap(); // GPU 0: its own counter, and the other one's
    /// trial.same(1).same(0); //                                   GPU 1
    /// let report = trial.check();
    /// assert!(report.is_clean(), "{report}");
    /// assert_eq!(trial.content(0), 64u32.to_le_bytes());
    /// ```
    pub fn gpus(&mut self, gpus: usize) -> &mut Self {
        self.gpus = gpus.max(1);
        self
    }

    /// Bytes of dynamic shared memory.
    pub fn shared(&mut self, bytes: usize) -> &mut Self {
        self.shared = bytes;
        self
    }

    /// What makes the order in which threads take turns. The same seed makes the same order.
    pub fn seed(&mut self, seed: u64) -> &mut Self {
        self.seed = seed;
        self
    }

    /// Whether a load may return every value that the memory model allows, and not only the newest one, and a store may come before
    /// what another thread has stored already. The seed chooses.
    pub fn weak(&mut self, weak: bool) -> &mut Self {
        self.delays = if weak { Delays::Loads } else { Delays::None };
        self
    }

    /// In which order of its threads, and of their accesses.
    pub fn order(&mut self, order: &Order<'_>) -> &mut Self {
        (self.seed, self.delays, self.only) = (order.seed, order.delays, order.only.map(<[u64]>::to_vec));
        self
    }

    /// Whether its blocks may run in parts, and on how many cores. It makes no difference to what is found.
    pub fn parts(&mut self, parts: Parts) -> &mut Self {
        self.parts = parts;
        self
    }

    /// What the [report](Report::counts) says of how often instructions were executed.
    ///
    /// ```
    /// # use ptx_interpreter::{Counting, Program, Trial};
    /// # let program = Program::parse(
    /// #     ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry double(.param .u64 p) {\n\
    /// #      .reg .b32 %r<3>; .reg .b64 %d<4>;\n.file 1 \"double.cu\"\n.loc 1 3 1\n\
    /// #      ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n\
    /// #      ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, %r2; st.global.u32 [%d3], %r2; ret;\n}",
    /// # );
    /// let mut trial = Trial::new(&program, "double");
    /// trial.counting(Counting::Accesses).buffer(&[0; 128]).unwrap();
    /// let report = trial.check();
    /// let lines = program.lines(&report.counts);
    /// assert!(lines.iter().all(|line| line.threads == 32), "{lines:?}");
    /// // 32 neighbours of 4 bytes are four sectors of 32.
    /// let accesses = program.accesses(&report.counts);
    /// assert!(accesses.iter().all(|access| access.taken.taken == 4), "{accesses:?}");
    /// ```
    pub fn counting(&mut self, counting: Counting) -> &mut Self {
        self.counting = counting;
        self
    }

    /// Instructions that all threads together may take, and when the launch has to have ended.
    pub fn limits(&mut self, steps: u64, deadline: Option<Instant>) -> &mut Self {
        (self.steps, self.deadline) = (steps, deadline);
        self
    }

    /// The next argument is a pointer to a buffer with this content. Errors: there is not so much memory.
    pub fn buffer(&mut self, content: &[u8]) -> Result<&mut Self> {
        let buffer = Buffer::new(content.len(), true)?;
        buffer.fill(content);
        self.arguments.push(Argument::Buffer(buffer));
        Ok(self)
    }

    /// The next argument is a pointer to a buffer of this number of bytes without values: the kernel has to write them first.
    /// Errors: there is not so much memory.
    pub fn unwritten(&mut self, bytes: usize) -> Result<&mut Self> {
        self.arguments.push(Argument::Buffer(Buffer::new(bytes, false)?));
        Ok(self)
    }

    /// The next argument is this value, as its bytes.
    pub fn value(&mut self, bytes: &[u8]) -> &mut Self {
        self.arguments.push(Argument::Value(bytes.to_vec()));
        self
    }

    /// The next argument is the pointer of an earlier one.
    pub fn same(&mut self, argument: usize) -> &mut Self {
        self.arguments.push(Argument::Same(argument));
        self
    }

    /// The next argument is another virtual address of an earlier one's buffer: [`content`](Trial::content) has what is written by either.
    /// Errors: there is not so much memory.
    pub fn alias(&mut self, argument: usize) -> Result<&mut Self> {
        let Some(Argument::Buffer(buffer)) = self.arguments.get(argument) else {
            return Err(wrong(format!("argument {argument} is no buffer")));
        };
        let addresses = Buffer::new(buffer.bytes, true)?;
        self.arguments.push(Argument::Alias(argument, addresses));
        Ok(self)
    }

    /// The grid before this one may still use the buffer of an argument, as under programmatic dependent launch: the kernel has
    /// to execute `griddepcontrol.wait` before it accesses the buffer.
    pub fn shared_with_grid_before(&mut self, argument: usize) -> &mut Self {
        if let Some(Argument::Buffer(buffer)) = self.arguments.get_mut(argument) {
            buffer.shared_with_grid_before = true;
        }
        self
    }

    /// The same of [memory](Trial::memory) at this address.
    pub fn memory_shared_with_grid_before(&mut self, address: u64) -> &mut Self {
        for buffer in self.memory.iter_mut().filter(|buffer| buffer.begin() as u64 == address) {
            buffer.shared_with_grid_before = true;
        }
        self
    }

    /// Memory that no argument points to: a tensor map, or a pointer in a struct, has its address, which this gives.
    /// Errors: there is not so much memory.
    pub fn memory(&mut self, content: &[u8]) -> Result<u64> {
        let buffer = Buffer::new(content.len(), true)?;
        buffer.fill(content);
        let address = buffer.begin().expose_provenance() as u64;
        self.memory.push(buffer);
        Ok(address)
    }

    /// The bytes of such memory, by its address; of another address none.
    pub fn content_of(&self, address: u64) -> &[u8] {
        match self.memory.iter().find(|buffer| buffer.begin() as u64 == address) {
            Some(buffer) => buffer.content(),
            None => &[],
        }
    }

    /// The bytes of a buffer, by the number of its argument; of another argument none.
    pub fn content(&self, argument: usize) -> &[u8] {
        match self.arguments.get(argument) {
            Some(Argument::Buffer(buffer)) => buffer.content(),
            _ => &[],
        }
    }

    /// Runs the launch and checks it. The buffers keep what the kernel writes.
    pub fn check(&mut self) -> Report {
        // SAFETY: `launched` hands over what is of this launch.
        self.launched(|program, outside, launch, pieces| unsafe { program.check(outside, launch, pieces) })
    }

    /// Runs the launch in the order of each [seed](Trial::seed) and checks it. Each begins with the buffers and the module's
    /// variables as they are now. The first order with a finding, or that does not come to its end, is the last one. Gives the report
    /// of the last order and its seed: with that seed, [`check`](Trial::check) of the same trial, made anew, repeats it. The buffers
    /// keep what that order writes. Of no seeds the trial's own is taken.
    ///
    /// ```
    /// # use ptx_interpreter::{Program, Trial};
    /// # let program = Program::parse(
    /// #     ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry count(.param .u64 p) {\n\
    /// #      .reg .b32 %r<2>; .reg .b64 %d<2>;\n\
    /// #      ld.param.u64 %d1, [p]; atom.global.add.u32 %r1, [%d1], 1; ret;\n}",
    /// # );
    /// # let mut trial = Trial::new(&program, "count");
    /// # trial.buffer(&[0; 4]).unwrap();
    /// let (report, seed) = trial.check_orders(0..8);
    /// assert!(report.is_clean(), "seed {seed}: {report}");
    /// assert_eq!(trial.content(0), 32u32.to_le_bytes());
    /// ```
    pub fn check_orders(&mut self, seeds: impl IntoIterator<Item = u64>) -> (Report, u64) {
        let before: Vec<Vec<u8>> = self.buffers().map(|(_, buffer)| buffer.content().to_vec()).collect();
        let variables = self.variables().clone();
        let mut last = None;
        for seed in seeds {
            self.buffers().zip(&before).for_each(|((_, buffer), content)| buffer.fill(content));
            self.variables().clone_from(&variables);
            let report = self.seed(seed).check();
            let is_clean = report.is_clean();
            last = Some((report, seed));
            if !is_clean {
                break;
            }
        }
        last.unwrap_or_else(|| (self.check(), self.seed))
    }

    /// As [`check`](Trial::check), in an order of the caller's: it is handed the threads that can go on, and says which one does, and which value
    /// a load returns if it is [weak](Trial::weak). So all that a small kernel may do can be gone through. Copies are done as
    /// early as they can be.
    pub fn check_in_order(&mut self, mut choose: impl FnMut(Choice<'_>) -> usize) -> Report {
        let weak = self.delays == Delays::Loads;
        let run = |machine: &mut Machine<'_>| {
            if weak {
                machine.weaken();
            }
            machine.run_in_order(&mut choose)
        };
        // SAFETY: `launched` hands over what is of this launch.
        self.launched(|program, outside, launch, pieces| unsafe {
            program.checked(outside, launch, Pieces::new(pieces).into(), run)
        })
    }

    /// Does something with the launch, whose arguments are as long as the parameters, and whose memory is its own.
    fn launched(&mut self, check: impl FnOnce(&Program, &Outside<'_>, &Launch<'_>, Vec<Piece>) -> Report) -> Report {
        let values = match self.values() {
            Ok(values) => values,
            Err(stop) => return Report::refused(&stop),
        };
        let buffers: Vec<(String, &Buffer)> = self.buffers().collect();
        let range = |buffer: &Buffer| {
            let begin = buffer.begin().expose_provenance() as u64;
            (begin, begin + buffer.bytes as u64)
        };
        let ranges: Vec<(u64, u64)> = buffers.iter().map(|(_, buffer)| range(buffer)).collect();
        let holds = |start: u64, bytes: usize| {
            let within = |(begin, end): &(u64, u64)| *begin <= start && start.saturating_add(bytes as u64) <= *end;
            ranges.iter().any(within)
        };
        let piece = |(name, buffer): &(String, &Buffer)| {
            let (begin, end) = range(buffer);
            Piece {
                name: name.as_str().into(),
                begin,
                bytes: buffer.bytes as u64,
                unwritten: if buffer.written { Gaps::default() } else { Gaps::all(begin, end) },
                undefined: Gaps::default(),
                shared_with_grid_before: buffer.shared_with_grid_before,
            }
        };
        let pieces = buffers.iter().map(piece).collect();
        let places: Vec<*const u8> = values.iter().map(Vec::as_ptr).collect();
        let own = places.len() / self.gpus;
        let of_gpu = |gpu: usize| &places[gpu * own..][..own];
        let peer = |gpu: usize| Peer { gpu: gpu as u32, arguments: of_gpu(gpu), variable: &|_| None };
        let peers: Vec<Peer<'_>> = (1..self.gpus).map(peer).collect();
        let launch = Launch {
            blocks: self.blocks,
            threads: self.threads,
            shared: self.shared,
            cluster: self.cluster,
            cooperative: self.cooperative,
            resident: self.resident,
            seed: self.seed,
            steps: self.steps,
            deadline: self.deadline,
            parts: self.parts,
            counting: self.counting,
            aliases: &self.aliases(),
            peers: &peers,
            delays: self.delays,
            only: self.only.as_deref(),
            ..Launch::new(&self.kernel, of_gpu(0))
        };
        check(self.program, &Outside { holds: &holds, variable: &|_| None }, &launch, pieces)
    }

    /// The other addresses of its buffers.
    fn aliases(&self) -> Vec<Alias> {
        let alias = |argument: &Argument| {
            let Argument::Alias(other, addresses) = argument else { return None };
            let Some(Argument::Buffer(buffer)) = self.arguments.get(*other) else { return None };
            Some(Alias {
                begin: addresses.begin().expose_provenance() as u64,
                bytes: buffer.bytes as u64,
                of: buffer.begin().expose_provenance() as u64,
            })
        };
        self.arguments.iter().filter_map(alias).collect()
    }

    /// The variables of the module.
    fn variables(&self) -> MutexGuard<'p, Vec<u8>> {
        self.program.module.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All memory, and what reports call it.
    fn buffers(&self) -> impl Iterator<Item = (String, &Buffer)> {
        let of_arguments = self.arguments.iter().enumerate().filter_map(|(number, argument)| match argument {
            Argument::Buffer(buffer) | Argument::Alias(_, buffer) => Some((format!("argument {number}"), buffer)),
            _ => None,
        });
        let others = self.memory.iter().enumerate();
        of_arguments.chain(others.map(|(number, buffer)| (format!("memory {number} beside the arguments"), buffer)))
    }

    /// The bytes of each argument, as long as its parameter.
    fn values(&self) -> Result<Vec<Vec<u8>>> {
        let Some(sizes) = self.program.sizes(&self.kernel) else { return Ok(Vec::new()) };
        let value = |argument: &Argument| match argument {
            Argument::Buffer(buffer) | Argument::Alias(_, buffer) => Ok((buffer.begin() as u64).to_le_bytes().to_vec()),
            Argument::Value(bytes) => Ok(bytes.clone()),
            Argument::Same(other) => match self.arguments.get(*other) {
                Some(Argument::Buffer(buffer)) => Ok((buffer.begin() as u64).to_le_bytes().to_vec()),
                _ => Err(wrong(format!("argument {other} is no buffer"))),
            },
        };
        let values = self.arguments.iter().map(value).collect::<Result<Vec<_>>>()?;
        if values.len() != sizes.len() * self.gpus {
            let (takes, given) = (sizes.len() * self.gpus, values.len());
            let bytes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            let bytes = bytes.join(", ");
            return Err(wrong(format!(
                "{} takes {takes} arguments, and is given {given}; its parameters have {bytes} bytes",
                self.kernel
            )));
        }
        for (number, (value, size)) in values.iter().zip(sizes.iter().cycle()).enumerate() {
            if value.len() != *size {
                let given = value.len();
                return Err(wrong(format!(
                    "argument {number} of {} has {size} bytes, and is given {given}",
                    self.kernel
                )));
            }
        }
        Ok(values)
    }
}
