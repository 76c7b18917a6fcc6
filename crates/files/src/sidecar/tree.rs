//! The tree of a file's leaves, in node pages of up to [`FAN`] entries.
//!
//! A node page of level 0 contains the parts of leaves. A node page of level l contains, for each
//! of its children of level l - 1, its position and the joined parts of its leaves. All node pages
//! are full except the last of each level, so the digits of a leaf's number in base `FAN` give its
//! position.

use crate::error::Error;
use tagmac::save::{Reader, Writer};
use tagmac_any::{AnyPart, Parts};

use super::store::{Extent, Store};

/// Maximum entries of a node page.
const FAN: u64 = 256;

/// Levels are below this: a root of level 7 would cover more leaves than can be counted.
const MAX_LEVELS: u32 = 7;

/// A child of a node page.
pub struct Child {
    place: Extent,
    /// The bytes of this node page and all below it.
    live: u64,
    /// The parts of its leaves, joined.
    part: AnyPart,
}

/// The root, and the number of levels below it.
pub struct Root {
    /// 0 if its entries are leaves.
    level: u32,
    child: Child,
}

/// The entries of a node page.
enum Node {
    Leaves(Vec<AnyPart>),
    Pages(Vec<Child>),
}

impl Node {
    fn save(&self, parts: Parts<'_>, out: &mut Writer) -> Result<(), Error> {
        match self {
            Node::Leaves(leaves) => {
                out.number(leaves.len() as u64);
                leaves.iter().try_for_each(|leaf| parts.save(leaf, out)).map_err(Error::io)
            }
            Node::Pages(pages) => {
                out.number(pages.len() as u64);
                pages.iter().try_for_each(|child| child.save(parts, out))
            }
        }
    }

    fn load(parts: Parts<'_>, level: u32, text: &[u8]) -> Option<Node> {
        let input = &mut Reader::new(text);
        let n = input.number()?;
        let node = if level == 0 {
            let leaves = (0..n).map(|_| parts.load(input).ok());
            Node::Leaves(leaves.collect::<Option<_>>()?)
        } else {
            let pages = (0..n).map(|_| Child::load(parts, input));
            Node::Pages(pages.collect::<Option<_>>()?)
        };
        input.is_empty().then_some(node)
    }
}

/// Parses a node page and writes it again.
pub(crate) fn again(parts: Parts<'_>, level: u32, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Writer::default();
    Node::load(parts, level, text)?.save(parts, &mut out).expect("parts of this MAC");
    Some(out.as_bytes().to_vec())
}

/// The tree of a sidecar, and the MAC of its parts.
pub struct Tree<'a> {
    /// The MAC's operations on parts.
    pub parts: Parts<'a>,
    /// The sidecar.
    pub store: Store,
}

impl Root {
    /// Returns the bytes of all node pages.
    pub fn live(&self) -> u64 {
        self.child.live
    }

    /// Returns the parts of all leaves, joined.
    pub fn part(&self) -> &AnyPart {
        &self.child.part
    }

    /// Returns a copy.
    pub fn again(&self, parts: Parts<'_>) -> Result<Root, Error> {
        let Child { place, live, part } = &self.child;
        let copy = || parts.join(parts.new_part(part.start(), &[])?, part);
        let child = Child { place: *place, live: *live, part: copy().map_err(Error::io)? };
        Ok(Root { level: self.level, child })
    }

    /// Appends it to `out`.
    pub fn save(&self, parts: Parts<'_>, out: &mut Writer) -> Result<(), Error> {
        out.number(self.level.into());
        self.child.save(parts, out)
    }

    /// Loads what [`save`](Root::save) appended.
    pub fn load(parts: Parts<'_>, input: &mut Reader<'_>) -> Option<Root> {
        let level = input.number()?.try_into().ok().filter(|level| *level < MAX_LEVELS)?;
        Some(Root { level, child: Child::load(parts, input)? })
    }
}

impl Child {
    fn save(&self, parts: Parts<'_>, out: &mut Writer) -> Result<(), Error> {
        self.place.save(out);
        out.number(self.live);
        parts.save(&self.part, out).map_err(Error::io)
    }

