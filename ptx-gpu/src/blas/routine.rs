//! A call of the library as a piece of work in a stream: what it reads and writes is looked at, and it is computed.

use ptx_interpreter::{Finding, Kind as Wrong, Record, Use};

use super::call::{Routine, Scalar};
use super::kind::{Kind, Wide};
use super::operand::{Operand, Place, View, When};
use crate::caller::Caller;
use crate::gpu::Gpu;
use crate::guard;
use crate::memory::{FREED, host_mapping};
use crate::order::{By, Point, Range};
use crate::output::tell;
use crate::status::{ILLEGAL_ADDRESS, MISALIGNED_ADDRESS, Result};

const OUTSIDE: &str = "what is outside of every allocation";

/// What a routine does to bytes.
struct Access<'a> {
    operand: &'a Operand,
    begin: u64,
    bytes: usize,
    verb: &'static str,
}

impl Gpu {
    /// Does a call of the library. What is wrong with its memory shows at later calls, as on a GPU.
    pub(crate) fn call_library(&mut self, routine: &Routine, point: &mut Point) -> Result {
        let mut findings = Vec::new();
        let done = self.attempt(routine, point, &mut findings);
        let record = Record { kernel: routine.call.into(), is_library: true, findings, ..Record::default() };
        tell(&record);
        if let Err(fault) = done {
            self.fault = Some(fault);
        }
        Ok(())
    }

    fn attempt(&mut self, routine: &Routine, point: &mut Point, findings: &mut Vec<Finding>) -> Result {
        let mut used = Vec::new();
        let mut scalars = Vec::new();
        for scalar in &routine.scalars {
            scalars.push(match scalar {
                Scalar::Value(value) => *value,
                Scalar::Device(operand) => {
                    let view = View { operand: *operand, start: start(operand, 0) };
                    self.use_view(routine, &view, (true, false), &mut used, findings)?;
                    view.load::<Wide>().content[0]
                }
            });
        }
        let mut all = Vec::new();
        for member in 0..routine.batch {
            let mut views = Vec::with_capacity(routine.operands.len());
            for operand in &routine.operands {
                let view =
                    View { operand: *operand, start: self.start(routine, operand, member, &mut used, findings)? };
                let reads = match operand.reads {
                    When::Never => false,
                    When::Always => true,
                    When::Unless(scalar) => scalars[scalar] != Wide::default(),
                };
                self.use_view(routine, &view, (reads, operand.writes), &mut used, findings)?;
                views.push(view);
            }
            all.push(views);
        }
        all.iter().for_each(|views| (routine.compute)(&scalars, views));
        for view in all.iter().flatten().filter(|view| view.operand.writes) {
            view.runs().into_iter().for_each(|(begin, bytes)| self.memory.write(begin, bytes as u64));
        }
        findings.extend(self.library_has_used(routine.call, &routine.caller, point, &used));
        Ok(())
    }

    /// Where an operand of one member of the batch begins.
    fn start(
        &mut self,
        routine: &Routine,
        operand: &Operand,
        member: usize,
        used: &mut Vec<Range>,
        findings: &mut Vec<Finding>,
    ) -> Result<u64> {
        let Place::Pointers(array) = operand.place else { return Ok(start(operand, member)) };
        let name = match operand.name {
            "A" => "Aarray",
            "B" => "Barray",
            "C" => "Carray",
            "x" => "xarray",
            "y" => "yarray",
            other => other,
        };
        let pointers = Operand::matrix(name, Kind::Pointer, array, [routine.batch as i64, 1], 0);
        let of_array = View { operand: pointers, start: array };
        if member == 0 {
            self.use_view(routine, &of_array, (true, false), used, findings)?;
        }
        // SAFETY: all pointers were looked at with the first.
        Ok(unsafe { (array as *const u64).add(member).read_unaligned() })
    }

