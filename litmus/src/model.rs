//! The model: the relations and the axioms of the PTX ISA's chapter "Memory Consistency Model", under its names.
//!
//! Lustig et al. (ASPLOS 2019) and Lustig, Cooksey and Giroux (ISCA 2022, proxies) have them as formulas.

use super::execution::Execution;
use super::program::{Proxy, Semantics};
use super::relation::{Relation, Set};
use super::trace::{Event, Kind};

/// A part of the model, which a test may leave out to see what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are the names of the ISA's chapter, and of the functions below")]
pub enum Part {
    Coherence,
    FenceSc,
    Atomicity,
    NoThinAir,
    ScPerLocation,
    Causality,
    Scopes,
    CompleteOverlap,
    MorallyStrongCoherence,
    ReleaseOperation,
    ReleaseThenWrite,
    ReleaseFence,
    AcquireOperation,
    ReadThenAcquire,
    AcquireFence,
    Observation,
    ObservationThroughAtomics,
    ObservationInCausality,
    FenceScOrder,
    BarrierSynchronizes,
    ProxiesDiffer,
    SameProxyInBlock,
    ProxyFences,
    AliasFences,
    AliasesDiffer,
}

/// The memory model of the ISA, whole but for the parts that a test leaves out.
#[derive(Clone, Debug, Default)]
pub struct Model {
    without: Vec<Part>,
}

/// What follows from the program alone, whatever its loads return.
pub(super) struct Patterns<'e> {
    pub(super) execution: &'e Execution,
    pub(super) morally_strong: Relation,
    release: Relation,
    acquire: Relation,
}

/// What follows from the writes that the loads return, whatever the orders of fences and barriers are.
pub(super) struct Communication<'e> {
    pub(super) execution: &'e Execution,
    pub(super) rf: Relation,
    morally_strong: &'e Relation,
    observation: Relation,
    synchronizes: Relation,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 25] = [
        Part::Coherence,
        Part::FenceSc,
        Part::Atomicity,
        Part::NoThinAir,
        Part::ScPerLocation,
        Part::Causality,
        Part::Scopes,
        Part::CompleteOverlap,
        Part::MorallyStrongCoherence,
        Part::ReleaseOperation,
        Part::ReleaseThenWrite,
        Part::ReleaseFence,
        Part::AcquireOperation,
        Part::ReadThenAcquire,
        Part::AcquireFence,
        Part::Observation,
        Part::ObservationThroughAtomics,
        Part::ObservationInCausality,
        Part::FenceScOrder,
        Part::BarrierSynchronizes,
        Part::ProxiesDiffer,
        Part::SameProxyInBlock,
        Part::ProxyFences,
        Part::AliasFences,
        Part::AliasesDiffer,
    ];
}

impl Model {
    /// The whole model.
    pub fn new() -> Model {
        Model::default()
    }

    /// The model without some parts.
    pub fn without(parts: &[Part]) -> Model {
        Model { without: parts.to_vec() }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.without.is_empty()
    }

    pub(super) fn has(&self, part: Part) -> bool {
        !self.without.contains(&part)
    }

    /// Two operations are morally strong if they are related in program order, or each is strong and its scope includes
    /// the other's thread; and if both are performed by the same proxy; and if both are memory operations, they overlap
    /// completely.
    fn morally_strong(&self, on: &Execution) -> Relation {
        let strong = on.set(is_strong);
        let scopes =
            if self.has(Part::Scopes) { on.scopes_include.clone() } else { Relation::of(on.count(), |a, b| a != b) };
        let related = on.po.clone().or(&on.po.inverse()).or(&scopes.between(strong, strong));
        let memory = on.reads | on.writes;
        let overlap = Relation::of(on.count(), |a, b| {
            let both = memory >> a & memory >> b & 1 == 1;
            !self.has(Part::CompleteOverlap) || !both || on.vloc.has(a, b)
        });
        let related = related.and(&overlap);
        if self.has(Part::ProxiesDiffer) { related.and(&on.same_proxy) } else { related }
    }

