//! The numbers of paths that the kernel has looked up.

use std::collections::HashMap;

/// The number of the root.
pub const ROOT: u64 = 1;

/// Paths and their numbers. A number lives as long as the kernel remembers it.
pub struct Nodes {
    by_number: HashMap<u64, Node>,
    by_path: HashMap<Vec<u8>, u64>,
    next: u64,
}

struct Node {
    path: Vec<u8>,
    lookups: u64,
}

impl Nodes {
    pub fn new() -> Nodes {
        let root = Node { path: Vec::new(), lookups: 1 };
        Nodes {
            by_number: HashMap::from([(ROOT, root)]),
            by_path: HashMap::from([(Vec::new(), ROOT)]),
            next: ROOT + 1,
        }
    }

    /// Returns the path with a number.
    pub fn path(&self, number: u64) -> Option<Vec<u8>> {
        self.by_number.get(&number).map(|node| node.path.clone())
    }

    /// Counts a lookup of a path and returns its number.
    pub fn look_up(&mut self, path: &[u8]) -> u64 {
        if let Some(&number) = self.by_path.get(path) {
            self.by_number.entry(number).and_modify(|node| node.lookups += 1);
            return number;
        }
        let number = self.next;
        self.next += 1;
        self.by_number.insert(number, Node { path: path.to_vec(), lookups: 1 });
        self.by_path.insert(path.to_vec(), number);
        number
    }

    /// Returns the number of a path for a listing, which counts no lookup: 0 if it was not looked up.
    pub fn number(&self, path: &[u8]) -> u64 {
        self.by_path.get(path).copied().unwrap_or(0)
    }

    /// Takes back lookups of a number.
    pub fn forget(&mut self, number: u64, lookups: u64) {
        let Some(node) = self.by_number.get_mut(&number).filter(|_| number != ROOT) else { return };
        node.lookups = node.lookups.saturating_sub(lookups);
        if node.lookups == 0
            && let Some(node) = self.by_number.remove(&number)
        {
            self.by_path.remove(&node.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_lives_until_its_last_lookup_is_forgotten() {
        let mut nodes = Nodes::new();
        let a = nodes.look_up(b"a");
        assert_eq!(nodes.look_up(b"a"), a);
        assert_ne!(nodes.look_up(b"a/b"), a);
        nodes.forget(a, 1);
        assert_eq!((nodes.path(a), nodes.number(b"a")), (Some(b"a".to_vec()), a));
        nodes.forget(a, 1);
        assert_eq!((nodes.path(a), nodes.number(b"a")), (None, 0));
        nodes.forget(a, 1);
        nodes.forget(ROOT, 9);
        assert_eq!(nodes.path(ROOT), Some(Vec::new()));
        assert_ne!(nodes.look_up(b"a"), a);
    }
}