    /// Looks at what is used of an operand.
    fn use_view(
        &mut self,
        routine: &Routine,
        view: &View,
        (reads, writes): (bool, bool),
        used: &mut Vec<Range>,
        findings: &mut Vec<Finding>,
    ) -> Result {
        let operand = &view.operand;
        if !reads && !writes || matches!(operand.place, Place::Host(_)) {
            return Ok(());
        }
        let verb = if writes { "writes" } else { "reads" };
        let how = if writes { Use::Writes } else { Use::Reads };
        let mut is_new = true;
        for (begin, bytes) in view.runs() {
            let access = Access { operand, begin, bytes, verb };
            if !self.memory.holds(begin, bytes) {
                findings.push(self.outside(routine, &access));
                return Err(ILLEGAL_ADDRESS);
            }
            if !begin.is_multiple_of(operand.kind.bytes() as u64) {
                findings.push(self.misaligned(routine, &access));
                return Err(MISALIGNED_ADDRESS);
            }
            if reads && is_new && !self.memory.is_written(begin, bytes as u64) {
                findings.push(self.unwritten(routine, &access));
                is_new = false;
            }
            guard::open(begin, bytes as u64);
            let end = begin + bytes as u64;
            used.push(Range { begin, end, how, by: Some(By::Operand { name: operand.name, begin, end }) });
        }
        Ok(())
    }

    fn outside(&self, routine: &Routine, access: &Access) -> Finding {
        let Access { operand, begin, bytes, verb } = *access;
        let end = self.memory.find(begin).map(|one| one.end());
        let first = end.unwrap_or(begin);
        let mut at = self.memory.describe(first);
        let (title, help) = if at.contains(FREED) {
            ("memory that was freed", "free it after the last call that uses it is done")
        } else if end.is_none() && at.starts_with("address ") && host_mapping(begin).is_some() {
            at = format!("address {begin:#x}, which is memory of the host");
            ("memory of the host", "copy the bytes to device memory, or allocate them with cudaMallocManaged")
        } else {
            (OUTSIDE, "allocate as many bytes as its size and its leading dimension ask for")
        };
        let help = match operand.name {
            "alpha" | "beta" if title == "memory of the host" => {
                "set the pointer mode to CUBLAS_POINTER_MODE_HOST, or give a pointer to device memory"
            }
            "workArea" if title == OUTSIDE => "allocate as many bytes as cufftGetSize gives",
            "idata" | "odata" if title == OUTSIDE => {
                "allocate as many bytes as the plan's sizes, strides and batch ask for; in place, a row of real numbers takes as many \
                 as its complex ones"
            }
            _ => help,
        };
        let title = format!("{} {verb} {title}, as {}", routine.call, operand.name);
        let what = format!("{verb} {}, {bytes} bytes in one piece: {at}", operand.describe());
        finding(&routine.caller, Wrong::Bounds, title, &what, help)
    }

    fn misaligned(&self, routine: &Routine, access: &Access) -> Finding {
        let bytes = access.operand.kind.bytes();
        let title = format!("{} is given {}, which is not aligned", routine.call, access.operand.name);
        let at = self.memory.describe(access.begin);
        let what = format!("{} {}: {at}", access.verb, access.operand.describe());
        finding(&routine.caller, Wrong::Misaligned, title, &what, &format!("begin it at a multiple of {bytes} bytes"))
    }

    fn unwritten(&self, routine: &Routine, access: &Access) -> Finding {
        let name = access.operand.name;
        let title = format!("{} reads {name}, which nobody has written", routine.call);
        let what = format!("reads {}: {}", access.operand.describe(), self.memory.describe(access.begin));
        let help = match name {
            "C" | "y" => "write it before, or give 0 as beta",
            _ => "write it before the call: by a copy, a fill or a kernel",
        };
        finding(&routine.caller, Wrong::Uninitialised, title, &what, help)
    }
}

/// What a call does wrong.
pub(super) fn finding(caller: &Caller, kind: Wrong, title: String, what: &str, help: &str) -> Finding {
    let what = format!("the call {what}");
    let place = caller.place(&what);
    let notes = if place.is_none() { vec![format!("{what}{}", caller.function())] } else { vec![] };
    Finding { kind, title, places: place.into_iter().collect(), notes, help: help.into(), times: 1, further: vec![] }
}

fn start(operand: &Operand, member: usize) -> u64 {
    match operand.place {
        Place::At { start, stride } => start.wrapping_add_signed(stride * member as i64),
        Place::Pointers(start) | Place::Host(start) => start,
    }
}
