//! Leaks of x86-64 instructions through their timing or their addresses. A conditional jump leaks
//! whether it is taken, and a division its dividend. A load or store leaks the base and index of
//! its address; the displacement is fixed at each place in the code.

use crate::tally::Tally;

/// The leak of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A conditional jump: its condition on the flags, and its distance.
    Jump { condition: u8, relative: i32 },
    /// The register with the target of the jump.
    Target(u8),
    /// The sum of a base register and a shifted index register.
    Address { base: Option<u8>, index: Option<(u8, u8)> },
    /// The addresses and the count of a string instruction.
    String,
    /// The dividend: the time of a division depends on its operands.
    Division,
    /// A vector of addresses.
    Gather,
}

/// The registers of an instruction: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi and r8 to r15.
pub type Registers = [u64; 16];

const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;
const RSP: u8 = 4;
const RSI: usize = 6;
const RDI: usize = 7;

impl Use {
    /// Returns the leaked value for these registers and flags.
    #[inline(always)]
    pub fn value(self, registers: &Registers, flags: u64) -> u64 {
        match self {
            Use::Jump { condition, .. } => holds(condition, flags).into(),
            Use::Target(register) => registers[usize::from(register & 15)],
            Use::Address { base, index } => {
                let base = base.map_or(0, |base| registers[usize::from(base & 15)]);
                let index = index
                    .map_or(0, |(index, shift)| registers[usize::from(index & 15)] << (shift & 3));
                base.wrapping_add(index)
            }
            Use::String => {
                registers[RSI].rotate_left(42) ^ registers[RDI].rotate_left(21) ^ registers[RCX]
            }
            Use::Division => registers[RAX] ^ registers[RDX].rotate_left(32),
            Use::Gather => 0,
        }
    }
}

/// Returns whether a condition holds, numbered as in opcodes.
#[inline(always)]
pub fn holds(condition: u8, flags: u64) -> bool {
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let (carry, parity, zero, sign, overflow) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    let holds = match condition >> 1 & 7 {
        0 => overflow,
        1 => carry,
        2 => zero,
        3 => carry | zero,
        4 => sign,
        5 => parity,
        6 => sign != overflow,
        _ => zero | (sign != overflow),
    };
    holds != (condition & 1 == 1)
}

/// The prefix bits that extend register numbers by a fourth bit.
#[derive(Clone, Copy, Default)]
struct Extension {
    index: u8,
    base: u8,
}

/// The opcode's map, numbered as in VEX and EVEX: one byte, after 0F, after 0F 38, after 0F 3A.
const ONE_BYTE: u8 = 0;
const AFTER_0F: u8 = 1;
const AFTER_0F38: u8 = 2;
const AFTER_0F3A: u8 = 3;

