//! Products of cuBLASLt, and matrices in another order.

use super::call::Scalar;
use super::compute::{self, computes};
use super::handle::library_of;
use super::kind::Kind::{self, Bf16, C32, C64, E4m3, E5m2, F16, F32, F64, I8, I32};
use super::kind::{Compute, Wide};
use super::library;
use super::lt_epilogue::Epilogue;
use super::lt_object::{LAYOUT, Object, PRODUCT, TRANSFORM};
use super::matrix::{Matrix, Op};
use super::number::Number;
use super::operand::{Operand, View, When};
use super::status::{INVALID_VALUE, NOT_SUPPORTED};
use crate::gpu::any;
use crate::handle::Handle;
use crate::output::note;
use crate::status::Result;

/// GPUs from sm_100 on multiply floats of 8 bits whatever their matrices' order is.
const ANY_ORDER: u32 = 100;
/// `CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F`
const OUTER_VECTOR: u64 = 3;

fn known(kind: u32) -> Result<Kind> {
    Kind::of(kind).ok_or_else(|| {
        note(&format!("elements of type {kind} (cudaDataType) are missing here"));
        NOT_SUPPORTED
    })
}

/// A matrix as its description says.
#[derive(Clone, Copy)]
struct Layout {
    kind: Kind,
    /// Whether its rows follow each other.
    by_rows: bool,
    size: [i64; 2],
    distance: i64,
    batch: i64,
    apart: i64,
    by_pointers: bool,
}

impl Layout {
    fn of(object: Object) -> Result<Layout> {
        let get = |attribute| LAYOUT.get(object, attribute);
        let by_rows = match get(1)? {
            0 => false,
            1 => true,
            order => {
                note(&format!(
                    "order {order} of a matrix is missing here: let the program use CUBLASLT_ORDER_COL or _ROW"
                ));
                return Err(NOT_SUPPORTED);
            }
        };
        let layout = Layout {
            kind: known(get(0)? as u32)?,
            by_rows,
            size: [get(2)? as i64, get(3)? as i64],
            distance: get(4)? as i64,
            batch: i64::from(get(5)? as i32),
            apart: get(6)? as i64,
            by_pointers: get(8)? == 1,
        };
        let [rows, columns] = layout.size;
        let length = if by_rows { columns } else { rows };
        if layout.distance < length || get(8)? > 1 { Err(INVALID_VALUE) } else { Ok(layout) }
    }

    /// Of a matrix by rows it is the transposed one.
    fn operand(&self, name: &'static str, at: u64) -> Operand {
        let [rows, columns] = self.size;
        let size = if self.by_rows { [columns, rows] } else { [rows, columns] };
        let operand = Operand::matrix(name, self.kind, at, size, self.distance);
        if self.by_pointers { operand.by_pointers() } else { operand.apart(self.apart) }
    }

    fn load<T: Number>(&self, view: &View) -> Matrix<T> {
        view.load::<T>().op(self.order())
    }

    fn store<T: Number>(&self, view: &View, matrix: Matrix<T>) {
        view.store(&matrix.op(self.order()));
    }

    fn order(&self) -> Op {
        if self.by_rows { Op::Transposed } else { Op::Plain }
    }
}

/// A product that is possible.
#[derive(Clone, Copy)]
pub(super) struct Product {
    layouts: [Layout; 4],
    ops: [Op; 2],
    compute: Compute,
    scale: Kind,
    size: [i64; 2],
}

impl Product {
    /// Errors: matrices that do not go together, or types that the library has not.
    pub(super) fn of(what: Object, [a, b, c, d]: [Object; 4]) -> Result<Product> {
        let c = if c.is_null() { d } else { c };
        let layouts = [Layout::of(a)?, Layout::of(b)?, Layout::of(c)?, Layout::of(d)?];
        let [a, b, c, d] = layouts;
        let op = |attribute| Op::of(PRODUCT.get(what, attribute)? as u32);
        let ops = [op(3)?, op(4)?];
        let ([m, k], [inner, n]) = (ops[0].given(a.size), ops[1].given(b.size));
        let batches = layouts.iter().all(|layout| layout.batch == a.batch && layout.by_pointers == a.by_pointers);
        if k != inner || c.size != [m, n] || d.size != [m, n] || a.batch < 1 || !batches {
            return Err(INVALID_VALUE);
        }
        let kinds = [a.kind, b.kind, c.kind, d.kind];
        let scale = Kind::of(PRODUCT.get(what, 1)? as u32).ok_or(NOT_SUPPORTED)?;
        let compute = computed(PRODUCT.get(what, 0)? as u32, scale, kinds).ok_or(NOT_SUPPORTED)?;
        let is_small = matches!(a.kind, E4m3 | E5m2);
        if is_small && ops != [Op::Transposed, Op::Plain] && any().device.sm < ANY_ORDER {
            note("a product of floats of 8 bits takes A transposed and B as it is, on GPUs before sm_100");
            return Err(NOT_SUPPORTED);
        }
        // Other pointer modes, a triangle of D and an operation on C.
        if PRODUCT.get(what, 2)? > 1 || PRODUCT.get(what, 6)? != 2 || PRODUCT.get(what, 5)? != 0 {
            note("a pointer mode, a fill mode or an operation on C is missing here, of this product");
            return Err(NOT_SUPPORTED);
        }
        Ok(Product { layouts, ops, compute, scale, size: [m, n] })
    }
}

