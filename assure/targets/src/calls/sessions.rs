//! Sessions, with their own nonces and a budget.

use tagmac::{Assurance, Tag};
use tagmac_any::{AnyMac, Session};

use super::functions::*;
use super::{State, answered, nonce};
use crate::input::{Input, pattern};

impl State {
    pub fn session_init(&mut self, i: usize, k: usize, input: &mut Input<'_>) {
        let mac = self.key[k].clone();
        let how = input.byte();
        let max_message = [0, 100, u64::MAX, 1 << 20][usize::from(how & 3)];
        let probability = [0.0, 1e-9, 2.0, f64::NAN][usize::from(how >> 2 & 3)];
        let budget = mac.as_ref().and_then(|mac| {
            let max = (max_message != 0).then_some(max_message);
            mac.budget(max, (probability != 0.0).then_some(probability)).ok()
        });
        let free = self.session[i].is_none();
        let (session, key) = (&mut self.sessions[i], &self.keys[k]);
        let (status, made) = if how & 16 == 0 {
            let nonce = nonce(mac.as_ref(), input);
            let nonce = if how & 32 == 0 { nonce } else { vec![255; nonce.len()] };
            // SAFETY: objects made by the calls, memory of that size.
            let status = unsafe {
                tagmac_session_init(
                    session,
                    key,
                    nonce.as_ptr(),
                    nonce.len(),
                    max_message,
                    probability,
                )
            };
            let fits = |mac: &AnyMac| mac.algorithm().check_nonce(nonce.len()).is_ok();
            let made = mac.clone().filter(fits).zip(budget);
            (status, made.and_then(|(mac, budget)| Session::new(mac, &nonce, budget).ok()))
        } else {
            let mut saved = self.saved.clone();
            if how & 32 != 0 && !saved.is_empty() {
                let place = input.up_to(saved.len() - 1);
                saved[place] ^= 1 << (how >> 6);
            }
            // SAFETY: objects made by the calls, memory of that size.
            let status = unsafe {
                let at = saved.as_ptr();
                tagmac_session_restore(session, key, at, saved.len(), max_message, probability)
            };
            let made = mac.clone().zip(budget);
            (status, made.and_then(|(mac, budget)| Session::restore(mac, &saved, budget).ok()))
        };
        answered("session_init", status, made.is_some() && free);
        if free {
            self.session[i] = made.zip(mac);
        }
    }

    pub fn session_tag(&mut self, i: usize, wrong_size: usize, input: &mut Input<'_>) {
        let message = pattern(input.byte(), input.short() % 5000);
        let session = self.session[i].as_mut();
        let (tag_size, nonce_size) = session.as_ref().map_or((0, 0), |(session, mac)| {
            (mac.tag_bits().div_ceil(8) + wrong_size, session.nonce_bytes())
        });
        let (mut tag, mut nonce) = ([0; 80], [0; 16]);
        // SAFETY: an object made by the calls, memory of those sizes.
        let status = unsafe {
            let (t, n, m) = (tag.as_mut_ptr(), nonce.as_mut_ptr(), &message);
            let session = &mut self.sessions[i];
            assert_eq!(tagmac_session_nonce_size(session), nonce_size);
            tagmac_session_tag(session, t, tag_size, n, nonce_size, m.as_ptr(), m.len())
        };
        let made =
            session.filter(|_| wrong_size == 0).and_then(|(session, _)| session.tag(&message).ok());
        answered("session_tag", status, made.is_some());
        if let Some((expected, made)) = made {
            assert_eq!(&tag[..tag_size], made.as_bytes());
            assert_eq!(&nonce[..nonce_size], expected.as_bytes());
            self.session_verify(i, &tag[..tag_size], &nonce[..nonce_size], &message);
        }
    }

    /// Verifies the tag that was just made, whole and by words, unchanged and altered.
    fn session_verify(&mut self, i: usize, tag: &[u8], nonce: &[u8], message: &[u8]) {
        let Some((session, mac)) = &self.session[i] else { return };
        let words = message.len() % 6;
        let mut other = tag.to_vec();
        other[message.len() % tag.len()] ^= 1;
        for tag in [tag, &other] {
            // SAFETY: an object made by the calls, memory of those sizes.
            let status = unsafe {
                let (t, n, m) = (tag.as_ptr(), nonce.as_ptr(), message.as_ptr());
                let session = &mut self.sessions[i];
                tagmac_session_verify(
                    session,
                    t,
                    tag.len(),
                    n,
                    nonce.len(),
                    m,
                    message.len(),
                    words,
                )
            };
            let made = Tag::new(tag, mac.tag_bits());
            let right = made.is_ok_and(|tag| match words {
                0 => session.verify(nonce, message, &tag).is_ok(),
                words => Assurance::from_words(words).is_some_and(|grade| {
                    session.verify_prefix(nonce, message, &tag, grade).is_ok()
                }),
            });
            assert_eq!(status == 0, right, "{words} words of {}", mac.algorithm());
        }
    }

    pub fn session_reserve(&mut self, i: usize, input: &mut Input<'_>) {
        let messages = match input.byte() {
            255 => u64::MAX,
            254 => 1 << 40,
            few => few.into(),
        };
        // SAFETY: an object made by the calls.
        let status = unsafe { tagmac_session_reserve(&mut self.sessions[i], messages) };
        let session = self.session[i].as_mut();
        let can = session.is_some_and(|(session, _)| session.reserve(messages).is_ok());
        answered("session_reserve", status, can);
    }

    pub fn session_save(&mut self, i: usize, wrong_size: usize) {
        let mut tag = [0; Session::BYTES];
        let size = tag.len() - wrong_size;
        // SAFETY: an object made by the calls, a buffer of that size.
        let status = unsafe { tagmac_session_save(&mut self.sessions[i], tag.as_mut_ptr(), size) };
        let session = self.session[i].as_mut().filter(|_| wrong_size == 0);
        let saved = session.and_then(|(session, _)| session.save().ok());
        answered("session_save", status, saved.is_some());
        if let Some(saved) = saved {
            assert_eq!(tag, saved);
            self.saved = saved.to_vec();
        }
    }

    pub fn session_counts(&mut self, i: usize) {
        let mut counts = [0; 3];
        let [used, left, reserved] = &mut counts;
        // SAFETY: an object made by the calls, space for the numbers.
        let status = unsafe { tagmac_session_counts(&self.sessions[i], used, left, reserved) };
        answered("session_counts", status, self.session[i].is_some());
        if let Some((session, _)) = &self.session[i] {
            assert_eq!(counts, [session.used(), session.left(), session.reserved()]);
        }
    }
}
