//! Fat binaries that nvcc 13.5 made: `nvcc -fatbin -gencode arch=compute_80,code=compute_80 --compress-mode=…`.

use ptx_sass::fatbin::{Compression, Kind, find, images, length};

const NONE: &[u8] = include_bytes!("fatbin/none.fatbin");
const LZ4: &[u8] = include_bytes!("fatbin/lz4.fatbin");
const ZSTD: &[u8] = include_bytes!("fatbin/zstd.fatbin");

#[test]
fn the_ptx_is_the_same_however_it_is_compressed() {
    let each = [(NONE, Compression::None), (LZ4, Compression::Lz4), (ZSTD, Compression::Zstd)];
    let texts = each.map(|(bytes, compression)| {
        let images = images(bytes).unwrap();
        let [image] = &images[..] else { panic!("{images:?}") };
        assert_eq!((image.kind, image.sm, image.compression), (Kind::Ptx, 80, compression));
        image.text().unwrap()
    });
    assert!(texts[0].contains(".target sm_80") && texts[0].trim_end().ends_with('}'), "{}", texts[0]);
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}

#[test]
fn fat_binaries_are_found_within_a_file() {
    assert_eq!(length(&ZSTD[..16]), Some(ZSTD.len()));
    let mut file = vec![0x90; 4096];
    for bytes in [ZSTD, LZ4] {
        file.extend_from_slice(bytes);
        file.resize(file.len().next_multiple_of(8), 0);
    }
    assert_eq!(find(&file), [ZSTD, LZ4]);
}

#[test]
fn damage_is_an_error() {
    assert!(images(b"\x7fELF").is_err());
    assert!(images(&ZSTD[..ZSTD.len() - 1]).unwrap_err().to_string().contains("cut off"));
    for whole in [ZSTD, LZ4] {
        let mut damaged = whole.to_vec();
        damaged[100..130].fill(0xff);
        let error = images(&damaged).unwrap()[0].bytes().unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}
