//! Functions of the GPU's system, which PTX declares and does not define: `vprintf`, `__assertfail`, `malloc` and `free`.

use sprintf::{Printf, vsprintf};

use crate::machine::Machine;
use crate::machine::group::{Group, Thread};
use crate::machine::lanes::lanes_of;
use crate::machine::stop::{Result, Why, gap, stop};
use crate::ptx::access::How;

/// Bytes of a text, at most.
const TEXT: usize = 1 << 16;

/// A conversion of a format, and what stands before it.
struct Conversion<'f> {
    before: &'f str,
    whole: &'f str,
    /// Numbers for its width and precision that come before its value.
    stars: usize,
    is_long: bool,
    letter: char,
}

impl Machine<'_> {
    /// Its threads go on after the call. Errors: the system has no such function.
    pub(crate) fn call_system(&mut self, group: Group, name: &str, results: &[u64], arguments: &[u64]) -> Result<()> {
        match (name, arguments, results) {
            ("vprintf", [format, values], [result]) => {
                for thread in group.threads() {
                    let (format, values) = (self.argument(thread, *format, 8), self.argument(thread, *values, 8));
                    let count = self.print(thread, format, values).map_err(|stop| stop.by(thread.lane))?;
                    self.answer(thread, *result, &count.to_le_bytes());
                }
                Ok(())
            }
            // Each piece is aligned to more than anybody asks for.
            ("malloc", [bytes], [result]) | ("__cuda_syscall_aligned_malloc", [bytes, _], [result]) => {
                for thread in group.threads() {
                    let bytes = self.argument(thread, *bytes, 8);
                    let place = self.allocate(bytes);
                    self.answer(thread, *result, &place.to_le_bytes());
                }
                Ok(())
            }
            ("free", [place], _) => {
                for thread in group.threads() {
                    let place = self.argument(thread, *place, 8);
                    self.free(thread, place).map_err(|stop| stop.by(thread.lane))?;
                }
                Ok(())
            }
            ("__assertfail", [message, file, line, function, _], _) => {
                let thread = group.first();
                let line = self.argument(thread, *line, 4) as u32;
                let mut text = |at: &u64| {
                    let address = self.argument(thread, *at, 8);
                    self.text(address)
                };
                let (message, file, function) = (text(message)?, text(file)?, text(function)?);
                let lane = lanes_of(group.mask).next();
                stop(Why::Trap, format!("{file}:{line}: {function}: the assertion `{message}` does not hold"))
                    .map_err(|stop| lane.map_or_else(|| stop.clone(), |lane| stop.clone().by(lane)))
            }
            _ => {
                let of_runtime = self.call_runtime(group, name, results, arguments);
                of_runtime.unwrap_or_else(|| Err(gap(&[format!("the body of {name}")])))
            }
        }
    }

    /// Null if the heap has no room.
    pub(super) fn allocate(&mut self, bytes: u64) -> u64 {
        let Some(begin) = self.heap.heap.allocate(bytes) else { return 0 };
        self.tell(|checks, _| checks.name_piece(begin, bytes, false));
        begin
    }

    /// Whoever frees memory may do so only after all accesses of others to it.
    pub(super) fn free(&mut self, thread: Thread, begin: u64) -> Result<()> {
        if begin == 0 {
            return Ok(());
        }
        let not_given = || stop(Why::NotGiven, format!("malloc has not given the bytes at {begin:#x}"));
        let Some(bytes) = self.heap.heap.bytes(begin) else { return not_given() };
        self.settle_all()?;
        if bytes > 0 {
            self.watch_one(thread, begin, bytes, How::DISCARD)?;
        }
        self.heap.heap.free(begin);
        self.tell(|checks, _| checks.name_piece(begin, bytes as u64, true));
        Ok(())
    }

    /// An argument of a call, which its caller has written into its frame.
    pub(super) fn argument(&self, thread: Thread, at: u64, bytes: usize) -> u64 {
        let warp = self.warp(thread.warp);
        let at = (warp.frames[thread.frame].base + at) as usize;
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(&warp.local[thread.lane].bytes[at..at + bytes]);
        u64::from_le_bytes(number)
    }

    pub(super) fn answer(&mut self, thread: Thread, at: u64, result: &[u8]) {
        let warp = self.warp_mut(thread.warp);
        let at = (warp.frames[thread.frame].base + at) as usize;
        let local = &mut warp.local[thread.lane];
        local.bytes[at..at + result.len()].copy_from_slice(result);
        local.write(at, result.len());
    }

    /// A text that ends with 0.
    fn text(&mut self, address: u64) -> Result<String> {
        let mut bytes = Vec::new();
        loop {
            match self.read_number(address + bytes.len() as u64, 1)? as u8 {
                0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                _ if bytes.len() == TEXT => return stop(Why::Wrong, format!("the text at {address:#x} has no end")),
                byte => bytes.push(byte),
            }
        }
    }

    /// Prints values by a format, as C does. Gives back how many there were.
    fn print(&mut self, thread: Thread, format: u64, mut values: u64) -> Result<u32> {
        let (format, mut rest, mut count) = (self.text(format)?, 0, 0);
        while let Some(conversion) = Conversion::first(&format[rest..]) {
            rest += conversion.before.len() + conversion.whole.len();
            self.printed.push_str(conversion.before);
            let mut numbers = Vec::new();
            for _ in 0..conversion.stars {
                numbers.push(self.next_value(thread, &mut values, 4)? as i32);
            }
            let shown = match conversion.letter {
                '%' => "%".to_owned(),
                letter => {
                    count += 1;
                    let value = self.next_value(thread, &mut values, if conversion.is_long { 8 } else { 4 })?;
                    let value: Box<dyn Printf> = match (letter, conversion.is_long) {
                        ('s', _) => Box::new(self.text(value)?),
                        ('d' | 'i', true) => Box::new(value as i64),
                        ('d' | 'i', false) => Box::new(value as i32),
                        ('o' | 'u' | 'x' | 'X', true) => Box::new(value),
                        ('o' | 'u' | 'x' | 'X', false) => Box::new(value as u32),
                        ('c', _) => Box::new(char::from(value as u8)),
                        ('p', _) => Box::new(value as *const u8),
                        _ => Box::new(f64::from_bits(value)),
                    };
                    let stars = numbers.iter().map(|number| number as &dyn Printf);
                    let all: Vec<&dyn Printf> = stars.chain([&*value]).collect();
                    let shown = vsprintf(conversion.whole, &all).unwrap_or_else(|_| conversion.whole.to_owned());
                    // Where C leaves out a point, the library does not.
                    if matches!(letter, 'g' | 'G') { shown.replace(".e", "e").replace(".E", "E") } else { shown }
                }
            };
            self.printed.push_str(&shown);
        }
        self.printed.push_str(&format[rest..]);
        Ok(count)
    }

    /// The next of the values that a caller has put one after the other, each where it is aligned.
    fn next_value(&mut self, thread: Thread, values: &mut u64, bytes: usize) -> Result<u64> {
        let at = values.next_multiple_of(bytes as u64);
        *values = at + bytes as u64;
        self.watch_printed(thread, at, bytes);
        self.read_number(at, bytes)
    }
}

impl<'f> Conversion<'f> {
    /// The first one of a format.
    fn first(format: &'f str) -> Option<Conversion<'f>> {
        let begin = format.find('%')?;
        let behind = &format[begin + 1..];
        let end = behind.find(|c: char| !"#0- +123456789.*hljzt".contains(c))?;
        let letter = behind[end..].chars().next()?;
        let words = &behind[..end];
        let is_long = words.contains(['l', 'j', 'z', 't']) || "aAeEfFgGps".contains(letter);
        Some(Conversion {
            before: &format[..begin],
            whole: &format[begin..begin + 1 + end + letter.len_utf8()],
            stars: words.matches('*').count(),
            is_long,
            letter,
        })
    }
}
