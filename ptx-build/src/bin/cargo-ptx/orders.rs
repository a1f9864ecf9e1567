//! How many of the orders that were asked for came to their end, and what they are compared with.

use serde_json::{Value, json};

/// The orders of a kernel's threads.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) asked: u64,
    /// Those that the deadline did not cut off.
    pub(crate) ended: u64,
    /// With `--weak`: whether what they leave is compared with orders without older values.
    pub(crate) compared: Option<bool>,
    /// What of it is compared with nothing, and why.
    pub(crate) uncompared: Option<String>,
}

impl Orders {
    /// `3 orders`, or `3 of 100 orders`.
    pub(crate) fn count(&self) -> String {
        let plural = if self.asked == 1 { "" } else { "s" };
        match self.ended == self.asked {
            true => format!("{} order{plural}", self.asked),
            false => format!("{} of {} order{plural}", self.ended, self.asked),
        }
    }

    /// Whether what they leave is compared with orders without older values.
    pub(crate) fn is_compared(&self) -> bool {
        self.compared == Some(true)
    }

    /// A line for each thing that was asked for and not done.
    pub(crate) fn missing(&self, kernel: &str) -> String {
        let mut lines = String::new();
        if self.ended < self.asked {
            lines += &format!("{kernel}: the deadline came first: {} ran\n", self.count());
        }
        if let Some(why) = &self.uncompared {
            lines += &format!("{kernel}: {why}\n");
        }
        lines
    }

    /// As a field of a finding.
    pub(crate) fn json(&self) -> Value {
        json!({ "asked": self.asked, "ended": self.ended, "compared": self.compared })
    }
}
