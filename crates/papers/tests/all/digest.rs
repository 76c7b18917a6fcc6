//! RustCrypto's own tests of its trait `Mac`.

use tagmac::Pmac;
use tagmac::cipher::Aes128;
use tagmac_papers::{Cbc3, Rc6};

use crate::rust_crypto::macs;

macs! {
    pmac_rc6: Pmac<Rc6<16>>, "pmac.json" "PMAC-RC6", 42;
    cbc3_aes128: Cbc3<Aes128>, "parameters.json" "CBC3-AES128", 7;
    cbc3_rc6: Cbc3<Rc6<16>>, "parameters.json" "CBC3-RC6", 7;
}
