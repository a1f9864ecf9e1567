//! Calls of another library, which make an array of another one.

use num_complex::Complex;

use super::handle::Library;
use super::kind::{Kind, Wide};
use super::matrix::Matrix;
use super::operand::{Dimension, Layout, Operand, View};
use crate::handle::Handle;
use crate::status::Result;

/// An array in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) start: u64,
    pub(crate) kind: Kind,
    /// The slowest one first.
    pub(crate) dimensions: [Dimension; 4],
}

impl Grid {
    fn operand(&self, name: &'static str) -> Operand {
        let [outer @ .., inner] = self.dimensions;
        let columns: usize = outer.iter().map(|dimension| dimension.count).product();
        let size = [inner.count as i64, columns as i64];
        Operand::matrix(name, self.kind, self.start, size, 0).layout(Layout::Grid { row: inner.step, outer })
    }
}

/// Gives such a call to a stream. `does` is given all elements of `from`, and gives all of `to`. The area is some bytes that the call
/// writes too.
pub(crate) fn transform(
    stream: Handle,
    [from, to]: [Grid; 2],
    area: Option<(u64, usize)>,
    does: impl Fn(Vec<Complex<f64>>) -> Vec<Complex<f64>> + Send + Sync + 'static,
) -> Result {
    let is_one = from == to;
    let (input, output) = (from.operand("idata"), to.operand("odata"));
    let mut operands = if is_one { vec![output.writes()] } else { vec![input, output.result()] };
    operands.extend(area.map(|(at, count)| Operand::vector("workArea", Kind::I8, at, count as i64, 1).result()));
    let compute = Box::new(move |_: &[Wide], views: &[View]| {
        let (from, to) = (&views[0], &views[usize::from(!is_one)]);
        let content = does(from.load::<Wide>().content);
        to.store(&Matrix { rows: output.rows, columns: output.columns, content });
    });
    Library::of_stream(stream).submit(Vec::new(), operands, 1, compute)
}
