//! What a thread knows to have happened: of every other thread, how far it had come.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::actor::Actor;
use crate::machine::lanes::lanes_of;

/// For each thread, the last of its epochs that happened before; and the same for what copies memory by itself.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Of each block that is known of, in their order, its threads.
    blocks: Rc<Vec<(u32, Rc<Vec<u32>>)>>,
    engines: Rc<Vec<(u32, u32)>>,
    /// One thread's epoch more, which is not among them yet: most of what is released is never asked for.
    more: More,
}

thread_local! {
    /// Most clocks begin with nothing, and many stay so.
    static NOTHING: Clock = Clock { blocks: Rc::default(), engines: Rc::default(), more: More::default() };
}

impl Default for Clock {
    fn default() -> Clock {
        NOTHING.with(Clock::clone)
    }
}

/// The epoch of a thread, in a block of so many; 0 if there is none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct More {
    block: u32,
    number: u32,
    threads: u32,
    epoch: u32,
}

impl Clock {
    #[inline]
    pub(crate) fn of_thread(&self, block: u32, number: usize) -> u32 {
        let own = match &self.blocks[..] {
            [] => None,
            // Most know of their own block alone.
            [(one, threads)] => (*one == block).then_some(threads),
            all => all.binary_search_by_key(&block, |(block, _)| *block).ok().map(|place| &all[place].1),
        };
        own.map_or(0, |threads| threads[number]).max(self.more.of_thread(block, number))
    }

    /// Whether all of these threads, of those from one on, have come so far.
    #[inline]
    pub(crate) fn has(&self, block: u32, first: usize, lanes: u32, epoch: u32) -> bool {
        let Ok(place) = self.blocks.binary_search_by_key(&block, |(block, _)| *block) else {
            return lanes_of(lanes).all(|lane| self.more.of_thread(block, first + lane) >= epoch);
        };
        let (threads, mut rest) = (&self.blocks[place].1, lanes);
        if lanes == u32::MAX && threads[first..first + 32].iter().fold(true, |all, own| all & (*own >= epoch)) {
            return true;
        }
        while rest != 0 {
            let number = first + rest.trailing_zeros() as usize;
            if threads[number] < epoch && self.more.of_thread(block, number) < epoch {
                return false;
            }
            rest &= rest - 1;
        }
        true
    }

    pub(crate) fn of_engine(&self, engine: u32) -> u32 {
        match self.engines.binary_search_by_key(&engine, |(engine, _)| *engine) {
            Ok(place) => self.engines[place].1,
            Err(_) => 0,
        }
    }

    /// Raises the time of a thread, in a block of `threads` threads.
    pub(crate) fn raise_thread(&mut self, block: u32, number: usize, threads: usize, epoch: u32) {
        if self.of_thread(block, number) >= epoch {
            return;
        }
        if (self.more.block, self.more.number as usize) != (block, number) {
            self.settle();
        }
        self.more = More { block, number: number as u32, threads: threads as u32, epoch };
    }

    /// The thread that is known beside the others becomes one of them.
    fn settle(&mut self) {
        let More { block, number, threads, epoch } = std::mem::take(&mut self.more);
        if epoch == 0 {
            return;
        }
        let blocks = Rc::make_mut(&mut self.blocks);
        let place = match blocks.binary_search_by_key(&block, |(block, _)| *block) {
            Ok(place) => place,
            Err(place) => {
                blocks.insert(place, (block, Rc::new(vec![0; threads as usize])));
                place
            }
        };
        let own = &mut Rc::make_mut(&mut blocks[place].1)[number as usize];
        *own = epoch.max(*own);
    }

    pub(crate) fn raise_engine(&mut self, engine: u32, epoch: u32) {
        if self.of_engine(engine) >= epoch {
            return;
        }
        let engines = Rc::make_mut(&mut self.engines);
        match engines.binary_search_by_key(&engine, |(engine, _)| *engine) {
            Ok(place) => engines[place].1 = epoch,
            Err(place) => engines.insert(place, (engine, epoch)),
        }
    }

