//! Functions become code: registers have numbers, labels are places, and each instruction is decoded once.

use std::collections::{HashMap, HashSet};

use crate::instructions::{Call, Callee, Exit, Return, Table, decode};
use crate::machine::{Action, Code, Line, Program};
use crate::memory::spaces::{FUNCTION, FUNCTIONS, MODULE, Named};
use crate::ptx::access::{How, is_seen};
use crate::ptx::flow::flows;
use crate::ptx::inlined::Inlined;
use crate::ptx::live::Live;
use crate::ptx::lockstep::volatile;
use crate::ptx::names::{Names, reserve};
use crate::ptx::operand::{Array, Operand, Place, Register};
use crate::ptx::origins::origins;
use crate::ptx::paths::Paths;
use crate::ptx::places::places;
use crate::ptx::pool::registers_at_entry;
use crate::ptx::room::Room;
use crate::ptx::scoped::Scoped;
use crate::ptx::site::{AllSites, Site, Sites};
use crate::ptx::text::{self, Function, Statement};
use crate::ptx::variable::{Pointer, Variable};
use crate::ptx::word_order::in_known_order;

/// Bytes in which the blocks of a cooperative grid meet: a size, and the counter of `grid.sync()` behind it.
const GRID_WORKSPACE: usize = 64;

impl Program {
    /// Reads a module.
    pub fn parse(module: &str) -> Program {
        let (variables, functions) = text::module(module);
        let files: HashMap<u32, String> = text::source_files(module).into_iter().collect();
        let (mut shared, mut length, mut places) = (Room::default(), 0, HashMap::new());
        let (mut constants, mut kept, mut begins) = (Vec::new(), Vec::<Variable>::new(), Vec::new());
        // Whatever a kernel calls has shared memory beside the kernel's own; of two kernels the memory may be the same.
        let (kernels, called): (Vec<_>, Vec<_>) = functions.into_iter().partition(|function| function.is_entry);
        let (variables, of_kernels) = by_who_names_them(largest_of_a_name(variables), &called);
        for variable in variables {
            let place = if variable.space == "shared" {
                let bytes = if variable.is_dynamic { 0 } else { variable.bytes };
                shared.take(&variable.name, bytes, variable.align, variable.is_open)
            } else {
                let at = usize::next_multiple_of(length, variable.align.max(16));
                length = at + variable.bytes;
                begins.push(at);
                let constant = variable.space == "const";
                if constant {
                    constants.push((variable.name.clone(), at as u64, variable.bytes as u64));
                }
                let (name, bytes, align) = (variable.name.clone(), variable.bytes, variable.align);
                let (content, pointers, managed) = (variable.content, variable.pointers, variable.is_managed);
                kept.push(Variable { name, bytes, align, content, pointers, constant, managed });
                Place::Variable { name: variable.name.clone(), constant, at: at as u64 }
            };
            places.insert(variable.name, Array { place, element: variable.element as u64 });
        }
        let names: Vec<String> = kernels.iter().chain(&called).map(|function| function.name.clone()).collect();
        for (at, name) in (FUNCTIONS..).step_by(FUNCTION as usize).zip(&names) {
            let place = Place::Variable { name: name.clone(), constant: false, at: at - MODULE };
            places.entry(name.clone()).or_insert(Array { place, element: 1 });
        }
        let (mut codes, mut sites) = (HashMap::new(), Vec::new());
        for function in called {
            let code = code(&function, &places, HashMap::new(), &mut shared, &files, &mut sites);
            codes.insert(function.name, code);
        }
        for function in kernels {
            let mut own = Room { named: Vec::new(), ..shared.clone() };
            let mut take = |variable: &text::Variable| {
                let place = own.take(&variable.name, variable.bytes, variable.align, variable.is_open);
                (variable.name.clone(), Array { place, element: variable.element as u64 })
            };
            let words = if of_kernels.is_empty() { HashSet::new() } else { words(&function) };
            let named_here = of_kernels.iter().filter(|variable| words.contains(variable.name.as_str()));
            let of_kernel = named_here.map(&mut take).collect();
            let code = code(&function, &places, of_kernel, &mut own, &files, &mut sites);
            let inner: u64 = own.named.iter().map(|variable| variable.bytes).sum();
            let declared = inner as usize + named(&function, &shared.named);
            let dynamic = own.bytes.next_multiple_of(own.align.max(16));
            codes.insert(function.name, Code { shared: own.named, declared, dynamic, ..code });
        }
        if crate::allowed::has_any(module) {
            let lines: Vec<&str> = module.lines().collect();
            sites.iter_mut().for_each(|site| site.comments = crate::allowed::beside(&lines, site.line));
        }
        let grid_workspace = module.contains("%envreg").then(|| {
            let at = length.next_multiple_of(GRID_WORKSPACE);
            length = at + GRID_WORKSPACE;
            at as u64
        });
        // The zeros of large variables take no memory before they are used.
        let mut content = vec![0; length];
        for (variable, at) in kept.iter_mut().zip(begins) {
            // Functions are at the same addresses wherever the host has the variables.
            let is_function = |pointer: &Pointer| names.contains(&pointer.to);
            let (functions, variables): (Vec<Pointer>, Vec<Pointer>) =
                variable.pointers.drain(..).partition(is_function);
            let address = |pointer: &Pointer| match places.get(&pointer.to) {
                Some(Array { place: Place::Variable { at, .. }, .. }) => MODULE + at,
                _ => 0,
            };
            functions.iter().for_each(|pointer| pointer.put(&mut variable.content, address(pointer)));
            let own = &mut content[at..at + variable.content.len()];
            own.copy_from_slice(&variable.content);
            variables.iter().for_each(|pointer| pointer.put(own, address(pointer)));
            variable.pointers = variables;
        }
        Program {
            known: Sites::new(&sites, volatile(codes.values(), &sites)).into(),
            grid_workspace,
            functions: codes,
            names,
            shared: shared.named,
            constants,
            variables: kept,
            initial: content.clone(),
            module: content.into(),
            paths: Paths::new(sites.len()).into(),
            sites: AllSites(sites),
            names_reserved: module.contains("%reserved_smem"),
            is_for_one_gpu: text::target(module).is_some_and(|target| target.ends_with('a')),
            may_join_factors: text::version(module).is_none_or(|version| version <= (9, 2)),
            blocks: Default::default(),
            read: Default::default(),
        }
    }
}

