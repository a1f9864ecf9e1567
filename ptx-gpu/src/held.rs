//! Work that waits for what is done later: a kernel that looks for a flag which another GPU sets, or another stream, or the host, and all
//! that comes after it.
//!
//! What a stream is given is done at once, as long as it can be. A kernel whose threads only look at memory that nothing changes is taken
//! back and held. When the host waits for it, it is tried again: alone, and at the same time as the same kernel on other GPUs. What
//! comes after a function of the host that has not ended is held too.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, Once};
use std::thread;
use std::time::Duration;

use ptx_interpreter::Record;

use crate::at_end::at_end;
use crate::calling::{self, Thread};
use crate::gpu::{Gpu, any, contexts, current};
use crate::order::Point;
use crate::output::{note, tell};
use crate::perform::{begin_call, perform};
use crate::status::{LAUNCH_TIMEOUT, NOT_READY, Result};
use crate::waiting::{Held, NEWS};
use crate::work::{Host, Kernel, Shape, Work};

/// How long other threads of the host may take until they give the GPUs more work.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program ends: none of them makes another call.
static ENDS: AtomicBool = AtomicBool::new(false);

impl Gpu {
    /// Whether work comes after something that is held, and has to be held too.
    pub(crate) fn follows_held(&self, work: &Work, point: &Point) -> bool {
        let is_for_the_order =
            matches!(work, Work::Empty | Work::WaitEvent(_) | Work::RecordEvent(_) | Work::Allocate(..));
        !is_for_the_order && self.order.is_held(&point.clock)
    }

    pub(crate) fn hold(&mut self, work: &Work, point: &mut Point) {
        static ONCE: Once = Once::new();
        at_end(&ONCE, at_exit);
        let turn = self.order.hold(point);
        let number = self.held.last().map_or(0, |last| last.number + 1);
        self.held.push(Held { number, work: work.clone(), point: point.clone(), turn });
        NEWS.tell();
    }

    /// What may be done now: it comes after nothing else that is held, and is no function of the host that runs. Of one kernel on several
    /// GPUs first all, and then each.
    fn groups(&self) -> Vec<Vec<usize>> {
        let is_free = |at: &usize| !self.order.follows_held(&self.held[*at].point.clock, self.held[*at].turn);
        let free: Vec<usize> = (0..self.held.len()).filter(|at| !self.held[*at].runs()).filter(is_free).collect();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for at in &free {
            let group = groups.iter_mut().find(|group| self.go_together(group, *at));
            group.map(|group| group.push(*at)).unwrap_or_else(|| groups.push(vec![*at]));
        }
        let alone: Vec<Vec<usize>> =
            groups.iter().filter(|group| group.len() > 1).flatten().map(|at| vec![*at]).collect();
        groups.into_iter().chain(alone).collect()
    }

    /// Whether work is the same kernel as that of a group, on another GPU.
    fn go_together(&self, group: &[usize], at: usize) -> bool {
        let of = |at: usize| {
            let kernel = self.held[at].kernel()?;
            let function = self.functions.get(&kernel.function)?;
            let module = self.modules.get(&function.module)?;
            let shape = module.program.may_wait(&function.name()).then_some(Shape { event: 0, ..kernel.shape })?;
            Some(((shape, &function.name, Arc::as_ptr(&module.program)), module.gpu))
        };
        let Some((kernel, gpu)) = of(at) else { return false };
        group.iter().all(|other| of(*other).is_some_and(|other| other.0 == kernel && other.1 != gpu))
    }

    /// Takes a group out of what is held. Gives its points too.
    fn take_held(&mut self, group: &[usize]) -> (Vec<Held>, Vec<Point>) {
        let all: Vec<Held> = group.iter().map(|at| self.held[*at].clone()).collect();
        self.held.retain(|held| !all.iter().any(|taken| taken.turn == held.turn));
        let points = all.iter().map(|held| held.point.clone()).collect();
        (all, points)
    }

    /// It is held again.
    fn put_back(&mut self, mut held: Vec<Held>) {
        self.held.append(&mut held);
        self.held.sort_by_key(|held| held.number);
    }

    /// What was held is done, and with each what is done at its point.
    fn let_go(&mut self, done: &[Held], points: &[Point]) {
        for (Held { turn, .. }, point) in done.iter().zip(points) {
            let waiting = self.held.iter_mut().map(|held| &mut held.point.clock);
            let events = self.events.values_mut().map(|event| &mut event.done);
            waiting.chain(events).filter(|after| after.has_any(&[*turn])).for_each(|after| after.join(&point.clock));
            self.order.let_go(*turn, &point.clock);
        }
        NEWS.tell();
    }

