//! The slice of the catalogue that the scenarios share: its kernels, compiled, assembled and as text.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fake_gpu_client::SM_VARIABLE;
use host_tests::check::{forms_check, whole};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::disassembler::Disassembler;
use ptx_build::error::{Error, Result};
use ptx_build::progress::Progress;
use ptx_build::target::{PtxVersion, Sm};
use ptx_build::toolchain::{DeviceToolchain, Route};
use ptx_interpreter::Program;
use ptx_intrinsics::catalogue::{self, Form};
use suite::fault::Fault;
use suite::image::{compile, parts};
use suite::kernels::{FAULTS, FORMS, Kernels};
use suite::litmus::Litmus;
use suite::stage::{Bench, Settings};
use suite::{Kernel, Key, Outcome, Plan, key, run};
use workloads::image::{Image, keep_texts};

/// Forms of each instruction in the slice, drawn by the seed.
const OF_EACH: usize = 2;

/// One of so many packed forms is in the slice.
const PACKED: usize = 40;

/// The GPUs that its kernels are assembled for: the one of the scenarios, and another generation, drawn by the seed. A bundle is
/// for more.
const BUILT_FOR: u32 = 100;
const GENERATIONS: [u32; 4] = [75, 80, 90, 120];

pub(crate) const FOLDER_VARIABLE: &str = "SUITE_FOLDER";

/// Where the texts of the images for one GPU are, in that folder.
pub(crate) const TEXTS: &str = "texts";

/// Where the forms of the slice are in the catalogue, and those of a few of them.
const FORMS_FILE: &str = "forms";
const FEW: &str = "few";

/// Compiles the slice's kernels, assembles them for some GPUs, and leaves what the scenarios need.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    let seed = forms_check::seed()?;
    println!("seed {seed}; repeat with {}={seed}", forms_check::SEED_VARIABLE);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a temporary folder takes it");
    let write_ptx = |name: &str, text: &str| {
        write(name, text);
        let gaps = Program::parse(text).gaps();
        let error = || Error::new(format_args!("the interpreter does not know {gaps:?}, which {name} has"));
        if gaps.is_empty() { Ok(()) } else { Err(error().fix("add it to ptx-interpreter")) }
    };
    write("seed", &seed.to_string());
    keep_texts(folder.join(TEXTS), Some(Sm::new(100)));
    let progress = Progress::new();
    let toolchain = DeviceToolchain::find(Route::chosen(None)?, &progress)?;
    let tools = CudaTools::find(&progress)?;
    let forms = drawn(seed);
    let plan = Plan::new(&forms);
    if whole::is_set() {
        let (sm, version) = (Sm::new(100), PtxVersion::new(9, 0));
        let text = |(number, kernels): (usize, &[Kernel])| {
            let part = compile(&format!("part-{number}"), 0, kernels, &toolchain)?;
            part.text(&kernels.iter().collect::<Vec<_>>(), sm, version)
        };
        let parts: Vec<String> = parts(&plan.kernels).into_iter().map(text).collect::<Result<_>>()?;
        return write_ptx("kernels.ptx", &parts.concat());
    }
    let part = compile("slice", 0, &plan.kernels, &toolchain)?;
    let (litmus, faults) = (Litmus::all(), Fault::all());
    let litmus = compile("litmus", 0, &litmus, &toolchain)?;
    let faults = compile("faults", 0, &faults, &toolchain)?;
    let few = few(&forms, &plan);
    for (name, forms) in [(FORMS_FILE, &forms), (FEW, &few)] {
        write(name, &serde_json::to_string(&places(forms)).expect("numbers are written"));
    }
    let of_few = Plan::new(&few);
    let part_of_few = compile("few", 0, &of_few.kernels, &toolchain)?;
    write_ptx(
        "few.ptx",
        &part_of_few.text(&of_few.kernels.iter().collect::<Vec<_>>(), Sm::new(BUILT_FOR), PtxVersion::new(9, 0))?,
    )?;
    let generations = [BUILT_FOR, GENERATIONS[(seed % GENERATIONS.len() as u64) as usize]];
    for on in tools.every_gpu(&progress)?.into_iter().filter(|on| generations.contains(&on.sm.number)) {
        // tests/orders assembles the litmus tests for all of them.
        let kernels = kernels(on.version, [(FORMS, part_of_few.assemble(&on)?), (FAULTS, faults.assemble(&on)?)]);
        let mut all = kernels.sections.values().flatten();
        assert!(all.all(|image| image.cubin.starts_with(b"\x7fELF")), "{} makes no cubins", on.sm);
        if on.sm == Sm::new(BUILT_FOR) {
            std::fs::write(folder.join("cubins"), kernels.pack()?).expect("a temporary folder takes it");
            kernels.forms().iter().try_for_each(|image| disassemble(image, &tools, folder))?;
        }
    }
    write_ptx(
        "faults.ptx",
        &faults.text(&faults.kernels.iter().collect::<Vec<_>>(), Sm::new(100), PtxVersion::new(9, 0))?,
    )?;
    write_ptx(
        "litmus.ptx",
        &litmus.text(&litmus.kernels.iter().collect::<Vec<_>>(), Sm::new(100), PtxVersion::new(9, 0))?,
    )?;
    write_ptx("kernels.ptx", &part.text(&plan.kernels.iter().collect::<Vec<_>>(), Sm::new(100), PtxVersion::new(9, 0))?)
}

/// A set of kernels.
pub(crate) fn kernels<const N: usize>(ptx: PtxVersion, sections: [(&str, Vec<Image>); N]) -> Kernels {
    let sections = sections.into_iter().map(|(name, images)| (name.to_owned(), images)).collect();
    Kernels { set: "13.5".into(), ptx, sections, refused: [].into(), part: false }
}

