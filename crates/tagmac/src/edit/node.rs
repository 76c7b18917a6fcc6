//! A balanced tree of leaves in order. Each node holds a leaf between two subtrees, and the joined
//! sum of all three.
//!
//! The heights of siblings differ by at most one (Adel'son-Vel'skii and Landis, 1962). All changes
//! of shape are built from one operation, `link`, which joins two trees and a node between them
//! (Blelloch, Ferizovic and Sun, "Just Join for Parallel Ordered Sets", SPAA 2016).

use alloc::boxed::Box;
use core::cmp::Ordering;
use core::ops::Range;

use zeroize::Zeroize;

use crate::construction::Hash;

/// A tree, which may be empty.
pub(super) type Link<S> = Option<Box<Node<S>>>;

/// A leaf between two subtrees. It stays in its box when the tree's shape changes. Wiped on drop.
pub(super) struct Node<S: Zeroize> {
    left: Link<S>,
    right: Link<S>,
    /// A whole word: padding would keep old stack contents.
    height: usize,
    /// The length of the leaf in bytes.
    bytes: usize,
    /// The length of the tree in bytes.
    total: u64,
    /// The leaf's sum.
    sum: S,
    /// The tree's sum.
    joined: S,
}

impl<S: Zeroize> Drop for Node<S> {
    fn drop(&mut self) {
        self.sum.zeroize();
        self.joined.zeroize();
    }
}

/// The length of a tree in bytes.
pub(super) fn total<S: Zeroize>(link: &Link<S>) -> u64 {
    link.as_ref().map_or(0, |node| node.total)
}

fn height<S: Zeroize>(link: &Link<S>) -> usize {
    link.as_ref().map_or(0, |node| node.height)
}

impl<S: Zeroize> Node<S> {
    /// The tree's sum.
    pub(super) fn joined(&self) -> &S {
        &self.joined
    }

    /// The side that is too high, by two or more.
    fn leans(&self) -> Ordering {
        let (left, right) = (height(&self.left), height(&self.right));
        if left > right + 1 {
            Ordering::Less
        } else if right > left + 1 {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }
}

/// Operations on trees with sums of one hash.
pub(super) struct Trees<'a, H>(pub(super) &'a H);

