//! Where an instruction is in a text, for messages.

/// Where an instruction is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    pub(crate) function: String,
    pub(crate) text: String,
    pub(crate) line: u32,
    /// The source's file and line, if the PTX has `.loc`.
    pub(crate) source: Option<(String, u32)>,
    /// Where the functions were called that the compiler has inlined, the innermost first.
    pub(crate) called: Vec<(String, u32)>,
    /// Where its accesses to shared memory have to stay, if they are to variables.
    pub(crate) within: Vec<(u64, u64)>,
    /// Comments beside it that allow findings.
    pub(crate) comments: Vec<String>,
}
