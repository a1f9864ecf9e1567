//! Accesses that have to fail: each in a process of its own, since a GPU that faulted serves its process no more.

use super::entry::Entry;
use super::kernels::{FAULTS, Kernels};
use super::room::Room;
use launch::gpu::{Argument, Gpu, Launch, Waited};
use ptx_build::error::{Error, Result};

/// An access that goes wrong, and what the driver has to say.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its kernel.
    pub name: String,
    /// The access, of `p`.
    access: String,
    wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// The address is one byte after where it may be.
    Misaligned,
    /// There is no memory.
    OutOfRange,
}

impl Wrong {
    /// `CUDA_ERROR_MISALIGNED_ADDRESS`, `CUDA_ERROR_ILLEGAL_ADDRESS`.
    fn code(self) -> u32 {
        match self {
            Wrong::Misaligned => 716,
            Wrong::OutOfRange => 700,
        }
    }
}

/// A load and a store: what the machine makes of a bad address does not depend on the words of an access.
const ACCESSES: [(&str, &str); 2] = [
    ("ld_global", "put(out, ptx!(ld.global.u32 [p as *const u32]))"),
    ("st_global", "ptx!(st.global.v4.f32 [p as *mut V4<f32>], V4::new([1.0f32; 4]))"),
];

/// Nothing lies there on any GPU: the last page of the addresses of 47 bits.
const NOWHERE: u64 = 0x7fff_ffff_f000;

impl Fault {
    /// All of them.
    pub fn all() -> Vec<Fault> {
        let of = |(name, access): (&str, &str)| {
            [(Wrong::Misaligned, "misaligned"), (Wrong::OutOfRange, "out_of_range")].map(|(wrong, word)| Fault {
                name: format!("{name}_{word}"),
                access: access.to_owned(),
                wrong,
            })
        };
        ACCESSES.into_iter().flat_map(of).collect()
    }

    /// What the driver has to answer.
    pub fn code(&self) -> u32 {
        self.wrong.code()
    }

    /// Does it, and gives the driver's answer; afterwards this process has no GPU any more.
    pub fn provoke(&self, gpu: &Gpu, kernels: &Kernels) -> Result<u32> {
        let module = gpu.load(&kernels.image_of(FAULTS, &self.name)?.cubin)?;
        let memory = gpu.upload(&[0; 64])?;
        let address = match self.wrong {
            Wrong::Misaligned => memory.address() + 1,
            Wrong::OutOfRange => NOWHERE,
        };
        let out = gpu.upload(&[0; 64])?;
        let arguments = vec![Argument::U64(address), Argument::U64(out.address())];
        let launch = Launch { kernel: self.name.clone(), blocks: 1, threads: 1, shared: 0, arguments };
        // SAFETY: the access fails, which is what is asked; nobody uses this process's GPU after it.
        unsafe { gpu.launch(&module, &launch) }?;
        match gpu.waited() {
            Waited::Done => Ok(0),
            Waited::Failed(code) => Ok(code),
            Waited::Hung => Err(Error::new("the access does not end").at(&self.name)),
        }
    }
}

impl Entry for Fault {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self) -> (u32, u32) {
        (70, 60)
    }

    fn room(&self) -> Room {
        Room::Global
    }

    fn source(&self) -> String {
        let (name, access) = (&self.name, &self.access);
        format!(
            "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}(p: *mut u8, out: *mut u8) {{ unsafe {{ {access} }} }}\n\n"
        )
    }
}
