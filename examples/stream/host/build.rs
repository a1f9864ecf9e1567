fn main() {
    ptx_build::kernels("../kernels").sm(80).ptx_isa(80).build();
}
