//! Reads machine code: what NVIDIA's disassembler prints, and which lines of PTX and of source it came from; and the fat
//! binaries that carry machine code and PTX.

#[cfg(feature = "cubin")]
pub mod cubin;
#[cfg(feature = "lines")]
pub mod debug_info;
#[cfg(feature = "fatbin")]
pub mod fatbin;
pub mod flight;
pub mod hot_loop;
pub mod in_flight;
#[cfg(feature = "lines")]
pub mod inlined_at;
#[cfg(feature = "lines")]
pub mod line_table;
pub mod nvdisasm;
pub mod target;