/// Of texts put together, each of which declares a variable as large as its own kernels need it, the largest counts.
fn largest_of_a_name(variables: Vec<text::Variable>) -> Vec<text::Variable> {
    let mut largest: Vec<text::Variable> = Vec::new();
    for variable in variables {
        match largest.iter_mut().find(|other| other.name == variable.name) {
            None => largest.push(variable),
            Some(other) if other.bytes < variable.bytes => *other = variable,
            Some(_) => {}
        }
    }
    largest
}

/// Those variables that are of the whole module, and those in shared memory that at most kernels name: a kernel has only those of
/// them that it names itself.
fn by_who_names_them(
    variables: Vec<text::Variable>,
    called: &[Function],
) -> (Vec<text::Variable>, Vec<text::Variable>) {
    let words: HashSet<&str> = called.iter().flat_map(words).collect();
    let is_called_for = |variable: &text::Variable| {
        variable.space != "shared" || variable.is_dynamic || words.contains(variable.name.as_str())
    };
    variables.into_iter().partition(is_called_for)
}

/// What may be a name in a function.
fn words(function: &Function) -> HashSet<&str> {
    function.statements.iter().flat_map(|statement| text::words(&statement.text)).collect()
}

/// The bytes of the module's variables in shared memory that a function names.
fn named(function: &Function, variables: &[Named]) -> usize {
    if variables.is_empty() {
        return 0;
    }
    let words = words(function);
    let named = variables.iter().filter(|variable| words.contains(variable.name.as_str()));
    named.map(|variable| variable.bytes as usize).sum()
}

