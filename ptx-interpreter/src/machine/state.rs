//! A module that is ready to run, and the state of a launch: its blocks, warps and threads.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};

use crate::check::{Actor, Checks, Grids};
use crate::counts::Counts;
use crate::machine::exchange::Exchange;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::{LANES, Lanes, each};
use crate::machine::launch::{Asked, DeviceLaunch, Launch, Outside};
use crate::machine::meeting::Barrier;
use crate::machine::numbered::Numbered;
use crate::machine::polls::Polls;
use crate::machine::reading::Reading;
use crate::machine::stop::{Result, Why, stop, wrong};
use crate::machine::undefined::Undefined;
use crate::memory::heap::Lent;
use crate::memory::local::Local;
use crate::memory::spaces::Named;
use crate::memory::tensor::{Begun, Tensor};
use crate::parts::joint::{Blocks, Part};
use crate::ptx::operand::{Operand, Register};
use crate::ptx::paths::Paths;
use crate::ptx::pool::Pool;
use crate::ptx::site::{AllSites, Sites};
use crate::ptx::special::Special;
use crate::ptx::text::Parameter;
use crate::ptx::variable::Variable;

/// A module, ready to run.
pub struct Program {
    pub(crate) functions: HashMap<String, Code>,
    /// Their names, in the order of their addresses.
    pub(crate) names: Vec<String>,
    /// The variables in shared memory that all kernels have, since functions that they may call name them.
    pub(crate) shared: Vec<Named>,
    /// The variables in the constant bank: names, places in `module`, bytes.
    pub(crate) constants: Vec<(String, u64, u64)>,
    /// The variables in global memory and in the constant bank.
    pub(crate) variables: Vec<Variable>,
    /// Their content, where the host has no place of its own for them.
    pub(crate) module: Mutex<Vec<u8>>,
    /// The same before the first launch.
    pub(crate) initial: Vec<u8>,
    /// Where among it the blocks of a cooperative grid meet, if a kernel asks for that.
    pub(crate) grid_workspace: Option<u64>,
    /// Every instruction of every function, for messages.
    pub(crate) sites: AllSites,
    /// What the checks know of them.
    pub(crate) known: Arc<Sites>,
    /// Whether it asks where the system has reserved shared memory.
    pub(crate) names_reserved: bool,
    /// Whether it is for one GPU and none after it (`sm_100a`).
    pub(crate) is_for_one_gpu: bool,
    /// Whether ptxas before 13.3 reads it, which may make a factor of `wgmma` and what is moved to it one register.
    pub(crate) may_join_factors: bool,
    /// How the blocks of a kernel may run, if it was looked at.
    pub(crate) blocks: Mutex<HashMap<String, Blocks>>,
    /// The calls that led to what launches have used of their memory.
    pub(crate) paths: Mutex<Paths>,
    /// The registers that functions read, as far as it was asked.
    pub(crate) read: Mutex<HashMap<String, Arc<HashSet<String>>>>,
}

pub(crate) struct Code {
    pub(crate) is_entry: bool,
    pub(crate) parameters: Vec<Parameter>,
    /// Where the parameters and the results are: of a kernel among the parameters, of others in the frame.
    pub(crate) places: Vec<u64>,
    pub(crate) results: Vec<(u64, usize)>,
    pub(crate) frame: usize,
    /// The variables in shared memory that it declares, or alone names, and where dynamic shared memory begins.
    pub(crate) shared: Vec<Named>,
    pub(crate) dynamic: usize,
    /// Bytes of the variables in shared memory that it declares or names.
    pub(crate) declared: usize,
    /// Places of registers.
    pub(crate) registers: usize,
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) most_threads: Option<u32>,
    pub(crate) exact_threads: Option<u32>,
    /// Registers of each thread as it begins, if `setmaxnreg` changes them later.
    pub(crate) registers_at_entry: Option<u32>,
    pub(crate) lines: Vec<Line>,
    /// The registers that some way through it reads first.
    pub(crate) read_first: Vec<Register>,
    /// The numbers of registers that are moved, to the first and from the second.
    pub(crate) moves: OnceLock<Vec<(usize, usize)>>,
}

