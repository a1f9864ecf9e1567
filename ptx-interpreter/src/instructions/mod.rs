//! The instructions: a file for each kind, which decodes it and does it.

mod address;
mod alloca;
mod atomic;
mod barrier;
mod bulk;
mod cache_line;
mod clock;
mod cluster;
mod compute;
mod cp_async;
mod device_launch;
mod elect;
mod fence;
mod fill;
mod flow;
mod grid;
mod later;
mod launch_control;
mod load;
mod matches;
mod matrix;
mod mbarrier;
mod mma;
mod mma_registers;
mod mma_scaled;
mod mma_sparse;
mod moves;
mod multimem;
mod nothing;
mod policy;
mod redux;
mod setmaxnreg;
mod shuffle;
mod store;
mod surface;
mod system;
mod tcgen05;
mod tcgen05_alloc;
mod tcgen05_mma;
mod tcgen05_move;
mod tcgen05_pair;
mod tcgen05_scales;
mod tcgen05_shape;
mod tensor;
mod tensormap;
mod texture;
mod together;
mod trap;
mod vote;
mod wgmma;
mod wmma;

use crate::machine::{Action, Step};
use crate::ptx::operand::Operand;

pub(crate) use flow::{Call, Callee, Exit, Return, Table};

/// The instruction of these words, if the interpreter knows it.
pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Action {
    let opcode = words.join(".");
    let is_vector = |at: usize| matches!(operands.get(at), Some(Operand::Vector(_)));
    let decoded = match words[0] {
        "ld" | "ldu" => load::decode(words, operands),
        "st" if words[1..].first() == Some(&"bulk") => fill::decode(words, operands),
        "st" | "red" if words[1..].first() == Some(&"async") => later::decode(words, operands),
        "st" => store::decode(words, operands),
        "mov" if is_vector(0) || is_vector(1) || words.last() == Some(&"b128") => moves::decode(words, operands),
        "atom" | "red" => atomic::decode(words, operands),
        "multimem" => multimem::decode(words, operands),
        "prefetch" | "prefetchu" | "applypriority" | "discard" => cache_line::decode(words, operands),
        "createpolicy" => policy::decode(words, operands),
        "cvta" if address::is_move(words, &operands) => return compute::decode("mov.b64", operands),
        "cvta" | "isspacep" | "mapa" | "getctarank" => address::decode(words, operands),
        "cp" if words.contains(&"tensor") && !words.contains(&"prefetch") => tensor::decode(words, operands),
        "tensormap" if words.get(1) == Some(&"replace") => tensormap::replace(words, operands),
        "tensormap" => return control(tensormap::publish(words, operands), opcode),
        "cp" if words.contains(&"bulk") => bulk::decode(words, operands),
        "cp" => cp_async::decode(words, operands),
        "tex" | "tld4" => texture::decode(words, operands),
        "txq" | "suq" => texture::query(words, operands),
        "suld" | "sust" => surface::decode(words, operands),
        "mbarrier" => mbarrier::decode(words, operands),
        "bar" | "barrier" => return barrier_of(words, operands),
        "vote" | "activemask" => return control(vote::decode(words, operands), opcode),
        "shfl" => return control(shuffle::decode(words, operands), opcode),
        "match" => return control(matches::decode(words, operands), opcode),
        "ldmatrix" | "stmatrix" => return control(matrix::decode(words, operands), opcode),
        "movmatrix" => return control(matrix::transpose(words, operands), opcode),
        "mma" => return control(mma::decode(words, operands), opcode),
        "wmma" => return control(wmma::decode(words, operands), opcode),
        "wgmma" => return control(wgmma::decode(words, operands), opcode),
        "tcgen05" => return control(tcgen05::decode(words, operands), opcode),
        "redux" => return control(redux::decode(words, operands), opcode),
        "setmaxnreg" => return control(setmaxnreg::decode(words, operands), opcode),
        "elect" => return control(elect::decode(words, operands), opcode),
        "fence" | "membar" => fence::decode(words, operands),
        "clusterlaunchcontrol" => launch_control::decode(words, operands),
        "griddepcontrol" if words.get(1) == Some(&"wait") => Some(Box::new(grid::Wait) as Box<dyn Step>),
        "griddepcontrol" => Some(Box::new(grid::LaunchDependents) as Box<dyn Step>),
        "alloca" | "stacksave" | "stackrestore" => alloca::decode(words, operands),
        "nanosleep" | "pmevent" => Some(Box::new(nothing::Nothing) as Box<dyn Step>),
        "trap" | "brkpt" => Some(Box::new(trap::Trap(words[0].to_owned())) as Box<dyn Step>),
        _ if clock::is_read(&operands) => return clock::clocked(compute::decode(&opcode, operands)),
        _ => return compute::decode(&opcode, operands),
    };
    decoded.map_or(Action::Unknown(opcode), Action::Straight)
}

fn control(step: Option<Box<dyn Step>>, opcode: String) -> Action {
    step.map_or(Action::Unknown(opcode), Action::Control)
}

fn barrier_of(words: &[&str], operands: Vec<Operand>) -> Action {
    let opcode = words.join(".");
    let short: Vec<&str> = words.iter().copied().filter(|word| !matches!(*word, "aligned" | "cta")).collect();
    let step = match short[..] {
        ["bar", "warp", "sync"] => together::decode(operands),
        ["barrier", "cluster", ..] => cluster::decode(&short),
        _ => barrier::decode(&short, operands),
    };
    control(step, opcode)
}