    fn load(parts: Parts<'_>, input: &mut Reader<'_>) -> Option<Child> {
        let place = Extent::load(input)?;
        let live = input.number()?;
        Some(Child { place, live, part: parts.load(input).ok()? })
    }
}

/// Returns the number of leaves below a full node page of this level.
fn span(level: u32) -> u64 {
    FAN.pow(level + 1)
}

impl Tree<'_> {
    /// Returns the parts of the leaves `from` to `to`.
    pub fn leaves(&self, root: &Root, from: u64, to: u64) -> Result<Vec<AnyPart>, Error> {
        let mut found = Vec::new();
        self.visit(&root.child, root.level, from, to, &mut found)?;
        if found.len() as u64 != to - from {
            return Err(self.store.altered());
        }
        Ok(found)
    }

    fn visit(
        &self,
        child: &Child,
        level: u32,
        from: u64,
        to: u64,
        found: &mut Vec<AnyPart>,
    ) -> Result<(), Error> {
        match self.get(&child.place, level)? {
            Node::Leaves(leaves) => {
                found.extend(leaves.into_iter().take(to as usize).skip(from as usize));
            }
            Node::Pages(pages) => {
                for (child, start) in pages.iter().zip((0..).step_by(span(level - 1) as usize)) {
                    let end = start + span(level - 1);
                    if start < to && from < end {
                        let from = from.saturating_sub(start);
                        self.visit(child, level - 1, from, to.min(end) - start, found)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces the parts of the leaves from `from` on. Writes new node pages for all that change.
    pub fn replace(&mut self, root: &Root, from: u64, new: Vec<AnyPart>) -> Result<Root, Error> {
        let mut new = new.into_iter();
        let to = from + new.len() as u64;
        let child = self.change(&root.child.place, root.level, from, to, &mut new)?;
        Ok(Root { level: root.level, child })
    }

    fn change(
        &mut self,
        place: &Extent,
        level: u32,
        from: u64,
        to: u64,
        new: &mut impl Iterator<Item = AnyPart>,
    ) -> Result<Child, Error> {
        let mut node = self.get(place, level)?;
        match &mut node {
            Node::Leaves(leaves) => {
                for leaf in leaves.iter_mut().take(to as usize).skip(from as usize) {
                    *leaf = new.next().ok_or_else(|| self.store.altered())?;
                }
            }
            Node::Pages(pages) => {
                for (child, start) in pages.iter_mut().zip((0..).step_by(span(level - 1) as usize))
                {
                    let end = start + span(level - 1);
                    if start < to && from < end {
                        let (from, to) = (from.saturating_sub(start), to.min(end) - start);
                        *child = self.change(&child.place, level - 1, from, to, new)?;
                    }
                }
            }
        }
        self.put(&node, level)
    }

    /// Copies the tree to another sidecar.
    pub fn copy(&self, root: &Root, to: &mut Tree<'_>) -> Result<Root, Error> {
        Ok(Root { level: root.level, child: self.copied(&root.child.place, root.level, to)? })
    }

    fn copied(&self, place: &Extent, level: u32, to: &mut Tree<'_>) -> Result<Child, Error> {
        let mut node = self.get(place, level)?;
        if let Node::Pages(pages) = &mut node {
            for child in pages {
                *child = self.copied(&child.place, level - 1, to)?;
            }
        }
        to.put(&node, level)
    }

    fn get(&self, place: &Extent, level: u32) -> Result<Node, Error> {
        let text = self.store.get(&about(level), place)?;
        Node::load(self.parts, level, &text).ok_or_else(|| self.store.altered())
    }

    fn put(&mut self, node: &Node, level: u32) -> Result<Child, Error> {
        let mut text = Writer::default();
        node.save(self.parts, &mut text)?;
        let (part, live) = match node {
            Node::Leaves(leaves) => (self.joined(leaves.iter())?, 0),
            Node::Pages(pages) => {
                let live = pages.iter().map(|child| child.live).sum();
                (self.joined(pages.iter().map(|child| &child.part))?, live)
            }
        };
        let place = self.store.put(&about(level), &text)?;
        Ok(Child { place, live: live + place.size, part })
    }

    fn joined<'p>(&self, mut all: impl Iterator<Item = &'p AnyPart>) -> Result<AnyPart, Error> {
        // Node pages are never empty.
        let first = all.next().ok_or_else(|| self.store.altered())?;
        let start = self.parts.new_part(first.start(), &[]).map_err(Error::io)?;
        let joined = |left, right| self.parts.join(left, right);
        let whole = joined(start, first).and_then(|first| all.try_fold(first, joined));
        whole.map_err(|_| self.store.altered())
    }
}

fn about(level: u32) -> [u8; 5] {
    let mut about = *b"box 0";
    about[4] += level as u8;
    about
}

/// Builds a tree from its leaves in order. Node pages are written as soon as they are full.
#[derive(Default)]
pub struct TreeBuilder {
    leaves: Vec<AnyPart>,
    /// For each level from 1 on, the finished node pages below it.
    pages: Vec<Vec<Child>>,
}

impl TreeBuilder {
    /// Starts with the first `leaves` leaves of an existing tree.
    pub fn from(tree: &Tree<'_>, root: Option<Root>, leaves: u64) -> Result<TreeBuilder, Error> {
        let mut builder = TreeBuilder::default();
        let Some(mut root) = root else { return Ok(builder) };
        if leaves == span(root.level) {
            builder.pages.resize_with(root.level as usize + 1, Vec::new);
            builder.pages[root.level as usize].push(root.child);
            return Ok(builder);
        }
        builder.pages.resize_with(root.level as usize, Vec::new);
        let mut left = leaves;
        while left > 0 {
            match tree.get(&root.child.place, root.level)? {
                Node::Leaves(mut all) => {
                    all.truncate(left as usize);
                    builder.leaves = all;
                    break;
                }
                Node::Pages(mut all) => {
                    let below = span(root.level - 1);
                    let whole = (left / below) as usize;
                    let next = (whole < all.len()).then(|| all.swap_remove(whole));
                    all.truncate(whole);
                    builder.pages[root.level as usize - 1] = all;
                    left %= below;
                    match next {
                        Some(child) => root = Root { level: root.level - 1, child },
                        None if left > 0 => return Err(tree.store.altered()),
                        None => break,
                    }
                }
            }
        }
        Ok(builder)
    }

    /// Adds a leaf.
    pub fn push(&mut self, tree: &mut Tree<'_>, leaf: AnyPart) -> Result<(), Error> {
        self.leaves.push(leaf);
        if self.leaves.len() as u64 == FAN {
            self.close_leaves(tree)?;
        }
        Ok(())
    }

    fn close_leaves(&mut self, tree: &mut Tree<'_>) -> Result<(), Error> {
        let node = Node::Leaves(std::mem::take(&mut self.leaves));
        let child = tree.put(&node, 0)?;
        self.push_box(tree, child, 1)
    }

    /// Adds a node page to a level.
    fn push_box(&mut self, tree: &mut Tree<'_>, child: Child, level: usize) -> Result<(), Error> {
        if self.pages.len() < level {
            self.pages.push(Vec::new());
        }
        self.pages[level - 1].push(child);
        if self.pages[level - 1].len() as u64 == FAN {
            self.close(tree, level)?;
        }
        Ok(())
    }

    fn close(&mut self, tree: &mut Tree<'_>, level: usize) -> Result<(), Error> {
        let node = Node::Pages(std::mem::take(&mut self.pages[level - 1]));
        let child = tree.put(&node, level as u32)?;
        self.push_box(tree, child, level + 1)
    }

    /// Finishes the tree; `None` if it has no leaves.
    pub fn done(mut self, tree: &mut Tree<'_>) -> Result<Option<Root>, Error> {
        if !self.leaves.is_empty() {
            self.close_leaves(tree)?;
        }
        let mut level = 1;
        while level <= self.pages.len() {
            let top = self.pages[level..].iter().all(Vec::is_empty);
            match self.pages[level - 1].len() {
                0 => {}
                1 if top => {
                    let child = self.pages[level - 1].pop().expect("one");
                    return Ok(Some(Root { level: level as u32 - 1, child }));
                }
                _ => self.close(tree, level)?,
            }
            level += 1;
        }
        Ok(None)
    }
}
