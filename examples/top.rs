// SPDX-License-Identifier: GPL-2.0-only
// top FILE N PREFIX: the N events that happened most often, of those whose name begins with PREFIX.
// rustc -L native=DIR -l weft top.rs: no crate is needed.
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Error { code: c_int, text: [c_char; 1020] }
#[repr(C)]
struct Event { ts: u64, kind: *const c_void, data: *const u8, lost: i64, len: u32, pid: i32, cpu: u16, buffer: u16, rest: [u8; 4], own: [u64; 2] }

extern "C" {
    fn weft_file_open(path: *const c_char, options: *const c_void, file: *mut *mut c_void, error: *mut Error) -> c_int;
    fn weft_file_free(file: *mut c_void);
    fn weft_reader_new() -> *mut c_void;
    fn weft_reader_free(reader: *mut c_void);
    fn weft_reader_add(reader: *mut c_void, file: *mut c_void, query: *const c_void, error: *mut Error) -> c_int;
    fn weft_reader_batch(reader: *mut c_void, events: *mut *const Event, error: *mut Error) -> c_int;
    fn weft_type_name(kind: *const c_void) -> *const c_char;
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let path = CString::new(args[1].as_str()).unwrap();
    let mut error = Error { code: 0, text: [0; 1020] };
    let mut counts: BTreeMap<*const c_void, u64> = BTreeMap::new();
    let mut names: Vec<(u64, String)> = vec![];
    unsafe {
        let (reader, mut file, mut events) = (weft_reader_new(), null_mut(), null());
        let mut r = weft_file_open(path.as_ptr(), null(), &mut file, &mut error);
        if r == 0 {
            r = weft_reader_add(reader, file, null(), &mut error);
        }
        while r >= 0 {
            r = weft_reader_batch(reader, &mut events, &mut error);
            if r <= 0 {
                break;
            }
            for event in std::slice::from_raw_parts(events, r as usize) {
                *counts.entry(event.kind).or_insert(0) += 1;
            }
        }
        if r < 0 {
            eprintln!("top: {}", CStr::from_ptr(error.text.as_ptr()).to_string_lossy());
            std::process::exit(1);
        }
        for (kind, count) in counts {
            let name = CStr::from_ptr(weft_type_name(kind)).to_string_lossy().into_owned();
            if let Some(rest) = name.strip_prefix(args[3].as_str()) {
                names.push((count, rest.to_string()));
            }
        }
        weft_reader_free(reader);
        weft_file_free(file);
    }
    names.sort();
    println!("Top {} events:", names.len().min(args[2].parse().unwrap()));
    for (at, (count, name)) in names.iter().rev().take(args[2].parse().unwrap()).enumerate() {
        println!("#{}: {}: {} times", at + 1, name, count);
    }
}
