//! What an instruction's words say about memory order.

/// Who takes part in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Block,
    Cluster,
    Gpu,
    System,
}

impl Scope {
    pub(crate) fn of<W: AsRef<str>>(words: &[W]) -> Option<Scope> {
        words.iter().find_map(|word| {
            Some(match word.as_ref() {
                "cta" => Scope::Block,
                "cluster" => Scope::Cluster,
                "gpu" | "gl" => Scope::Gpu,
                "sys" => Scope::System,
                _ => return None,
            })
        })
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Scope::Block => "cta",
            Scope::Cluster => "cluster",
            Scope::Gpu => "gpu",
            Scope::System => "sys",
        }
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct How {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// Of a strong access.
    pub(crate) scope: Option<Scope>,
    pub(crate) acquires: bool,
    pub(crate) releases: bool,
    /// The grid must not write it: `.nc`, `ldu`, and the constant bank.
    pub(crate) constant: bool,
    /// It is fetched through the texture cache, which need not have what the grid has written before.
    pub(crate) cached: bool,
    pub(crate) discards: bool,
    /// `mbarrier.inval`: those who used the barrier before are done with it. Who uses it later finds no barrier.
    pub(crate) ends_barrier: bool,
    /// It is of a barrier in memory: a write begins or ends it, and a read uses it.
    pub(crate) is_of_barrier: bool,
    /// Its thread does nothing with what it reads.
    pub(crate) is_unused: bool,
    /// By which alias it names its bytes; 0 if by their first address.
    pub(crate) alias: u16,
}

impl How {
    const WEAK: How = How {
        reads: false,
        writes: false,
        scope: None,
        acquires: false,
        releases: false,
        constant: false,
        cached: false,
        discards: false,
        ends_barrier: false,
        is_of_barrier: false,
        is_unused: false,
        alias: 0,
    };
    pub(crate) const DISCARD: How = How { writes: true, discards: true, ..How::WEAK };
    /// A barrier in memory, which takes care of itself.
    pub(crate) const BARRIER: How = How { is_of_barrier: true, reads: true, scope: Some(Scope::System), ..How::WEAK };
    pub(crate) const READ: How = How { reads: true, ..How::WEAK };
    /// Of a texture or a surface.
    pub(crate) const FETCH: How = How { reads: true, cached: true, ..How::WEAK };
    pub(crate) const BEGIN_OF_BARRIER: How = How { is_of_barrier: true, ..How::WRITE };
    pub(crate) const END_OF_BARRIER: How = How { ends_barrier: true, ..How::BEGIN_OF_BARRIER };
    pub(crate) const WRITE: How = How { writes: true, ..How::WEAK };

    fn of(words: &[&str]) -> How {
        let has = |word: &str| words.contains(&word);
        let strong = ["relaxed", "acquire", "release", "acq_rel", "mmio"].iter().any(|word| has(word));
        let scope = match has("volatile") {
            true => Some(Scope::System),
            false => strong.then(|| Scope::of(words).unwrap_or(Scope::Gpu)),
        };
        How {
            scope,
            acquires: has("acquire") || has("acq_rel"),
            releases: has("release") || has("acq_rel"),
            ..How::WEAK
        }
    }

    pub(crate) fn load(words: &[&str]) -> How {
        let constant = words.contains(&"nc") || words[0] == "ldu" || words.contains(&"const");
        How { reads: true, constant, ..How::of(words) }
    }

    pub(crate) fn store(words: &[&str]) -> How {
        How { writes: true, ..How::of(words) }
    }

    /// Without words an atomic is relaxed, for the GPU.
    pub(crate) fn atomic(words: &[&str]) -> How {
        let scope = Scope::of(words).unwrap_or(Scope::Gpu);
        How { reads: true, writes: true, scope: Some(scope), ..How::of(words) }
    }
}

/// The two memories that proxies share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Shared,
    Global,
}

/// What a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// Accesses, for the threads of a scope.
    Memory {
        scope: Scope,
        acquires: bool,
        releases: bool,
        is_sc: bool,
    },
    /// The accesses before it, for the asynchronous proxy: of one memory, or of all.
    Async(Option<Memory>),
    /// The accesses before it, for the tensormap proxy.
    Maps,
    /// The accesses before it, for those by other virtual addresses. It may be a fence of memory too, in one direction.
    Aliases {
        acquires: bool,
        releases: bool,
    },
    /// The initialisation of barriers.
    BarrierInit,
    Other,
}

impl Fence {
    pub(crate) fn of(words: &[&str]) -> Fence {
        match words {
            ["fence", "proxy", "async", rest @ ..] => Fence::Async(match rest {
                ["global"] => Some(Memory::Global),
                ["shared::cta" | "shared::cluster"] => Some(Memory::Shared),
                _ => None,
            }),
            ["fence", "proxy", "async::generic", "release", ..] => Fence::Async(Some(Memory::Shared)),
            ["fence", "mbarrier_init", ..] => Fence::BarrierInit,
            ["fence", "proxy", "tensormap::generic", "release", ..] => Fence::Maps,
            ["fence" | "membar", "proxy", "alias", way @ ..] => {
                Fence::Aliases { acquires: way.contains(&"acquire"), releases: way.contains(&"release") }
            }
            ["fence" | "membar", "proxy", ..] => Fence::Other,
            ["fence" | "membar", ..] => {
                let has = |word: &str| words.contains(&word);
                let scope = Scope::of(words).unwrap_or(Scope::System);
                Fence::Memory {
                    scope,
                    acquires: !has("release"),
                    releases: !has("acquire"),
                    is_sc: has("sc") || words[0] == "membar",
                }
            }
            _ => Fence::Other,
        }
    }
}

/// What does a copy after its instruction, and how its end is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Engine {
    /// `cp.async`, and its groups.
    Small,
    /// `cp.async.bulk`, and its groups.
    Bulk,
    /// The same; only the sources.
    BulkRead,
    /// `cp.async.bulk`, and the barrier at that address.
    Barrier(u64),
    /// `wgmma`, and its groups: it reads.
    Matrix,
    /// `tcgen05.mma` and `tcgen05.cp` of a thread, and the barriers that it commits them to.
    Tensor,
    /// That a thread has begun them.
    TensorBegin,
    /// `tcgen05.ld` and `tcgen05.st` of a warp, and its waits.
    TensorLoad,
    TensorStore,
    /// What a thread's copies read of tensor maps.
    Map,
    /// The grid before this one.
    Grid,
    /// What a grid comes after that other GPUs know nothing of.
    Before,
}

/// How a thread arrives at a barrier, or waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) releases: bool,
    pub(crate) scope: Scope,
}

/// Whether other threads can see when an instruction is executed. A fence that is no `fence.sc` is its thread's own.
pub(crate) fn is_seen(instruction: &str) -> bool {
    let opcode = instruction.split_whitespace().next().unwrap_or_default();
    let words: Vec<&str> = opcode.split('.').collect();
    match words[0] {
        "ld" => !words.iter().any(|word| word.starts_with("param") || *word == "local"),
        "st" => !words.contains(&"local"),
        "fence" => words.contains(&"sc") || words.contains(&"proxy"),
        "ldu" | "atom" | "red" | "membar" | "cp" | "mbarrier" | "bar" | "barrier" | "discard" | "multimem"
        | "tensormap" | "griddepcontrol" | "elect" | "vote" | "activemask" | "shfl" | "match" | "redux" | "clock"
        | "wmma" | "wgmma" | "tcgen05" | "tex" | "tld4" | "suld" | "sust" => true,
        _ => false,
    }
}
