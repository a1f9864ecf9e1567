//! Numbers as bytes: here, where it is optimised in every profile.

/// The bytes of numbers.
pub fn bytes_of(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The numbers of bytes.
pub fn numbers_of(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// The numbers of 32 bits of bytes.
pub fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}
