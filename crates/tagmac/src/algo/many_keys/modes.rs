//! Modes of AES with one key per lane.

use super::super::cmac::Cmac;
use super::super::elimac::{self, EliMac};
use super::super::lightmac::LightMac;
use super::super::many::MAX_TERMS;
use super::super::pmac::Pmac;
use super::super::xor::number;
use super::blocks::{self, BlockMode};
use super::lanes::{Group, Schedule, Secret, Vectors, chains, digests, map, xor};
use super::{Batch, ManyKeys, RawKeyed, RawKeys};
use crate::batch::BatchError;
use crate::cipher::{Aes, Cipher, KnownAnswers, next_rcon};
use crate::error::Error;
use crate::isa::{Isa, Lanes, SelfTest};
use crate::tag::Tag;

/// L x^i, up to the largest i in the offsets of [`MAX_TERMS`] blocks.
type Powers<I, const N: usize> = Secret<<I as Lanes>::V, N, { MAX_TERMS.ilog2() as usize + 1 }>;

/// The known answers of modes over AES.
fn known_answers<const R: usize>() -> &'static KnownAnswers
where
    Aes<R>: RawKeyed,
{
    Aes::<R>::KNOWN_ANSWERS.expect("the known answers of AES")
}

/// Tags all messages by their blocks, see [`BlockMode`].
macro_rules! by_blocks {
    () => {
        #[inline(always)]
        fn tag_groups<I: Isa, const N: usize>(
            isa: I,
            batch: Batch<'_, '_, Self>,
        ) -> Result<(), BatchError> {
            blocks::tag_groups::<I, Self, N>(isa, batch)
        }
    };
}

impl<const R: usize> ManyKeys for Pmac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    type RawKey<'k> = &'k <Aes<R> as Cipher>::Key;
    type Parameters = ();
    const SELF_TEST_PARAMETERS: () = ();

    fn tag_one(set: &RawKeys<Self>, key: Self::RawKey<'_>, message: &[u8]) -> Result<Tag, Error> {
        Self::with_level(key, set.level).tag(message)
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey<'_> {
        &Aes::<R>::two_keys(bytes)[0]
    }

    fn self_test() -> &'static SelfTest {
        &known_answers::<R>().raw_pmac
    }

    by_blocks!();
}

impl<const R: usize> BlockMode for Pmac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    const LAST_BLOCK_DISTINCT: bool = true;
    type Scratch<I: Isa, const N: usize> = (Schedule<I, N, R>, Powers<I, N>);

    fn step(_: ()) -> usize {
        16
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
        group: &Group<'_, Self::RawKey<'_>>,
    ) -> Vectors<I, N> {
        powers[0] = keys.expand_and_encrypt(
            #[inline(always)]
            |i| group.keys[i].as_ref(),
            [isa.splat(&[0; 16]); N],
        );
        let whitening = keys.whitening();
        let mut mask = whitening;
        let mut sum = digests(
            isa,
            group,
            #[inline(always)]
            |i, piece| {
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
                keys.encrypt(xor(isa, piece, mask))
            },
        );
        let full: Vectors<I, N> = group.full(isa);
        for ((sum, full), l) in sum.iter_mut().zip(full).zip(powers[0]) {
            *sum = isa.xor(*sum, isa.and(isa.over_x(l), full));
        }
        keys.encrypt(xor(isa, sum, whitening))
    }
}

impl<const R: usize> ManyKeys for Cmac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    type RawKey<'k> = &'k <Aes<R> as Cipher>::Key;
    type Parameters = ();
    const SELF_TEST_PARAMETERS: () = ();

    fn tag_one(set: &RawKeys<Self>, key: Self::RawKey<'_>, message: &[u8]) -> Result<Tag, Error> {
        Ok(Self::with_level(key, set.level).tag(message))
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey<'_> {
        &Aes::<R>::two_keys(bytes)[0]
    }

    fn self_test() -> &'static SelfTest {
        &known_answers::<R>().raw_cmac
    }

    by_blocks!();
}

impl<const R: usize> BlockMode for Cmac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    const LAST_BLOCK_DISTINCT: bool = true;
    type Scratch<I: Isa, const N: usize> = Schedule<I, N, R>;

    fn step(_: ()) -> usize {
        16
    }

    #[inline(always)]
    fn scratch<I: Isa, const N: usize>(isa: I) -> Self::Scratch<I, N> {
        Schedule::new(isa)
    }

    #[inline(always)]
    fn encrypt_group<I: Isa, const N: usize>(
        isa: I,
        _: (),
        keys: &mut Self::Scratch<I, N>,
        group: &Group<'_, Self::RawKey<'_>>,
    ) -> Vectors<I, N> {
        let l = keys.expand_and_encrypt(
            #[inline(always)]
            |i| group.keys[i].as_ref(),
            [isa.splat(&[0; 16]); N],
        );
        let last = xor(isa, group.last(isa), keys.whitening());
        let mut x = xor(isa, last, chains(isa, keys, group));
        let full: Vectors<I, N> = group.full(isa);
        for ((x, full), l) in x.iter_mut().zip(full).zip(l) {
            // K1 is L x. K2 is K1 x, and K1 ^ (K1 ^ K2) chooses without a branch.
            let k1 = isa.times_x(l);
            let k2 = isa.times_x(k1);
            *x = isa.xor3(*x, k2, isa.and(isa.xor(k1, k2), full));
        }
        keys.encrypt(x)
    }
}

