//! The laboratory's kernels as machine code: in Rust, the pairs that are measured in CUDA C++ too, and the worked kernels
//! without some of their hints.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::LazyLock;

use rayon::prelude::*;
use regex::Regex;
use serde::{Deserialize, Serialize};

use ptx_build::cuda_tools::CudaTools;
use ptx_build::device_build::DeviceBuild;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::ptx::Module;
use ptx_build::ptxas::On;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::DeviceToolchain;
use workloads::image::assembled;

/// The folder of both halves of the laboratory's own kernels.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");

/// The folder of the pairs that `cargo xtask parity` compares.
const PAIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/parity");

/// The files in CUDA C++ whose kernels are measured.
const MEASURED: [&str; 7] = ["copy", "triad", "gather", "spmv", "probe", "histogram", "matmul"];

/// The other files in CUDA C++ of pairs, which are measured beside each other alone.
const BESIDE: [&str; 23] = [
    "stencil",
    "reduce",
    "transpose",
    "rms_norm",
    "softmax",
    "attention",
    "flash_attention",
    "prefix_sum",
    "chase",
    "stages",
    "gemm",
    "column_sums",
    "all_to_all",
    "warp_copy",
    "q8_gemv",
    "q4_gemv",
    "layer_norm",
    "layer_norm_back",
    "add_rms_norm",
    "compact",
    "paged",
    "relay",
    "ll128",
];

/// The twins of the laboratory's own kernels. They are not launched: their machine code is compared.
const TWINS: [&str; 5] = ["chase", "sweep", "stage", "fill", "neighbour"];

/// The worked kernels that are measured with and without their hints.
pub const WORKED: [&str; 6] = ["triad", "gather", "spmv", "probe", "histogram", "matmul"];

/// The kernels that want as many blocks as a multiprocessor holds.
const STREAMS: [&str; 11] = [
    "sweep_plain",
    "sweep_no_allocate",
    "sweep_policy",
    "fill_wb",
    "fill_cg",
    "fill_cs",
    "fill_wt",
    "discard",
    "copy32",
    "copy64",
    "copy128",
];

/// The kernels of a cluster of two blocks.
const CLUSTERS: [&str; 3] = ["chase_shared", "chase_shared_empty", "chase_neighbour"];

/// The oldest GPU that the laboratory works on: the first with cache policies.
pub const OLDEST: Sm = Sm::new(80);

/// The first GPU with clusters and bulk copies.
pub const CLUSTER: Sm = Sm::new(90);

/// Has every hint, and `ld.mmio`.
const PTX: PtxVersion = PtxVersion::new(8, 3);

/// What a kernel is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust, through the crate.
    Rust,
    /// CUDA C++, by nvcc.
    Cuda,
}

/// Hints that a kernel is measured without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Without {
    /// None: as it is written.
    Nothing,
    /// The priorities of L1.
    L1,
    /// The prefetch sizes of L2.
    Sizes,
    /// The policies of L2.
    Policies,
    /// The hints of stores.
    Stores,
    /// The prefetches.
    Prefetches,
    /// All of these.
    All,
}

impl Without {
    /// Every choice.
    pub const EACH: [Without; 7] = {
        use Without::*;
        [Nothing, L1, Sizes, Policies, Stores, Prefetches, All]
    };

    /// As the lines of results have it.
    pub fn name(self) -> &'static str {
        match self {
            Without::Nothing => "nothing",
            Without::L1 => "l1",
            Without::Sizes => "sizes",
            Without::Policies => "policies",
            Without::Stores => "stores",
            Without::Prefetches => "prefetches",
            Without::All => "all",
        }
    }

    fn takes(self, other: Without) -> bool {
        self == other || self == Without::All
    }

    /// A line of PTX without them; nothing is left of a prefetch.
    fn line(self, line: &str) -> String {
        static L1: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\.L1::\w+").expect("the pattern is valid"));
        static SIZES: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\.L2::(?:64|128|256)B").expect("the pattern is valid"));
        static POLICY: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\.L2::cache_hint(.*), *%rd\d+ *;").expect("the pattern is valid"));
        static STORES: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\bst\.global\.(?:cs|cg|wt)\b").expect("the pattern is valid"));
        static PREFETCH: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^\s*prefetch\.[^;]*;").expect("the pattern is valid"));
        let patterns = [
            (Without::L1, &L1, ""),
            (Without::Sizes, &SIZES, ""),
            (Without::Policies, &POLICY, "$1;"),
            (Without::Stores, &STORES, "st.global"),
            (Without::Prefetches, &PREFETCH, ""),
        ];
        let wanted = patterns.into_iter().filter(|(hints, ..)| self.takes(*hints));
        wanted.fold(line.to_owned(), |line, (_, pattern, instead)| pattern.replace_all(&line, instead).into_owned())
    }

    /// A module without them.
    pub fn text(self, ptx: &str) -> String {
        ptx.lines().map(|line| self.line(line) + "\n").collect()
    }
}