    /// A release pattern on a location: a release on it; one followed by a strong write to it; or a fence followed by a
    /// strong write to it. From its first operation to its write.
    fn release_pattern(&self, on: &Execution) -> Relation {
        let strong_writes = on.set(is_strong) & on.writes;
        let releases = on.set(|event| event.semantics == Semantics::Release) & on.writes;
        let fences = on.set(|event| event.kind == Kind::Fence && releases_too(event.semantics));
        let mut pattern = Relation::empty(on.count());
        if self.has(Part::ReleaseOperation) {
            pattern = pattern.or(&Relation::identity(on.count(), releases));
        }
        if self.has(Part::ReleaseThenWrite) {
            pattern = pattern.or(&po_vloc(on).between(releases, strong_writes));
        }
        if self.has(Part::ReleaseFence) {
            pattern = pattern.or(&on.po.clone().between(fences, strong_writes));
        }
        pattern
    }

    /// An acquire pattern on a location: an acquire of it; a strong read of it followed by one; or a strong read of it
    /// followed by a fence. From its read to its last operation.
    fn acquire_pattern(&self, on: &Execution) -> Relation {
        let strong_reads = on.set(is_strong) & on.reads;
        let acquires = on.set(|event| event.semantics == Semantics::Acquire) & on.reads;
        let fences = on.set(|event| event.kind == Kind::Fence && acquires_too(event.semantics));
        let mut pattern = Relation::empty(on.count());
        if self.has(Part::AcquireOperation) {
            pattern = pattern.or(&Relation::identity(on.count(), acquires));
        }
        if self.has(Part::ReadThenAcquire) {
            pattern = pattern.or(&po_vloc(on).between(strong_reads, acquires));
        }
        if self.has(Part::AcquireFence) {
            pattern = pattern.or(&on.po.clone().between(strong_reads, fences));
        }
        pattern
    }

    /// Observation order relates a write to a read that returns its value and is morally strong with it, and goes on
    /// through the writes of atomics that so read.
    fn observation(&self, on: &Execution, rf: &Relation, morally_strong: &Relation) -> Relation {
        let reads = rf.clone().and(morally_strong);
        match (self.has(Part::Observation), self.has(Part::ObservationThroughAtomics)) {
            (false, _) => Relation::empty(on.count()),
            (true, false) => reads,
            (true, true) => reads.then(&on.rmw).closure().or_same().then(&reads),
        }
    }