/// An instruction.
pub(crate) struct Line {
    /// A predicate, and what it has to be.
    pub(crate) guard: Option<(Register, bool)>,
    /// Its place in [`Program::sites`].
    pub(crate) site: u32,
    pub(crate) action: Action,
    pub(crate) operands: Box<[Operand]>,
    /// Whether other threads can see that it was executed, or when.
    pub(crate) is_seen: bool,
}

/// What an instruction does.
pub(crate) enum Action {
    /// After it comes the next one.
    Straight(Box<dyn Step>),
    Branch(usize),
    /// It decides itself where its threads go on, or whether they wait.
    Control(Box<dyn Step>),
    /// The interpreter does not know it.
    Unknown(String),
    /// It is no instruction.
    Malformed(String),
}

/// An instruction, decoded.
pub(crate) trait Step: Send + Sync {
    /// Does it for all threads of a group.
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()>;

    /// Whether it does nothing but compute the value of its first operand.
    fn computes(&self) -> bool {
        false
    }

    /// The lines at which its threads may go on, if that is not behind it.
    fn targets(&self) -> Option<&[usize]> {
        None
    }

    /// The mask and the rest of it, if threads of a warp exchange something.
    fn exchange(&self) -> Option<(&Operand, &dyn Exchange)> {
        None
    }
}

/// A call of a function, by threads that made it together.
pub(crate) struct Frame<'a> {
    pub(crate) code: &'a Code,
    pub(crate) registers: Vec<Lanes>,
    /// Who has not left it.
    pub(crate) mask: u32,
    /// The frame and the place where its threads go on after it.
    pub(crate) caller: Option<(usize, usize)>,
    pub(crate) results: &'a [u64],
    /// Where it begins in the local memory of its threads.
    pub(crate) base: u64,
    /// Where its sites begin, by the path of its call. Without checks all have the sites of the program.
    pub(crate) sites: u32,
}

pub(crate) struct Warp<'a> {
    pub(crate) block: usize,
    pub(crate) frames: Vec<Frame<'a>>,
    /// Those that all threads have left.
    pub(crate) left: Vec<usize>,
    /// Where each thread is: a frame, and an instruction in its code.
    pub(crate) at: [(u32, u32); LANES],
    /// When each thread last had a turn.
    pub(crate) last: [u64; LANES],
    /// Threads that have not ended.
    pub(crate) live: u32,
    /// Threads that may go on.
    pub(crate) running: u32,
    pub(crate) polls: Polls,
    /// How often those at `activemask` have let others go on first.
    pub(crate) patience: u32,
    /// The round from which on they have turns.
    pub(crate) rests: u64,
    /// Threads that wait for others of the warp, at the instruction before `at`.
    pub(crate) waiting: u32,
    /// Threads that wait for the other blocks of their cluster.
    pub(crate) at_cluster: u32,
    pub(crate) local: Vec<Local>,
    /// The phase of the cluster's barrier that each thread arrived at.
    pub(crate) arrived: [u64; LANES],
    /// Groups of `wgmma` that it has committed.
    pub(crate) multiplied: u32,
    /// Products of `wgmma` that read registers.
    pub(crate) reading: Vec<Reading>,
    /// Loads and stores of tensor memory that it has begun.
    pub(crate) tensor: Begun,
    pub(crate) undefined: Undefined,
    /// Whether what it waits for is something that the block has too little of: columns of tensor memory, or registers.
    pub(crate) is_blocked: bool,
}

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) shared: Vec<u8>,
    pub(crate) barriers: BTreeMap<u32, Barrier>,
    /// None, as long as nothing of it was allocated.
    pub(crate) tensor: Option<Box<Tensor>>,
    pub(crate) pool: Pool,
    pub(crate) ended: usize,
}

#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) phase: u64,
    pub(crate) ended: usize,
}

/// Something that happens later.
pub(crate) type Event<'a> = Box<dyn FnOnce(&mut Machine<'a>) -> Result<()> + 'a>;

