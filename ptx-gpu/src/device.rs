//! The GPU that a program sees.

use ptx_interpreter::available_memory;

/// A GPU of a kind, with the sizes that NVIDIA states for it.
pub(crate) struct Device {
    pub(crate) sm: u32,
    pub(crate) name: String,
    pub(crate) memory: usize,
    pub(crate) multiprocessors: i32,
    /// Of a multiprocessor.
    pub(crate) threads: i32,
    pub(crate) blocks: i32,
    pub(crate) shared: i32,
    pub(crate) l2: i32,
    clock: i32,
    memory_clock: i32,
    bus: i32,
}

/// Bytes of shared memory that a launch adds without being allowed to.
pub(crate) const SHARED_OF_BLOCK: i32 = 48 << 10;
/// Bytes of shared memory of each block that are the driver's own, from sm_80 on.
const RESERVED: i32 = 1 << 10;
/// Registers of a multiprocessor.
pub(crate) const REGISTERS: i32 = 1 << 16;
/// Registers of a thread where no machine code says it: so few that all threads of a multiprocessor have room.
pub(crate) const REGISTERS_OF_THREAD: i32 = 32;
/// Multiprocessors that are assumed to run one cluster, where no GPU was asked.
const GROUP: i32 = 16;
/// Which attribute is the bus of a GPU, and which the number of its board.
const BUS: u32 = 33;
const BOARD: u32 = 85;
/// The most device memory that a program is shown.
const MEMORY: usize = 80 << 30;

/// What no other GPU is called: its last byte is its number.
pub(crate) fn uuid_bytes(number: usize) -> [u8; 16] {
    let mut bytes = *b"ptx-interpreter\0";
    bytes[15] = number as u8;
    bytes
}

/// The same, as NVIDIA's tools write it.
pub(crate) fn uuid(number: usize) -> String {
    let bytes = uuid_bytes(number);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let parts = [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex(&bytes[part]));
    format!("GPU-{}", parts.join("-"))
}

impl Device {
    pub(crate) fn new(sm: u32) -> Device {
        // Multiprocessors, threads, blocks, KiB of shared memory, MiB of L2, kHz, kHz of memory, bits of its bus.
        let [multiprocessors, threads, blocks, shared, l2, clock, memory_clock, bus] = match sm {
            ..=70 => [80, 2048, 32, 96, 6, 1_530_000, 877_000, 4096],
            71..=79 => [40, 1024, 16, 64, 4, 1_590_000, 5_001_000, 256],
            80 => [108, 2048, 32, 164, 40, 1_410_000, 1_215_000, 5120],
            81..=88 => [84, 1536, 16, 100, 6, 1_695_000, 9_751_000, 384],
            89 => [128, 1536, 24, 100, 72, 2_520_000, 10_501_000, 384],
            90..=99 => [132, 2048, 32, 228, 50, 1_980_000, 2_619_000, 5120],
            100..=119 => [148, 2048, 32, 228, 126, 1_965_000, 3_996_000, 8192],
            _ => [170, 1536, 24, 100, 96, 2_407_000, 14_001_000, 512],
        };
        let memory = available_memory().map_or(MEMORY, |bytes| (bytes as usize).min(MEMORY));
        Device {
            sm,
            name: format!("PTX on a CPU, as sm_{sm}"),
            memory,
            multiprocessors,
            threads,
            blocks,
            shared: shared << 10,
            l2: l2 << 20,
            clock,
            memory_clock,
            bus,
        }
    }

    pub(crate) fn reserved(&self) -> i32 {
        if self.sm >= 80 { RESERVED } else { 0 }
    }

    /// Bytes of shared memory of a block, if the kernel allows it.
    pub(crate) fn most_shared(&self) -> i32 {
        self.shared - self.reserved()
    }

    /// Bytes of L2 that can be set aside, at most: three quarters of an A100's, five eighths of an H100's.
    pub(crate) fn persisting(&self) -> i32 {
        if self.sm < 90 { self.l2 / 4 * 3 } else { self.l2 / 8 * 5 }
    }

