//! Barriers, special registers, and who does what else an instruction asks for.

use crate::code::{Operand, Space};
use crate::machine::{Machine, State};
use crate::{Result, Stop, Why, stop, wrong};

/// The first words of what is done by its words.
const KNOWN: [&str; 30] = [
    "activemask",
    "applypriority",
    "atom",
    "bar",
    "barrier",
    "brkpt",
    "cp",
    "createpolicy",
    "cvta",
    "discard",
    "elect",
    "fence",
    "getctarank",
    "griddepcontrol",
    "isspacep",
    "mapa",
    "match",
    "mbarrier",
    "membar",
    "nanosleep",
    "pmevent",
    "prefetch",
    "prefetchu",
    "red",
    "redux",
    "setmaxnreg",
    "shfl",
    "st",
    "trap",
    "vote",
];

pub(crate) fn knows(words: &[&str]) -> bool {
    KNOWN.contains(&words[0])
}

fn gap<T>(words: &[String]) -> Result<T> {
    stop(Why::Gap, words.join("."))
}

impl Machine<'_> {
    pub(crate) fn other(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        match words[0].as_str() {
            "prefetch" | "prefetchu" | "applypriority" | "discard" => self.line(at, words, operands),
            "st" => self.fill(at, words, operands),
            "createpolicy" => self.policy(at, words, operands),
            "cp" => self.copy(at, words, operands),
            "mbarrier" => self.mbarrier(at, words, operands),
            "atom" | "red" => self.atomic(at, words, operands),
            "cvta" | "isspacep" | "mapa" | "getctarank" => self.convert_address(at, words, operands),
            "bar" | "barrier" => self.barrier(at, words, operands),
            "vote" | "shfl" | "match" | "redux" | "elect" | "activemask" => self.in_warp(at, words, operands),
            "trap" | "brkpt" => stop(Why::Trap, words[0].clone()),
            // Memory is in order, and a thread that sleeps only loses its turn.
            "fence" | "membar" | "nanosleep" | "griddepcontrol" | "setmaxnreg" | "pmevent" => Ok(()),
            _ => gap(words),
        }
    }

    /// `st.bulk`: zeros in this block's shared memory.
    fn fill(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let space = Space::of(words.iter().map(String::as_str));
        let [to, size, value] = operands else { return Err(wrong("it has three operands")) };
        let (address, size) = (self.address(at, space, to)?, self.get(at, size)? as usize);
        if self.get(at, value)? != 0 || size % 8 != 0 || address % 16 != 0 {
            return Err(wrong("it stores zeros, a multiple of 8 bytes, at an address aligned to 16"));
        }
        self.write(address, &vec![0; size])
    }

    fn barrier(&mut self, at: usize, words: &[String], operands: &[Operand]) -> Result<()> {
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !matches!(*word, "aligned" | "cta")).collect();
        match words[..] {
            ["barrier", "cluster", "arrive", ..] => self.arrive_at_cluster(at),
            ["barrier", "cluster", "wait", ..] => self.wait_for_cluster(at),
            ["bar", "warp", "sync"] => self.in_warp(at, &["bar".into(), "warp".into(), "sync".into()], operands),
            ["bar" | "barrier", "sync"] => self.meet(at, operands, None, true),
            ["bar" | "barrier", "arrive"] => self.meet(at, operands, None, false),
            ["bar" | "barrier", "red", operation, _] => {
                let (to, rest) = operands.split_first().ok_or_else(|| wrong("an operand is missing"))?;
                self.meet(at, rest, Some((to, operation)), true)
            }
            _ => stop(Why::Gap, words.join(".")),
        }
    }

    /// Arrives at a barrier of the block, and waits there.
    fn meet(&mut self, at: usize, operands: &[Operand], result: Option<(&Operand, &str)>, waits: bool) -> Result<()> {
        let block = self.threads[at].block;
        let missing = || wrong("an operand is missing");
        let number = self.get(at, operands.first().ok_or_else(missing)?)? as u32;
        if number >= 16 {
            return stop(Why::Wrong, format!("there is no barrier {number}"));
        }
        let (count, predicate) = match (result, operands.len()) {
            (None, count) => ((count > 1).then_some(1), None),
            (Some(_), count) => ((count > 2).then_some(1), Some(count - 1)),
        };
        let expected = count.map(|place| self.get(at, &operands[place])).transpose()?.map(|count| count as usize);
        let holds = predicate.map_or(Ok(0), |place| self.get(at, &operands[place]))? as usize;
        // What a reduction gives is told by its word, which is the same for all.
        let place = match result {
            None => None,
            Some((Operand::Register(register) | Operand::Predicate(register), operation)) => {
                let kind = ["popc", "and", "or"].iter().position(|word| *word == operation);
                let kind = kind.ok_or_else(|| Stop { why: Why::Gap, text: format!("bar.red.{operation}") })?;
                Some(*register << 2 | kind)
            }
            Some(_) => return Err(missing()),
        };
        let barrier = self.blocks[block].barriers.entry(number.into()).or_default();
        barrier.arrived += 1;
        barrier.holding += holds;
        barrier.expected = expected;
        if waits {
            barrier.waiting.push((at, place));
            self.threads[at].state = State::AtBarrier;
        }
        self.complete(block, number.into());
        Ok(())
    }

    /// Lets those who wait at a barrier go on, if all have arrived.
    pub(crate) fn complete(&mut self, block: usize, number: u64) {
        let threads = self.launch.threads.iter().product::<u32>() as usize;
        let own = &mut self.blocks[block];
        let ended = own.ended;
        let Some(barrier) = own.barriers.get_mut(&number) else { return };
        if barrier.arrived == 0 || barrier.arrived < barrier.expected.unwrap_or(threads - ended) {
            return;
        }
        let done = std::mem::take(barrier);
        for (thread, place) in done.waiting {
            self.threads[thread].state = State::Running;
            if let Some(place) = place {
                let (all, any) = (done.holding == done.arrived, done.holding > 0);
                let values = [done.holding as u128, all.into(), any.into()];
                self.threads[thread].registers[place >> 2] = values[place & 3];
            }
        }
    }

    fn arrive_at_cluster(&mut self, at: usize) -> Result<()> {
        let number = self.threads[at].block / self.cluster;
        self.clusters[number].arrived += 1;
        self.threads[at].arrived = self.clusters[number].phase + 1;
        self.complete_cluster(number)
    }

    fn wait_for_cluster(&mut self, at: usize) -> Result<()> {
        let number = self.threads[at].block / self.cluster;
        if self.threads[at].arrived == 0 {
            return stop(Why::Wrong, "the thread waits for the cluster and has not arrived");
        }
        if self.clusters[number].phase < self.threads[at].arrived {
            self.threads[at].state = State::AtCluster;
        }
        Ok(())
    }

    /// Lets a cluster's threads go on, if all have arrived. What they sent before is there then; copies are not.
    pub(crate) fn complete_cluster(&mut self, number: usize) -> Result<()> {
        let threads = self.cluster * self.launch.threads.iter().product::<u32>() as usize;
        let cluster = &mut self.clusters[number];
        if cluster.arrived == 0 || cluster.arrived + cluster.ended < threads {
            return Ok(());
        }
        (cluster.arrived, cluster.phase) = (0, cluster.phase + 1);
        for thread in &mut self.threads {
            if thread.state == State::AtCluster && thread.block / self.cluster == number {
                thread.state = State::Running;
            }
        }
        self.deliver(u64::MAX)
    }

    /// The value of a special register.
    pub(crate) fn special(&self, at: usize, name: &str) -> Result<u128> {
        let thread = &self.threads[at];
        let along = |number: usize, sizes: [u32; 3], axis: &str| {
            let [x, y, _] = sizes.map(|size| size as usize);
            match axis {
                "x" => (number % x) as u32,
                "y" => (number / x % y) as u32,
                _ => (number / x / y) as u32,
            }
        };
        let size = |sizes: [u32; 3], axis: &str| match axis {
            "x" => sizes[0],
            "y" => sizes[1],
            _ => sizes[2],
        };
        let (cluster, [x, y, z]) = (self.cluster as u32, self.launch.blocks);
        // Clusters extend along x, as the suite's kernels do.
        let in_clusters = [x / cluster.min(x), y, z];
        let (register, axis) = name.split_once('.').unwrap_or((name, ""));
        let lane = thread.number as u32 % 32;
        let threads = self.launch.threads.iter().product::<u32>();
        let warps = threads.div_ceil(32);
        Ok(match register {
            "tid" => along(thread.number, self.launch.threads, axis).into(),
            "ntid" => size(self.launch.threads, axis).into(),
            "ctaid" => along(thread.block, self.launch.blocks, axis).into(),
            "nctaid" => size(self.launch.blocks, axis).into(),
            "clusterid" => along(thread.block / self.cluster, in_clusters, axis).into(),
            "nclusterid" => size(in_clusters, axis).into(),
            "cluster_ctaid" => {
                if axis == "x" {
                    self.rank(at).into()
                } else {
                    0
                }
            }
            "cluster_nctaid" => {
                if axis == "x" {
                    cluster.into()
                } else {
                    1
                }
            }
            "cluster_ctarank" => self.rank(at).into(),
            "cluster_nctarank" => cluster.into(),
            "is_explicit_cluster" => (cluster > 1).into(),
            "laneid" => lane.into(),
            "warpid" => (thread.number / 32) as u128,
            "nwarpid" => warps.into(),
            "smid" => (thread.block % 4) as u128,
            "nsmid" => 4,
            "gridid" => 1,
            "lanemask_eq" => 1 << lane,
            "lanemask_lt" => (1 << lane) - 1,
            "lanemask_le" => (2 << lane) - 1,
            "lanemask_gt" => 0xffff_ffff & !((2 << lane) - 1),
            "lanemask_ge" => 0xffff_ffff & !((1 << lane) - 1),
            "clock" => self.steps as u32 as u128,
            "clock_hi" => self.steps as u128 >> 32,
            "clock64" | "globaltimer" => self.steps.into(),
            "globaltimer_lo" => self.steps as u32 as u128,
            "globaltimer_hi" => self.steps as u128 >> 32,
            "dynamic_smem_size" => self.launch.shared as u128,
            "total_smem_size" => self.blocks[thread.block].shared.len() as u128,
            _ => return stop(Why::Gap, format!("the register %{name}")),
        })
    }

    /// The generic address of an operand in a space, by its number.
    pub(crate) fn place(&self, at: usize, space: Space, operands: &[Operand], number: usize) -> Result<u64> {
        self.address(at, space, operands.get(number).ok_or_else(|| wrong("an operand is missing"))?)
    }

    pub(crate) fn number(&self, at: usize, operands: &[Operand], number: usize) -> Result<u64> {
        Ok(self.get(at, operands.get(number).ok_or_else(|| wrong("an operand is missing"))?)? as u64)
    }
}
