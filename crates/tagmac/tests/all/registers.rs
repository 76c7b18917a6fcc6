//! Checks that callee-saved registers keep their values during a tag. The library has a few lines
//! of assembly, which declare the registers that they change.

use std::arch::asm;
use std::hint::black_box;

use tagmac::isa::Level;
use tagmac::{LightMacAes128, Mac, PmacAes128, Poly1305Aes, Tag, Umac64, UmacNonce};

/// Calls `f` with a value in every callee-saved register, and returns whether all of them keep it.
/// The stack pointer is left out: without it, the call could not return here.
fn keeps_registers(f: &mut dyn FnMut()) -> bool {
    extern "sysv64" fn call(f: &mut &mut dyn FnMut()) {
        f();
    }
    let (mut f, mut differ) = (f, 0x5eed_0123_4567_89ab_u64);
    // SAFETY: calls a function with an aligned argument, and pops what it pushed. All registers
    // that the function may change are declared as changed.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "mov rbx, rax",
            "mov rbp, rax",
            "mov r12, rax",
            "mov r13, rax",
            "mov r14, rax",
            "mov r15, rax",
            "push rax",
            "push rax",
            "call rsi",
            "pop rax",
            "pop rax",
            "xor rbx, rax",
            "xor rbp, rax",
            "xor r12, rax",
            "xor r13, rax",
            "xor r14, rax",
            "xor r15, rax",
            "or rbx, rbp",
            "or rbx, r12",
            "or rbx, r13",
            "or rbx, r14",
            "or rbx, r15",
            "mov rax, rbx",
            "pop rbp",
            "pop rbx",
            inout("rax") differ,
            in("rdi") &raw mut f,
            in("rsi") call as extern "sysv64" fn(&mut &mut dyn FnMut()),
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
    differ == 0
}

fn check<M: Mac>(name: &str, level: Level, mac: &M, nonce: M::Nonce) {
    for bytes in [0, 5, 16, 100, 1000, 5000] {
        let message = &vec![7; bytes][..];
        let mut tags = [Tag::default(); 40];
        let kept = keeps_registers(&mut || {
            let tag = mac.tag_with(&nonce, message).expect("a short message");
            let verified = mac.verify_with(&nonce, message, &tag);
            let mut stream = mac.stream_with(&nonce);
            stream.update(message);
            let many = mac.tag_many_with(&[nonce; 40], &[message; 40], &mut tags);
            black_box((verified, stream.verify(&tag), many)).0.expect("its own tag");
        });
        assert!(kept, "{name} on {level}: {bytes} bytes");
    }
}

#[test]
fn a_caller_s_registers_are_kept() {
    for level in Level::all() {
        check("PMAC", level, &PmacAes128::with_level(&[1; 16], level), ());
        let mac = LightMacAes128::with_level(&[1; 16], &[2; 16], 40, level).expect("s = 40");
        check("LightMAC", level, &mac, ());
        check("Poly1305-AES", level, &Poly1305Aes::with_level(&[1; 32], level), [3; 16]);
        check("UMAC-64", level, &Umac64::with_level(&[1; 16], level), UmacNonce::from(4));
    }
}

#[test]
fn a_register_that_is_lost_is_seen() {
    for lost in 0..4 {
        let mut lose = || {
            // SAFETY: the registers are not in use: the closure does nothing else. They are
            // deliberately not declared as changed; the test must detect this fault.
            unsafe {
                match lost {
                    0 => asm!("mov r12d, 1"),
                    1 => asm!("mov r13d, 1"),
                    2 => asm!("mov r14d, 1"),
                    _ => asm!("mov r15d, 1"),
                }
            }
        };
        assert!(!keeps_registers(&mut lose), "register {lost}");
    }
}
