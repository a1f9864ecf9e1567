//! The table of the pairs of kernels in Rust and in CUDA C++, for the page of a GPU and for docs/parity.md.

use std::fmt::Write;

use host_tests::check::parity::TIMES;
use lab::judge::Verdict;
use lab::paired::{Paired, paired};
use lab::statistics::Estimate;

use super::judged::Judged;

/// A table of the pairs.
pub(super) fn table(all: &[Paired]) -> String {
    let mut text = String::from(
        "| Kernel | Size | Time by nvcc's | Noise | Time | Rust | nvcc | Driver's copy | |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    for pair in all {
        let Paired { kernel, size, ratio, floor, verdict, seconds, rates } = pair;
        let Estimate { middle, low, high } = ratio;
        let says = match verdict {
            Verdict::Proved => "as fast",
            Verdict::Refuted if *middle > 1.0 => "**slower**",
            Verdict::Refuted => "**faster**",
            _ => "not distinguishable",
        };
        let rates = rates.map(|rate| rate.map_or(String::new(), |rate| rate.to_string())).join(" | ");
        text += &format!(
            "| {kernel} | {size} | {middle:.3} [{low:.3}, {high:.3}] | ±{floor:.3} | {:.0} µs | {rates} | {says} |\n",
            seconds * 1e6
        );
    }
    text
}

/// In a line: how many are as fast, and which are not.
pub(super) fn in_short(all: &[Paired]) -> String {
    let of = |wanted: fn(&Paired) -> bool| {
        all.iter().filter(|pair| wanted(pair)).map(|pair| format!("`{}`", pair.kernel)).collect::<Vec<_>>()
    };
    let named = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let slower = of(|pair| pair.verdict == Verdict::Refuted && pair.ratio.middle > 1.0);
    let faster = of(|pair| pair.verdict == Verdict::Refuted && pair.ratio.middle < 1.0);
    let open = of(|pair| pair.verdict == Verdict::NotDistinguishable);
    format!(
        "Of {} pairs {} take as long in Rust as by nvcc, within two hundredths. Slower in Rust: {}. Faster: {}. Not distinguishable: \
         {}.",
        all.len(),
        of(|pair| pair.verdict == Verdict::Proved).len(),
        named(slower),
        named(faster),
        named(open)
    )
}

/// The part of docs/parity.md that has times, of the results of each GPU; nothing if none has pairs. A dry run says nothing.
pub(super) fn section<'j>(all: impl IntoIterator<Item = &'j Judged>) -> String {
    let mut text = String::new();
    for Judged { results, findings, .. } in all.into_iter().filter(|judged| !judged.results.run.quick) {
        let pairs = paired(results, findings);
        if pairs.is_empty() {
            continue;
        }
        if text.is_empty() {
            text += &format!(
                "{TIMES}\nExperiment K of [the laboratory](laboratory.md): the time of the kernel in Rust by that of nvcc's, for the same \
                 input, with its interval of 99 percent. `cargo xtask measured` writes this part.\n"
            );
        }
        let (gpu, sm) = (&results.run.gpu, results.run.sm);
        let (major, minor) = (sm / 10, sm % 10);
        write!(text, "\n### {gpu} (compute capability {major}.{minor})\n\n{}\n\n{}", in_short(&pairs), table(&pairs))
            .expect("a string takes all");
        for (_, case, why) in results.failures.iter().filter(|(experiment, ..)| *experiment == 'K') {
            write!(text, "\nNot measured: {case}: {}\n", why.replace('\n', " ")).expect("a string takes all");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::judge::Results;
    use lab::line::read;

    /// Of lines that are nobody's measurement.
    #[test]
    fn the_part_with_times_has_each_gpu_but_no_dry_run() {
        let lines = read(include_str!("../tests/laboratory/synthetic.jsonl")).expect("they are lines");
        let [judged, mut dry] = [(); 2].map(|()| Judged::new(Results::of(&lines)));
        dry.results.run.quick = true;
        let text = section([&judged, &dry]);
        assert_eq!(text.matches("\n### A GPU that there is not (compute capability 9.0)\n").count(), 1, "{text}");
        assert!(text.starts_with(TIMES), "{text}");
        for line in [
            "Of 4 pairs 1 take as long in Rust as by nvcc, within two hundredths. Slower in Rust: `softmax`. Faster: `gemm`. Not \
             distinguishable: `histogram`.",
            "| copy128 | 512 MiB | 1.000 [0.999, 1.001] | ±0.001 | 180 µs | 2982.4 GB/s | 2983.3 GB/s | 3012.7 GB/s | as fast |",
            "Not measured: kernel=relay language=cuda size=204 MiB: it wrote nothing",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\nis not in\n{text}");
        }
        assert_eq!(section([&dry]), "");
        assert_eq!(section([&Judged::new(Results::default())]), "");
    }
}
