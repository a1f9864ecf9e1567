//! `cargo ptx run`: runs a kernel of a PTX file on the CPU, and checks what its threads do.

mod argument;
mod late;
mod map;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use argument::{Argument, laid_out};
use ptx_build::error::{Error, Result};
use ptx_interpreter::{Again, Delays, Finding, Left, Newest, Order, Parts, Program, Record, Report, Trial};

use crate::allow::Allow;
use crate::counted::Counted;
use crate::ended::{NOT_RUN, ended};
use crate::orders::Orders;
use crate::output;

/// Something is wrong with the kernel.
const FOUND: u8 = 1;

#[derive(clap::Args)]
pub(crate) struct Run {
    /// A file of PTX, made by any compiler
    file: PathBuf,
    /// The kernel: its name, or a part of it that no other kernel has
    kernel: String,
    /// Blocks: X, or X,Y or X,Y,Z
    #[arg(long, default_value = "1", value_parser = size)]
    grid: [u32; 3],
    /// Threads of a block: X, or X,Y or X,Y,Z
    #[arg(long, default_value = "32", value_parser = size)]
    block: [u32; 3],
    /// Blocks of a cluster, where the kernel does not say it: X, or X,Y or X,Y,Z
    #[arg(long, default_value = "1", value_parser = size)]
    cluster: [u32; 3],
    /// Launch it cooperatively: all its blocks run at one time, and may wait for each other (`grid.sync()`)
    #[arg(long)]
    cooperative: bool,
    /// Bytes of dynamic shared memory
    #[arg(long, default_value_t = 0)]
    shared: usize,
    /// The kernel's next argument: buf:4096:random_f32, u32:7, f32:0.5, same:0, alias:0, map:random_f32:f32:64x32:16x8
    #[arg(long = "arg", value_name = "ARGUMENT")]
    arguments: Vec<Argument>,
    /// Write the buffers as they are then: into this folder as 0.bin, 1.bin and so on, or one of them, as 0:FILE
    #[arg(long, value_name = "FOLDER")]
    out: Vec<String>,
    /// Run it in this number of orders of its threads
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// The first of these orders
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Let loads return older values, and later ones, where the memory model allows it. The seed chooses them. What the kernel leaves then is
    /// compared with what it leaves without them
    #[arg(long)]
    weak: bool,
    /// Launch it as a programmatic dependent launch does: until `griddepcontrol.wait`, the grid before may still use the buffers
    #[arg(long)]
    pdl: bool,
    /// Print one line of JSON for each finding
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    allow: Allow,
    #[command(flatten)]
    counted: Counted,
    /// End after this number of seconds
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,
}

impl Run {
    pub(crate) fn run(self) -> ExitCode {
        ended(self.all())
    }

