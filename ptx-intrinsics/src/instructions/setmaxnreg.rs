//! `setmaxnreg`: how many registers each thread of a warp may use.

/// The number, if the instruction takes it.
#[track_caller]
#[inline]
const fn registers(number: u32) -> u32 {
    assert!(
        number.is_multiple_of(8) && number >= 24 && number <= 256,
        "`setmaxnreg` takes a number of registers that is a multiple of 8, from 24 to 256"
    );
    number
}

/// What comes of it, the function, PTX, LLVM's intrinsic, and what the caller promises beside.
macro_rules! setmaxnreg {
    ($($what:literal: $name:ident $alias:literal $ptx:literal $intrinsic:literal $promise:literal;)*) => {
        instructions! { SINGLES:
            instruction "setmaxnreg", isa "miscellaneous-instructions-setmaxnreg", effect message, T = u8 { $(
                #[doc = $what]
                /// A kernel of several kinds of warps gives them where they are needed: the warps that copy
                /// take few, and those that compute take what these have given back. The number is a multiple of 8 from 24 to 256; another one
                /// is an error of the build. On a CPU there is nothing to do.
                ///
                /// ```
                /// use ptx_intrinsics::*;
                ///
                /// unsafe fn begin(copies: bool) {
                ///     unsafe {
                ///         if copies { setmaxnreg_dec_sync_aligned::<40>() } else { setmaxnreg_inc_sync_aligned::<232>() }
                ///     }
                /// }
                ///
                /// unsafe { begin(true) };
                /// ```
                #[doc(alias = "setmaxnreg")]
                #[doc(alias = $alias)]
                unsafe fn $name<const REGISTERS>() {
                    ptx: $ptx, REGISTERS;
                    intrinsic: { $intrinsic((const { registers(REGISTERS) }): u32) };
                    needs: RegisterCounts;
                    safety: $promise;
                    cpu: { const { registers(REGISTERS) }; };
                }
            )* }
        }
    };
}
setmaxnreg! {
    "Asks for up to `REGISTERS` registers for each thread of the warp, and waits until the block has them."
        : setmaxnreg_inc_sync_aligned "setmaxnreg.inc.sync.aligned" "setmaxnreg.inc.sync.aligned.u32" "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
        "All threads of the warpgroup, four warps that follow each other, come to this call together and have at most `REGISTERS` \
         registers; the kernel is launched with a maximal number of registers, by `.maxnreg` or by its launch bounds. Other warps give \
         back what is missing, or this one waits for ever. Between two calls is a barrier of the warpgroup.";
    "Gives back what each thread of the warp has beyond `REGISTERS` registers."
        : setmaxnreg_dec_sync_aligned "setmaxnreg.dec.sync.aligned" "setmaxnreg.dec.sync.aligned.u32" "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"
        "All threads of the warpgroup, four warps that follow each other, come to this call together and have at least `REGISTERS` \
         registers; the kernel is launched with a maximal number of registers, by `.maxnreg` or by its launch bounds. What they hold in \
         the registers that they give back is lost. Between two calls is a barrier of the warpgroup.";
}
