//! Runs the whole program with `--quick`.

use std::process::Command;

#[test]
fn no_attack_succeeds() {
    let program = env!("CARGO_BIN_EXE_tcp-stream");
    let run = Command::new(program).arg("--quick").output().expect("the program runs");
    let printed = String::from_utf8(run.stdout).expect("UTF-8");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    assert!(printed.starts_with("111 attacks: "), "{printed}");
    for transport in ["plain TCP", "Poly1305-AES tags", "TLS 1.3, AES-128-GCM"] {
        assert!(printed.contains(transport), "no line for {transport}: {printed}");
    }
}