    fn all(&self) -> Result<u8> {
        let text = self.text()?;
        let kernel = self.kernel(&Program::parse(&text))?;
        let contents = self.contents()?;
        let mut allowed = self.allow.read()?;
        // Ctrl-C ends it at once; nothing has to be put in order.
        ctrlc::set_handler(|| {
            eprintln!("interrupted");
            std::process::exit(NOT_RUN.into());
        })
        .map_err(|error| Error::new(error).fix("run it alone"))?;
        let end = self.deadline.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.max(0.0)));
        let (mut ran, orders) = self.orders(&text, &kernel, &contents, end)?;
        let none_ended = orders.ended == 0 && ran.iter().all(|ran| ran.findings.is_empty());
        self.allow.silence(&mut allowed, &mut ran);
        output::print_all(&ran, Some(&orders), self.json)?;
        output::missing(&kernel, &orders, self.json)?;
        self.allow.tell(&allowed, self.json)?;
        self.counted.tell(&ran, self.json)?;
        match ran.iter().find_map(|ran| ran.stop.as_ref()) {
            Some(stop) => Err(Error::new(stop).at(self.file.display()).fix("run a kernel without it")),
            None if ran.iter().any(|ran| !ran.findings.is_empty()) => Ok(FOUND),
            None if none_ended => Err(Error::new("no order came to its end before the deadline")
                .at(&kernel)
                .fix("give it a later deadline")),
            None => Ok(0),
        }
    }

    fn text(&self) -> Result<String> {
        let here = |error: Error| error.at(self.file.display());
        let bytes = fs::read(&self.file).map_err(|error| here(Error::new(error).fix("name a file of PTX")))?;
        let is_ptx = |text: &String| text.lines().any(|line| line.trim_start().starts_with(".version"));
        let text = String::from_utf8(bytes).ok().filter(is_ptx);
        text.ok_or_else(|| {
            here(
                Error::new("this is no PTX: it has no `.version`")
                    .fix("make PTX with `nvcc -ptx`, or name the .ptx file"),
            )
        })
    }

    /// The whole name of the kernel.
    fn kernel(&self, program: &Program) -> Result<String> {
        let kernels = program.kernels();
        if kernels.contains(&self.kernel.as_str()) {
            return Ok(self.kernel.clone());
        }
        let named: Vec<&&str> = kernels.iter().filter(|name| name.contains(&self.kernel)).collect();
        match named[..] {
            [one] => Ok((*one).to_owned()),
            [] => {
                let text = format!("no kernel is named {}", self.kernel);
                let list = if kernels.is_empty() { "none".to_owned() } else { nearest(&kernels, &self.kernel) };
                Err(Error::new(text).at(self.file.display()).fix(format!("name one of its kernels: {list}")))
            }
            [..] => {
                let text = format!("{} kernels are named {}", named.len(), self.kernel);
                let list: Vec<&str> = named.iter().map(|name| **name).collect();
                Err(Error::new(text).at(self.file.display()).fix(format!("name one of them: {}", list.join(", "))))
            }
        }
    }

    /// What each buffer begins with.
    fn contents(&self) -> Result<Vec<Option<Vec<u8>>>> {
        fn content((number, argument): (usize, &Argument)) -> Result<Option<Vec<u8>>> {
            let Argument::Buffer(bytes, content) = argument else { return Ok(None) };
            let memory = ptx_interpreter::available_memory();
            if memory.is_some_and(|memory| *bytes as u64 > memory) {
                let text = format!("there is no memory for a buffer of {bytes} bytes");
                return Err(Error::new(text).at(format!("--arg {number}")).fix("ask for less"));
            }
            content.bytes(*bytes, number)
        }
        self.arguments.iter().enumerate().map(content).collect()
    }

    /// Runs the kernel in each order, several at a time.
    fn orders(
        &self,
        text: &str,
        kernel: &str,
        contents: &[Option<Vec<u8>>],
        end: Option<Instant>,
    ) -> Result<(Vec<Record>, Orders)> {
        let seeds = self.seeds.max(1);
        let once = |program: &mut Option<Program>, order: &Order<'_>| {
            self.once(fresh(program, text), kernel, contents, order, end)
        };
        let newest = self.weak.then(|| self.newest(&mut Runs { program: None, once: &once })).transpose()?;
        let (newest, wrong) = newest.map_or_else(Default::default, |(newest, wrong)| (Some(Mutex::new(newest)), wrong));
        let cores = thread::available_parallelism().map_or(1, usize::from).min(seeds as usize);
        let next = AtomicU64::new(0);
        let work = || -> Result<Vec<Record>> {
            let (mut done, mut runs) = (Vec::new(), Runs { program: None, once: &once });
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= seeds || at > 0 && end.is_some_and(|end| Instant::now() > end) {
                    return Ok(done);
                }
                let seed = self.seed + at;
                let order = if self.weak { Order::weak(seed) } else { Order::newest(seed, 0) };
                let (mut report, left) = runs.run(&order)?;
                if let Some(newest) = &newest {
                    let mut newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
                    report.findings.extend(newest.judge(&order, (&report, left), &mut runs)?);
                }
                let counts = std::mem::take(&mut report.counts);
                let mut record = self.record(kernel, seed, report);
                if let Some(program) = &runs.program {
                    self.counted.add(&mut record, program, &counts, &self.file);
                }
                done.push(record);
            }
        };
        let all: Vec<Result<Vec<Record>>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(crash()))).collect()
        });
        let mut all: Vec<Record> = all.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        all.sort_by_key(|ran| ran.seed);
        if let Some(first) = all.first_mut() {
            first.findings.extend(wrong);
        }
        let newest = newest.map(|newest| newest.into_inner().unwrap_or_else(PoisonError::into_inner));
        let longest = newest.as_ref().and_then(Newest::longest);
        let (all, ended) = late::without_late(all, longest, self.seed);
        let compared = newest.as_ref().map(|newest| newest.why_not().is_none());
        let uncompared = newest.as_ref().and_then(Newest::uncompared);
        Ok((all, Orders { asked: seeds, ended, compared, uncompared }))
    }

    /// Orders in which loads return the newest values, until one leaves nothing to compare with; and what is wrong in that one.
    fn newest(&self, runs: &mut impl Again<Error = Error>) -> Result<(Newest, Vec<Finding>)> {
        let (mut newest, mut wrong) = (Newest::new(self.seed), Vec::new());
        for number in 0..Newest::ORDERS {
            let (report, left) = runs.run(&Order::newest(self.seed, number))?;
            newest.add(&report, left, runs);
            wrong.extend(report.findings.into_iter().filter(|finding| !finding.is_late()));
            if newest.why_not().is_some() {
                break;
            }
        }
        Ok((newest, wrong))
    }

    fn record(&self, kernel: &str, seed: u64, report: Report) -> Record {
        let Report { findings, stop, instructions, .. } = report;
        let (blocks, threads, stop) = (self.grid, self.block, stop.map(|stop| stop.to_string()));
        let kernel = kernel.to_owned();
        Record { kernel, launch: 1, blocks, threads, seed, instructions, findings, stop, ..Record::default() }
    }

    fn once(
        &self,
        program: &Program,
        kernel: &str,
        contents: &[Option<Vec<u8>>],
        order: &Order<'_>,
        end: Option<Instant>,
    ) -> Result<(Report, Left)> {
        let mut trial = Trial::new(program, kernel);
        trial.grid(self.grid).block(self.block).cluster(self.cluster).shared(self.shared).order(order);
        trial.cooperative(self.cooperative).limits(u64::MAX, end).counting(self.counted.counting());
        // Several orders already run at a time.
        trial.parts(if self.seeds > 1 { Parts::OnOneCore } else { Parts::OnAllCores });
        // The tensors of maps.
        let mut tensors = BTreeMap::new();
        for (number, (argument, content)) in self.arguments.iter().zip(contents).enumerate() {
            match (argument, content) {
                (Argument::Buffer(_, _), Some(content)) => trial.buffer(content).map(drop),
                (Argument::Buffer(bytes, _), None) => trial.unwritten(*bytes).map(drop),
                (Argument::Value(bytes), _) => {
                    trial.value(bytes);
                    Ok(())
                }
                (Argument::Same(other), _) => {
                    trial.same(*other);
                    Ok(())
                }
                (Argument::Alias(other), _) => trial.alias(*other).map(drop),
                (Argument::Struct(fields), _) => {
                    structure(&mut trial, fields)?;
                    Ok(())
                }
                (Argument::Map(map), _) => {
                    tensors.insert(number, map.give(&mut trial, number)?);
                    Ok(())
                }
            }
            .map_err(|error| {
                Error::new(error).at(format!("--arg {number}")).fix("name a buffer before it, or ask for less")
            })?;
        }
        if self.pdl {
            for argument in 0..self.arguments.len() {
                trial.shared_with_grid_before(argument);
            }
        }
        let report = trial.check();
        // A map is given by value: what it leaves is its tensor.
        let content = |argument: usize| match tensors.get(&argument) {
            Some(address) => trial.content_of(*address),
            None => trial.content(argument),
        };
        let is_weak = order.delays == Delays::Loads;
        if order.seed == self.seed && is_weak == self.weak && order.only.is_none() {
            output::printed(&report.printed, self.json)?;
            self.write(&content)?;
        }
        let compared = if self.weak { self.arguments.len() } else { 0 };
        let left: Vec<Vec<u8>> = (0..compared).map(|argument| content(argument).to_vec()).collect();
        Ok((report, Left::of(&left)))
    }

    /// Writes the buffers of the first order.
    fn write<'c>(&self, left: &dyn Fn(usize) -> &'c [u8]) -> Result<()> {
        let put = |path: &Path, content: &[u8]| {
            fs::write(path, content)
                .map_err(|error| Error::new(error).at(path.display()).fix("name a place to write to"))
        };
        for out in &self.out {
            if let Some((number, path)) =
                out.split_once(':').and_then(|(number, path)| Some((number.parse().ok()?, path)))
            {
                put(Path::new(path), left(number))?;
                continue;
            }
            let folder = Path::new(out);
            fs::create_dir_all(folder).map_err(|error| Error::new(error).at(out).fix("name a folder"))?;
            for (number, argument) in self.arguments.iter().enumerate() {
                if matches!(argument, Argument::Buffer(..) | Argument::Map(_)) && !left(number).is_empty() {
                    put(&folder.join(format!("{number}.bin")), left(number))?;
                }
            }
        }
        Ok(())
    }
}

