//! Prints kernels, or runs them in the interpreter against itself: `kernels text [WORD]`, `kernels run [WORD]`.

use values::{every, header, judge};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_else(|| "text".into());
    let word = arguments.next().unwrap_or_default();
    let all = every().iter().filter(|case| case.name.contains(&word));
    if task == "text" {
        println!("{}", header("9.0", "sm_90a"));
        all.for_each(|case| println!("{}", case.text()));
        return;
    }
    for case in all {
        let began = std::time::Instant::now();
        let input = case.input(1, false);
        let drawn = began.elapsed();
        match case.interpret(&input) {
            Err(why) => println!("{} FAILED {why}", case.name),
            Ok(found) => {
                let interpreted = began.elapsed();
                let judged = judge(case, &input, &found, &found);
                let passed = if judged.passed { "passed" } else { "NOT PASSED" };
                println!("{} {passed}: {} ({drawn:?} {interpreted:?} {:?})", case.name, judged.text, began.elapsed());
            }
        }
    }
}