/// Machine code of some kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What they are and what they are called.
    pub about: About,
    /// The cubin.
    pub cubin: Vec<u8>,
}

/// What is in an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// What the kernels are written in.
    pub language: Language,
    /// The hints that were taken away.
    pub without: Without,
    /// The kernels' names.
    pub kernels: Vec<String>,
}

/// A module before it is assembled.
#[derive(Clone, Debug)]
pub struct Source {
    /// What is in it.
    pub about: About,
    /// Its PTX.
    pub ptx: String,
}

/// Compiles all modules for a GPU that are launched there.
pub fn sources(sm: Sm, toolchain: &DeviceToolchain, tools: &CudaTools, progress: &Progress) -> Result<Vec<Source>> {
    let rust = rust(sm, toolchain, progress)?;
    let mut all = vec![Source::new(Language::Rust, Without::Nothing, rust.clone())?];
    for without in Without::EACH.into_iter().filter(|without| *without != Without::Nothing) {
        let ptx = without.text(&rust);
        let changed: Vec<&str> =
            WORKED.into_iter().filter(|kernel| entry(&ptx, kernel) != entry(&rust, kernel)).collect();
        let mut source = Source::new(Language::Rust, without, ptx)?;
        source.about.kernels.retain(|kernel| changed.contains(&kernel.as_str()));
        if !source.about.kernels.is_empty() {
            all.push(source);
        }
    }
    all.extend(in_cuda(PAIRS, &MEASURED, sm, tools, progress)?);
    Ok(all)
}

/// The kernels in CUDA C++ of the pairs that are measured beside each other alone.
fn pairs(sm: Sm, tools: &CudaTools, progress: &Progress) -> Result<Vec<Source>> {
    in_cuda(PAIRS, &BESIDE, sm, tools, progress)
}

/// The twins of the laboratory's own kernels, which no laboratory has.
pub fn twins(sm: Sm, tools: &CudaTools, progress: &Progress) -> Result<Vec<Source>> {
    let known: Vec<&str> = TWINS.into_iter().filter(|file| *file != "neighbour" || sm >= CLUSTER).collect();
    in_cuda(FOLDER, &known, sm, tools, progress)
}

/// The kernels of some files in CUDA C++.
fn in_cuda(folder: &str, files: &[&str], sm: Sm, tools: &CudaTools, progress: &Progress) -> Result<Vec<Source>> {
    let nvcc = tools.nvcc(progress)?;
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create a folder in", &std::env::temp_dir(), error))?;
    let compile = |file: &&str| {
        let _step = progress.step(format!("Compiling {file}.cu for {sm}"));
        let ptx = scratch.path().join(format!("{file}.ptx"));
        nvcc.ptx(&Path::new(folder).join(format!("{file}.cu")), sm, &ptx)?;
        let text = std::fs::read_to_string(&ptx).map_err(|error| Error::io("read", &ptx, error))?;
        Source::new(Language::Cuda, Without::Nothing, text)
    };
    let all: Vec<Source> = files.par_iter().map(compile).collect::<Result<_>>()?;
    // Of a file for newer GPUs nothing is left.
    Ok(all.into_iter().filter(|source| !source.about.kernels.is_empty()).collect())
}

/// The kernels in Rust, with all their hints.
pub fn in_rust(sm: Sm, toolchain: &DeviceToolchain, progress: &Progress) -> Result<Source> {
    Source::new(Language::Rust, Without::Nothing, rust(sm, toolchain, progress)?)
}

