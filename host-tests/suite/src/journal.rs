//! What a run leaves as it goes: a line of JSON for each thing that happened, written at once. Whatever ends a
//! process, what it found before is there; the report is made of these lines alone.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::versions::Versions;
use ptx_build::error::{Error, Result};

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A run began.
    Run {
        /// When, in seconds since 1970.
        began: u64,
        /// What makes the data.
        seed: u64,
        /// What the bundle was made with.
        versions: Versions,
        /// The stages that are to come.
        stages: Vec<String>,
        /// Whether it is a dry run.
        #[serde(default)]
        quick: bool,
    },
    /// What the run is on.
    Machine(Machine),
    /// A stage began, and has these items.
    Stage {
        /// The stage.
        stage: String,
        /// What it does.
        work: Work,
    },
    /// An item began, or a part of it. An item that began and has no end below was what ended the process.
    Begun {
        /// The stage.
        stage: String,
        /// The item.
        item: String,
        /// The part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<String>,
    },
    /// What came of an item.
    Found {
        /// The stage.
        stage: String,
        /// The item.
        item: String,
        /// What came of it.
        found: Found,
    },
    /// An item has no result, or goes on without this part.
    Lost {
        /// The stage.
        stage: String,
        /// The item.
        item: String,
        /// The part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<String>,
        /// What went wrong.
        why: String,
    },
    /// A process of a stage could not go on.
    Trouble {
        /// The stage.
        stage: String,
        /// What went wrong.
        why: String,
    },
    /// A stage ended.
    Ended {
        /// The stage.
        stage: String,
        /// Nothing if it did all that it should; else why it did not.
        early: Option<String>,
        /// How long it took.
        seconds: f64,
    },
    /// The run ended.
    Complete {
        /// How long it took.
        seconds: f64,
    },
}

/// What a run is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The device's name.
    pub gpu: String,
    /// Its SM: 90.
    pub sm: u32,
    /// Its multiprocessors.
    pub processors: u32,
    /// The driver's file, and the CUDA version that it serves.
    pub driver: String,
}

/// What a stage does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// One after the other.
    pub items: Vec<Item>,
    /// What the report has to know of it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub with: Value,
    /// The program that the stage needs, if it is not on this machine. Then there are no items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl Work {
    /// Nothing, because that program is not on this machine.
    pub fn without(program: &str) -> Work {
        Work { missing: Some(program.into()), ..Work::default() }
    }
}

/// A piece of a stage's work, with a result of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Parts that it can go on without: an image's kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}

/// What came of an item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Whether it is as it should be.
    pub passed: bool,
    /// In a line.
    pub text: String,
    /// All of it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl<S: Into<String>> FromIterator<S> for Work {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Work {
        let item = |name: S| Item { name: name.into(), parts: Vec::new() };
        Work { items: names.into_iter().map(item).collect(), ..Work::default() }
    }
}

/// Where the lines go.
#[derive(Debug)]
pub enum Journal {
    /// Into a file, which several processes write one after the other.
    File(Mutex<File>),
    /// Nowhere else.
    Kept(Mutex<Vec<Event>>),
}

/// The events of some lines. What a killed process left half-written is passed over.
pub fn read(lines: &[u8]) -> Vec<Event> {
    lines.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

impl Journal {
    /// One that is kept by this process.
    pub fn kept() -> Journal {
        Journal::Kept(Mutex::default())
    }

    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Journal> {
        let opened = || -> std::io::Result<File> {
            let mut file = File::options().create(true).read(true).append(true).open(path)?;
            // Whoever wrote last may have been killed within a line.
            if file.seek(SeekFrom::End(0))? > 0 {
                file.seek(SeekFrom::End(-1))?;
                let mut last = [0];
                file.read_exact(&mut last)?;
                if last != *b"\n" {
                    file.write_all(b"\n")?;
                }
            }
            Ok(file)
        };
        let file = opened().map_err(|error| Error::io("open", path, error))?;
        Ok(Journal::File(Mutex::new(file)))
    }

    /// Writes a line, at once.
    pub fn write(&self, event: Event) -> Result<()> {
        match self {
            Journal::File(file) => {
                let line = serde_json::to_string(&event).map_err(Error::new)? + "\n";
                let mut file = file.lock().expect("no thread panics while it holds this");
                file.write_all(line.as_bytes()).map_err(|error| {
                    Error::new(format_args!("could not write a result: {error}"))
                        .fix("see whether the disk is full; --out FOLDER names another")
                })
            }
            Journal::Kept(events) => {
                events.lock().expect("no thread panics while it holds this").push(event);
                Ok(())
            }
        }
    }

    /// Everything so far.
    pub fn events(&self) -> Result<Vec<Event>> {
        match self {
            Journal::File(file) => {
                let mut file = file.lock().expect("no thread panics while it holds this");
                let mut text = Vec::new();
                let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut text));
                read.map_err(|error| Error::new(format_args!("could not read the results: {error}")))?;
                Ok(self::read(&text))
            }
            Journal::Kept(events) => Ok(events.lock().expect("no thread panics while it holds this").clone()),
        }
    }
}