    /// Blocks of a cluster, at most.
    pub(crate) fn cluster(&self) -> i32 {
        if self.sm >= 90 { 8 } else { 1 }
    }

    /// How many multiprocessors are near enough to each other to run one cluster, group by group. NVIDIA does not state it: these are an
    /// H100's that was asked, and each H100 has others switched off.
    pub(crate) fn groups(&self) -> Vec<i32> {
        match self.sm {
            90..=99 => vec![18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2],
            _ => (0..self.multiprocessors)
                .step_by(GROUP as usize)
                .map(|from| (self.multiprocessors - from).min(GROUP))
                .collect(),
        }
    }

    /// Its domain, its bus, and its place there.
    pub(crate) fn place(&self, number: usize) -> [u32; 3] {
        [50, BUS, 34].map(|which| self.attribute_of(number, which).unwrap_or_default() as u32)
    }

    /// Whether `domain:bus:place.0`, or the same without the domain or the last number, is this one.
    pub(crate) fn is_at(&self, number: usize, id: &str) -> bool {
        let id = id.strip_suffix(".0").unwrap_or(id);
        let parts: Option<Vec<u32>> = id.split(':').map(|part| u32::from_str_radix(part, 16).ok()).collect();
        let place = self.place(number);
        parts.is_some_and(|parts| parts.len() >= 2 && place.ends_with(&parts))
    }

    /// A size that is an attribute: what a GPU has at most, or a multiple.
    pub(crate) fn size(&self, which: u32) -> usize {
        self.attribute(which).and_then(|size| usize::try_from(size).ok()).unwrap_or_default()
    }

    /// An attribute of one of the GPUs, which are alike.
    pub(crate) fn attribute_of(&self, number: usize, which: u32) -> Option<i32> {
        if matches!(which, BUS | BOARD) { Some(number as i32) } else { self.attribute(which) }
    }

    /// `CU_DEVICE_ATTRIBUTE_…`, by its number.
    pub(crate) fn attribute(&self, which: u32) -> Option<i32> {
        let from = |sm: u32| i32::from(self.sm >= sm);
        Some(match which {
            1..=3 => 1024,  // threads of a block, in x, in y
            4 => 64,        // in z
            5 => i32::MAX,  // blocks in x
            6 | 7 => 65535, // in y, in z
            8 => SHARED_OF_BLOCK,
            9 => 64 << 10, // constant memory
            10 => 32,      // threads of a warp
            11 => i32::MAX,
            12 | 82 => REGISTERS, // of a block, of a multiprocessor
            13 => self.clock,
            14 => 512, // alignment of textures
            15 | 19 | 31 | 41 | 78 | 79 | 80 | 83 | 89 | 90 | 91 | 95 | 96 | 99 | 102 | 115 => 1,
            16 => self.multiprocessors,
            // Widths, heights, depths and layers of textures and surfaces, as an H100 has them.
            21 | 22 | 56 | 70 => 1 << 17,
            23 | 57 => 1 << 16,
            24..=26 | 58..=60 => 1 << 14,
            27 | 28 | 42 | 45 | 46 | 49 | 52 | 53 | 55 | 61 | 63 | 64 | 66 | 67 | 73 | 74 | 77 => 1 << 15,
            29 | 43 | 62 | 65 => 2048,
            47 | 48 => 1 << 13,
            54 | 68 => 2046,
            69 => 1 << 28,
            71 => 65000,
            72 => 2_097_120,
            30 => 512,
            34 => 6, // its place on the bus
            36 => self.memory_clock,
            37 => self.bus,
            38 => self.l2,
            39 => self.threads,
            40 => 3,
            51 => 32,
            75 => self.sm as i32 / 10,
            76 => self.sm as i32 % 10,
            81 => self.shared,
            87 => 2,
            97 => self.most_shared(),
            106 => self.blocks,
            108 => from(80) * self.persisting(),
            109 => from(80) * (128 << 20), // of an access policy window
            111 => self.reserved(),
            120 | 127 => from(90), // clusters, tensor maps
            126 => 1,
            129 => 1,
            131 => -1, // no NUMA node
            0 | 148.. => return None,
            _ => 0,
        })
    }
}
