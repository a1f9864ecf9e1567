//! Calls of another library, which fill a vector.

use super::handle::Library;
use super::kind::{Kind, Wide};
use super::operand::{Operand, View};
use crate::handle::Handle;
use crate::status::Result;

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
    Library::of_stream(stream).submit(Vec::new(), operands, 1, compute)
}
