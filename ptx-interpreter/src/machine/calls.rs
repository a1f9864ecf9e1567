//! Calls of functions, and returns.

use crate::machine::group::{Group, Thread};
use crate::machine::lanes::lanes_of;
use crate::machine::stop::{Result, Why, stop};
use crate::machine::{Frame, Machine};
use crate::memory::spaces::{LOCAL, PIECE};

/// Where the local memory of a function that is called begins: at a multiple of that.
const FRAME: usize = 128;
/// Calls of a warp that have not returned, at most.
const FRAMES: usize = 1 << 16;

impl<'a> Machine<'a> {
    /// The function that a group calls begins.
    pub(crate) fn call(&mut self, group: Group, name: &str, results: &'a [u64], arguments: &[u64]) -> Result<()> {
        let Some(code) = self.program.functions.get(name) else {
            return self.call_system(group, name, results, arguments);
        };
        if code.parameters.len() != arguments.len() || code.results.len() != results.len() {
            return stop(Why::Wrong, format!("{name} is handed another number of arguments"));
        }
        let sites = if self.checks.is_some() { self.paths.enter(self.site) } else { 0 };
        let registers = self.registers(code);
        let warp = self.warp_mut(group.warp);
        let caller = &warp.frames[group.frame];
        let tops = lanes_of(group.mask).map(|lane| warp.local[lane].top());
        let top = tops.max().unwrap_or_default().next_multiple_of(FRAME);
        let (from, base) = (caller.base, top as u64);
        let depth = base / FRAME as u64;
        for lane in lanes_of(group.mask) {
            let local = &mut warp.local[lane];
            local.enter(base as usize, code.frame);
            for ((parameter, place), argument) in code.parameters.iter().zip(&code.places).zip(arguments) {
                let from = (from + argument) as usize;
                local.copy(from, (base + place) as usize, parameter.bytes);
            }
        }
        let frame = Frame { code, registers, mask: group.mask, caller: Some((group.frame, 0)), results, base, sites };
        let place = warp.left.pop().unwrap_or(warp.frames.len());
        warp.undefined.forget(place);
        warp.reading.retain(|product| product.frame != place);
        if place > FRAMES || depth > FRAMES as u64 {
            return stop(Why::Deep, format!("{name} calls itself, and {FRAMES} calls have not returned"));
        }
        let ended = match warp.frames.get_mut(place) {
            Some(free) => Some(std::mem::replace(free, frame)),
            None => {
                warp.frames.push(frame);
                None
            }
        };
        for lane in lanes_of(group.mask) {
            let back = warp.at[lane];
            warp.frames[place].caller = Some((group.frame, back.1 as usize));
            warp.at[lane] = (place as u32, 0);
        }
        self.spare.extend(ended.map(|frame| frame.registers));
        let places = code.parameters.iter().zip(&code.places).zip(arguments);
        let copies = places.map(|((parameter, place), argument)| (from + argument, base + place, parameter.bytes));
        self.hands_over(group, Some((base, code.frame)), copies);
        self.begins_unset(Group { frame: place, ..group });
        Ok(())
    }

    /// More local memory for a thread's function, at its end. Gives back where it is in the thread's local memory. Errors: no stack is so large.
    pub(crate) fn allocate_locally(&mut self, thread: Thread, bytes: u64, align: usize) -> Result<u64> {
        let at = self.warp(thread.warp).local[thread.lane].top().next_multiple_of(align);
        let end = usize::try_from(bytes).ok().and_then(|bytes| at.checked_add(bytes));
        let Some(end) = end.filter(|end| *end <= FRAME * FRAMES) else {
            let text = format!("it asks for {bytes} bytes of stack, and a thread has no more than {}", FRAME * FRAMES);
            return stop(Why::Deep, text).map_err(|stop| stop.by(thread.lane));
        };
        self.warp_mut(thread.warp).local[thread.lane].grow(end);
        let local = LOCAL + u64::from(self.id(thread)) * PIECE;
        self.tell(|checks, _| checks.has_values_now(local + at as u64, bytes as usize));
        Ok(at as u64)
    }

    /// Threads leave their function. Gives back those that have left the kernel.
    pub(crate) fn leave(&mut self, group: Group) -> u32 {
        let warp = self.warp_mut(group.warp);
        let frame = &mut warp.frames[group.frame];
        frame.mask &= !group.mask;
        let Some((caller, next)) = frame.caller else { return group.mask };
        let (code, base, results) = (frame.code, frame.base, frame.results);
        if frame.mask == 0 {
            warp.left.push(group.frame);
        }
        let to_base = warp.frames[caller].base;
        for lane in lanes_of(group.mask) {
            for ((from, bytes), to) in code.results.iter().zip(results) {
                let from = (base + from) as usize;
                warp.local[lane].copy(from, (to_base + to) as usize, *bytes);
            }
            warp.local[lane].leave();
            warp.at[lane] = (caller as u32, next as u32);
        }
        let copies = code.results.iter().zip(results).map(|((from, bytes), to)| (base + from, to_base + to, *bytes));
        self.hands_over(group, None, copies);
        0
    }

    /// What is undefined of arguments or results, at places in local memory, is so where they go. A new frame has nothing that is.
    fn hands_over(
        &mut self,
        group: Group,
        new: Option<(u64, usize)>,
        copies: impl Iterator<Item = (u64, u64, usize)> + Clone,
    ) {
        if self.checks.as_ref().is_none_or(|checks| checks.undefined.is_empty()) {
            return;
        }
        for thread in group.threads() {
            let local = LOCAL + u64::from(self.id(thread)) * PIECE;
            let Some(checks) = &mut self.checks else { return };
            new.into_iter().for_each(|(begin, bytes)| checks.has_values_now(local + begin, bytes));
            copies.clone().for_each(|(from, to, bytes)| checks.copies_undefined(local + from, local + to, bytes));
        }
    }
}
