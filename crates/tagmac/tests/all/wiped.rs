//! Dropped keys are wiped in place. `scripts/assure secrets` looks for other copies, also on the
//! heap, in core files and on the stack below. It also tests streams and sums, which are too short
//! here: compilers may leave old bytes of that length between fields.

use tagmac::cipher::{Aes128, Aes256, Present80};
use tagmac::{Cmac, EliMac, LightMac, Pmac, Umac32, Umac128};

use crate::wiping::{before_and_after, is_secret, is_wiped, key};

#[test]
fn what_was_not_wiped_is_found() {
    let [before, after] = before_and_after(key::<32>());
    assert!(is_secret(&before) && before == after);
}

#[test]
fn keys_leave_nothing() {
    is_wiped("PMAC", Pmac::<Aes128>::new(&key()));
    is_wiped("PMAC of PRESENT", Pmac::<Present80>::new(&key()));
    is_wiped("LightMAC", LightMac::<Aes256>::new(&key(), &key(), 32).expect("a counter"));
    is_wiped("EliMAC", EliMac::new(&key(), &key()));
    is_wiped("CMAC", Cmac::<Aes128>::new(&key()));
    is_wiped("UMAC-32", Umac32::new(&key()));
    is_wiped("UMAC-128", Umac128::new(&key()));
}
