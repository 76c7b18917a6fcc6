//! Other libraries' MACs beside ours, where they are linked.

use crate::quick::Timed;

type Peers = Vec<(&'static str, Box<dyn Timed>)>;

/// nettle's UMAC, the nonce set for each message.
#[cfg(feature = "peers")]
pub fn umac(key: &[u8; 16], tag_bytes: usize) -> Peers {
    let mut mac = ::peers::NettleUmac::new(key, tag_bytes);
    let nonce = 7u64.to_be_bytes();
    let timed = move |message: &[u8]| {
        let mut tag = [0; 16];
        mac.tag(std::hint::black_box(&nonce), message, &mut tag[..tag_bytes]);
        Short { tag, bytes: tag_bytes }
    };
    vec![("  nettle 3.8", Box::new(timed))]
}

/// nettle's UMAC, which counts nonces up by itself.
#[cfg(feature = "peers")]
pub fn umac_counting(key: &[u8; 16], tag_bytes: usize) -> Peers {
    let mut mac = ::peers::NettleUmac::new(key, tag_bytes);
    mac.set_nonce(&[0; 8]);
    let timed = move |message: &[u8]| {
        let mut tag = [0; 16];
        mac.next(message, &mut tag[..tag_bytes]);
        Short { tag, bytes: tag_bytes }
    };
    vec![("  nettle 3.8", Box::new(timed))]
}

/// nettle's Poly1305-AES, and OpenSSL's Poly1305 under the pad of its AES.
#[cfg(feature = "peers")]
pub fn poly1305_aes(key: &[u8; 32]) -> Peers {
    let mut nettle = ::peers::NettlePoly1305Aes::new(key);
    let mut openssl = ::peers::OpensslPoly1305Aes::new(key);
    let nonce = [7; 16];
    let by_nettle = move |message: &[u8]| {
        let mut tag = [0; 16];
        nettle.tag(std::hint::black_box(&nonce), message, &mut tag);
        tag
    };
    let by_openssl = move |message: &[u8]| openssl.tag(std::hint::black_box(&nonce), message);
    vec![("  nettle 3.8", Box::new(by_nettle)), ("  OpenSSL 3.0", Box::new(by_openssl))]
}

/// OpenSSL's one-time Poly1305, keyed for each message.
#[cfg(feature = "peers")]
pub fn poly1305(key: &[u8; 32]) -> Peers {
    let mut mac = ::peers::OpensslPoly1305::new();
    let key = *key;
    let timed = move |message: &[u8]| mac.tag(std::hint::black_box(&key), message);
    vec![("  OpenSSL 3.0", Box::new(timed))]
}

/// A tag of up to 16 bytes.
#[cfg(feature = "peers")]
struct Short {
    tag: [u8; 16],
    bytes: usize,
}

#[cfg(feature = "peers")]
impl AsRef<[u8]> for Short {
    fn as_ref(&self) -> &[u8] {
        &self.tag[..self.bytes]
    }
}

#[cfg(not(feature = "peers"))]
mod absent {
    use super::Peers;

    pub fn umac(_key: &[u8; 16], _tag_bytes: usize) -> Peers {
        Vec::new()
    }

    pub fn umac_counting(_key: &[u8; 16], _tag_bytes: usize) -> Peers {
        Vec::new()
    }

    pub fn poly1305_aes(_key: &[u8; 32]) -> Peers {
        Vec::new()
    }

    pub fn poly1305(_key: &[u8; 32]) -> Peers {
        Vec::new()
    }
}

#[cfg(not(feature = "peers"))]
pub use absent::{poly1305, poly1305_aes, umac, umac_counting};
