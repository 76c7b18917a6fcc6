//! The wrappers return published tags, and libraries agree with each other.

use peers::{NettlePoly1305Aes, NettleUmac, OpensslPoly1305, OpensslPoly1305Aes};

const UMAC_TAG_BYTES: [usize; 4] = [4, 8, 12, 16];

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = (0..hex.len()).step_by(2);
    pairs.map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}

fn block<const N: usize>(hex: &str) -> [u8; N] {
    bytes(hex).try_into().expect("the length of a block")
}

/// Bytes that look random: the high halves of a linear congruential generator (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 56) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    fn block<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().expect("as many as asked for")
    }
}

fn umac(umac: &mut NettleUmac, nonce: &[u8], message: &[u8]) -> Vec<u8> {
    let mut tag = vec![0; umac.tag_bytes()];
    umac.tag(nonce, message, &mut tag);
    tag
}

fn umac_next(umac: &mut NettleUmac, message: &[u8]) -> Vec<u8> {
    let mut tag = vec![0; umac.tag_bytes()];
    umac.next(message, &mut tag);
    tag
}

fn nettle_poly1305_aes(mac: &mut NettlePoly1305Aes, nonce: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let mut tag = [0; 16];
    mac.tag(nonce, message, &mut tag);
    tag
}

/// RFC 4418, appendix; the long row is as in its erratum. The RFC has no column of 128 bits: those
/// tags are from nettle's tests, and begin with those of 96 bits.
#[test]
fn umac_rfc_4418() {
    let rows = [
        (
            b"a".repeat(3),
            ["3b91d102", "44b5cb542f220104", "185e4fe905cba7bd85e4c2dc"],
            "185e4fe905cba7bd85e4c2dc3d117d8d",
        ),
        (
            b"abc".repeat(500),
            ["abeb3c8b", "d4cf26ddefd5c01a", "8824a260c53c66a36c9260a6"],
            "8824a260c53c66a36c9260a62cb83aa1",
        ),
        (
            b"a".repeat(1 << 25),
            ["85ee5cae", "faca46f856e9b45f", "a621c2457c0012e64f3fdae9"],
            "a621c2457c0012e64f3fdae9e7e1870c",
        ),
    ];
    for (message, [tag32, tag64, tag96], tag128) in rows {
        for (tag_bytes, tag) in UMAC_TAG_BYTES.into_iter().zip([tag32, tag64, tag96, tag128]) {
            let mut mac = NettleUmac::new(b"abcdefghijklmnop", tag_bytes);
            assert_eq!(umac(&mut mac, b"bcdefghi", &message), bytes(tag));
        }
    }
}

/// `next` equals `tag` under nonces that count up, with carries.
#[test]
fn umac_next_counts() {
    let mut random = Random(1);
    let key = random.block();
    for tag_bytes in UMAC_TAG_BYTES {
        let [mut given, mut counted] = [(); 2].map(|()| NettleUmac::new(&key, tag_bytes));
        let start = 0xfffe_u64;
        counted.set_nonce(&start.to_be_bytes());
        for nonce in start..start + 10 {
            let message = random.bytes(100);
            let tag = umac(&mut given, &nonce.to_be_bytes(), &message);
            assert_eq!(umac_next(&mut counted, &message), tag);
        }
    }
}

/// Every cut of a message has the whole message's tag.
#[test]
fn nettle_streams() {
    let mut random = Random(2);
    let message = random.bytes(3000);
    let nonce = random.block();
    for cut in [0, 1, 15, 16, 1023, 1024, 1025, 2999, 3000] {
        let (head, rest) = message.split_at(cut);
        for tag_bytes in UMAC_TAG_BYTES {
            let mut mac = NettleUmac::new(&[1; 16], tag_bytes);
            let tag = umac(&mut mac, &nonce, &message);
            mac.set_nonce(&nonce);
            mac.update(head);
            assert_eq!(umac_next(&mut mac, rest), tag);
        }
        let mut mac = NettlePoly1305Aes::new(&[1; 32]);
        let tag = nettle_poly1305_aes(&mut mac, &nonce, &message);
        let mut streamed = [0; 16];
        mac.set_nonce(&nonce);
        mac.update(head);
        mac.next(rest, &mut streamed);
        assert_eq!(streamed, tag);
    }
}

#[test]
#[should_panic(expected = "no UMAC with 5 bytes of tag")]
fn umac_has_four_lengths() {
    NettleUmac::new(&[0; 16], 5);
}

#[test]
#[should_panic(expected = "a UMAC nonce has 1 to 16 bytes, found 17")]
fn umac_nonces_end_at_a_block() {
    NettleUmac::new(&[0; 16], 8).set_nonce(&[0; 17]);
}

/// RFC 8439, section 2.5.2.
#[test]
fn poly1305_rfc_8439() {
    let key = block("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
    let tag = block("a8061dc1305136c6c22b8baf0c0127a9");
    let mut mac = OpensslPoly1305::new();
    // Twice, because the context is reused.
    for _ in 0..2 {
        assert_eq!(mac.tag(&key, b"Cryptographic Forum Research Group"), tag);
    }
}

/// Bernstein, "The Poly1305-AES message-authentication code" (2005), appendix B.
#[test]
fn poly1305_aes_bernstein() {
    let rows = [
        (
            "75deaa25c09f208e1dc4ce6b5cad3fbfa0f3080000f46400d0c7e9076c834403",
            "61ee09218d29b0aaed7e154a2c5509cc",
            "",
            "dd3fab2251f11ac759f0887129cc2ee7",
        ),
        (
            "6acb5f61a7176dd320c5c1eb2edcdc7448443d0bb0d21109c89a100b5ce2c208",
            "ae212a55399729595dea458bc621ff0e",
            "663cea190ffb83d89593f3f476b6bc24d7e679107ea26adb8caf6652d0656136",
            "0ee1c16bb73f0f4fd19881753c01cdbe",
        ),
    ];
    for (key, nonce, message, tag) in rows {
        let (key, nonce, message) = (block(key), block(nonce), bytes(message));
        let tag: [u8; 16] = block(tag);
        let mut nettle = NettlePoly1305Aes::new(&key);
        assert_eq!(nettle_poly1305_aes(&mut nettle, &nonce, &message), tag);
        assert_eq!(OpensslPoly1305Aes::new(&key).tag(&nonce, &message), tag);
    }
}

/// OpenSSL and nettle share no code, and agree.
#[test]
fn poly1305_aes_agree() {
    let mut random = Random(3);
    for _ in 0..10 {
        let key = random.block();
        let (mut nettle, mut openssl) =
            (NettlePoly1305Aes::new(&key), OpensslPoly1305Aes::new(&key));
        let edges = [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 255, 256, 257, 511, 512, 513, 1024];
        for length in edges.into_iter().chain([1500, 4096, 4097, 65537]) {
            let (nonce, message) = (random.block(), random.bytes(length));
            let tag = nettle_poly1305_aes(&mut nettle, &nonce, &message);
            assert_eq!(openssl.tag(&nonce, &message), tag, "{length} bytes");
        }
    }
}
