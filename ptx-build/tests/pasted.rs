//! Lines as inline assembly in public CUDA code spells them: each leads to its form, or to a reason that says what to do.

use ptx_build::explain::find;

/// Lines with the call that they lead to, or after `!` how the reason begins.
const LINES: &str = include_str!("pasted.txt");

#[test]
fn each_line_leads_to_its_form_or_says_why_not() {
    let lines: Vec<&str> = LINES.lines().collect();
    let (mut forms, mut refused, mut wrong) = (0, 0, Vec::new());
    for pair in lines.chunks(2) {
        let &[line, expected] = pair else { panic!("{pair:?} has no second line") };
        let expected = expected.trim_start();
        let found = match find(line) {
            Ok(form) => {
                forms += 1;
                form.rust().to_owned()
            }
            Err(misspelt) => {
                refused += 1;
                let said = misspelt.to_string();
                let (_, why) = said.lines().next().unwrap_or_default().split_once("is no form: ").unwrap_or_default();
                format!("! {why}")
            }
        };
        if found != expected {
            wrong.push(format!("{line}\n    {found}"));
        }
    }
    println!("{forms} lines lead to a form, {refused} are refused with a reason");
    assert!(wrong.is_empty(), "{} of {} lines lead elsewhere:\n{}", wrong.len(), lines.len() / 2, wrong.join("\n"));
    assert!(forms >= 140 && refused >= 20, "{forms} {refused}");
}