    /// Nothing of what is held can be done. It is run all the same, so that it is told what it waits for.
    fn give_up(&mut self) {
        let is_kernel = |group: &Vec<usize>| self.held[group[0]].kernel().is_some();
        let groups: Vec<Vec<usize>> = self.groups().into_iter().filter(is_kernel).collect();
        let kernels: Vec<String> = groups
            .iter()
            .filter_map(|group| Some(self.functions.get(&self.held[group[0]].kernel()?.function)?.title()))
            .collect();
        if let [one, other, ..] = &kernels[..]
            && one != other
        {
            let stop = format!(
                "{one} and {other} wait at the same time, maybe for each other; only one kernel with one grid is run on several GPUs at the same time"
            );
            tell(&Record { kernel: one.clone(), stop: Some(stop), ..Record::default() });
            self.fault = Some(LAUNCH_TIMEOUT);
        } else if let Some(group) = groups.first() {
            let (all, mut points) = self.take_held(group);
            let kernels: Vec<&Kernel> = all.iter().filter_map(Held::kernel).collect();
            if let Err(status) = self.launch(&kernels, &mut points, false) {
                self.fault = Some(status);
            }
            self.let_go(&all, &points);
        }
        let all: Vec<usize> = (0..self.held.len()).collect();
        let (rest, points) = self.take_held(&all);
        self.let_go(&rest, &points);
    }
}

/// Whether a call of that name ends something at once that what is held may use.
fn ends_at_once(name: &str) -> bool {
    let ends = ["Free", "Unload", "Reset", "CtxDestroy", "PrimaryCtxRelease", "Unregister", "GraphLaunch"];
    !name.contains("Async") && ends.iter().any(|word| name.contains(word))
}

/// A call begins: if it ends something at once, the host waits for all that is held.
pub(crate) fn settle_before(name: &str) -> Result {
    if any().held.is_empty() || !ends_at_once(name) || is_called() { Ok(()) } else { settle_all() }
}

/// Whether a function of the host makes the call that a stream calls: nothing may wait for its own end.
fn is_called() -> bool {
    calling::stream().is_some()
}

/// The host waits for all that is held.
fn settle_all() -> Result {
    {
        let mut gpu = any();
        if gpu.held.is_empty() {
            return Ok(());
        }
        gpu.order.await_held();
    }
    settle()
}

/// Does what the host waits for, if that is held. Errors: it cannot be done.
pub(crate) fn settle() -> Result {
    Thread::current();
    let is_done = |gpu: &Gpu| !gpu.order.awaits_held() || gpu.fault.is_some();
    if is_done(&any()) || is_called() {
        return Ok(());
    }
    if calling::call_name().contains("Query") {
        while any().order.awaits_held() && do_one()? {}
        let mut gpu = any();
        if gpu.held.iter().any(Held::runs) && gpu.order.awaits_held() {
            gpu.order.await_nothing();
            return Err(NOT_READY);
        }
    }
    loop {
        let seen = NEWS.count();
        while any().order.awaits_held() && do_one()? {}
        let gpu = any();
        if is_done(&gpu) {
            return gpu.fault.map_or(Ok(()), Err);
        }
        if !others_come(gpu, seen) {
            break;
        }
    }
    let mut gpu = any();
    gpu.give_up();
    gpu.fault.map_or(Ok(()), Err)
}

/// Whether another thread of the host has given more work, or done some, or a function of the host runs or has ended: after so much news.
fn others_come(gpu: MutexGuard<'_, Gpu>, seen: u64) -> bool {
    if ENDS.load(Ordering::Relaxed) {
        return false;
    }
    let calls: Vec<bool> = gpu.held.iter().filter(|held| held.called().is_some()).map(Held::runs).collect();
    if calls.contains(&false) {
        return true;
    }
    if calls.is_empty() && Thread::count() < 2 {
        return false;
    }
    let come = NEWS.wait(gpu, seen, PATIENCE);
    if !come && !calls.is_empty() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| note(STILL_RUNS));
    }
    come || !calls.is_empty()
}

const STILL_RUNS: &str =
    "the program waits for a function of the host in a stream (cuLaunchHostFunc), which has not returned for 10 s";

/// Does some of what is held, if that can be done.
fn do_one() -> Result<bool> {
    let mut gpu = any();
    for group in gpu.groups() {
        let (mut all, mut points) = gpu.take_held(&group);
        if let Work::Host(host @ Host { called: None, .. }) = &mut all[0].work {
            drop(gpu);
            let begun = begin_call(host, &points[0]);
            let mut gpu = any();
            match begun {
                Ok(begun) => host.called = Some(begun),
                Err(status) => {
                    gpu.let_go(&all, &points);
                    return Err(status);
                }
            }
            gpu.put_back(all);
            NEWS.tell();
            return Ok(true);
        }
        let kernels: Vec<&Kernel> = all.iter().filter_map(Held::kernel).collect();
        if kernels.is_empty() {
            drop(gpu);
            let done = perform(&all[0].work, &mut points[0]);
            any().let_go(&all, &points);
            return done.map(|()| true);
        }
        let waits = gpu.launch(&kernels, &mut points, true);
        if waits != Ok(true) {
            gpu.let_go(&all, &points);
            return waits.and(gpu.fault.map_or(Ok(true), Err));
        }
        gpu.put_back(all);
    }
    Ok(false)
}

/// The program ends. What this thread had for itself may be gone.
extern "C" fn at_exit() {
    let context = current();
    let ended = thread::spawn(move || {
        contexts(|all| all.push(context));
        ENDS.store(true, Ordering::Relaxed);
        settle_all()
    });
    // What is wrong is told, and no call is left that could end with it.
    drop(ended.join());
}
