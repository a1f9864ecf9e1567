//! What the generated programs have beside the forms.

/// A value of which every byte is the number of its parameter.
fn numbered<T>(number: u8) -> T {
    let bytes = [number; 64];
    // SAFETY: a type of a parameter here holds any bytes; `bool` does not come here.
    unsafe { std::mem::transmute_copy(&bytes) }
}

/// What the function gave.
fn show<T>(value: &T) {
    // SAFETY: a result here is a number or a vector of numbers, without padding.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *value).cast::<u8>(), size_of::<T>()) };
    println!("result\t{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
}