/// The disassembler finds code for each kernel that the image lists, and no other kernel.
fn disassemble(image: &Image, tools: &CudaTools, folder: &Path) -> Result<()> {
    let cubin = folder.join("image.cubin");
    std::fs::write(&cubin, &image.cubin).expect("a temporary folder takes it");
    let found = Disassembler::new(&tools.nvdisasm).disassemble(&cubin)?;
    assert!(found.iter().all(|function| !function.instructions.is_empty()), "a function without code");
    // Functions that a kernel calls have names that begin with a dollar.
    let found: BTreeSet<&str> =
        found.iter().map(|function| function.name.as_str()).filter(|name| !name.starts_with('$')).collect();
    let listed: BTreeSet<&str> = image.kernels.iter().map(String::as_str).collect();
    let missing: Vec<_> = listed.difference(&found).collect();
    assert!(!listed.is_empty() && missing.is_empty(), "nvdisasm sees no {missing:?}");
    let others: Vec<_> = found.difference(&listed).collect();
    assert!(others.is_empty(), "nvdisasm sees {others:?} too");
    Ok(())
}

/// The forms of the slice, in the catalogue's order.
fn drawn(seed: u64) -> Vec<Arc<Form>> {
    let all = forms_check::every_form();
    let mut of_slice = suite::slice(&all, OF_EACH, seed);
    // What is known of an H100 is of these.
    of_slice.extend(all.iter().filter(|form| is_packed(form)).step_by(PACKED).cloned());
    let of_slice: HashSet<*const Form> = of_slice.iter().map(Arc::as_ptr).collect();
    all.into_iter().filter(|form| of_slice.contains(&Arc::as_ptr(form))).collect()
}

/// What scenarios of drivers and processes take, where it does not matter what the kernels do: a form of each kernel of the plan, and
/// those that an H100 does otherwise.
fn few(forms: &[Arc<Form>], plan: &Plan) -> Vec<Arc<Form>> {
    let first: HashSet<*const Form> = plan.kernels.iter().map(|kernel| Arc::as_ptr(&kernel.trials[0].form)).collect();
    forms.iter().filter(|form| first.contains(&Arc::as_ptr(form)) || is_packed(form)).cloned().collect()
}

/// Whether it adds packed floats in another block's shared memory.
pub(crate) fn is_packed(form: &Form) -> bool {
    form.ptx().contains(".shared::cluster.add.noftz.") && form.ptx().ends_with("f16x2")
}

/// Where some forms are in the catalogue. To find them there is faster than to draw them anew.
fn places(of: &[Arc<Form>]) -> Vec<usize> {
    let own: HashSet<Key<'_>> = of.iter().map(|form| key(form)).collect();
    let all = catalogue::forms().enumerate();
    all.filter(|(_, form)| own.contains(&key(form))).map(|(at, _)| at).collect()
}

/// The forms at the places that a file lists; of the whole catalogue there is no list.
fn listed(file: &str) -> Vec<Arc<Form>> {
    let Ok(places) = serde_json::from_str::<HashSet<usize>>(&prepared(file)) else { return forms_check::every_form() };
    let all = catalogue::forms().enumerate();
    all.filter(|(at, _)| places.contains(at)).map(|(_, form)| Arc::new(form)).collect()
}

/// The forms of a bundle here.
pub(crate) fn of_a_bundle() -> Vec<Arc<Form>> {
    listed(FEW)
}

pub(crate) fn folder() -> PathBuf {
    std::env::var_os(FOLDER_VARIABLE).expect("the folder").into()
}

/// A file that was prepared; of the whole catalogue there are fewer.
fn prepared(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_default()
}

pub(crate) fn seed() -> u64 {
    prepared("seed").parse().expect("a number")
}

/// What the scenarios share.
pub(crate) struct Slice {
    pub(crate) seed: u64,
    pub(crate) forms: Vec<Arc<Form>>,
    pub(crate) plan: Plan,
    pub(crate) ptx: String,
    pub(crate) litmus: String,
    pub(crate) faults: String,
}

impl Slice {
    /// The whole slice.
    pub(crate) fn read() -> Slice {
        Slice::of(listed(FORMS_FILE), "kernels.ptx")
    }

    /// A few of its forms.
    pub(crate) fn few() -> Slice {
        Slice::of(listed(FEW), "few.ptx")
    }

    fn of(forms: Vec<Arc<Form>>, ptx: &str) -> Slice {
        let plan = Plan::new(&forms);
        let [ptx, litmus, faults] = [ptx, "litmus.ptx", "faults.ptx"].map(prepared);
        Slice { seed: seed(), forms, plan, ptx, litmus, faults }
    }

    /// The image of the kernels that a GPU has.
    pub(crate) fn images(&self, sm: u32, ptx: &str) -> Vec<Image> {
        let kernels = self.plan.kernels.iter().filter(|kernel| kernel.needs.0 <= sm);
        let kernels = kernels.map(|kernel| kernel.name.clone()).collect();
        vec![Image { kernels, cubin: ptx.replace(".target sm_100", &format!(".target sm_{sm}")).into_bytes() }]
    }

    pub(crate) fn bench(&self, images: Vec<Image>) -> Bench {
        let settings = Settings { seed: self.seed, ..Settings::default() };
        Bench::kept(self.forms.clone(), kernels(PtxVersion::OF_EVERY_FORM, [(FORMS, images)]), settings)
    }

    /// Runs it with this PTX.
    pub(crate) fn run(&self, ptx: &str) -> Outcome {
        run(&mut self.bench(self.images(sm(), ptx)), &Progress::kept()).unwrap()
    }
}

/// The SM that the GPU says.
pub(crate) fn sm() -> u32 {
    std::env::var(SM_VARIABLE).unwrap().parse().unwrap()
}
