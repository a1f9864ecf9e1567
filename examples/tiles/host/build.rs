fn main() {
    // The driver compiles the first one for GPUs between the two.
    ptx_build::kernels("../kernels")
        .sm(80)
        .sm(90)
        .ptx_isa(80)
        .build();
}
