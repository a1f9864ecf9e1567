//! Lists and records that nobody needs at the moment. Most cells need some for a moment alone.

use std::rc::Rc;

use super::record::Record;
use super::shadow::{Busy, Kept};

/// Of each so many are kept.
const SPARE: usize = 256;

#[derive(Default)]
pub(super) struct Spare {
    lists: Vec<Vec<Kept>>,
    records: Vec<Rc<Record>>,
}

impl Spare {
    /// An empty list.
    pub(super) fn list(&mut self) -> Vec<Kept> {
        self.lists.pop().unwrap_or_default()
    }

    /// A record that nobody else has.
    pub(super) fn record(&mut self, record: Record) -> Rc<Record> {
        let Some(mut own) = self.records.pop() else { return Rc::new(record) };
        *Rc::make_mut(&mut own) = record;
        own
    }

    /// A list that is not needed any longer.
    pub(super) fn add(&mut self, mut list: Vec<Kept>) {
        if self.lists.len() < SPARE {
            list.clear();
            self.lists.push(list);
        }
    }

    /// The same of all that a cell had.
    pub(super) fn add_all(&mut self, Busy { kept, records, .. }: Busy) {
        self.add(kept);
        for mut record in records {
            if self.records.len() < SPARE && Rc::get_mut(&mut record).is_some() {
                self.records.push(record);
            }
        }
    }
}
