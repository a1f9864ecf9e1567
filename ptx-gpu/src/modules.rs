//! The modules of a program. What is loaded for one GPU may be loaded for another, where it has variables of its own.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

use ptx_interpreter::{Program, Variable};

use crate::device::{REGISTERS_OF_THREAD, SHARED_OF_BLOCK};
use crate::gpu::{Code, Function, Gpu, Handle, Module, Variables};
use crate::handle;
use crate::memory::Home;
use crate::status::{INVALID_HANDLE, NOT_FOUND, Result};

impl Gpu {
    /// Loads PTX for this thread's GPU. Its variables get places of their own.
    pub(crate) fn load(&mut self, code: Code) -> Result<Handle> {
        let program = Arc::new(Program::parse(&code.ptx));
        self.add_module(self.here(), program, Arc::new(code.registers), &Variables::new())
    }

    /// The same module for a GPU. All GPUs share its managed variables.
    pub(crate) fn module_for(&mut self, module: Handle, gpu: usize) -> Result<Handle> {
        let of = self.modules.get(&module).ok_or(INVALID_HANDLE)?;
        let first = of.first.unwrap_or(module);
        let of = self.modules.get(&first).ok_or(INVALID_HANDLE)?;
        if of.gpu == gpu {
            return Ok(first);
        }
        if let Some(other) = of.others.get(&gpu) {
            return Ok(*other);
        }
        let (program, registers, placed) = (Arc::clone(&of.program), Arc::clone(&of.registers), of.variables.clone());
        let other = self.add_module(gpu, program, registers, &placed)?;
        self.modules.entry(other).and_modify(|other| (other.first, other.is_library) = (Some(first), true));
        self.modules.entry(first).and_modify(|of| _ = of.others.insert(gpu, other));
        Ok(other)
    }

    fn add_module(
        &mut self,
        gpu: usize,
        program: Arc<Program>,
        registers: Arc<HashMap<String, i32>>,
        placed: &Variables,
    ) -> Result<Handle> {
        let variables = Arc::new(self.place_all(&program, gpu, placed)?);
        let handle = handle::next();
        self.modules.insert(handle, Module::new(gpu, program, variables, registers));
        Ok(handle)
    }

    /// Gives variables their places, but for managed ones that have one.
    fn place_all(&mut self, program: &Program, gpu: usize, placed: &Variables) -> Result<Variables> {
        let known = |variable: &&Variable| placed.get(&variable.name).copied().filter(|_| variable.managed);
        let mut variables = Variables::new();
        for variable in program.variables() {
            let place = match known(&variable) {
                Some((place, _)) => place,
                None => self.place_one(variable, gpu)?,
            };
            variables.insert(variable.name.clone(), (place, variable.bytes));
        }
        for variable in program.variables().iter().filter(|variable| known(variable).is_none()) {
            let Some((place, bytes)) = variables.get(&variable.name).copied() else { continue };
            // SAFETY: the allocation has these bytes, and nothing else uses them yet.
            let content = unsafe { std::slice::from_raw_parts_mut(place as *mut u8, bytes) };
            for pointer in &variable.pointers {
                let to = variables.get(&pointer.to).map_or(0, |(place, _)| *place);
                pointer.put(content, to);
            }
        }
        Ok(variables)
    }

    fn place_one(&mut self, variable: &Variable, gpu: usize) -> Result<u64> {
        let home = if variable.managed { Home::ManagedVariable } else { Home::Variable };
        let place = self.memory.allocate(variable.bytes.max(1), home, gpu, &variable.name)?;
        let content = &variable.content[..variable.content.len().min(variable.bytes)];
        // SAFETY: the allocation has these bytes.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), place as *mut u8, content.len()) };
        Ok(place)
    }

    /// Unloads a module, for all GPUs.
    pub(crate) fn unload(&mut self, module: Handle) -> Result {
        let module = self.modules.remove(&module).ok_or(INVALID_HANDLE)?;
        let others: Vec<Module> = module.others.values().filter_map(|other| self.modules.remove(other)).collect();
        for one in others.iter().chain([&module]) {
            for function in one.functions.values() {
                self.functions.remove(function);
            }
            for (place, _) in one.variables.values() {
                // The GPUs share managed ones.
                if one.gpu == module.gpu || module.variables.values().all(|(of_first, _)| of_first != place) {
                    self.memory.free(*place, &[Home::Variable, Home::ManagedVariable], "cuModuleUnload")?;
                }
            }
            self.order.host_waits_for_gpu(one.gpu);
        }
        Ok(())
    }

    /// The handle of a kernel, which is the same each time.
    pub(crate) fn kernel(&mut self, module: Handle, name: &str) -> Result<Handle> {
        let handle = handle::next();
        let of = self.modules.get_mut(&module).ok_or(INVALID_HANDLE)?;
        if let Some(known) = of.functions.get(name) {
            return Ok(*known);
        }
        let kernel = of.program.kernel(name).ok_or(NOT_FOUND)?;
        of.functions.insert(name.to_owned(), handle);
        let registers = of.registers.get(name).copied().unwrap_or(REGISTERS_OF_THREAD);
        let most_dynamic = (SHARED_OF_BLOCK - kernel.shared as i32).max(0);
        let name = Arc::new(CString::new(name).map_err(|_| NOT_FOUND)?);
        let kernel = Arc::new(kernel);
        let function = Function { module, name, kernel, registers, most_dynamic, carve_out: -1, large_clusters: false };
        self.functions.insert(handle, function);
        Ok(handle)
    }

    /// The same kernel for a GPU.
    pub(crate) fn kernel_for(&mut self, function: Handle, gpu: usize) -> Result<Handle> {
        let of = self.function(function)?.clone();
        match self.module_for(of.module, gpu)? {
            module if module == of.module => Ok(function),
            module => self.kernel(module, &of.name()),
        }
    }

    /// A kernel as a GPU runs it, if it is of a library; any other is of one GPU.
    pub(crate) fn kernel_of_library(&mut self, function: Handle, gpu: usize) -> Result<Handle> {
        let module = self.function(function)?.module;
        let is_library = self.modules.get(&module).is_some_and(|module| module.is_library);
        if is_library { self.kernel_for(function, gpu) } else { Ok(function) }
    }

    pub(crate) fn variable(&self, module: Handle, name: &str) -> Result<(u64, usize)> {
        let module = self.modules.get(&module).ok_or(INVALID_HANDLE)?;
        module.variables.get(name).copied().ok_or(NOT_FOUND)
    }
}