    /// What is known before the loads have their writes.
    pub(super) fn patterns<'e>(&self, execution: &'e Execution) -> Patterns<'e> {
        let (release, acquire) = (self.release_pattern(execution), self.acquire_pattern(execution));
        Patterns { execution, morally_strong: self.morally_strong(execution), release, acquire }
    }

    /// What is known once each load has its write. A release pattern synchronizes with an acquire pattern if its write
    /// precedes the other's read in observation order, and the first operation of the one and the last of the other are
    /// morally strong.
    pub(super) fn communication<'e>(&self, on: &'e Patterns<'e>, rf: Relation) -> Communication<'e> {
        let observation = self.observation(on.execution, &rf, &on.morally_strong);
        let synchronizes = on.release.then(&observation).then(&on.acquire).and(&on.morally_strong);
        Communication { execution: on.execution, rf, morally_strong: &on.morally_strong, observation, synchronizes }
    }

    /// Base causality order: program order, synchronization, Fence-SC order and barriers, one after the other.
    pub(super) fn base_causality(&self, on: &Communication<'_>, fence_sc: &Relation, barriers: &Relation) -> Relation {
        let mut steps = on.execution.po.clone().or(&on.synchronizes);
        if self.has(Part::FenceScOrder) {
            steps = steps.or(fence_sc);
        }
        if self.has(Part::BarrierSynchronizes) {
            steps = steps.or(barriers);
        }
        steps.closure()
    }

    /// Base causality order between operations on one address, as far as proxies keep it: both are generic; both are of
    /// one proxy in one block; or fences of their proxies, each in its operation's block, are on the way, and an alias
    /// fence if their virtual addresses differ.
    fn proxy_preserved(&self, on: &Execution, base: &Relation) -> Relation {
        if !self.has(Part::ProxiesDiffer) {
            let same = if self.has(Part::AliasesDiffer) { &on.vloc } else { &on.loc };
            return base.clone().and(same);
        }
        let memory = on.reads | on.writes;
        let generic = on.set(|event| event.proxy == Proxy::Generic) & memory;
        let fences = if self.has(Part::ProxyFences) { on.set(|event| event.kind == Kind::ProxyFence) } else { 0 };
        let of_proxy = on.same_proxy.clone().and(&on.same_cta).and(base);
        let stays = Relation::identity(on.count(), generic);
        let leaves = of_proxy.clone().between(memory, fences).or(&stays);
        let enters = of_proxy.clone().between(fences, memory).or(&stays);
        let one_proxy = if self.has(Part::SameProxyInBlock) { of_proxy } else { Relation::empty(on.count()) };
        let one_address = one_proxy.or(&leaves.then(base).then(&enters));
        let alias_fences = if self.has(Part::AliasFences) { on.set(|event| event.kind == Kind::AliasFence) } else { 0 };
        let alias = Relation::identity(on.count(), alias_fences);
        let aliased = leaves.then(base).then(&alias).then(base).then(&enters).and(&on.loc);
        let same = if self.has(Part::AliasesDiffer) { &on.vloc } else { &on.loc };
        one_address.and(same).or(&aliased)
    }

    /// Causality order: proxy-preserved base causality order, also after a step in observation order.
    pub(super) fn causality(&self, on: &Communication<'_>, base: &Relation) -> Relation {
        let preserved = self.proxy_preserved(on.execution, base);
        if !self.has(Part::ObservationInCausality) {
            return preserved;
        }
        on.observation.then(&preserved).or(&preserved)
    }

    /// Fence-SC: if one `fence.sc` precedes another in causality order, it precedes it in Fence-SC order.
    pub(super) fn fence_sc(&self, fence_sc: &Relation, base: &Relation) -> bool {
        !self.has(Part::FenceSc) || fence_sc.then(base).is_irreflexive()
    }

    /// No-Thin-Air: no value justifies itself through dependencies and loads.
    pub(super) fn no_thin_air(&self, on: &Execution, rf: &Relation) -> bool {
        !self.has(Part::NoThinAir) || on.dep.clone().or(rf).is_acyclic()
    }

    /// Coherence: a write that precedes an overlapping one in causality order precedes it in coherence order.
    pub(super) fn coherence(&self, on: &Execution, causality: &Relation, co: &Relation) -> bool {
        let ordered = causality.clone().between(on.writes, on.writes).and(&on.loc);
        !self.has(Part::Coherence) || ordered.is_within(co)
    }

    /// Atomicity: no morally strong write comes between the read and the write of an atomic.
    pub(super) fn atomicity(&self, on: &Communication<'_>, co: &Relation, fr: &Relation) -> bool {
        let strong = |relation: &Relation| relation.clone().and(on.morally_strong);
        !self.has(Part::Atomicity) || strong(fr).then(&strong(co)).and(&on.execution.rmw).is_empty()
    }

    /// SC-per-Location: among operations that are morally strong with each other, communication and program order have no
    /// cycle; of one location's operations.
    pub(super) fn sc_per_location(&self, on: &Communication<'_>, co: &Relation, fr: &Relation, here: Set) -> bool {
        let communication = on.rf.clone().or(co).or(fr).and(on.morally_strong);
        let po_loc = po_vloc(on.execution).and(on.morally_strong);
        !self.has(Part::ScPerLocation) || communication.or(&po_loc).between(here, here).is_acyclic()
    }

    /// Causality: no load returns a write that it precedes in causality order, and none that a write was put after which
    /// precedes the load; of one location's operations.
    pub(super) fn causality_holds(
        &self,
        on: &Communication<'_>,
        causality: &Relation,
        fr: &Relation,
        here: Set,
    ) -> bool {
        !self.has(Part::Causality) || on.rf.clone().or(fr).between(here, here).then(causality).is_irreflexive()
    }
}

impl Communication<'_> {
    pub(super) fn is_morally_strong(&self, a: usize, b: usize) -> bool {
        self.morally_strong.has(a, b)
    }
}

/// Strong: a fence, or a memory operation with an order.
fn is_strong(event: &Event) -> bool {
    match event.kind {
        Kind::Fence => true,
        Kind::Read { .. } | Kind::Write { .. } => event.semantics != Semantics::Weak,
        Kind::ProxyFence | Kind::AliasFence | Kind::Barrier(_) => false,
    }
}

fn releases_too(semantics: Semantics) -> bool {
    matches!(semantics, Semantics::Release | Semantics::AcqRel | Semantics::Sc)
}

fn acquires_too(semantics: Semantics) -> bool {
    matches!(semantics, Semantics::Acquire | Semantics::AcqRel | Semantics::Sc)
}

/// Program order between operations on one virtual address.
fn po_vloc(on: &Execution) -> Relation {
    on.po.clone().and(&on.vloc)
}
