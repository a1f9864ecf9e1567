//! What was found goes to `cargo ptx check`, or to standard error.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Mutex, Once, PoisonError};

use ptx_interpreter::{Finding, Kind, Record};

use crate::caller::Caller;
use crate::settings::SETTINGS;

/// The program begins to use the driver: there is a report from now on.
pub(crate) fn begin() {
    if let Some(path) = &SETTINGS.report {
        // What is told later says if it cannot be written.
        let _ = OpenOptions::new().append(true).create(true).open(path);
    }
}

/// Tells what came of a launch. A line is written at once, so that processes may share the file.
pub(crate) fn tell(record: &Record) {
    let Some(path) = &SETTINGS.report else { return complain(record) };
    let written = serde_json::to_string(record).map_err(std::io::Error::from).and_then(|line| {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(format!("{line}\n").as_bytes())
    });
    if written.is_err() {
        complain(record);
    }
}

fn complain(record: &Record) {
    let Record { kernel, seed, .. } = record;
    for finding in &record.findings {
        eprintln!("{finding}  ({}: {kernel}, seed {seed})\n", record.title());
    }
    if let Some(stop) = &record.stop {
        eprintln!("{kernel} could not be run: {stop}");
    }
}

/// Tells what a call of the host does wrong.
pub(crate) fn wrong_call(call: &str, title: String, help: &str) {
    let places = Caller::of_call().place("the host calls it").into_iter().collect();
    let finding =
        Finding { kind: Kind::Bounds, title, places, notes: vec![], help: help.into(), times: 1, further: vec![] };
    tell(&Record { kernel: call.into(), findings: vec![finding], ..Record::default() });
}

/// Prints what a kernel prints, after what the program has printed.
pub(crate) fn print(text: &str) {
    if text.is_empty() {
        return;
    }
    // SAFETY: all streams of the program's C library are written out.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let mut output = std::io::stdout();
    // A program may have closed it.
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Says something that is no finding. `cargo ptx check` learns that something was said.
pub(crate) fn note(text: &str) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tell(&Record::default()));
    eprintln!("cargo ptx check: {text}");
}

/// Names of which something was told, once.
struct Told(Mutex<BTreeSet<String>>);

impl Told {
    const fn new() -> Told {
        Told(Mutex::new(BTreeSet::new()))
    }

    fn is_first(&self, name: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned())
    }
}

/// A kernel is launched of which the program has no PTX: what depends on it is not checked.
pub(crate) fn tell_unrun(kernel: &str) {
    static TOLD: Told = Told::new();
    if TOLD.is_first(kernel) {
        note(&format!("`{kernel}` is not run: the program has machine code of it alone"));
        tell(&Record { kernel: kernel.to_owned(), is_unrun: true, ..Record::default() });
    }
}

/// A function is missing, and says so by what it returns. The first of its calls is told.
pub(crate) fn note_missing(name: &str, returns: &str) {
    static TOLD: Told = Told::new();
    if TOLD.is_first(name) {
        note(&format!(
            "{name} is missing here and returns {returns}: let the program do without it, or run this part on a GPU"
        ));
    }
}