/// The PTX of the kernels in Rust.
fn rust(sm: Sm, toolchain: &DeviceToolchain, progress: &Progress) -> Result<String> {
    let _step = progress.step(format!("Compiling the laboratory for {sm}"));
    let mut build = DeviceBuild::new(FOLDER, "lab-kernels", sm);
    build.ptx = Some(toolchain.default_ptx(sm).max(PTX));
    build.features.extend((sm >= CLUSTER).then(|| "bulk".to_owned()));
    let ptx = build.build(toolchain)?;
    std::fs::read_to_string(&ptx).map_err(|error| Error::io("read", &ptx, error))
}

impl Source {
    fn new(language: Language, without: Without, ptx: String) -> Result<Source> {
        let module = Module::parse(&ptx)?;
        let kernels =
            module.functions.iter().filter(|function| function.is_entry).map(|function| function.name.clone());
        let kernels: Vec<String> = kernels.collect();
        let mut ptx = ptx;
        for kernel in &kernels {
            ptx = with_directives(&ptx, kernel, &directives(kernel));
        }
        Ok(Source { about: About { language, without, kernels }, ptx })
    }

    /// Its text for an assembler that reads no newer version: nvcc writes its own.
    fn for_version(&self, newest: PtxVersion) -> String {
        let lowered = |line: &str| match line.strip_prefix(".version ").map(str::parse::<PtxVersion>) {
            Some(Ok(version)) if version > newest => format!(".version {newest}\n"),
            _ => format!("{line}\n"),
        };
        self.ptx.lines().map(lowered).collect()
    }

    /// Its machine code for a GPU.
    pub fn assemble(&self, on: &On) -> Result<Image> {
        let cubin = assembled(&self.for_version(on.version), on.sm, on)?;
        let cubin = cubin.map_err(|rejected| Error::new(rejected).at(format_args!("{:?}", self.about)))?;
        Ok(Image { about: self.about.clone(), cubin })
    }
}

/// Compiles all of it for a GPU.
pub fn all(sm: Sm, toolchain: &DeviceToolchain, tools: &CudaTools, progress: &Progress) -> Result<Vec<Source>> {
    Ok([sources(sm, toolchain, tools, progress)?, pairs(sm, tools, progress)?].concat())
}

/// Compiles and assembles all of it for a GPU.
pub fn images(on: &On, toolchain: &DeviceToolchain, tools: &CudaTools, progress: &Progress) -> Result<Vec<Image>> {
    all(on.sm, toolchain, tools, progress)?.par_iter().map(|source| source.assemble(on)).collect()
}

/// What rustc has no words for, so that both compilers' kernels are assembled under the same promises.
fn directives(kernel: &str) -> String {
    if CLUSTERS.contains(&kernel) {
        return ".explicitcluster\n.reqnctapercluster 2, 1, 1\n".into();
    }
    if kernel == "prefix_sum" {
        return ".maxntid 1024, 1, 1\n".into();
    }
    let most = ".maxntid 256, 1, 1\n";
    if STREAMS.contains(&kernel) { format!("{most}.minnctapersm 6\n") } else { most.into() }
}

/// The module with these directives at a kernel, if it has none of its own.
pub fn with_directives(ptx: &str, kernel: &str, directives: &str) -> String {
    let Some((before, text, rest)) = entry_of(ptx, kernel) else { return ptx.to_owned() };
    match text.split_once('{') {
        Some((header, body)) if !header.contains(".maxntid") && !header.contains("cluster") => {
            format!("{before}{header}{directives}{{{body}{rest}")
        }
        _ => ptx.to_owned(),
    }
}

/// The text of a kernel, from its header to its end.
fn entry<'t>(ptx: &'t str, kernel: &str) -> Option<&'t str> {
    entry_of(ptx, kernel).map(|(_, text, _)| text)
}

/// What is before a kernel, it, and what is after it.
fn entry_of<'t>(ptx: &'t str, kernel: &str) -> Option<(&'t str, &'t str, &'t str)> {
    let at = ptx.match_indices(&format!(".entry {kernel}(")).map(|(at, _)| at).next()?;
    let end = ptx[at..].find("\n}").map_or(ptx.len(), |end| at + end + 2);
    Some((&ptx[..at], &ptx[at..end], &ptx[end..]))
}

/// What is before the machine code in the file of a GPU.
type Contents = Vec<(About, usize)>;