impl<const R: usize> ManyKeys for LightMac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    type RawKey<'k> = &'k [<Aes<R> as Cipher>::Key; 2];
    /// The counter length s.
    type Parameters = usize;
    const SELF_TEST_PARAMETERS: usize = 32;

    fn tag_one(
        set: &RawKeys<Self>,
        [k1, k2]: Self::RawKey<'_>,
        message: &[u8],
    ) -> Result<Tag, Error> {
        Self::with_level(k1, k2, set.parameters, set.level)?.tag(message)
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey<'_> {
        Aes::<R>::two_keys(bytes)
    }

    fn self_test() -> &'static SelfTest {
        &known_answers::<R>().raw_lightmac
    }

    fn runs_side_by_side(s: usize) -> bool {
        s.is_multiple_of(8)
    }

    by_blocks!();
}

impl<const R: usize> BlockMode for LightMac<Aes<R>>
where
    Aes<R>: RawKeyed,
{
    const LAST_BLOCK_DISTINCT: bool = false;
    /// The schedules of K1 and K2.
    type Scratch<I: Isa, const N: usize> = [Schedule<I, N, R>; 2];

    fn step(s: usize) -> usize {
        16 - s / 8
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
        group: &Group<'_, Self::RawKey<'_>>,
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
            group,
            #[inline(always)]
            |i, piece| {
                let mask = xor(isa, k1.whitening(), [number(isa, i as u64, layout); N]);
                k1.encrypt(xor(isa, piece, mask))
            },
        );
        k2.encrypt(xor(isa, sum, k2.whitening()))
    }
}

impl ManyKeys for EliMac {
    type RawKey<'k> = &'k [[u8; 16]; 2];
    type Parameters = ();
    const SELF_TEST_PARAMETERS: () = ();

    fn tag_one(
        set: &RawKeys<Self>,
        [k1, k2]: Self::RawKey<'_>,
        message: &[u8],
    ) -> Result<Tag, Error> {
        Self::with_level(k1, k2, set.level).tag(message)
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey<'_> {
        Aes::<10>::two_keys(bytes)
    }

    fn self_test() -> &'static SelfTest {
        static TEST: SelfTest = SelfTest::new();
        &TEST
    }

    by_blocks!();
}

impl BlockMode for EliMac {
    const LAST_BLOCK_DISTINCT: bool = false;
    /// The schedules of H's seven rounds and of E, and the public round keys of I.
    type Scratch<I: Isa, const N: usize> = (Schedule<I, N, 7>, Schedule<I, N, 10>, [I::V; 4]);

    fn step(_: ()) -> usize {
        16
    }

    #[inline(always)]
    fn scratch<I: Isa, const N: usize>(isa: I) -> Self::Scratch<I, N> {
        let (mut key, mut rcon) = (isa.splat(&[0; 16]), 1);
        let mut rounds = [key; 4];
        for round in &mut rounds {
            key = isa.next_key_words(key, key, Some(rcon));
            (*round, rcon) = (key, next_rcon(rcon));
        }
        (Schedule::new(isa), Schedule::new(isa), rounds)
    }

    #[inline(always)]
    fn encrypt_group<I: Isa, const N: usize>(
        isa: I,
        _: (),
        (h, e, [i1, i2, i3, i4]): &mut Self::Scratch<I, N>,
        group: &Group<'_, Self::RawKey<'_>>,
    ) -> Vectors<I, N> {
        let layout = isa.narrow().counter_layout(&elimac::FORM);
        let first = h.expand_and_encrypt(
            #[inline(always)]
            |i| group.keys[i][0].as_ref(),
            [number(isa, 1, layout); N],
        );
        let sum = digests(
            isa,
            group,
            #[inline(always)]
            |i, piece| {
                let subkey = match i {
                    1 => first,
                    _ => {
                        let number = [number(isa, i as u64, layout); N];
                        h.encrypt(xor(isa, h.whitening(), number))
                    }
                };
                map(
                    xor(isa, piece, subkey),
                    #[inline(always)]
                    |x| isa.aes_last(isa.aes(isa.aes(isa.aes(x, *i1), *i2), *i3), *i4),
                )
            },
        );
        e.expand_and_encrypt(
            #[inline(always)]
            |i| group.keys[i][1].as_ref(),
            sum,
        )
    }
}