/// Runs of the kernel, with what is left of the one before.
struct Runs<'o, O> {
    program: Option<Program>,
    once: &'o O,
}

impl<O: Fn(&mut Option<Program>, &Order<'_>) -> Result<(Report, Left)>> Again for Runs<'_, O> {
    type Error = Error;

    fn run(&mut self, order: &Order<'_>) -> Result<(Report, Left)> {
        (self.once)(&mut self.program, order)
    }

    fn before(&self, _: u64) -> u8 {
        0
    }

    fn piece(&self, address: u64) -> (Arc<str>, Range<u64>) {
        let argument = Left::buffer_of(address);
        (format!("argument {argument}").into(), Left::place(argument)..Left::place(argument + 1))
    }
}

/// The module as it is before a launch.
fn fresh<'p>(program: &'p mut Option<Program>, text: &str) -> &'p Program {
    let program = program.get_or_insert_with(|| Program::parse(text));
    program.reset();
    program
}

/// Kernels that a message names.
const NAMED: usize = 12;

/// The kernels whose names are most like one.
fn nearest(kernels: &[&str], name: &str) -> String {
    let mut sorted = kernels.to_vec();
    sorted.sort_by(|one, other| strsim::jaro_winkler(other, name).total_cmp(&strsim::jaro_winkler(one, name)));
    let more = kernels.len().saturating_sub(NAMED);
    sorted.truncate(NAMED);
    if more == 0 { sorted.join(", ") } else { format!("{}, and {more} more", sorted.join(", ")) }
}

