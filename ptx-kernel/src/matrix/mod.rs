//! Products of small matrices by a warp: `mma.sync`, `ldmatrix`, `stmatrix`.
//!
//! A warp holds its matrices in registers: each lane has a *fragment*, an array of registers. [`ldmatrix_m8n8_x4`] and the others
//! bring fragments from shared memory, `mma_…` computes `d = a * b + c` of them, [`stmatrix_m8n8_x4`] brings them back. A function
//! has the words of its PTX without `sync.aligned`. Where A and B have one type it is said once, and C has the type of D.
//!
//! ```
//! use ptx_kernel::matrix::*;
//! use ptx_kernel::*;
//!
//! kernel! {
//!     /// Multiplies 16 rows of 16 `bf16`, all of them 1, with 16 rows of 8, and adds 0.5.
//!     ///
//!     /// # Safety
//!     /// One warp; `d` has room for 128 numbers.
//!     #[launch_bounds(32)]
//!     pub unsafe fn ones(d: *mut f32) {
//!         let one = Bf16x2(pack_bf16x2([1.0, 1.0]));
//!         // SAFETY: all lanes of the warp come here, and each has four places.
//!         unsafe {
//!             let sums = mma_m16n8k16_f32_bf16([one; 4], [one; 2], [0.5; 4]);
//!             d.cast::<[f32; 4]>().add(lane_id() as usize).write(sums);
//!         }
//!     }
//! }
//!
//! let mut d = [0.0; 128];
//! let to = d.as_mut_ptr();
//! // SAFETY: as the kernel says.
//! unsafe { cpu::Launch::new(1, 32).run(|| ones(to)) };
//! assert_eq!(d, [16.5; 128]);
//! ```
//!
//! # Which lane holds what
//!
//! Let `g = lane / 4` and `o = lane % 4`, and let a register have `w` elements: one `f64` or `tf32`, two of 16 bits, four of 8, eight
//! of 4, 32 of one bit. The first element is in the lowest bits. Element `e` of register `r` is
//!
//! | of | row | column |
//! | --- | --- | --- |
//! | A, `m16` | `g + 8 * (r % 2)` | `w * o + e + 4 * w * (r / 2)` |
//! | A, `m8` | `g` | `w * o + e` |
//! | B | `w * o + e + 4 * w * r` | `g` |
//! | C, D, as number `i` of all | `g + 8 * (i / 2)` | `2 * o + i % 2` |
//!
//! For `m16n8k16` of 16 bits, where `a0` is the first register of A and `T5` is lane 5:
//!
//! ```text
//!  A       columns 0…7            8…15             B       column 0 1 … 7      C, D    columns 0…7
//!  row 0   T0:a0  T1:a0  … T3:a0  T0:a2 … T3:a2    row 0   T0:b0 T4:b0 … T28   row 0   T0:c0,c1   … T3:c0,c1
//!  row 1   T4:a0  T5:a0  … T7:a0  T4:a2 … T7:a2    row 1   T0:b0 T4:b0 …       row 1   T4:c0,c1   … T7:c0,c1
//!  …                                               row 2   T1:b0 T5:b0 …       …
//!  row 7   T28:a0        … T31:a0 T28:a2           …                           row 7   T28:c0,c1  … T31:c0,c1
//!  row 8   T0:a1  T1:a1  … T3:a1  T0:a3 … T3:a3    row 8   T0:b1 T4:b1 …       row 8   T0:c2,c3   … T3:c2,c3
//!  …                                               …                           …
//!  row 15  T28:a1        … T31:a1 T28:a3           row 15  T3:b1 T7:b1 … T31   row 15  T28:c2,c3  … T31:c2,c3
//! ```
//!
//! **`m8n8k4` of `f16`** is four products at once, of the lanes `4 * q … 4 * q + 3` and `16 + 4 * q … 16 + 4 * q + 3` for `q` from 0 to 3.
//! Let `u` be 0 in the first 16 lanes and 4 in the others. Element `i` of A is in row `o + u`, column `i` (`row`), or in row `i + u`, column
//! `o` (`col`); of B in row `o`, column `i + u` (`row`), or in row `i`, column `o + u` (`col`). Element `i` of C and D is in row `o + u`,
//! column `i` (`f16`), or in row `(lane & 1) + (i & 2) + u`, column `(i & 4) + (lane & 2) + (i & 1)` (`f32`).
//!
//! **`ldmatrix_m8n8`** and **`stmatrix_m8n8`** move matrices of 8 rows of 16 bytes. Lane `8 * m + r` names row `r` of matrix `m`. A lane
//! has one register of each: four bytes of row `g`, at `4 * o`. With `trans` the matrix has elements of 16 bits, and a lane has the
//! elements of rows `2 * o` and `2 * o + 1` in column `g`. **`ldmatrix_m8n16`** is the same of bytes, four of a row in a register: a row
//! has 16 numbers of 6 or 4 bits in memory, and each becomes a byte. **`ldmatrix_m16n16`** has matrices of 16 rows. A lane has two
//! registers of each, for the columns `g` and `g + 8`: the bytes of the rows `4 * o` to `4 * o + 3`. **`stmatrix_m16n8`** stores 8 rows of
//! 16 bytes: a lane has those of the rows `2 * o` and `2 * o + 1` in column `g`, and then those in column `g + 8`. LLVM has all of them for
//! generic addresses alone, so `.shared` and its 32-bit address come from `ptx-build` and `cargo ptx`. What rustc alone writes does the
//! same, and takes some 60 % more instructions in a loop.
//!
//! # Rounding
//!
//! Sums of integers are exact, and wrap, or with `satfinite` saturate. `f64` is rounded after each multiply-add. Of other floats,
//! products are exact, and the ISA leaves open how they are summed. On a CPU and in the interpreter it is as on an H100, bit for
//! bit; the last bits of another GPU may differ. With `.kind::f8f6f4` the sum is made in `f64` and rounded once.
//!
//! # What is missing
//!
//! Sparse products (`mma.sp`), products with block scales, `kind::f8f6f4`, and `movmatrix`, for which LLVM has no intrinsic. Under
//! rust-cuda the module is missing.

mod fragment;
mod mma;
#[cfg(not(target_arch = "nvptx64"))]
mod on_cpu;
mod rows;

pub use fragment::*;
pub use mma::*;
pub use rows::*;
