//! x
use litmus::agreement::*;
use litmus::*;
fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let runs = a.get(2).copied().unwrap_or(RUNS);
    let (mut all, mut seen, mut n, mut cut, mut lacking) = (0, 0, 0, 0, 0);
    for seed in a[0]..a[1] {
        let (p, text) = draw(seed);
        if Threads::of(&p, &[], Space::Global).is_err() {
            continue;
        }
        match agree_on_values(&p, Space::Global, runs, &Limits::default()) {
            Ok(Some(v)) => {
                if v.cut {
                    cut += 1;
                    continue;
                }
                n += 1;
                all += v.allowed;
                seen += v.seen;
                if !v.missing.is_empty() {
                    lacking += 1;
                    println!(
                        "{text}seed {seed} races {} runs {} seen {} of {}\n{}\n",
                        v.races,
                        v.runs,
                        v.seen,
                        v.allowed,
                        v.missing.join("\n")
                    );
                }
            }
            Ok(None) => println!("seed {seed} not asked"),
            Err(d) => println!("{text}seed {seed} DISAGREES {:?} {}", d.order, d.what),
        }
    }
    println!("{n} tests, {cut} cut, {seen} of {all} ends, {lacking} lack some");
}
