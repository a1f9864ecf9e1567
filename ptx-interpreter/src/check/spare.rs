//! Lists and records that nobody needs at the moment. Most cells need some for a moment alone.

use std::rc::Rc;

use super::record::{Record, Records};

/// Of each so many are kept.
const SPARE: usize = 256;

pub(super) struct Spare<T> {
    lists: Vec<Vec<T>>,
    records: Vec<Rc<Record>>,
}

impl<T> Default for Spare<T> {
    fn default() -> Spare<T> {
        Spare { lists: Vec::new(), records: Vec::new() }
    }
}

impl<T> Spare<T> {
    /// An empty list.
    pub(super) fn list(&mut self) -> Vec<T> {
        self.lists.pop().unwrap_or_default()
    }

    /// A record that nobody else has.
    pub(super) fn record(&mut self, record: Record) -> Rc<Record> {
        let Some(mut own) = self.records.pop() else { return Rc::new(record) };
        *Rc::make_mut(&mut own) = record;
        own
    }

    /// A list that is not needed any longer.
    pub(super) fn add(&mut self, mut list: Vec<T>) {
        if self.lists.len() < SPARE {
            list.clear();
            self.lists.push(list);
        }
    }

    /// Records that are not needed any longer.
    pub(super) fn add_records(&mut self, records: Records) {
        for mut record in records {
            if self.records.len() < SPARE && Rc::get_mut(&mut record).is_some() {
                self.records.push(record);
            }
        }
    }
}