/// Packs images.
pub fn pack(images: &[Image]) -> Result<Vec<u8>> {
    let contents: Contents = images.iter().map(|image| (image.about.clone(), image.cubin.len())).collect();
    let mut all = serde_json::to_vec(&contents).map_err(Error::new)?;
    all.push(b'\n');
    images.iter().for_each(|image| all.extend(&image.cubin));
    let packed = || -> std::io::Result<Vec<u8>> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 19)?;
        encoder.write_all(&all)?;
        encoder.finish()
    };
    packed().map_err(|error| Error::new(format_args!("could not pack the laboratory: {error}")))
}

/// Unpacks them.
pub fn unpack(packed: &[u8]) -> Result<Vec<Image>> {
    let damaged = |why: String| {
        Error::new("the laboratory's file of kernels is damaged")
            .because(why)
            .fix("copy the bundle again, or make it anew")
    };
    let mut all = Vec::new();
    let read = zstd::Decoder::new(packed).and_then(|mut decoder| decoder.read_to_end(&mut all));
    read.map_err(|error| damaged(error.to_string()))?;
    let end = all.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("it has no list".into()))?;
    let contents: Contents = serde_json::from_slice(&all[..end]).map_err(|error| damaged(error.to_string()))?;
    let mut rest = &all[end + 1..];
    let take = |(about, bytes): (About, usize)| {
        let (cubin, after) = rest.split_at_checked(bytes).ok_or_else(|| damaged("it ends early".into()))?;
        rest = after;
        Ok(Image { about, cubin: cubin.to_vec() })
    };
    contents.into_iter().map(take).collect()
}

/// Where each kernel is: by language, what was taken away, and name.
pub fn index(images: &[Image]) -> BTreeMap<(Language, Without, String), usize> {
    let of = |(at, image): (usize, &Image)| {
        let About { language, without, kernels } = image.about.clone();
        kernels.into_iter().map(move |kernel| ((language, without, kernel), at)).collect::<Vec<_>>()
    };
    images.iter().enumerate().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_taken_from_a_line_and_nothing_else() {
        let load =
            "\tld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16], %rd9;";
        let lines = [
            (Without::L1, load, "\tld.global.nc.L2::cache_hint.L2::256B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16], %rd9;"),
            (
                Without::Sizes,
                load,
                "\tld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16], %rd9;",
            ),
            (
                Without::Policies,
                load,
                "\tld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];",
            ),
            (Without::All, load, "\tld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];"),
            (
                Without::Stores,
                "st.global.cs.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
                "st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
            ),
            (Without::Prefetches, "prefetch.L2 [%rd7];", ""),
            (Without::Prefetches, load, load),
            (
                Without::Prefetches,
                "\tcp.async.bulk.prefetch.L2.global [%rd1], 128;",
                "\tcp.async.bulk.prefetch.L2.global [%rd1], 128;",
            ),
            (Without::Nothing, load, load),
            (
                Without::All,
                "red.relaxed.gpu.global.add.L2::cache_hint.u32 [%rd1], %r1, %rd2;",
                "red.relaxed.gpu.global.add.u32 [%rd1], %r1;",
            ),
        ];
        for (without, line, expected) in lines {
            assert_eq!(without.line(line), expected, "{without:?}");
        }
    }

    #[test]
    fn directives_come_before_the_body_once() {
        let ptx = ".visible .entry a(\n.param .u64 p\n)\n{\nret;\n}\n.visible .entry b()\n.maxntid 64\n{\nret;\n}\n";
        let bounded = with_directives(ptx, "a", ".maxntid 256, 1, 1\n");
        let expected = ".visible .entry a(\n.param .u64 p\n)\n.maxntid 256, 1, 1\n{\nret;\n}\n.visible .entry b()\n.maxntid 64\n{\nret;\n}\n";
        assert_eq!(bounded, expected);
        assert_eq!(with_directives(&bounded, "a", ".maxntid 256, 1, 1\n"), expected);
        assert_eq!(with_directives(&bounded, "b", ".maxntid 256, 1, 1\n"), expected);
        assert_eq!(with_directives(&bounded, "c", ".maxntid 256, 1, 1\n"), expected);
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let about = About { language: Language::Cuda, without: Without::L1, kernels: vec!["a".into(), "b".into()] };
        let images =
            vec![Image { about: about.clone(), cubin: vec![7; 100] }, Image { about, cubin: b"\n\x7fELF".to_vec() }];
        let packed = pack(&images).expect("it packs");
        assert_eq!(unpack(&packed).expect("it unpacks"), images);
        assert!(unpack(&packed[..packed.len() / 2]).is_err());
    }
}
