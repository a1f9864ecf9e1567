//! What a policy costs is what `docs/fast-kernels.md` says.

use std::fmt::Write;

use host_tests::tools::command::Machine;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_intrinsics::prelude::CachePolicy;

use super::assemble;

const SMS: [u32; 4] = [80, 90, 100, 120];

/// The rows of the table: how a policy is made, and in PTX.
fn rows() -> [(&'static str, String); 4] {
    [
        ("`createpolicy.fractional`", "createpolicy.fractional.L2::evict_first.b64 %policy, 0.5;".into()),
        (
            "`createpolicy.range` of a parameter",
            "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %policy, [%p], 1048576, 2097152;".into(),
        ),
        ("encoded, a constant", format!("mov.b64 %policy, {:#x};", CachePolicy::EVICT_FIRST.bits())),
        ("encoded, a parameter", "ld.param.u64 %policy, [policy];".into()),
    ]
}

/// A kernel of one load, under the policy that is made so.
fn kernel(name: &str, made: Option<&str>) -> String {
    let (hint, policy) = if made.is_some() { (".L2::cache_hint", ", %policy") } else { ("", "") };
    let made = made.unwrap_or_default();
    format!(
        ".visible .entry {name}(.param .u64 in, .param .u64 out, .param .u64 policy) {{\n\
         .reg .b64 %p, %out, %policy, %offset; .reg .b32 %value, %thread;\n\
         ld.param.u64 %p, [in]; ld.param.u64 %out, [out]; mov.u32 %thread, %tid.x;\n\
         mul.wide.u32 %offset, %thread, 4; add.u64 %p, %p, %offset; add.u64 %out, %out, %offset;\n{made}\n\
         ld.global{hint}.b32 %value, [%p]{policy};\nst.global.b32 [%out], %value;\nret;\n}}\n"
    )
}

#[test]
fn a_policy_costs_what_the_page_says() {
    let page = Machine::current().repository.join("docs/fast-kernels.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let mut lines = rows().map(|(name, _)| format!("| {name} |"));
    for sm in SMS.map(Sm::new) {
        let mut ptx = format!(".version {}\n.target {sm}\n.address_size 64\n", PtxVersion::new(9, 0));
        ptx += &kernel("plain", None);
        for (at, (_, made)) in rows().iter().enumerate() {
            ptx += &kernel(&format!("k{at}"), Some(made));
        }
        let functions = assemble(&ptx, sm);
        let count = |name: &str| functions[name].instructions.len();
        for (at, line) in lines.iter_mut().enumerate() {
            write!(line, " {} |", count(&format!("k{at}")) - count("plain")).expect("a string takes all");
        }
    }
    for line in lines {
        assert!(page.contains(&format!("\n{line}\n")), "docs/fast-kernels.md lacks: {line}");
    }
}