impl<H: Hash> Trees<'_, H> {
    /// A tree of one leaf.
    pub(super) fn leaf(&self, bytes: usize, sum: H::Sum) -> Box<Node<H::Sum>> {
        let joined = sum.clone();
        let (left, right, total) = (None, None, bytes as u64);
        Box::new(Node { left, right, height: 1, bytes, total, sum, joined })
    }

    /// Recomputes a node's height, length and joined sum from its children.
    fn update(&self, node: &mut Node<H::Sum>) {
        node.height = 1 + height(&node.left).max(height(&node.right));
        node.total = total(&node.left) + node.bytes as u64 + total(&node.right);
        match &node.left {
            Some(left) => {
                node.joined.clone_from(&left.joined);
                self.0.join(&mut node.joined, &node.sum);
            }
            None => node.joined.clone_from(&node.sum),
        }
        if let Some(right) = &node.right {
            self.0.join(&mut node.joined, &right.joined);
        }
    }

    /// Joins two trees and a node between them.
    fn link(
        &self,
        left: Link<H::Sum>,
        mut node: Box<Node<H::Sum>>,
        right: Link<H::Sum>,
    ) -> Box<Node<H::Sum>> {
        match (left, right) {
            (Some(mut left), right) if left.height > height(&right) + 1 => {
                let inner = left.right.take();
                left.right = Some(self.link(inner, node, right));
                self.balanced(left)
            }
            (left, Some(mut right)) if right.height > height(&left) + 1 => {
                let inner = right.left.take();
                right.left = Some(self.link(left, node, inner));
                self.balanced(right)
            }
            (left, right) => {
                (node.left, node.right) = (left, right);
                self.update(&mut node);
                node
            }
        }
    }

    /// Balances a tree with one side that may be higher by two.
    fn balanced(&self, mut node: Box<Node<H::Sum>>) -> Box<Node<H::Sum>> {
        match node.leans() {
            Ordering::Equal => {
                self.update(&mut node);
                node
            }
            Ordering::Less => {
                let left = node.left.take().expect("the higher side");
                let inner = height(&left.right) > height(&left.left);
                node.left = Some(if inner { self.left_turn(left) } else { left });
                self.right_turn(node)
            }
            Ordering::Greater => {
                let right = node.right.take().expect("the higher side");
                let inner = height(&right.left) > height(&right.right);
                node.right = Some(if inner { self.right_turn(right) } else { right });
                self.left_turn(node)
            }
        }
    }

    /// Rotates left: the right child becomes the root.
    fn left_turn(&self, mut node: Box<Node<H::Sum>>) -> Box<Node<H::Sum>> {
        let mut root = node.right.take().expect("a right child");
        node.right = root.left.take();
        self.update(&mut node);
        root.left = Some(node);
        self.update(&mut root);
        root
    }

    /// Rotates right: the left child becomes the root.
    fn right_turn(&self, mut node: Box<Node<H::Sum>>) -> Box<Node<H::Sum>> {
        let mut root = node.left.take().expect("a left child");
        node.left = root.right.take();
        self.update(&mut node);
        root.right = Some(node);
        self.update(&mut root);
        root
    }

    /// Splits a tree at byte `at`, where a leaf starts.
    pub(super) fn split(&self, tree: Link<H::Sum>, at: u64) -> (Link<H::Sum>, Link<H::Sum>) {
        let Some(mut node) = tree else { return (None, None) };
        let (left, right) = (node.left.take(), node.right.take());
        if at <= total(&left) {
            let (before, from) = self.split(left, at);
            return (before, Some(self.link(from, node, right)));
        }
        let after = total(&left) + node.bytes as u64;
        let (before, from) = self.split(right, at - after);
        (Some(self.link(left, node, before)), from)
    }

    /// Concatenates two trees.
    pub(super) fn concat(&self, left: Link<H::Sum>, right: Link<H::Sum>) -> Link<H::Sum> {
        match (left, right) {
            (left, None) => left,
            (None, right) => right,
            (left, Some(right)) => {
                let (first, rest) = self.without_first(right);
                Some(self.link(left, first, rest))
            }
        }
    }

    fn without_first(&self, mut tree: Box<Node<H::Sum>>) -> (Box<Node<H::Sum>>, Link<H::Sum>) {
        match tree.left.take() {
            None => {
                let rest = tree.right.take();
                (tree, rest)
            }
            Some(left) => {
                let (first, rest) = self.without_first(left);
                let right = tree.right.take();
                (first, Some(self.link(rest, tree, right)))
            }
        }
    }

    /// Builds the tree of the next `n` leaves.
    pub(super) fn build(
        &self,
        n: usize,
        leaves: &mut impl Iterator<Item = Box<Node<H::Sum>>>,
    ) -> Link<H::Sum> {
        if n == 0 {
            return None;
        }
        let left = self.build(n / 2, leaves);
        let node = leaves.next().expect("n leaves");
        let right = self.build(n - n / 2 - 1, leaves);
        Some(self.link(left, node, right))
    }

    /// Visits the leaves that overlap the range, each with its first byte. The tree starts at byte
    /// `start`.
    pub(super) fn visit<E>(
        tree: &Link<H::Sum>,
        start: u64,
        range: &Range<u64>,
        see: &mut impl FnMut(Range<u64>, &H::Sum) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(node) = tree else { return Ok(()) };
        let from = start + total(&node.left);
        let to = from + node.bytes as u64;
        if range.start < from {
            Self::visit(&node.left, start, range, see)?;
        }
        if range.start < to && from < range.end {
            see(from..to, &node.sum)?;
        }
        if to < range.end {
            Self::visit(&node.right, to, range, see)?;
        }
        Ok(())
    }

    /// Sets new sums and lengths for the leaves of a range, in order.
    pub(super) fn change(
        &self,
        tree: &mut Link<H::Sum>,
        start: u64,
        range: &Range<u64>,
        make: &mut impl FnMut(Range<u64>, &mut H::Sum) -> usize,
    ) {
        let Some(node) = tree else { return };
        let from = start + total(&node.left);
        let to = from + node.bytes as u64;
        if range.start < from {
            self.change(&mut node.left, start, range, make);
        }
        if range.start < to && from < range.end {
            node.bytes = make(from..to, &mut node.sum);
        }
        if to < range.end {
            self.change(&mut node.right, to, range, make);
        }
        self.update(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Poly1305Aes;
    use crate::construction::Construction;

    type Sum = <<Poly1305Aes as Construction>::Hash as Hash>::Sum;

    /// The height, after checking that the tree is balanced and up to date.
    fn checked(tree: &Link<Sum>) -> usize {
        let Some(node) = tree else { return 0 };
        let (left, right) = (checked(&node.left), checked(&node.right));
        assert!(left.abs_diff(right) <= 1, "{left} beside {right}");
        assert_eq!(node.total, total(&node.left) + node.bytes as u64 + total(&node.right));
        assert_eq!(node.height, 1 + left.max(right));
        node.height
    }

    #[test]
    fn all_changes_leave_the_tree_balanced() {
        let mac = Poly1305Aes::new(&[7; 32]);
        let trees = Trees(mac.hash());
        let leaves = |n: usize| {
            let mut leaves = (0..n).map(|_| trees.leaf(16, mac.hash().empty()));
            trees.build(n, &mut leaves)
        };
        let mut tree = None;
        let mut state = 1u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % (limit + 1)
        };
        for _ in 0..3000 {
            let all = total(&tree) / 16;
            let (left, right) = trees.split(tree, 16 * below(all));
            checked(&left);
            checked(&right);
            let middle = leaves(below(40) as usize);
            checked(&middle);
            let right = if below(2) == 0 {
                let cut = 16 * below(total(&right) / 16);
                trees.split(right, cut).1
            } else {
                right
            };
            tree = trees.concat(trees.concat(left, middle), right);
            let height = checked(&tree);
            // The height is at most 1.44 log2 n.
            let leaves = total(&tree) / 16 + 2;
            assert!(height as f64 <= 1.45 * (leaves as f64).log2(), "{height}, {leaves}");
        }
    }
}