fn code(
    function: &Function,
    module: &HashMap<String, Array>,
    of_kernel: HashMap<String, Array>,
    shared: &mut Room,
    files: &HashMap<u32, String>,
    sites: &mut Vec<Site>,
) -> Code {
    let mut names = Names {
        registers: Scoped::new(),
        count: 0,
        read: None,
        places: Scoped::new(),
        module,
        of_kernel,
        labels: Scoped::new(),
        tables: text::tables(&function.statements),
        outer: &function.outer,
        block: 0,
    };
    let (mut frame, mut entry) = (0, 0);
    let mut places = Vec::new();
    for parameter in &function.parameters {
        let at = reserve(if function.is_entry { &mut entry } else { &mut frame }, parameter);
        places.push(at);
        let place = if function.is_entry { Place::Entry(at) } else { Place::Frame(at) };
        names.declare_place(0, parameter, place);
    }
    let mut results = Vec::new();
    for result in &function.results {
        let at = reserve(&mut frame, result);
        results.push((at, result.bytes));
        names.declare_place(0, result, Place::Frame(at));
    }
    let (mut statements, mut sources): (Vec<&Statement>, Vec<_>) = Default::default();
    let (mut source, mut inlined) = (Vec::new(), Inlined::default());
    for statement in &function.statements {
        if let Some(label) = statement.text.strip_suffix(':') {
            names.labels.declare(statement.block, label, || statements.len());
        } else if let Some(rest) = statement.text.strip_prefix(".loc ") {
            source = inlined.read(rest);
        } else if statement.text.starts_with('.') {
            names.declare(statement, shared, &mut frame);
        } else {
            inlined.has_instruction();
            statements.push(statement);
            sources.push(source.clone());
        }
    }
    let mut lines = names.lines(&statements, sites.len());
    let reordered = in_known_order(&statements, &lines, |statement| names.knows(statement));
    if !reordered.is_empty() {
        reordered.iter().for_each(|(at, statement)| statements[*at] = statement);
        lines = names.lines(&statements, sites.len());
    }
    let mut within = names.within(&statements, &lines, shared).into_iter();
    let (registers, read_first) = names.give_places(&statements, &lines);
    let mut lines = names.lines(&statements, sites.len());
    for (statement, source) in statements.into_iter().zip(sources) {
        let mut source = source.iter().filter_map(|(file, line)| Some((files.get(file)?.clone(), *line)));
        let (source, called) = (source.next(), source.collect());
        let (function, text) = (function.name.clone(), statement.text.clone());
        let within = within.next().unwrap_or_default();
        sites.push(Site { function, text, line: statement.line, source, called, comments: Vec::new(), within });
    }
    if !function.is_whole {
        let action = Action::Malformed("the text ends before the function does".into());
        lines.push(Line { guard: None, site: sites.len() as u32, action, operands: Box::default(), is_seen: false });
        let line = function.statements.last().map_or(0, |statement| statement.line);
        sites.push(Site { function: function.name.clone(), line, ..Site::default() });
    }
    Code {
        is_entry: function.is_entry,
        parameters: function.parameters.clone(),
        places,
        results,
        frame,
        shared: Vec::new(),
        declared: 0,
        dynamic: 0,
        registers,
        cluster: function.cluster,
        most_threads: function.most_threads,
        exact_threads: function.exact_threads,
        registers_at_entry: registers_at_entry(function),
        lines,
        read_first,
        moves: Default::default(),
    }
}

