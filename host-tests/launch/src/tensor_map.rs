//! Tensor maps, by the driver.

use ptx_build::error::{Error, Result};

use crate::gpu::{Buffer, Gpu};

/// How a column goes along the width of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wide {
    /// As many pixels as the map says.
    W,
    /// 128 pixels.
    W128,
}

/// What kind of tensor a map is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MapKind {
    /// How many dimensions it has.
    pub dimensions: usize,
    /// Whether it is read as columns of an image.
    pub im2col: bool,
    /// Whether its columns go along the width of an image alone, and how.
    pub wide: Option<Wide>,
    /// Whether its box is one row, of which four are gathered.
    pub by_rows: bool,
    /// Whether it is of the tensor that is written.
    pub written: bool,
}

impl MapKind {
    /// Two dimensions, read as they are.
    pub const MATRIX: MapKind = MapKind { dimensions: 2, im2col: false, wide: None, by_rows: false, written: false };

    /// Of columns: the corners of the box of pixels, the channels of a pixel, the pixels of a column.
    pub const COLUMN: (i32, i32, u32, u32) = (-1, -1, 4, 5);

    /// Elements of the box.
    pub fn tile(self) -> [u32; 5] {
        if self.by_rows { [4, 1, 1, 1, 1] } else { [8, 2, 1, 1, 1] }
    }
}

/// Elements of each dimension.
pub const SIZES: [u64; 5] = [256, 4, 4, 4, 4];

/// The same of columns along the width: fewer channels, and a row that is longer than 128 pixels less a few.
pub const WIDE_SIZES: [u64; 5] = [64, 128, 2, 2, 2];

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

/// A real tensor map, by the driver. The tensor has [`SIZES`] numbers in its dimensions.
pub fn encode_tensor_map(gpu: &Gpu, tensor: &Buffer, kind: MapKind) -> Result<TensorMap> {
    const UINT32: u32 = 2;
    let (address, dimensions) = (tensor.address(), kind.dimensions);
    let strides: [u64; 4] = std::array::from_fn(|at| 4 * STRIDES[at + 1]);
    let (sizes, strides, steps) = (&SIZES[..dimensions], &strides[..dimensions - 1], &[1; 5][..dimensions]);
    let map = if let Some(wide) = kind.wide {
        encode_wide(address, dimensions, wide)
    } else if kind.im2col {
        let (lower, upper, channels, pixels) = MapKind::COLUMN;
        // A GPU ends a kernel that writes a pixel before the first one.
        let lower = if kind.written { 0 } else { lower };
        let corners = [[lower; 3], [upper; 3]];
        let corners = corners.each_ref().map(|corner| &corner[..dimensions - 2]);
        ptx_driver::tensor_map_im2col(UINT32, address, sizes, strides, corners, [channels, pixels], steps, [0; 4])
    } else {
        let tile = &kind.tile()[..dimensions];
        ptx_driver::tensor_map_tiled(UINT32, address, sizes, strides, tile, steps, [0; 4])
    };
    let map = map.map_err(|error| {
        Error::new(format_args!("there is no map of a tensor of {dimensions} dimensions: {error}")).at(gpu.name())
    })?;
    let mut bytes = [0; TENSOR_MAP];
    bytes.chunks_exact_mut(8).zip(map).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_ne_bytes()));
    Ok(bytes)
}

/// A map of columns along the width. A row begins one pixel before its image, a pixel has 16 channels, and the swizzle is of 64 bytes.
fn encode_wide(address: u64, dimensions: usize, wide: Wide) -> std::result::Result<[u64; 16], ptx_driver::NoTensorMap> {
    const UINT32: u32 = 2;
    const SWIZZLE_64B: u32 = 2;
    let stride = |at: usize| 4 * WIDE_SIZES[..=at].iter().product::<u64>();
    let strides: Vec<u64> = (0..dimensions - 1).map(stride).collect();
    let counts = [16, MapKind::COLUMN.3];
    let numbers = [0, wide as u32, SWIZZLE_64B, 0, 0];
    let (sizes, steps) = (&WIDE_SIZES[..dimensions], &[1; 5][..dimensions]);
    ptx_driver::tensor_map_im2col_wide(UINT32, address, sizes, &strides, [-1, 0], counts, steps, numbers)
}