    /// What another knows is known here too.
    pub(crate) fn join(&mut self, other: &Clock) {
        if !Rc::ptr_eq(&self.engines, &other.engines) {
            // Threads that wait for the same have the same clock.
            if self.engines.iter().all(|(engine, epoch)| other.of_engine(*engine) >= *epoch) {
                self.engines = other.engines.clone();
            } else {
                other.engines.iter().for_each(|(engine, epoch)| self.raise_engine(*engine, *epoch));
            }
        }
        if !Rc::ptr_eq(&self.blocks, &other.blocks) {
            if self.is_within(other) {
                self.blocks = other.blocks.clone();
                let More { block, number, epoch, .. } = self.more;
                if epoch <= other.of_thread(block, number as usize) {
                    self.more = other.more;
                    return;
                }
            } else {
                self.join_blocks(other);
            }
        }
        let More { block, number, threads, epoch } = other.more;
        self.raise_thread(block, number as usize, threads as usize, epoch);
    }

    fn join_blocks(&mut self, other: &Clock) {
        for (block, theirs) in other.blocks.iter() {
            match self.blocks.binary_search_by_key(block, |(block, _)| *block) {
                Ok(place) => {
                    let mine = &self.blocks[place].1;
                    if !Rc::ptr_eq(mine, theirs) && mine.iter().zip(theirs.iter()).any(|(mine, theirs)| mine < theirs) {
                        let own = Rc::make_mut(&mut Rc::make_mut(&mut self.blocks)[place].1);
                        own.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
                    }
                }
                Err(place) => Rc::make_mut(&mut self.blocks).insert(place, (*block, theirs.clone())),
            }
        }
    }

    /// Whether another knows all of these threads, but for the one beside them, and as much of each. Then it can take this one's
    /// place, and threads that wait for the same have the same clock.
    fn is_within(&self, other: &Clock) -> bool {
        let knows = |(block, mine): &(u32, Rc<Vec<u32>>)| {
            let theirs = other.blocks.binary_search_by_key(block, |(block, _)| *block);
            let theirs = theirs.ok().map(|place| &other.blocks[place].1);
            theirs.is_some_and(|theirs| {
                Rc::ptr_eq(mine, theirs) || mine.iter().zip(theirs.iter()).all(|(mine, theirs)| mine <= theirs)
            })
        };
        self.blocks.len() <= other.blocks.len() && self.blocks.iter().all(knows)
    }

    /// Whether another knows all of that, but for epochs of idle threads.
    fn is_known(&self, other: &Clock, is_idle: &dyn Fn(Actor, u32) -> bool) -> bool {
        let mut engines = self.engines.iter();
        let has =
            |block, number, epoch| epoch <= other.of_thread(block, number) || is_idle(Actor { block, number }, epoch);
        let knows = |(block, threads): &(u32, Rc<Vec<u32>>)| {
            threads.iter().enumerate().all(|(number, epoch)| has(*block, number, *epoch))
        };
        self.is(other)
            || engines.all(|(engine, epoch)| other.of_engine(*engine) >= *epoch)
                && self.blocks.iter().all(knows)
                && has(self.more.block, self.more.number as usize, self.more.epoch)
    }

    /// Whether both are the same by construction.
    pub(crate) fn is(&self, other: &Clock) -> bool {
        Rc::ptr_eq(&self.blocks, &other.blocks) && Rc::ptr_eq(&self.engines, &other.engines) && self.more == other.more
    }
}

impl More {
    #[inline]
    fn of_thread(self, block: u32, number: usize) -> u32 {
        if (self.block, self.number as usize) == (block, number) { self.epoch } else { 0 }
    }
}

/// What happened before, and of that what the asynchronous proxy sees.
#[derive(Clone, Default, Debug)]
pub(crate) struct Known {
    pub(crate) ordered: Clock,
    /// In shared memory, and in global memory.
    pub(crate) proxied: [Clock; 2],
    /// What `tcgen05.fence::before_thread_sync` has put before the synchronization of threads.
    pub(crate) tensor: Clock,
    /// What fences of tensor maps and of aliases have done, if there were any.
    pub(super) maps: Option<Rc<Maps>>,
}

