//! The program of docs/guide/library.md. A test checks that the page's code is in it.

type Done = Result<(), Box<dyn std::error::Error>>;

fn one_message() -> Done {
    use tagmac::{PmacAes128, Tag};

    let mut key = [0; 16];
    getrandom::fill(&mut key)?; // 16 random bytes: keep them secret
    let mac = PmacAes128::new(&key);

    let tag = mac.tag(b"pay 100 to Bob")?;
    let sent: &[u8] = tag.as_bytes(); // 16 bytes to store or send

    let received = Tag::try_from(sent)?; // a tag of another length does not verify
    mac.verify(b"pay 100 to Bob", &received)?; // an error if it is wrong; constant time
    Ok(())
}

fn with_nonces(key: [u8; 16]) -> Done {
    use tagmac::{Mac, NonceSequence, Umac64};

    let mac = Umac64::new(&key);
    let mut sequence = NonceSequence::new(&mac, 8)?; // 8 bytes, counting from 0
    let (nonce, tag) = sequence.tag(b"pay 100 to Bob")?; // send both
    mac.verify_with(&nonce, b"pay 100 to Bob", &tag)?;
    Ok(())
}

fn many_messages(key: [u8; 16]) -> Done {
    use tagmac::{PmacAes128, Tag};

    let mac = PmacAes128::new(&key);
    let packets: [&[u8]; 3] = [b"one", b"two", b"six"];
    let mut tags = vec![Tag::default(); packets.len()];
    mac.tag_many(&packets, &mut tags)?;

    let mut verdicts = vec![Ok(()); packets.len()]; // one for each packet
    if mac.verify_many(&packets, &tags, &mut verdicts).is_err() {
        let wrong = verdicts.iter().filter(|verdict| verdict.is_err()).count();
        println!("{wrong} wrong tags");
    }
    Ok(())
}

fn other_ciphers([k1, k2, key]: [[u8; 16]; 3]) -> Done {
    use tagmac::cipher::Present128;
    use tagmac::{LightMac, Pmac};

    let lightmac = LightMac::<Present128>::new(&k1, &k2, 16)?; // a counter of 16 bits
    let pmac = Pmac::<Present128>::new(&key);

    println!("{} {}", lightmac.tag(b"pay 100 to Bob")?, pmac.tag(b"pay 100 to Bob")?);
    Ok(())
}

fn main() -> Done {
    one_message()?;
    with_nonces([1; 16])?;
    many_messages([2; 16])?;
    other_ciphers([[3; 16], [4; 16], [5; 16]])
}
