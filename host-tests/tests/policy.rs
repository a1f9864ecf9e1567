//! The constants of `CachePolicy` are what the assembler makes of `createpolicy`.

use host_tests::cuda_tools::CudaTools;
use host_tests::nvdisasm::Disassembler;
use host_tests::progress::Progress;
use host_tests::ptxas::Assembler;
use host_tests::target::Sm;
use ptx_intrinsics::{CachePolicy, L2EvictFirst, L2EvictLast, L2EvictNormal};

const POLICIES: [(&str, CachePolicy); 4] = [
    ("evict_normal", CachePolicy::EVICT_NORMAL),
    ("evict_first", CachePolicy::EVICT_FIRST),
    ("evict_last", CachePolicy::EVICT_LAST),
    ("evict_unchanged", CachePolicy::EVICT_UNCHANGED),
];

/// A kernel that makes the policy and stores it; on sm_80 the assembler folds it into plain moves of 32 bits each.
fn kernel(priority: &str, fraction: f32) -> String {
    let fraction = format!("0f{:08x}", fraction.to_bits());
    format!(
        ".version 7.4\n.target sm_80\n.address_size 64\n.visible .entry policy(.param .u64 out)\n{{\n\
         .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\n\
         createpolicy.fractional.L2::{priority}.b64 %rd2, {fraction};\nst.global.u64 [%rd1], %rd2;\nret;\n}}\n"
    )
}

/// The numbers that the machine code moves into registers.
fn immediates(tools: &CudaTools, ptx: &str) -> Vec<u32> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cubin = folder.path().join("policy.cubin");
    let assembled = Assembler::new(&tools.ptxas).assemble_text(ptx, Sm::new(80), &cubin);
    assembled.expect("ptxas runs").expect("ptxas takes createpolicy");
    let functions = Disassembler::new(&tools.nvdisasm).disassemble(&cubin).expect("nvdisasm reads it");
    let words = functions.iter().flat_map(|function| &function.instructions).flat_map(|one| &one.operands);
    words.filter_map(|word| u32::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect()
}

#[test]
fn constants_are_what_createpolicy_makes() {
    let tools = CudaTools::find(&Progress::new()).unwrap_or_else(|error| panic!("{error}"));
    for (priority, policy) in POLICIES {
        let found = immediates(&tools, &kernel(priority, 1.0));
        let high = (policy.bits() >> 32) as u32;
        assert_eq!(policy.bits() as u32, 0);
        assert!(found.contains(&high), "{priority}: {high:#x} is not among {found:#x?}");
    }
}

/// Every sixteenth, and what lies between them.
#[test]
fn fractions_are_what_createpolicy_makes() {
    let tools = CudaTools::find(&Progress::new()).unwrap_or_else(|error| panic!("{error}"));
    let mut compared = 0;
    for priority in ["evict_first", "evict_last", "evict_normal"] {
        let sixteenths = (1..=16).map(|sixteenth| sixteenth as f32 / 16.0);
        for fraction in sixteenths.chain([0.001, 0.06253, 0.06255, 0.1, 0.3, 0.4999, 0.5003, 0.50033, 0.95, 0.999]) {
            let found = immediates(&tools, &kernel(priority, fraction));
            let policy = match priority {
                "evict_first" => CachePolicy::fractional::<L2EvictFirst>(fraction),
                "evict_last" => CachePolicy::fractional::<L2EvictLast>(fraction),
                _ => CachePolicy::fractional::<L2EvictNormal>(fraction),
            };
            let bits = policy.bits();
            let high = (bits >> 32) as u32;
            assert_eq!(bits as u32, 0);
            assert!(found.contains(&high), "{priority}, {fraction}: {high:#x} is not among {found:#x?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 78);
}
