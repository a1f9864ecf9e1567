//! Orders are kept: by the compiler around the access, and by the assembler in the access.

mod assembler;
mod compiler;

use std::sync::LazyLock;

use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::Result;
use host_tests::tools::progress::Progress;

static TOOLS: LazyLock<Result<CudaTools>> = LazyLock::new(|| CudaTools::find(&Progress::new()));

fn tools() -> &'static CudaTools {
    TOOLS.as_ref().unwrap_or_else(|error| panic!("{error}"))
}
