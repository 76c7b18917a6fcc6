//! A map of bounded weight, which drops the entries that were not used for the longest time.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The map.
pub struct Lru<K, V> {
    limit: usize,
    /// The weight of all entries.
    used: usize,
    /// The number of uses so far.
    uses: u64,
    entries: HashMap<K, Slot<V>>,
    /// The keys by their last use.
    order: BTreeMap<u64, K>,
}

struct Slot<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Lru<K, V> {
    /// A map whose entries weigh at most `limit` together.
    pub fn new(limit: usize) -> Lru<K, V> {
        Lru { limit, used: 0, uses: 0, entries: HashMap::new(), order: BTreeMap::new() }
    }

    /// Returns whether the map has a key. This does not count as a use.
    pub fn has(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Returns the value of a key.
    pub fn get(&mut self, key: &K) -> Option<V> {
        let slot = self.entries.get_mut(key)?;
        self.order.remove(&slot.used);
        self.uses += 1;
        slot.used = self.uses;
        self.order.insert(self.uses, key.clone());
        Some(slot.value.clone())
    }

    /// Adds a value, unless it alone weighs more than the limit or the key has a value already.
    pub fn add(&mut self, key: K, value: V, weight: usize) {
        if weight > self.limit || self.entries.contains_key(&key) {
            return;
        }
        while self.used > self.limit - weight {
            let (_, oldest) = self.order.pop_first().expect("entries have the weight");
            self.used -= self.entries.remove(&oldest).expect("each key is in both").weight;
        }
        self.used += weight;
        self.uses += 1;
        self.order.insert(self.uses, key.clone());
        self.entries.insert(key, Slot { value, weight, used: self.uses });
    }
}

#[cfg(test)]
mod tests {
    use super::Lru;

    #[test]
    fn the_weight_is_bounded_and_the_oldest_go_first() {
        let mut lru = Lru::new(10);
        for key in 0..5 {
            lru.add(key, key, 2);
        }
        assert_eq!(lru.get(&0), Some(0));
        lru.add(5, 5, 3);
        assert_eq!((0..6).filter(|key| lru.has(key)).collect::<Vec<_>>(), [0, 3, 4, 5]);
        assert_eq!(lru.used, 9);
        lru.add(6, 6, 11);
        lru.add(5, 7, 1);
        assert_eq!((lru.get(&6), lru.get(&5), lru.used), (None, Some(5), 9));
        let mut state = 1_u64;
        for _ in 0..10_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let [key, weight] = [state >> 58, state >> 52 & 15];
            lru.get(&(key + 1));
            lru.add(key, key, weight as usize);
            assert!(lru.used <= 10 && lru.entries.len() == lru.order.len());
            assert_eq!(lru.used, lru.entries.values().map(|slot| slot.weight).sum::<usize>());
        }
    }
}
