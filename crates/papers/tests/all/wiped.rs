//! Dropped keys are wiped in place; `wiped.rs` of the library describes the limits of this test.

use tagmac::cipher::{Aes128, BlockCipher};
use tagmac_papers::{Cbc3, Rc6, WideBlock};

use crate::wiping::{is_wiped, key};

#[test]
fn keys_leave_nothing() {
    is_wiped("RC6", Rc6::<16>::new(&key()));
    is_wiped("CBC3", Cbc3::<Aes128>::new(&key(), &key(), &key()));
    is_wiped("CBC3 of RC6", Cbc3::<Rc6>::new(&key(), &key(), &key()));
    is_wiped("the wide-block cipher", WideBlock::<Aes128>::new(&key(), &key()));
}