/// What is known of a stage.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What it does, if it began.
    pub work: Option<Work>,
    /// What came of its items.
    pub found: Vec<(String, Found)>,
    /// Items without a result, and parts that an item went on without; why.
    pub lost: Vec<(String, Option<String>, String)>,
    /// What began last and has not ended.
    pub open: Option<(String, Option<String>)>,
    /// What a process of it said last.
    pub trouble: Option<String>,
    /// Whether it ended, why early, and how long it took.
    pub ended: Option<(Option<String>, f64)>,
}

impl Known {
    /// What the lines tell of a stage.
    pub fn of(stage: &str, events: &[Event]) -> Known {
        let mut known = Known::default();
        for event in events {
            match event {
                // Of a stage that several runs have, joined into one list, the last one counts.
                Event::Run { stages, .. } if stages.iter().any(|own| own == stage) => known = Known::default(),
                Event::Stage { stage: own, work } if own == stage => known.work = Some(work.clone()),
                Event::Begun { stage: own, item, part } if own == stage => {
                    known.open = Some((item.clone(), part.clone()));
                }
                Event::Found { stage: own, item, found } if own == stage => {
                    known.open = None;
                    known.found.push((item.clone(), found.clone()));
                }
                Event::Lost { stage: own, item, part, why } if own == stage => {
                    known.open = None;
                    known.lost.push((item.clone(), part.clone(), why.clone()));
                }
                Event::Trouble { stage: own, why } if own == stage => known.trouble = Some(why.clone()),
                Event::Ended { stage: own, early, seconds } if own == stage => {
                    known.ended = Some((early.clone(), *seconds));
                }
                _ => {}
            }
        }
        known
    }

    /// Why a part of an item was lost.
    pub fn lost_part(&self, item: &str, part: &str) -> Option<&str> {
        let is_it = |(lost, of, _): &&(String, Option<String>, String)| lost == item && of.as_deref() == Some(part);
        self.lost.iter().find(is_it).map(|(.., why)| why.as_str())
    }

    /// Why an item has no result.
    pub fn lost_item(&self, item: &str) -> Option<&str> {
        let is_it = |(lost, part, _): &&(String, Option<String>, String)| lost == item && part.is_none();
        self.lost.iter().find(is_it).map(|(.., why)| why.as_str())
    }

    /// The items that have neither a result nor a reason.
    pub fn left(&self) -> impl Iterator<Item = &str> {
        let items = self.work.iter().flat_map(|work| &work.items);
        items.map(|item| item.name.as_str()).filter(|item| !self.is_settled(item))
    }

    /// Whether the stage said what it does, and nothing of that is left.
    pub fn is_done(&self) -> bool {
        self.work.is_some() && self.left().next().is_none()
    }

    /// The same after the end of every process: what was under way in a stage that has not ended has no result.
    pub fn abandoned(mut self) -> Known {
        let open = self.open.take().filter(|_| self.ended.is_none());
        self.lost.extend(open.map(|(item, part)| (item, part, "under way when the run was ended".into())));
        self
    }

    /// Whether nothing more is to be done about an item.
    pub fn is_settled(&self, item: &str) -> bool {
        self.lost_item(item).is_some() || self.found.iter().any(|(found, _)| found == item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let begun = |item: &str| Event::Begun { stage: "a".into(), item: item.into(), part: None };
        Journal::open(&path).unwrap().write(begun("one")).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(b"{\"event\":\"found\",\"sta").unwrap();
        let journal = Journal::open(&path).unwrap();
        journal.write(begun("two")).unwrap();
        assert_eq!(journal.events().unwrap(), [begun("one"), begun("two")]);
        assert_eq!(Known::of("a", &journal.events().unwrap()).open, Some(("two".into(), None)));
    }
}
