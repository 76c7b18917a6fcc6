//! Several keys: devices, users, tenants.
//!
//! With U keys, the probability that any of them is forged is at most the sum over the keys, if
//! these are independent (the union bound). Each key therefore gets 1/U of the probability.

use super::up::UpperFloat;
use super::{Bound, BoundError, Term};

/// Returns the probability that each of `keys` keys may reach so that all together stay within
/// `probability`. Rounded downward.
///
/// ```
/// use tagmac_bounds::{Theorem, per_key};
/// let theorem = Theorem::LightMac { n: 128, s: 32, t: 128 };
/// // A million devices: each may tag a thousandth of the messages.
/// let each = per_key(2f64.powi(-32), 1 << 20)?;
/// assert_eq!(each, 2f64.powi(-52));
/// assert_eq!(theorem.messages(1500, 2f64.powi(-32))?.ilog2(), 47);
/// assert_eq!(theorem.messages(1500, each)?.ilog2(), 37);
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
///
/// # Errors
///
/// [`BoundError::NoKeys`] for 0 keys, [`BoundError::Probability`] unless the probability is between
/// 0 and 1 and a key's share of it is a normal `f64`.
pub fn per_key(probability: f64, keys: u128) -> Result<f64, BoundError> {
    if keys == 0 {
        return Err(BoundError::NoKeys);
    }
    if !(f64::MIN_POSITIVE..1.0).contains(&probability) {
        return Err(BoundError::Probability { found: probability });
    }
    let all = |each| UpperFloat::from_f64(each).times(UpperFloat::from(keys));
    let mut each = probability / keys as f64;
    while all(each) > UpperFloat::from_f64(probability) {
        each = each.next_down();
    }
    if each.is_normal() { Ok(each) } else { Err(BoundError::Probability { found: each }) }
}

impl Bound {
    /// Returns the bound for `keys` independent keys, each with the workload of this bound: the
    /// value times `keys`, and each term for that number of keys of the primitive.
    ///
    /// The factor holds for every MAC. A search for k-bit keys of the cipher finds one of `keys`
    /// keys after (2^k + 1) / (`keys` + 1) trials on average. A term for u keys is therefore at
    /// least about u times the trials divided by 2^k, while that is far below 1.
    ///
    /// # Errors
    ///
    /// [`BoundError::NoKeys`] for 0 keys.
    pub fn of_keys(&self, keys: u128) -> Result<Bound, BoundError> {
        if keys == 0 {
            return Err(BoundError::NoKeys);
        }
        let more = |term: &Term| Term { keys: term.keys.saturating_mul(keys), ..*term };
        let terms = self.terms().iter().map(more).collect();
        Ok(Bound { value: self.value.times(UpperFloat::from(keys)), terms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_together_keep_to_the_probability() {
        for probability in [0.1, 0.5, 2f64.powi(-32), 0.999] {
            for keys in (1..200).chain([1 << 20, 1 << 100, u128::MAX]) {
                let each = per_key(probability, keys).expect("a share");
                let all = UpperFloat::from_f64(each).times(UpperFloat::from(keys));
                assert!(all <= UpperFloat::from_f64(probability), "{probability} of {keys}");
                assert!(each * keys as f64 > probability * (1.0 - 2f64.powi(-50)));
            }
        }
        assert_eq!(per_key(2f64.powi(-32), 1 << 20), Ok(2f64.powi(-52)));
        assert_eq!(per_key(0.5, 0), Err(BoundError::NoKeys));
        for probability in [0.0, -0.5, 1.0, f64::NAN] {
            assert!(matches!(per_key(probability, 1), Err(BoundError::Probability { .. })));
        }
        let least = per_key(f64::MIN_POSITIVE, 2);
        assert_eq!(least, Err(BoundError::Probability { found: f64::MIN_POSITIVE / 2.0 }));
    }
}
