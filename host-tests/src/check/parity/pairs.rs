//! Which kernels are written twice.

use crate::tools::error::{Error, Result};
use crate::tools::target::Sm;

/// The folder of both halves of the pairs.
pub const PAIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/parity");

/// The oldest GPU with loads of 256 bits.
pub const WIDE: Sm = Sm::new(100);

/// The oldest GPU with bulk copies.
pub const BULK: Sm = Sm::new(90);

/// A kernel that is written twice.
#[derive(Debug)]
pub struct Pair {
    /// Its name, in both.
    pub kernel: &'static str,
    /// The file in CUDA C++ that has it.
    pub source: &'static str,
    /// The oldest GPU that it is assembled for.
    pub first: Sm,
    /// Why Rust needs more instructions or has fewer loads in flight on some GPU, if it does.
    pub why: Option<&'static str>,
}

const fn pair(kernel: &'static str, source: &'static str) -> Pair {
    Pair { kernel, source, first: Sm::new(80), why: None }
}

const NORM_BACK: &str =
    "nvcc reads what one load of an element brought only after it has issued the four loads of the next element.";

/// Every pair.
pub const KERNELS: [Pair; 41] = [
    pair("copy32", "copy"),
    pair("copy64", "copy"),
    pair("copy128", "copy"),
    Pair { first: WIDE, ..pair("copy256", "copy") },
    pair("triad", "triad"),
    pair("gather", "gather"),
    pair("spmv", "spmv"),
    pair("stencil", "stencil"),
    pair("reduce", "reduce"),
    pair("transpose", "transpose"),
    pair("rms_norm", "rms_norm"),
    pair("softmax", "softmax"),
    pair("attention", "attention"),
    pair("flash_attention", "flash_attention"),
    pair("prefix_sum", "prefix_sum"),
    pair("probe", "probe"),
    pair("chase", "chase"),
    pair("histogram", "histogram"),
    pair("matmul", "matmul"),
    Pair { first: BULK, ..pair("stages", "stages") },
    Pair { first: BULK, ..pair("gemm", "gemm") },
    Pair { first: BULK, ..pair("column_sums", "column_sums") },
    Pair { first: BULK, ..pair("all_to_all", "all_to_all") },
    Pair { first: WIDE, ..pair("gather_rows", "gather_rows") },
    pair("warp_copy_first", "warp_copy"),
    pair("warp_copy", "warp_copy"),
    pair("q8_gemv_first", "q8_gemv"),
    pair("q8_gemv", "q8_gemv"),
    pair("q4_gemv_first", "q4_gemv"),
    pair("q4_gemv", "q4_gemv"),
    pair("layer_norm_first", "layer_norm"),
    pair("layer_norm", "layer_norm"),
    Pair { why: Some(NORM_BACK), ..pair("layer_norm_back", "layer_norm_back") },
    pair("add_rms_norm", "add_rms_norm"),
    pair("relay_first", "relay"),
    pair("relay", "relay"),
    pair("ll128", "ll128"),
    pair("compact_first", "compact"),
    pair("compact", "compact"),
    pair("paged_gather_first", "paged"),
    pair("paged_gather", "paged"),
];

/// The pair of that name, or all.
pub fn select(kernel: Option<&str>) -> Result<Vec<&'static Pair>> {
    let wanted: Vec<&Pair> = KERNELS.iter().filter(|pair| kernel.is_none_or(|name| pair.kernel == name)).collect();
    if wanted.is_empty() {
        let names: Vec<_> = KERNELS.iter().map(|pair| pair.kernel).collect();
        return Err(Error::new(format_args!("there is no kernel `{}`", kernel.unwrap_or_default()))
            .at("--kernel")
            .fix(format_args!("use one of {}", names.join(" "))));
    }
    Ok(wanted)
}
