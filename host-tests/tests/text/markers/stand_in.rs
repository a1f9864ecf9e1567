
/// The bytes of a value.
fn bytes<T>(value: &T) -> &[u8] {
    // SAFETY: every value here is a number or a pointer, without padding.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a call on a line of its own, and gives 1 as the first result, 2 as the second.
fn record<T>(name: &str, template: &[u8], constraints: &[u8], options: &[u8], values: &[&[u8]]) -> T {
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).expect("a marker takes text").escape_default().to_string();
    let values: Vec<String> = values.iter().map(|value| hex(value)).collect();
    println!(
        "call\t{name}\t{}\t{}\t{}\t{}\t{}",
        text(template),
        text(constraints),
        text(options),
        size_of::<T>(),
        values.join(",")
    );
    let mut results = [0u8; 64];
    let count = constraints.iter().filter(|&&byte| byte == b'=').count();
    let size = size_of::<T>().checked_div(count).unwrap_or_default();
    for number in 0..count {
        results[number * size] = number as u8 + 1;
    }
    // SAFETY: `T` is a number or a tuple of numbers of one type.
    unsafe { std::mem::transmute_copy(&results) }
}