impl Names<'_> {
    fn lines(&mut self, statements: &[&Statement], first: usize) -> Vec<Line> {
        let line = |(site, statement): (usize, &&Statement)| {
            self.block = statement.block;
            self.line(&statement.text, site as u32)
        };
        (first..).zip(statements).map(line).collect()
    }

    fn knows(&mut self, statement: &Statement) -> bool {
        self.block = statement.block;
        !matches!(self.line(&statement.text, 0).action, Action::Unknown(_) | Action::Malformed(_))
    }

    /// Gives registers their places. Gives how many these are, and the registers that may be read before they are written.
    fn give_places(&mut self, statements: &[&Statement], lines: &[Line]) -> (usize, Vec<Register>) {
        let flows = flows(statements, lines);
        self.read = Some(flows.iter().flat_map(|flow| flow.reads.iter().copied()).collect());
        let live = Live::of(&flows);
        let wide: HashSet<usize> =
            self.registers.all_mut().filter(|register| register.bits > 64).map(|register| register.number).collect();
        let (places, count) = places(&live.spans, |register| wide.contains(&register));
        let mut read_first = Vec::new();
        for register in self.registers.all_mut() {
            register.at = places.get(&register.number).copied().unwrap_or_default();
            read_first.extend(live.read_first.binary_search(&register.number).is_ok().then_some(*register));
        }
        read_first.sort_unstable_by_key(|register| register.number);
        (count, read_first)
    }

    /// The bytes of shared memory in which each instruction has to stay, if its addresses are those of variables.
    fn within<'l>(&self, statements: &[&'l Statement], lines: &'l [Line], shared: &Room) -> Vec<Vec<(u64, u64)>> {
        if shared.named.is_empty() {
            return Vec::new();
        }
        let read = |(statement, line): (&&'l Statement, &'l Line)| {
            let (opcode, _) = text::opcode(text::guarded(&statement.text).1);
            (opcode.split('.').collect(), &line.operands[..])
        };
        let read: Vec<_> = statements.iter().zip(lines).map(read).collect();
        let bytes = |at: u64| shared.named.iter().find(|variable| variable.at == at).map_or(0, |found| found.bytes);
        let ranges = |starts: Vec<u64>| starts.into_iter().map(|at| (at, at + bytes(at))).collect();
        origins(&read, self.count).into_iter().map(ranges).collect()
    }

    fn line(&self, statement: &str, site: u32) -> Line {
        let (guard, instruction) = text::guarded(statement);
        let register = |guard: &str| {
            let (name, holds) = guard.strip_prefix('!').map_or((guard, true), |name| (name, false));
            self.register(name).filter(|register| register.bits == 1).map(|register| (*register, holds))
        };
        let mut operands = Vec::new();
        let (action, guard) = match guard.map(register) {
            Some(None) => (Action::Malformed(format!("{} is no predicate", guard.unwrap_or_default())), None),
            guard => (self.action(instruction, &mut operands), guard.flatten()),
        };
        Line { guard, site, action, operands: operands.into(), is_seen: is_seen(instruction) }
    }

    /// What an instruction does, and its operands, unless it is one that decides where its threads go on.
    fn action(&self, instruction: &str, read: &mut Vec<Operand>) -> Action {
        let (opcode, rest) = text::opcode(instruction);
        let mut operands = text::operands(rest);
        let selectors = text::selectors(opcode, &mut operands);
        let words: Vec<&str> = opcode.split('.').chain(selectors.iter().map(String::as_str)).collect();
        match words[0] {
            "bra" => return self.target(rest.trim()).map_or_else(|| no_label(rest), Action::Branch),
            "brx" => return self.table(&operands, read),
            "call" => return self.call(rest, read),
            "ret" => return Action::Control(Box::new(Return)),
            "exit" => return Action::Control(Box::new(Exit)),
            _ => {}
        }
        // `mov` takes the address of an element, and others what is there.
        let takes_address = matches!(words[0], "mov" | "cvta");
        let operand = |text: &str| match self.operand(text)? {
            name @ Operand::Name(..) if text.ends_with(']') && !takes_address => {
                Some(Operand::Address(Box::new(name), 0, Vec::new()))
            }
            operand => Some(operand),
        };
        let all = operands.iter().map(|text| operand(text).ok_or(text));
        match all.collect::<Result<Vec<Operand>, _>>() {
            Ok(mut operands) => {
                read.clone_from(&operands);
                if words[0] == "ld" && How::load(&words).scope.is_none() {
                    self.leave_out_unread(&mut operands);
                }
                decode(&words, operands)
            }
            Err(operand) if operand.starts_with('%') => Action::Unknown(format!("the register {operand}")),
            Err(operand) => match decode(&words, Vec::new()) {
                // Of what the interpreter does not know, the operands may be strange.
                Action::Unknown(opcode) if !opcode.contains(' ') => Action::Unknown(opcode),
                _ => Action::Malformed(format!("the operand {operand} is unknown")),
            },
        }
    }

    /// Elements of a vector go nowhere if no instruction reads their registers, but some of the others.
    fn leave_out_unread(&self, operands: &mut [Operand]) {
        let (Some(read), Some(Operand::Vector(lanes))) = (&self.read, operands.first_mut()) else { return };
        let is_read = |lane: &Operand| lane.any_register(|register| read.contains(&register.number));
        if lanes.iter().any(is_read) {
            lanes.iter_mut().filter(|lane| !is_read(lane)).for_each(|lane| *lane = Operand::Sink);
        }
    }

    fn target(&self, label: &str) -> Option<usize> {
        self.labels.get(self.outer, self.block, label).copied()
    }

    fn table(&self, operands: &[String], read: &mut Vec<Operand>) -> Action {
        let [index, table] = operands else { return Action::Malformed("a table without an index".into()) };
        let targets = self.tables.get(table).map(|labels| labels.iter().map(|label| self.target(label)).collect());
        match (self.operand(index), targets.flatten()) {
            (Some(index), Some(targets)) => {
                read.push(index.clone());
                Action::Control(Box::new(Table { index, targets }))
            }
            _ => no_label(table),
        }
    }

    /// `(result), name, (arguments)`
    fn call(&self, rest: &str, read: &mut Vec<Operand>) -> Action {
        let parts = text::operands(rest);
        let (results, parts) = match parts.split_first() {
            Some((first, others)) if first.starts_with('(') => (first.as_str(), others),
            _ => ("", &parts[..]),
        };
        let list = |list: &str| {
            let names = list.trim_matches(['(', ')']).split(',').map(str::trim).filter(|name| !name.is_empty());
            names
                .map(|name| match self.place(name) {
                    Some(Array { place: Place::Frame(at), .. }) => Some(*at),
                    _ => None,
                })
                .collect::<Option<Vec<u64>>>()
        };
        let Some(name) = parts.first() else { return Action::Malformed("a call of nothing".into()) };
        let address = self.register(name).map(|register| Operand::Register(*register));
        read.extend(address.clone());
        let callee = address.map_or_else(|| Callee::Name(name.clone()), Callee::Address);
        match (list(results), list(parts.get(1).map_or("", String::as_str))) {
            (Some(results), Some(arguments)) => Action::Control(Box::new(Call { callee, results, arguments })),
            _ => Action::Malformed(format!("what is handed to {name} is not declared")),
        }
    }
}

fn no_label(label: &str) -> Action {
    Action::Malformed(format!("there is no label {label}"))
}
