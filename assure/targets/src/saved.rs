//! Saved streams: the first byte chooses the MAC, and the rest is the sealed text. A restored
//! stream must continue and can be saved again.

use tagmac::save::Writer;

use crate::subject::any;

const PURPOSE: &[u8] = b"any stream 1";

pub fn run(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let (subject, sealer) = (any(first), &any(first).sealer);
    let (mac, id) = (subject.best(), subject.best().key_id());
    let about = [PURPOSE, &id.as_bytes()[..]];
    let sealed = sealer.seal(&about, text).expect("a seal");
    let Ok(mut stream) = mac.restore(sealer, &sealed) else { return };
    let again = sealer.open(&about, &stream.save(sealer).expect("it was saved")).expect("its own");
    let sealed = sealer.seal(&about, &again).expect("a seal");
    let mut other = mac.restore(sealer, &sealed).expect("it was saved");
    for more in [&b""[..], b"x", &[7; 100]] {
        stream.update(more);
        other.update(more);
        assert_eq!(stream.fork().tag(), other.fork().tag(), "both streams must agree");
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for choice in 0..crate::subject::count() {
        let subject = any(choice);
        let mut stream = subject.best().stream(&subject.nonce).expect("its nonce");
        stream.update(&[7; 45]);
        let Ok(saved) = stream.save(&subject.sealer) else { continue };
        let id = subject.best().key_id();
        let text = subject.sealer.open(&[PURPOSE, id.as_bytes()], &saved).expect("its own");
        seeds.push([&[choice], &**text].concat());
    }
    // Shorter than any state.
    let mut short = Writer::default();
    short.number(16);
    seeds.push([&[0], short.as_bytes()].concat());
    seeds
}