/// In what a product is computed, by `cublasComputeType_t`, the type of `alpha`, and those of A, B, C and D.
fn computed(number: u32, scale: Kind, kinds: [Kind; 4]) -> Option<Compute> {
    let [a, b, c, d] = kinds;
    let is_float = |kind| matches!(kind, F16 | Bf16 | F32);
    let is_small = |kind| matches!(kind, E4m3 | E5m2);
    let are_small = is_small(a) && is_small(b) && [a, b] != [E5m2; 2] && is_float(c) && (d == c || is_small(d));
    let found = match (number, scale) {
        (64 | 65, F16) if kinds == [F16; 4] => Compute::F32,
        (68 | 69 | 74 | 75 | 77 | 78, F32) if a == b && c == d && is_float(a) && (c == a || c == F32) => Compute::F32,
        (68, F32) if are_small || [a, b, c, d] == [I8, I8, F32, F32] => Compute::F32,
        (68 | 69 | 74 | 75 | 77 | 78, C32) if kinds == [C32; 4] => Compute::C32,
        (70 | 71 | 79, F64) if kinds == [F64; 4] => Compute::F64,
        (70 | 71 | 79, C64) if kinds == [C64; 4] => Compute::C64,
        (72 | 73, I32) if [a, b, c, d] == [I8, I8, I32, I32] => Compute::I32,
        // Sums of integers are exact in this type.
        (72 | 73, F32) if [a, b, c, d] == [I8; 4] => Compute::F64,
        _ => return None,
    };
    Some(found)
}

/// Factors of floats of 8 bits: one for a matrix, or one for each of its rows.
#[derive(Clone, Copy, Default)]
struct Factors {
    a: Option<usize>,
    b: Option<usize>,
    /// Where the greatest number of D goes.
    greatest: Option<usize>,
}

/// A factor of a matrix as a scalar, or as an operand.
fn factor(
    what: Object,
    attribute: u32,
    mode: u32,
    count: i64,
    operands: &mut Vec<Operand>,
) -> Result<(Scalar, Option<usize>)> {
    const NAMES: [&str; 4] = ["scale of A", "scale of B", "scale of C", "scale of D"];
    let name = NAMES[(attribute - 17) as usize];
    let one = Scalar::Value(Wide::new(1.0, 0.0));
    match (PRODUCT.get(what, attribute)?, PRODUCT.get(what, mode)?) {
        (0, _) => Ok((one, None)),
        (at, 0) => Ok((Scalar::Device(Operand::scalar(name, F32, at)), None)),
        (at, OUTER_VECTOR) if attribute <= 18 => {
            operands.push(Operand::matrix(name, F32, at, [count, 1], count));
            Ok((one, Some(operands.len() - 1)))
        }
        (_, mode) => {
            note(&format!("mode {mode} of the {name} is missing here"));
            Err(NOT_SUPPORTED)
        }
    }
}

fn multiply(
    handle: Handle,
    what: Object,
    scalars: [u64; 2],
    at: [u64; 4],
    layouts: [Object; 4],
    stream: Handle,
) -> Result {
    let mut library = library_of(handle)?;
    library.stream = stream;
    library.pointer_mode = PRODUCT.get(what, 2)? as u32;
    let product = Product::of(what, layouts)?;
    let Product { layouts: [a, b, c, d], size: [m, n], scale, compute, .. } = product;
    let mut operands = vec![
        a.operand("A", at[0]).reads(When::Unless(0)),
        b.operand("B", at[1]).reads(When::Unless(0)),
        c.operand("C", at[2]).reads(When::Unless(1)),
        d.operand("D", at[3]).result(),
    ];
    let epilogue = Epilogue::of(what, [m, n], d.kind, &mut operands)?;
    let mut all = vec![library.scalar("alpha", scale, scalars[0])?, library.scalar("beta", scale, scalars[1])?];
    let mut factors = Factors::default();
    for (attribute, mode, count) in [(17, 31, m), (18, 32, n), (19, 33, 1), (20, 34, 1)] {
        let (scalar, vector) = factor(what, attribute, mode, count, &mut operands)?;
        all.push(scalar);
        match attribute {
            17 => factors.a = vector,
            18 => factors.b = vector,
            _ => {}
        }
    }
    let greatest = PRODUCT.get(what, 21)?;
    if greatest != 0 {
        factors.greatest = Some(operands.len());
        operands.push(Operand::scalar("amax of D", F32, greatest).result());
    }
    if m == 0 || n == 0 {
        return Ok(());
    }
    let does = computes!(compute, T => move |scalars: &[Wide], views| {
        store_product::<T>(&product, epilogue, factors, scalars, views);
    });
    library.submit(all, operands, a.batch as usize, does)
}