/// Decodes the leak of the instruction at the start of these bytes.
pub fn decode(code: &[u8]) -> Option<Use> {
    let all = code;
    let mut code = code.iter().copied();
    let mut byte = code.next()?;
    while matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3) {
        byte = code.next()?;
    }
    let mut extension = Extension::default();
    let (map, opcode, is_vector) = match byte {
        0xc5 => {
            code.next()?;
            (AFTER_0F, code.next()?, true)
        }
        // Three-byte VEX and EVEX have inverted extensions, and the map at the same place.
        0xc4 | 0x62 => {
            let first = code.next()?;
            extension.index = first >> 6 & 1 ^ 1;
            extension.base = first >> 5 & 1 ^ 1;
            code.nth(if byte == 0xc4 { 0 } else { 1 })?;
            (first & if byte == 0xc4 { 31 } else { 7 }, code.next()?, true)
        }
        _ => {
            if byte & 0xf0 == 0x40 {
                extension.index = byte >> 1 & 1;
                extension.base = byte & 1;
                byte = code.next()?;
            }
            match byte {
                0x0f => match code.next()? {
                    0x38 => (AFTER_0F38, code.next()?, false),
                    0x3a => (AFTER_0F3A, code.next()?, false),
                    opcode => (AFTER_0F, opcode, false),
                },
                opcode => (ONE_BYTE, opcode, false),
            }
        }
    };
    let condition = opcode & 15;
    match (map, opcode) {
        (ONE_BYTE, 0x70..=0x7f) => {
            let relative = i32::from(code.next()? as i8);
            return Some(Use::Jump { condition, relative });
        }
        (AFTER_0F, 0x80..=0x8f) if !is_vector => {
            let relative = i32::from_le_bytes(*all.last_chunk()?);
            return Some(Use::Jump { condition, relative });
        }
        (ONE_BYTE, 0xa4..=0xa7 | 0xaa..=0xaf) => return Some(Use::String),
        // Instructions that do not access their operand's address: lea, nop.
        (ONE_BYTE, 0x8d) | (AFTER_0F, 0x19..=0x1f) => return None,
        _ if !is_vector && !has_operand_byte(map, opcode) => return None,
        (AFTER_0F, 0x77) => return None,
        _ => {}
    }
    let operand = code.next()?;
    let (mode, kind, register) = (operand >> 6, operand >> 3 & 7, operand & 7);
    let is_relative = mode == 0 && register == 5;
    if map == ONE_BYTE && matches!(opcode, 0xf6 | 0xf7) && kind >= 6 && !is_relative {
        return Some(Use::Division);
    }
    if mode == 3 {
        let jumps = map == ONE_BYTE && opcode == 0xff && matches!(kind, 2 | 4);
        return jumps.then_some(Use::Target(register | extension.base << 3));
    }
    if is_vector && map == AFTER_0F38 && matches!(opcode, 0x90..=0x93 | 0xa0..=0xa3 | 0xc6 | 0xc7) {
        return Some(Use::Gather);
    }
    if is_relative {
        return None;
    }
    let mut found = (Some(register | extension.base << 3), None);
    if register == 4 {
        let scaled = code.next()?;
        let index = scaled >> 3 & 7 | extension.index << 3;
        found.1 = (index != RSP).then_some((index, scaled >> 6));
        let base = scaled & 7;
        found.0 = (mode != 0 || base != 5).then_some(base | extension.base << 3);
    }
    // Addresses on the stack follow from the path of execution.
    match found {
        (Some(RSP) | None, None) => None,
        (base, index) => Some(Use::Address { base, index }),
    }
}

/// Returns whether an operand byte (ModRM) follows an opcode without VEX.
fn has_operand_byte(map: u8, opcode: u8) -> bool {
    match map {
        ONE_BYTE => match opcode {
            0x00..=0x3f => opcode & 7 < 4,
            0x63 | 0x69 | 0x6b | 0x80..=0x8f | 0xc0 | 0xc1 | 0xc6 | 0xc7 => true,
            0xd0..=0xd3 | 0xd8..=0xdf | 0xf6 | 0xf7 | 0xfe | 0xff => true,
            _ => false,
        },
        AFTER_0F => !matches!(
            opcode,
            0x05..=0x0b | 0x0e | 0x30..=0x37 | 0x77 | 0x80..=0x8f | 0xa0..=0xa2 | 0xa8..=0xaa | 0xc8..=0xcf
        ),
        _ => true,
    }
}

/// Checks this decoder, which all its findings depend on.
pub fn check() -> Tally {
    let mut tally = Tally::default();
    check_uses(&mut tally);
    check_conditions(&mut tally);
    tally
}