impl Known {
    pub(crate) fn join(&mut self, other: &Known) {
        self.ordered.join(&other.ordered);
        for (own, other) in self.proxied.iter_mut().zip(&other.proxied) {
            own.join(other);
        }
        self.tensor.join(&other.tensor);
        self.join_maps(other);
    }

    /// Whether another knows all of that, but for epochs of idle threads.
    pub(super) fn is_within(&self, other: &Known, is_idle: &dyn Fn(Actor, u32) -> bool) -> bool {
        let nobody = |_: Actor, _: u32| false;
        let mut proxied = self.proxied.iter().zip(&other.proxied);
        self.ordered.is_known(&other.ordered, is_idle)
            && self.tensor.is_known(&other.tensor, &nobody)
            && proxied.all(|(own, other)| own.is_known(other, &nobody))
            && self.maps.is_none()
    }

    fn join_maps(&mut self, other: &Known) {
        match (&mut self.maps, &other.maps) {
            (_, None) => {}
            (own @ None, Some(_)) => own.clone_from(&other.maps),
            (Some(own), Some(other)) if Rc::ptr_eq(own, other) => {}
            (Some(own), Some(other)) => Rc::make_mut(own).join(other),
        }
    }

    pub(super) fn release_maps(&mut self, before: &Clock) {
        Rc::make_mut(self.maps.get_or_insert_default()).released.join(before);
    }

    pub(super) fn release_aliases(&mut self, before: &Clock) {
        Rc::make_mut(self.maps.get_or_insert_default()).aliased.join(before);
    }

    /// What came before a fence for other virtual addresses.
    pub(super) fn aliased(&self) -> Option<&Clock> {
        self.maps.as_ref().map(|maps| &maps.aliased)
    }

    pub(super) fn acquire_map(&mut self, map: u64) {
        if let Some(maps) = &mut self.maps {
            let maps = Rc::make_mut(maps);
            maps.acquired.entry(map).or_default().join(&maps.released);
        }
    }

    fn is(&self, other: &Known) -> bool {
        let all = self.proxied.iter().zip(&other.proxied);
        self.ordered.is(&other.ordered)
            && self.tensor.is(&other.tensor)
            && self.maps.as_ref().map(Rc::as_ptr) == other.maps.as_ref().map(Rc::as_ptr)
            && all.into_iter().all(|(own, other)| own.is(other))
    }
}

/// What fences of tensor maps and of aliases have done.
#[derive(Clone, Default, Debug)]
pub(super) struct Maps {
    /// What was released to the tensormap proxy.
    pub(super) released: Clock,
    /// What of that was acquired, for the map at an address.
    pub(super) acquired: BTreeMap<u64, Clock>,
    /// What came before a fence for other virtual addresses.
    pub(super) aliased: Clock,
}

impl Maps {
    fn join(&mut self, other: &Maps) {
        self.released.join(&other.released);
        self.aliased.join(&other.aliased);
        for (map, clock) in &other.acquired {
            self.acquired.entry(*map).or_default().join(clock);
        }
    }
}

/// What those who arrive somewhere know together.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pool {
    pub(crate) known: Known,
    /// What the last one knew: threads often know the same.
    last: Known,
}

impl Pool {
    pub(crate) fn add(&mut self, known: &Known) {
        if !self.last.is(known) {
            self.known.join(known);
            self.last = known.clone();
        }
    }

    /// What all know together, in a form that each of them can raise by itself without a copy.
    pub(crate) fn all(self) -> Known {
        let mut known = self.known;
        known.ordered.settle();
        known
    }

    /// One thread's own epoch, and whether the asynchronous proxy sees what it did.
    pub(crate) fn raise(&mut self, block: u32, number: usize, threads: usize, epoch: u32) {
        self.known.ordered.raise_thread(block, number, threads, epoch);
    }
}
