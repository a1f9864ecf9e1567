//! What a host asks of a module: its variables, and what each kernel takes.

use crate::machine::Program;
use crate::ptx::variable::Variable;

/// What a kernel takes, and how it may be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Where each parameter is among the parameters, and its bytes.
    pub parameters: Vec<(usize, usize)>,
    /// Bytes of shared memory that it declares, without those that a launch adds.
    pub shared: usize,
    /// Bytes of local memory of a thread.
    pub local: usize,
    /// Threads of a block, at most (`.maxntid`), and exactly (`.reqntid`).
    pub most_threads: Option<u32>,
    /// See `most_threads`.
    pub exact_threads: Option<u32>,
    /// Blocks of a cluster in x, y and z (`.reqnctapercluster`).
    pub cluster: Option<[u32; 3]>,
}

impl Program {
    /// The variables of the module in global memory and in the constant bank.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// What a kernel takes, if there is a kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        let code = self.functions.get(name).filter(|code| code.is_entry)?;
        let parameters = code.places.iter().zip(&code.parameters);
        Some(Kernel {
            parameters: parameters.map(|(place, parameter)| (*place as usize, parameter.bytes)).collect(),
            shared: code.declared,
            local: code.frame,
            most_threads: code.most_threads,
            exact_threads: code.exact_threads,
            cluster: code.cluster,
        })
    }
}