/// Compares with the output of an assembler.
fn check_uses(tally: &mut Tally) {
    let plain = |base| Some(Use::Address { base: Some(base), index: None });
    let indexed = |base, index, shift| Some(Use::Address { base, index: Some((index, shift)) });
    let cases: [(&[u8], Option<Use>); 25] = [
        // mov rax, [rbx + rcx*8 + 16]
        (&[0x48, 0x8b, 0x44, 0xcb, 0x10], indexed(Some(3), 1, 3)),
        // movzx eax, byte ptr [rsi + r9]
        (&[0x42, 0x0f, 0xb6, 0x04, 0x0e], indexed(Some(6), 9, 0)),
        // mov rax, [r13]
        (&[0x49, 0x8b, 0x45, 0x00], plain(13)),
        // mov [rsp + 8], rdi
        (&[0x48, 0x89, 0x7c, 0x24, 0x08], None),
        // mov rax, [rsp + rcx]
        (&[0x48, 0x8b, 0x04, 0x0c], indexed(Some(4), 1, 0)),
        // mov rax, [r12 + r12*2]
        (&[0x4b, 0x8b, 0x04, 0x64], indexed(Some(12), 12, 1)),
        // mov rax, [rip + 0]
        (&[0x48, 0x8b, 0x05, 0, 0, 0, 0], None),
        // mov rax, [rcx*4 + 64]
        (&[0x48, 0x8b, 0x04, 0x8d, 64, 0, 0, 0], indexed(None, 1, 2)),
        // lea rax, [rbx + rcx]
        (&[0x48, 0x8d, 0x04, 0x0b], None),
        // nop word ptr [rax + rax]
        (&[0x66, 0x0f, 0x1f, 0x04, 0x00], None),
        // add rax, rbx
        (&[0x48, 0x01, 0xd8], None),
        // div rcx
        (&[0x48, 0xf7, 0xf1], Some(Use::Division)),
        // rep movsb
        (&[0xf3, 0xa4], Some(Use::String)),
        // vmovdqu xmm0, [rdi + rax]
        (&[0xc5, 0xfa, 0x6f, 0x04, 0x07], indexed(Some(7), 0, 0)),
        // vpshufb ymm0, ymm1, [r8 + r10*4]
        (&[0xc4, 0x82, 0x75, 0x00, 0x04, 0x90], indexed(Some(8), 10, 2)),
        // vaesenc zmm0, zmm1, [r9 + rdx + 64]
        (&[0x62, 0xd2, 0x75, 0x48, 0xdc, 0x44, 0x11, 0x01], indexed(Some(9), 2, 0)),
        // vmovdqu64 zmm0, [rsi]
        (&[0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x06], plain(6)),
        // vpxorq zmm0, zmm1, zmm2
        (&[0x62, 0xf1, 0xf5, 0x48, 0xef, 0xc2], None),
        // vpgatherdd ymm0, [rax + ymm1*4], ymm2
        (&[0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88], Some(Use::Gather)),
        // vzeroupper
        (&[0xc5, 0xf8, 0x77], None),
        // je 5 bytes forward, and 300 back
        (&[0x74, 5], Some(Use::Jump { condition: 4, relative: 5 })),
        (&[0x0f, 0x84, 0xd4, 0xfe, 0xff, 0xff], Some(Use::Jump { condition: 4, relative: -300 })),
        // jmp rax, call r12
        (&[0xff, 0xe0], Some(Use::Target(0))),
        (&[0x41, 0xff, 0xd4], Some(Use::Target(12))),
        // aesenc xmm0, [rax + rdx*8]
        (&[0x66, 0x0f, 0x38, 0xdc, 0x04, 0xd0], indexed(Some(0), 2, 3)),
    ];
    for (code, expected) in cases {
        let found = decode(code);
        let wrong = || format!("decoder, {code:02x?}: expected {expected:?}, found {found:?}");
        tally.check((found != expected).then(wrong));
    }
}

/// Compares with the manual.
fn check_conditions(tally: &mut Tally) {
    let (carry, parity, zero, sign, overflow) = (1, 1 << 2, 1 << 6, 1 << 7, 1 << 11);
    let cases: [(u8, &[u64], &[u64]); 8] = [
        (0x0, &[overflow], &[0, carry]),
        (0x2, &[carry], &[0, zero]),
        (0x4, &[zero], &[0, carry]),
        (0x6, &[zero, carry], &[0, sign]),
        (0x8, &[sign], &[0, overflow]),
        (0xa, &[parity], &[0, zero]),
        (0xc, &[sign, overflow], &[0, sign | overflow, zero]),
        (0xe, &[zero, sign, overflow, zero | sign | overflow], &[0, sign | overflow]),
    ];
    for (condition, held, not_held) in cases {
        for (flags, expected) in
            held.iter().map(|f| (f, true)).chain(not_held.iter().map(|f| (f, false)))
        {
            let is_right =
                holds(condition, *flags) == expected && holds(condition | 1, *flags) != expected;
            let wrong = || {
                format!("decoder, condition {condition:x}, flags {flags:#x}: expected {expected}")
            };
            tally.check((!is_right).then(wrong));
        }
    }
}
