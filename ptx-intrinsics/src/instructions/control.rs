//! What a thread does by itself about how it runs: `griddepcontrol`, `nanosleep`, `activemask`, and the clocks.

#[cfg(not(ptx_device))]
use crate::cpu::{thread, warp};

instructions! { SINGLES:
    instruction "griddepcontrol", isa "parallel-synchronization-and-communication-instructions-griddepcontrol", effect message, T = u8 {
        /// The grids that wait for this one may begin, as soon as all of its blocks have said so or ended. What they read by
        /// [`griddepcontrol_wait`] is complete all the same. On a CPU one grid runs after the other.
        #[doc(alias = "cudaTriggerProgrammaticLaunchCompletion")]
        safe fn griddepcontrol_launch_dependents() {
            ptx: "griddepcontrol.launch_dependents";
            needs: GridControl;
            cpu: ();
        }

        /// Waits until the grids before this one have ended, and their writes can be seen. On a CPU they have.
        #[doc(alias = "cudaGridDependencySynchronize")]
        safe fn griddepcontrol_wait() {
            ptx: "griddepcontrol.wait";
            needs: GridControl;
            cpu: ();
        }
    }

    instruction "nanosleep", isa "miscellaneous-instructions-nanosleep", effect message, T = u8 {
        /// Sleeps for up to twice `nanoseconds`, of which a GPU takes 1,000,000 at most. On a CPU other threads go on meanwhile.
        #[doc(alias = "__nanosleep")]
        safe fn nanosleep(nanoseconds: u32 as reg32) {
            ptx: "nanosleep.u32", nanoseconds;
            needs: Sleep;
            cpu: thread::pause();
        }
    }

    instruction "activemask", isa "parallel-synchronization-and-communication-instructions-activemask", effect message, T = u8 {
        /// The lanes of the warp that execute this together: those that happen to, and no promise that others do not come.
        /// On a CPU threads take turns, and it is this lane alone.
        #[doc(alias = "__activemask")]
        safe fn activemask() -> (u32 as lanes: u32) {
            ptx: "activemask.b32" -> lanes;
            intrinsic: { "llvm.nvvm.activemask"() };
            needs: ActiveMask;
            cpu: 1 << warp::lane();
        }
    }

    instruction "mov", isa "special-registers-clock", effect message, T = u8 {
        /// The lower half of [`clock64`].
        #[doc(alias = "mov")]
        safe fn clock() -> (u32 as cycles: reg32) {
            ptx: "mov.u32" -> cycles, "%clock";
            needs: Always;
            cpu: thread::nanoseconds() as u32;
        }
    }

    instruction "mov", isa "special-registers-clock64", effect message, T = u8 {
        /// A counter of cycles of this SM. On a CPU it counts nanoseconds.
        #[doc(alias = "mov")]
        safe fn clock64() -> (u64 as cycles: reg64) {
            ptx: "mov.u64" -> cycles, "%clock64";
            needs: Always;
            cpu: thread::nanoseconds();
        }
    }

    instruction "mov", isa "special-registers-globaltimer", effect message, T = u8 {
        /// Nanoseconds on a clock that all SMs share; how often it is updated, the GPU says.
        #[doc(alias = "mov")]
        safe fn globaltimer() -> (u64 as time: reg64) {
            ptx: "mov.u64" -> time, "%globaltimer";
            needs: GlobalTimer;
            cpu: thread::nanoseconds();
        }
    }
}