/// Gives the kernel a structure; its buffers are memory beside the arguments.
fn structure(trial: &mut Trial<'_>, fields: &[Argument]) -> Result<()> {
    let mut bytes = Vec::new();
    for (number, field) in fields.iter().enumerate() {
        match field {
            Argument::Buffer(size, content) => {
                let content = content.bytes(*size, number)?.unwrap_or_default();
                let address = trial.memory(&content).map_err(|error| Error::new(error).fix("ask for less"))?;
                bytes.push(address.to_le_bytes().to_vec());
            }
            Argument::Value(value) => bytes.push(value.clone()),
            Argument::Same(_) | Argument::Alias(_) | Argument::Struct(_) | Argument::Map(_) => {}
        }
    }
    trial.value(&laid_out(&bytes));
    Ok(())
}

fn crash() -> Error {
    Error::new("the interpreter itself failed").fix("report it, with the PTX")
}

/// `8`, `8,2` or `8,2,1`; also with `x` between.
fn size(text: &str) -> std::result::Result<[u32; 3], String> {
    let numbers: std::result::Result<Vec<u32>, _> = text.split([',', 'x']).map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([x]) => Ok([*x, 1, 1]),
        Ok([x, y]) => Ok([*x, *y, 1]),
        Ok([x, y, z]) => Ok([*x, *y, *z]),
        _ => Err("expected X, or X,Y or X,Y,Z".into()),
    }
}
