//! Tensor maps that the tests change.

use super::columns::Columns;
use super::map::TensorMap;

/// A matrix of floats.
pub(super) fn matrix() -> TensorMap {
    TensorMap {
        rank: 2,
        element: 7,
        address: 0x7f00_0000_1000,
        sizes: [64, 32, 0, 0, 0],
        strides: [256, 0, 0, 0],
        tile: [32, 8, 0, 0, 0],
        steps: [1, 1, 0, 0, 0],
        ..TensorMap::default()
    }
}

/// Columns of it in three dimensions, of which the second one has pixels.
pub(super) fn image() -> TensorMap {
    let columns =
        Columns { lower: [-1, 0, 0], upper: [-30_000, 0, 0], channels: 256, pixels: 200, ..Columns::default() };
    let sizes = [64, 40_000, 7, 0, 0];
    TensorMap {
        rank: 3,
        sizes,
        strides: [256, 4096, 0, 0],
        steps: [1; 5],
        tile: [0; 5],
        columns: Some(columns),
        ..matrix()
    }
}
