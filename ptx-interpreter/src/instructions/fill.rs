//! `st.bulk`: zeros in this block's shared memory.

use crate::machine::group::Group;
use crate::machine::stop::{Result, wrong};
use crate::machine::{Machine, Step};
use crate::ptx::access::How;
use crate::ptx::operand::{Operand, Space};

struct Fill {
    space: Space,
    operands: [Operand; 3],
    how: How,
}

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let operands = operands.try_into().ok()?;
    Some(Box::new(Fill { space: Space::of(words), operands, how: How::store(words) }))
}

impl Step for Fill {
    fn run<'a>(&'a self, machine: &mut Machine<'a>, group: Group) -> Result<()> {
        let [to, size, value] = &self.operands;
        for thread in group.threads() {
            let (address, size) = (machine.address(thread, self.space, to)?, machine.get(thread, size)? as usize);
            if machine.get(thread, value)? != 0 || size % 8 != 0 || address % 16 != 0 {
                return Err(
                    wrong("it stores zeros, a multiple of 8 bytes, at an address aligned to 16").by(thread.lane)
                );
            }
            machine.there(address, size, true).map_err(|stop| stop.by(thread.lane))?;
            machine.watch_one(thread, address, size, self.how)?;
            machine.write(address, &vec![0; size]).map_err(|stop| stop.by(thread.lane))?;
        }
        Ok(())
    }
}
