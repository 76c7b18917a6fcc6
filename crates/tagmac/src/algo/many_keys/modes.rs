//! PMAC and LightMAC with one key per lane.

use super::super::lightmac::LightMac;
use super::super::many::MAX_TERMS;
use super::super::pmac::Pmac;
use super::super::xor::number;
use super::lanes::{Group, Schedule, Secret, Vectors, digests, map, xor};
use super::{ManyKeys, RawKeyed, RawKeys};
use crate::cipher::{Aes, Cipher, KnownAnswers};
use crate::isa::{Isa, Lanes, SelfTest};

/// L x^i, up to the largest i in the offsets of [`MAX_TERMS`] blocks.
type Powers<I, const N: usize> = Secret<<I as Lanes>::V, N, { MAX_TERMS.ilog2() as usize + 1 }>;

/// The known answers of modes over AES.
fn known_answers<const R: usize>() -> &'static KnownAnswers
where
    Aes<R>: RawKeyed,
{
    Aes::<R>::KNOWN_ANSWERS.expect("the known answers of AES")
}

/// Key `number` in a string of bytes.
fn key_from<const R: usize>(bytes: &[u8; 64], number: usize) -> <Aes<R> as Cipher>::Key
where
    Aes<R>: RawKeyed,
{
    let length = Aes::<R>::KEY_BYTES;
    let key = bytes[number * length..][..length].try_into();
    key.unwrap_or_else(|_| unreachable!("a key of the cipher's length"))
}

impl<const R: usize> ManyKeys for Pmac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    type RawKey = <Aes<R> as Cipher>::Key;
    type Parameters = ();
    type Scratch<I: Isa, const N: usize> = (Schedule<I, N, R>, Powers<I, N>);
    const SELF_TEST_PARAMETERS: () = ();

    fn with_key(set: &RawKeys<Self>, key: &Self::RawKey) -> Self {
        Pmac::with_level(key, set.level)
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey {
        key_from::<R>(bytes, 0)
    }

    fn self_test() -> &'static SelfTest {
        &known_answers::<R>().raw_pmac
    }

    fn step(_: ()) -> Option<usize> {
        Some(16)
    }

    #[inline(always)]
    fn scratch<I: Isa, const N: usize>(isa: I) -> Self::Scratch<I, N> {
        (Schedule::new(isa), Secret::new(isa))
    }

    #[inline(always)]
    fn encrypt_group<I: Isa, const N: usize>(
        isa: I,
        _: (),
        (keys, powers): &mut Self::Scratch<I, N>,
        group: &Group<'_, '_, Self::RawKey>,
    ) -> Vectors<I, N> {
        powers[0] = keys.expand_and_encrypt_zero(
            #[inline(always)]
            |i| group.keys[i].as_ref(),
        );
        let whitening = keys.whitening();
        let mut mask = whitening;
        let mut sum = digests(
            isa,
            keys,
            group,
            #[inline(always)]
            |i| {
                // gamma_i is gamma_{i-1} with one bit flipped: the lowest set bit of i.
                let bit = i.trailing_zeros() as usize;
                if i > 1 && i.is_power_of_two() {
                    powers[bit] = map(
                        powers[bit - 1],
                        #[inline(always)]
                        |l| isa.times_x(l),
                    );
                }
                mask = xor(isa, mask, powers[bit]);
                mask
            },
        );
        let full: Vectors<I, N> = group.full(isa);
        for ((sum, full), l) in sum.iter_mut().zip(full).zip(powers[0]) {
            *sum = isa.xor(*sum, isa.and(isa.over_x(l), full));
        }
        keys.encrypt(xor(isa, sum, whitening))
    }
}

impl<const R: usize> ManyKeys for LightMac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    type RawKey = [<Aes<R> as Cipher>::Key; 2];
    /// The counter length s.
    type Parameters = usize;
    /// The schedules of K1 and K2.
    type Scratch<I: Isa, const N: usize> = [Schedule<I, N, R>; 2];
    const SELF_TEST_PARAMETERS: usize = 32;

    fn with_key(set: &RawKeys<Self>, [k1, k2]: &Self::RawKey) -> Self {
        LightMac::with_level(k1, k2, set.parameters, set.level).expect("1 to 64 bits")
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey {
        [0, 1].map(|number| key_from::<R>(bytes, number))
    }

    fn self_test() -> &'static SelfTest {
        &known_answers::<R>().raw_lightmac
    }

    fn step(s: usize) -> Option<usize> {
        s.is_multiple_of(8).then_some(16 - s / 8)
    }

    #[inline(always)]
    fn scratch<I: Isa, const N: usize>(isa: I) -> Self::Scratch<I, N> {
        [Schedule::new(isa), Schedule::new(isa)]
    }

    #[inline(always)]
    fn encrypt_group<I: Isa, const N: usize>(
        isa: I,
        s: usize,
        [k1, k2]: &mut Self::Scratch<I, N>,
        group: &Group<'_, '_, Self::RawKey>,
    ) -> Vectors<I, N> {
        k1.expand(
            #[inline(always)]
            |i| group.keys[i][0].as_ref(),
            |_, _| (),
        );
        k2.expand(
            #[inline(always)]
            |i| group.keys[i][1].as_ref(),
            |_, _| (),
        );
        let layout = isa.narrow().be_prefix(s / 8);
        let sum = digests(
            isa,
            k1,
            group,
            #[inline(always)]
            |i| xor(isa, k1.whitening(), [number(isa, i as u64, layout); N]),
        );
        k2.encrypt(xor(isa, sum, k2.whitening()))
    }
}
