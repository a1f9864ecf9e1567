fn main() {
    // The oldest GPU that is served, and the PTX ISA version: 8.0 needs a driver of CUDA 12.0 or later.
    ptx_build::kernels("../kernels").sm(80).ptx_isa(80).build();
}