/// A load that happens later. If it cannot be done yet, it is done again.
pub(crate) type Late<'a> = Box<dyn Fn(&mut Machine<'a>) -> Result<()> + 'a>;

pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) code: &'a Code,
    pub(crate) outside: &'a Outside<'a>,
    pub(crate) launch: &'a Launch<'a>,
    /// Blocks of a cluster, and in x, y and z.
    pub(crate) cluster: usize,
    pub(crate) cluster_sizes: [u32; 3],
    pub(crate) grids: Grids,
    /// Threads and warps of a block.
    pub(crate) threads: usize,
    pub(crate) warps_of_block: usize,
    /// Those of blocks that have begun and not ended.
    pub(crate) warps: Numbered<Option<Box<Warp<'a>>>>,
    pub(crate) blocks: Numbered<Option<Box<Block>>>,
    /// Registers of what has ended.
    pub(crate) spare: Vec<Vec<Lanes>>,
    pub(crate) clusters: Numbered<Cluster>,
    /// The first cluster that has not begun.
    pub(crate) next_cluster: usize,
    /// Clusters that have begun and not ended.
    pub(crate) living: usize,
    /// Whether the program may cancel the launch of clusters.
    pub(crate) cancels: bool,
    /// Of each grid.
    pub(crate) parameters: Vec<Vec<u8>>,
    /// The bytes that each block's L1 has, if there is one.
    pub(crate) l1: Vec<HashMap<u64, u8>>,
    /// What each thread has begun of asynchronous copies.
    pub(crate) copies_of: HashMap<u32, crate::memory::begun::Begun>,
    /// What the threads of a warp copied last by an instruction out of shared memory.
    pub(crate) stored: HashMap<(usize, u32), crate::memory::begun::Stored>,
    /// Copies that are on their way.
    pub(crate) copies: VecDeque<(u64, Event<'a>)>,
    /// What was sent to other blocks' barriers.
    pub(crate) sent: VecDeque<(u64, Event<'a>)>,
    /// Rounds, in each of which every warp has its turn.
    pub(crate) round: u64,
    pub(crate) steps: u64,
    /// Threads that executed each instruction, if the launch asks for that.
    pub(crate) counts: Counts,
    /// What was done since the clock was asked.
    pub(crate) unasked: u64,
    /// What changes when something happens that a waiting thread may wait for.
    pub(crate) progress: u64,
    pub(crate) random: u64,
    /// Whether the turn should end.
    pub(crate) gives_way: bool,
    /// What the clock has gone on by while threads waited for a time to come.
    pub(crate) waited: u64,
    /// Whether the warp that has its turn has registers without a value.
    pub(crate) follows: bool,
    /// The site of the turn's last look at what other threads do.
    pub(crate) polled: u32,
    /// Pages of memory that may be read, and those that may be written: their numbers, and what leads to their bytes.
    pub(crate) pages: [[(u64, u64); 64]; 2],
    /// If it runs only a part of the launch.
    pub(crate) part: Option<Part<'a>>,
    /// Where a computation puts its results before they go to registers.
    pub(crate) scratch: [Lanes; 2],
    pub(crate) checks: Option<Box<Checks>>,
    pub(crate) weak: Box<crate::weak::older::Older>,
    pub(crate) delayed: crate::weak::delayed::Delayed<Late<'a>>,
    /// Where threads wait that wait forever, and for what.
    pub(crate) stuck_at: Vec<(Actor, u32, String)>,
    /// Whether one of them looks again and again at memory that nothing changes.
    pub(crate) spins: bool,
    /// What `malloc` gives.
    pub(crate) heap: Lent<'a>,
    /// Buffers for the arguments of kernels, by their addresses, and what was launched.
    pub(crate) asked: HashMap<u64, Asked>,
    pub(crate) launched: Vec<DeviceLaunch>,
    /// What the threads printed.
    pub(crate) printed: String,
    /// Whether what was to be executed is no instruction.
    pub(crate) malformed: bool,
    /// The calls that led to functions, as far as there are checks.
    pub(crate) paths: Paths,
    /// The instruction that is executed, and by whom.
    pub(crate) site: u32,
    pub(crate) current: Group,
}

const SHARED_POISON: u8 = 0x5e;

impl<'a> Machine<'a> {
    pub(crate) fn warp(&self, number: usize) -> &Warp<'a> {
        self.warps[number].as_ref().expect("a warp that executes has not ended")
    }

    pub(crate) fn warp_mut(&mut self, number: usize) -> &mut Warp<'a> {
        self.warps[number].as_mut().expect("a warp that executes has not ended")
    }

    pub(crate) fn frame(&self, group: Group) -> &Frame<'a> {
        &self.warp(group.warp).frames[group.frame]
    }

    pub(crate) fn block_of(&self, thread: Thread) -> usize {
        thread.warp / self.warps_of_block
    }

    /// The number of a thread in its block.
    pub(crate) fn number_of(&self, thread: Thread) -> usize {
        thread.warp % self.warps_of_block * LANES + thread.lane
    }

    /// The number of a thread in the grid.
    pub(crate) fn id(&self, thread: Thread) -> u32 {
        (self.block_of(thread) * self.threads + self.number_of(thread)) as u32
    }

    pub(crate) fn rank(&self, block: usize) -> u64 {
        (block % self.cluster) as u64
    }

    /// The blocks of the next cluster begin.
    pub(crate) fn begin_cluster(&mut self) -> Vec<usize> {
        let first = self.following_cluster() * self.cluster;
        self.next_cluster += 1;
        self.living += 1;
        let mut begun = Vec::new();
        for block in first..first + self.cluster {
            let shared = vec![SHARED_POISON; self.shared_room()];
            self.blocks[block] = Some(Box::new(Block { shared, ..Block::default() }));
            for number in 0..self.warps_of_block {
                let count = LANES.min(self.threads - number * LANES);
                let live = (u64::MAX >> (64 - count)) as u32;
                let registers = self.registers(self.code);
                let frame =
                    Frame { code: self.code, registers, mask: live, caller: None, results: &[], base: 0, sites: 0 };
                let warp = Warp {
                    block,
                    frames: vec![frame],
                    left: Vec::new(),
                    at: [(0, 0); LANES],
                    last: [0; LANES],
                    live,
                    running: live,
                    polls: Polls::default(),
                    patience: 0,
                    rests: 0,
                    waiting: 0,
                    at_cluster: 0,
                    local: (0..LANES).map(|_| Local::new(self.code.frame)).collect(),
                    arrived: [0; LANES],
                    multiplied: 0,
                    reading: Vec::new(),
                    tensor: Begun::default(),
                    undefined: Undefined::default(),
                    is_blocked: false,
                };
                let place = block * self.warps_of_block + number;
                self.warps[place] = Some(Box::new(warp));
                self.begins_unset(Group { warp: place, frame: 0, mask: live });
                begun.push(place);
            }
        }
        begun
    }

    /// The registers of a function that begins. Those that it may read before it writes them are 0.
    pub(crate) fn registers(&mut self, code: &Code) -> Vec<Lanes> {
        let mut registers = self.spare.pop().unwrap_or_default();
        registers.resize(code.registers, [0; LANES]);
        for register in &code.read_first {
            registers[register.places()].fill([0; LANES]);
        }
        registers
    }

    /// A number below that one.
    pub(crate) fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    /// The value of an operand in one thread.
    pub(crate) fn get(&self, thread: Thread, operand: &Operand) -> Result<u128> {
        let registers = || &self.warp(thread.warp).frames[thread.frame].registers;
        Ok(match operand {
            Operand::Register(Register { at, bits, .. }) => {
                let low = u128::from(registers()[*at][thread.lane]);
                if *bits <= 64 { low } else { low | u128::from(registers()[*at + 1][thread.lane]) << 64 }
            }
            Operand::Not(register) => u128::from(1 - registers()[register.at][thread.lane]),
            Operand::Number(number) => *number,
            Operand::Name(place, add) => self.address_in_its_space(thread, place).wrapping_add(*add).into(),
            Operand::Special(special) => self.special(thread, *special).into(),
            other => return stop(Why::Wrong, format!("{other:?} has no value")),
        })
    }

    pub(crate) fn set(&mut self, thread: Thread, operand: &Operand, value: u128) -> Result<()> {
        match operand {
            Operand::Register(Register { at, bits, .. }) => {
                let registers = &mut self.warp_mut(thread.warp).frames[thread.frame].registers;
                registers[*at][thread.lane] = (value & (u128::MAX >> (128 - (*bits).min(64)))) as u64;
                if *bits > 64 {
                    registers[*at + 1][thread.lane] = (value >> 64) as u64;
                }
            }
            Operand::Sink => {}
            other => return stop(Why::Wrong, format!("{other:?} is no register")),
        }
        Ok(())
    }

    pub(crate) fn number(&self, thread: Thread, operands: &[Operand], number: usize) -> Result<u64> {
        Ok(self.get(thread, operands.get(number).ok_or_else(crate::machine::stop::missing)?)? as u64)
    }

    /// The value of an operand in all threads of a group; of the others it is any.
    pub(crate) fn lanes(&self, group: Group, operand: &Operand) -> Result<Lanes> {
        let registers = &self.frame(group).registers;
        Ok(match operand {
            Operand::Register(register) => registers[register.at],
            Operand::Not(register) => registers[register.at].map(|value| value ^ 1),
            Operand::Number(number) => [*number as u64; LANES],
            Operand::Decimal(_) | Operand::Vector(_) | Operand::Sink | Operand::Address(..) | Operand::Pair(..) => {
                return stop(Why::Wrong, format!("{operand:?} has no value"));
            }
            Operand::Name(place, _) if place.is_same_for_all() => [self.get(group.first(), operand)? as u64; LANES],
            Operand::Special(special) if special.is_same_for_all() => [self.special(group.first(), *special); LANES],
            Operand::Special(Special::Thread(axis)) => self.threads_along(group, *axis),
            Operand::Special(special) => {
                let mut all = [0; LANES];
                each(group.mask, |lane| all[lane] = self.special(group.thread(lane), *special));
                all
            }
            Operand::Name(..) => {
                let mut all = [0; LANES];
                for thread in group.threads() {
                    all[thread.lane] = self.get(thread, operand)? as u64;
                }
                all
            }
        })
    }

    /// The same, without a copy of a register. `made` has room for what is none.
    #[inline]
    pub(crate) fn values<'v>(
        &'v self,
        group: Group,
        operand: &Operand,
        made: &'v mut Option<Lanes>,
    ) -> Result<&'v Lanes> {
        match operand {
            Operand::Register(register) => Ok(&self.frame(group).registers[register.at]),
            other => Ok(made.insert(self.lanes(group, other)?)),
        }
    }

    /// Gives a register its value in the lanes of a group.
    #[inline]
    pub(crate) fn set_lanes(&mut self, group: Group, register: usize, values: &Lanes) {
        let own = &mut self.warp_mut(group.warp).frames[group.frame].registers[register];
        if group.mask == u32::MAX {
            *own = *values;
        } else {
            each(group.mask, |lane| own[lane] = values[lane]);
        }
    }

    /// The same of an operand, which has at most 64 bits.
    pub(crate) fn set_operand(&mut self, group: Group, operand: &Operand, values: &Lanes) -> Result<()> {
        match operand {
            Operand::Register(Register { at, bits, .. }) if *bits < 64 => {
                self.set_lanes(group, *at, &values.map(|value| value & (u64::MAX >> (64 - bits))));
            }
            Operand::Register(Register { at, .. }) => self.set_lanes(group, *at, values),
            Operand::Sink => {}
            other => return stop(Why::Wrong, format!("{other:?} is no register")),
        }
        Ok(())
    }

    pub(crate) fn shared_of(&mut self, block: usize) -> Result<&mut Block> {
        self.blocks[block].as_deref_mut().ok_or_else(|| wrong(format!("block {block} has ended")))
    }
}
