//! Calls of another library, which fill a vector.

use std::sync::Arc;

use super::call::Routine;
use super::handle::call_name;
use super::kind::{Kind, Wide};
use super::operand::{Operand, View};
use crate::caller::Caller;
use crate::handle::Handle;
use crate::perform::submit;
use crate::status::Result;
use crate::work::Work;

/// Gives such a call to a stream.
pub(crate) fn fill(
    stream: Handle,
    name: &'static str,
    kind: Kind,
    (at, count): (u64, usize),
    fill: impl Fn(u64) + Send + Sync + 'static,
) -> Result {
    let operands = vec![Operand::vector(name, kind, at, count as i64, 1).result()];
    let compute = Box::new(move |_: &[Wide], views: &[View]| views.iter().for_each(|view| fill(view.start)));
    let (call, caller) = (call_name(), Caller::of_call());
    let routine = Routine { call, caller, scalars: Vec::new(), operands, batch: 1, compute };
    submit(stream, Work::Library(Arc::new(routine)))
}
