//! CUB, Thrust and libcu++, from NVIDIA's wheel on PyPI.

use crate::cuda_tools::{Wheel, WheelSet};

/// The headers of CUB, Thrust and libcu++.
pub const CCCL: WheelSet = WheelSet {
    folder: "cccl-13.3",
    wheels: &[Wheel {
        name: "nvidia-cuda-cccl",
        version: "13.3.5.0.6",
        sha256: &["d5230098fa2df5021e1a00c0c4eee41797671a91119d31e892463e5ccf3ee326"],
        file: "nvidia/cu13/include/cccl/cub/cub.cuh",
    }],
    pruned: false,
};
