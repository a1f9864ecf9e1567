//! Numbers as bytes: here, where it is optimised in every profile. A generic function would be compiled where it is called.

/// The bytes of all parts, one after the other.
pub fn bytes_of_all(parts: &[&[u64]]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.iter().flat_map(|number| number.to_le_bytes())).collect()
}

/// The numbers of bytes.
pub fn numbers_of(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// The numbers of 32 bits of bytes.
pub fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}
