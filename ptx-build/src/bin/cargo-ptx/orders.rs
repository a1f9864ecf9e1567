//! How many of the orders that were asked for came to their end, and what they are compared with.

use serde_json::{Value, json};

/// The orders of a kernel's threads.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) asked: u64,
    /// Those that the deadline did not cut off.
    pub(crate) ended: u64,
    /// With `--weak`: where something of what they leave is compared with nothing, since it depends on the order; or why nothing is compared.
    pub(crate) compared: Option<Result<Option<String>, &'static str>>,
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
        matches!(self.compared, Some(Ok(_)))
    }

    /// A line for each thing that was asked for and not done.
    pub(crate) fn missing(&self, kernel: &str) -> String {
        let mut lines = String::new();
        if self.ended < self.asked {
            lines += &format!("{kernel}: the deadline came first: {} ran\n", self.count());
        }
        match &self.compared {
            Some(Err(why)) => lines += &format!("{kernel}: what it leaves is compared with nothing: {why}\n"),
            Some(Ok(Some(names))) => {
                lines += &format!("{kernel}: words of {names} that depend on the order of threads are not compared\n");
            }
            _ => {}
        }
        lines
    }

    /// As a field of a finding.
    pub(crate) fn json(&self) -> Value {
        let compared = self.compared.as_ref().map(Result::is_ok);
        json!({ "asked": self.asked, "ended": self.ended, "compared": compared })
    }
}
