//! This program's own code: addresses and names.

use std::collections::BTreeMap;
use std::process::Command;
use std::{env, fs};

/// An instruction as objdump prints it.
pub struct Instruction {
    /// Its address in the file.
    pub at: u64,
    pub mnemonic: String,
    pub operands: String,
}

/// A function and its instructions.
pub struct Function {
    pub name: String,
    pub code: Vec<Instruction>,
}

/// Returns the address in memory where this program's file begins.
pub fn start() -> u64 {
    let (maps, program) = (maps(), program());
    let mapping =
        maps.lines().find(|line| line.ends_with(&program)).expect("this program is mapped");
    address(mapping.split('-').next().expect("a range"))
}

fn maps() -> String {
    fs::read_to_string("/proc/self/maps").expect("/proc/self/maps")
}

fn program() -> String {
    env::current_exe().expect("the path of this program").display().to_string()
}

fn address(digits: &str) -> u64 {
    u64::from_str_radix(digits, 16).expect("hex digits")
}

/// Returns the function and offset of an address in the file.
pub fn name(functions: &[Function], at: u64) -> String {
    let of = functions.iter().rev().find(|function| function.code[0].at <= at);
    of.map_or(format!("{at:#x}"), |of| format!("{}+{:#x}", of.name, at - of.code[0].at))
}

/// Returns objdump's output for this program.
fn objdump(arguments: &[&str]) -> String {
    let output = Command::new("objdump").args(arguments).arg(program()).output();
    String::from_utf8_lossy(&output.expect("objdump is installed").stdout).into()
}

/// Returns the places in this program's memory that store an address, with the address. A call
/// through such a place does not name its target.
pub fn pointers() -> BTreeMap<u64, u64> {
    let listing = objdump(&["--dynamic-reloc", "--wide"]);
    let pointer = |line: &str| {
        let (at, to) = line.split_once(" R_X86_64_RELATIVE")?;
        Some((address(at), address(to.trim().strip_prefix("*ABS*+0x")?)))
    };
    listing.lines().filter_map(pointer).collect()
}

/// Returns all functions of this program, ordered by address.
pub fn functions() -> Vec<Function> {
    let listing = objdump(&["--disassemble", "--demangle", "--no-show-raw-insn", "--wide"]);
    let mut functions: Vec<Function> = Vec::new();
    for line in listing.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            functions.push(Function { name: name.1.into(), code: Vec::new() });
        } else if let (Some(function), Some((at, code))) =
            (functions.last_mut(), line.split_once(":\t"))
        {
            let (mnemonic, operands) = code.trim().split_once(' ').unwrap_or((code.trim(), ""));
            function.code.push(Instruction {
                at: address(at.trim()),
                mnemonic: mnemonic.into(),
                operands: operands.trim().into(),
            });
        }
    }
    functions.retain(|function| !function.code.is_empty());
    functions
}
