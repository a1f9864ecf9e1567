//! Tensor maps, by the driver.

use std::ffi::{CStr, c_void};

use ptx_build::error::{Error, Result};

use crate::gpu::{Buffer, Gpu};

/// What kind of tensor a map is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MapKind {
    /// How many dimensions it has.
    pub dimensions: usize,
    /// Whether it is read as columns of an image.
    pub im2col: bool,
    /// Whether its box is one row, of which four are gathered.
    pub by_rows: bool,
    /// Whether it is of the tensor that is written.
    pub written: bool,
}

impl MapKind {
    /// Two dimensions, read as they are.
    pub const MATRIX: MapKind = MapKind { dimensions: 2, im2col: false, by_rows: false, written: false };

    /// Of columns: the corners of the box of pixels, the channels of a pixel, the pixels of a column.
    pub const COLUMN: (i32, i32, u32, u32) = (-1, -1, 4, 5);

    /// Elements of the box.
    pub fn tile(self) -> [u32; 5] {
        if self.by_rows { [4, 1, 1, 1, 1] } else { [8, 2, 1, 1, 1] }
    }
}

/// Elements of each dimension.
pub const SIZES: [u64; 5] = [256, 4, 4, 4, 4];

/// Elements from one to the next of each dimension.
pub const STRIDES: [u64; 5] = [1, 256, 1024, 4096, 16384];

/// The elements of a tensor, whose numbers begin with one.
pub fn content() -> Vec<u8> {
    (1..=SIZES.iter().product::<u64>() as u32).flat_map(u32::to_le_bytes).collect()
}

/// Bytes of a tensor map.
pub const TENSOR_MAP: usize = 128;

/// What the driver makes of a tensor's description.
pub type TensorMap = [u8; TENSOR_MAP];

/// A real tensor map, by the driver: `cust` does not know them. The tensor has [`SIZES`] numbers in its dimensions.
pub fn encode_tensor_map(gpu: &Gpu, tensor: &Buffer, kind: MapKind) -> Result<TensorMap> {
    type Tiled = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        *const c_void,
        *const u64,
        *const u64,
        *const u32,
        *const u32,
        u32,
        u32,
        u32,
        u32,
    ) -> u32;
    type Im2col = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        *const c_void,
        *const u64,
        *const u64,
        *const i32,
        *const i32,
        u32,
        u32,
        *const u32,
        u32,
        u32,
        u32,
        u32,
    ) -> u32;
    #[repr(align(64))]
    struct Aligned(TensorMap);
    const UINT32: u32 = 2;
    let (address, dimensions) = (tensor.address() as *const c_void, kind.dimensions as u32);
    let (sizes, tile, steps) = (SIZES, kind.tile(), [1u32; 5]);
    let strides: [u64; 4] = std::array::from_fn(|at| 4 * STRIDES[at + 1]);
    let mut map = Aligned([0; TENSOR_MAP]);
    let to = (&raw mut map.0).cast();
    let (name, answer) = if kind.im2col {
        let name = c"cuTensorMapEncodeIm2col";
        let encode = symbol::<Im2col>(gpu, name)?;
        let (lower, upper, channels, pixels) = MapKind::COLUMN;
        let corners = [[lower; 3], [upper; 3]];
        let [lower, upper] = corners.each_ref().map(|corner| corner.as_ptr());
        let (sizes, strides) = (sizes.as_ptr(), strides.as_ptr());
        // SAFETY: at least as many sizes, strides, corners and steps as the tensor has dimensions.
        let answer = unsafe {
            encode(
                to,
                UINT32,
                dimensions,
                address,
                sizes,
                strides,
                lower,
                upper,
                channels,
                pixels,
                steps.as_ptr(),
                0,
                0,
                0,
                0,
            )
        };
        (name, answer)
    } else {
        let name = c"cuTensorMapEncodeTiled";
        let encode = symbol::<Tiled>(gpu, name)?;
        let (sizes, strides, tile) = (sizes.as_ptr(), strides.as_ptr(), tile.as_ptr());
        // SAFETY: at least as many sizes, strides, and sizes and steps of a tile as the tensor has dimensions.
        let answer =
            unsafe { encode(to, UINT32, dimensions, address, sizes, strides, tile, steps.as_ptr(), 0, 0, 0, 0) };
        (name, answer)
    };
    match answer {
        0 => Ok(map.0),
        code => {
            let (name, why) = (name.to_string_lossy(), gpu.driver().describe(code));
            Err(Error::new(format_args!("{name} failed with {why} for a tensor of {dimensions} dimensions"))
                .at(gpu.name()))
        }
    }
}

/// A function of the driver that is newer than others.
fn symbol<F: Copy>(gpu: &Gpu, name: &CStr) -> Result<F> {
    // SAFETY: the caller names the function's type.
    let found = unsafe { gpu.driver().symbol::<F>(name) };
    found.ok_or_else(|| {
        Error::new(format_args!("the driver has no {}", name.to_string_lossy()))
            .at(gpu.driver().path())
            .fix("update the driver to CUDA 12 or newer")
    })
}
