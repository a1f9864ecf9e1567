//! Accesses that have to fail: each in a process of its own, since a GPU that faulted serves its process no more.

use super::image::Entry;
use super::image::Image;
use super::trial::Room;
use crate::error::{Error, Result};
use crate::gpu::{Argument, Gpu, Launch, Waited};

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
    /// The address is one byte behind where it may be.
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

/// Loads and stores of each kind, by their PTX.
const ACCESSES: [(&str, &str); 10] = [
    ("ld_global", "put(out, ptx!(ld.global.u32 [p as *const u32]))"),
    ("ld_global_nc", "put(out, ptx!(ld.global.nc.u32 [p as *const u32]))"),
    ("ld", "put(out, ptx!(ld.v2.u32 [p as *const V2<u32>]))"),
    ("ld_volatile", "put(out, ptx!(ld.volatile.global.u64 [p as *const u64]))"),
    ("ld_relaxed", "put(out, ptx!(ld.relaxed.gpu.global.u32 [p as *const u32]))"),
    ("ld_acquire", "put(out, ptx!(ld.acquire.sys.global.u32 [p as *const u32]))"),
    ("st_global", "ptx!(st.global.v4.f32 [p as *mut V4<f32>], V4::new([1.0f32; 4]))"),
    ("st", "ptx!(st.u16 [p as *mut u16], 1u16)"),
    ("st_relaxed", "ptx!(st.relaxed.cta.global.u32 [p as *mut u32], 1u32)"),
    ("st_release", "ptx!(st.release.gpu.global.u64 [p as *mut u64], 1u64)"),
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
    pub fn provoke(&self, gpu: &Gpu, images: &[Image]) -> Result<u32> {
        let image = images.iter().find(|image| image.kernels.contains(&self.name));
        let image = image.ok_or_else(|| Error::new("no image has this kernel").at(&self.name))?;
        let module = gpu.load(&image.cubin)?;
        let memory = gpu.upload(&[0; 64])?;
        let address = match self.wrong {
            Wrong::Misaligned => memory.address() + 1,
            Wrong::OutOfRange => NOWHERE,
        };
        let out = gpu.upload(&[0; 64])?;
        let arguments = vec![Argument::U64(address), Argument::U64(out.address())];
        let launch = Launch { kernel: self.name.clone(), blocks: 1, threads: 1, arguments };
        // SAFETY: the access fails, which is what is asked; nobody uses this process's GPU behind it.
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