fn store_product<T: Number>(product: &Product, epilogue: Epilogue, factors: Factors, scalars: &[Wide], views: &[View]) {
    let [alpha, beta, of_a, of_b, of_c, of_d] = *scalars else { return };
    let Product { layouts: [a, b, c, d], ops, size: [m, n], .. } = product;
    let (m, n) = (*m as usize, *n as usize);
    let load = |layout: &Layout, view: &View, op: Op| layout.load::<T>(view).op(op);
    let (mut sums, mut a_and_b) = (Matrix::zero(m, n), None);
    if alpha != Wide::default() {
        let (a, b) = (load(a, &views[0], ops[0]), load(b, &views[1], ops[1]));
        sums = a.times(&b).scaled(T::narrow(alpha * of_a * of_b));
        a_and_b = Some((a, b));
    }
    let of_each = |at: Option<usize>| at.map(|at| views[at].load::<T>());
    if let Some(rows) = of_each(factors.a) {
        sums = Matrix::new(m, n, |row, column| sums.at(row, column) * rows.at(row, 0));
    }
    if let Some(columns) = of_each(factors.b) {
        sums = Matrix::new(m, n, |row, column| sums.at(row, column) * columns.at(column, 0));
    }
    if beta != Wide::default() {
        sums = sums.plus(&c.load::<T>(&views[2]).scaled(T::narrow(beta * of_c)));
    }
    let (a, b) = a_and_b.unwrap_or_else(|| (Matrix::zero(m, 0), Matrix::zero(0, n)));
    let sums = epilogue.apply(views, sums, &a, &b);
    if let Some(at) = factors.greatest {
        let greatest = sums.content.iter().map(|number| number.wide().re.abs()).fold(0.0, f64::max);
        views[at].store_by(|_, _| greatest.into());
    }
    d.store(&views[3], if matches!(d.kind, E4m3 | E5m2) { sums.scaled(T::narrow(of_d)) } else { sums });
}

/// `C = alpha * op(A) + beta * op(B)`, in any order.
fn transform(
    handle: Handle,
    what: Object,
    [alpha, beta]: [u64; 2],
    [a, b, c]: [u64; 3],
    objects: [Object; 3],
    stream: Handle,
) -> Result {
    let mut library = library_of(handle)?;
    library.stream = stream;
    library.pointer_mode = TRANSFORM.get(what, 1)? as u32;
    let [of_a, of_c] = [Layout::of(objects[0])?, Layout::of(objects[2])?];
    // Without a second matrix there is only the first.
    let of_b = if objects[1].is_null() { of_c } else { Layout::of(objects[1])? };
    let ops = [Op::of(TRANSFORM.get(what, 2)? as u32)?, Op::of(TRANSFORM.get(what, 3)? as u32)?];
    let has_b = b != 0 && beta != 0;
    if ops[0].given(of_a.size) != of_c.size || has_b && ops[1].given(of_b.size) != of_c.size {
        return Err(INVALID_VALUE);
    }
    let scale = Kind::of(TRANSFORM.get(what, 0)? as u32).ok_or(NOT_SUPPORTED)?;
    let first = library.scalar("alpha", scale, alpha)?;
    let second = if has_b { library.scalar("beta", scale, beta)? } else { Scalar::Value(Wide::default()) };
    let operands = vec![
        of_a.operand("A", a).reads(When::Unless(0)),
        of_b.operand("B", b).reads(When::Unless(1)),
        of_c.operand("C", c).result(),
    ];
    let does = computes!(scale.compute(), T => move |scalars: &[Wide], views: &[View]| {
        let [a, b, c] = views else { return };
        let first = compute::times(scalars[0], &Layout::logical(c, of_c), || of_a.load::<T>(a).op(ops[0]));
        let second = compute::times(scalars[1], &Layout::logical(c, of_c), || of_b.load::<T>(b).op(ops[1]));
        of_c.store(c, first.plus(&second));
    });
    library.submit(vec![first, second], operands, of_c.batch.max(1) as usize, does)
}

impl Layout {
    /// The view of a matrix with its own rows and columns.
    fn logical(view: &View, layout: Layout) -> View {
        let [rows, columns] = layout.size.map(|count| count as usize);
        View { operand: Operand { rows, columns, ..view.operand }, start: view.start }
    }
}

library! {
    fn cublasLtMatmul(
        handle: Handle,
        what: Object,
        alpha: u64,
        a: u64,
        a_layout: Object,
        b: u64,
        b_layout: Object,
        beta: u64,
        c: u64,
        c_layout: Object,
        d: u64,
        d_layout: Object,
        _algorithm: *const u64,
        _workspace: u64,
        _bytes: usize,
        stream: Handle,
    ) {
        multiply(handle, what, [alpha, beta], [a, b, c, d], [a_layout, b_layout, c_layout, d_layout], stream)
    }

    fn cublasLtMatrixTransform(
        handle: Handle,
        what: Object,
        alpha: u64,
        a: u64,
        a_layout: Object,
        beta: u64,
        b: u64,
        b_layout: Object,
        c: u64,
        c_layout: Object,
        stream: Handle,
    ) {
        transform(handle, what, [alpha, beta], [a, b, c], [a_layout, b_layout, c_layout], stream)
    }
}
