//! A heap that preserves freed blocks: while it watches, they are neither reused nor overwritten.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;

/// Maximum number of blocks that one scenario may allocate.
const MAX_BLOCKS: usize = 1 << 14;

/// The allocator of this program.
pub struct Watched;

#[global_allocator]
static HEAP: Watched = Watched;

thread_local! {
    /// Only the scenario's own thread is watched.
    static WATCHING: Cell<bool> = const { Cell::new(false) };
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks { count: 0, blocks: [Block::NONE; MAX_BLOCKS] });

struct Blocks {
    count: usize,
    blocks: [Block; MAX_BLOCKS],
}

#[derive(Clone, Copy)]
struct Block {
    at: usize,
    bytes: usize,
    align: usize,
    freed: bool,
}

impl Block {
    const NONE: Block = Block { at: 0, bytes: 0, align: 1, freed: false };

    fn contents(&self) -> &[u8] {
        // SAFETY: the block was allocated with this length and is not freed before `end`.
        unsafe { std::slice::from_raw_parts(self.at as *const u8, self.bytes) }
    }
}

fn watching() -> bool {
    WATCHING.try_with(Cell::get).unwrap_or(false)
}

/// The contents of a block, and whether it was freed.
pub struct Seen {
    pub bytes: Vec<u8>,
    pub freed: bool,
}

/// Starts to watch this thread.
pub fn begin() {
    BLOCKS.lock().expect("one thread").count = 0;
    WATCHING.set(true);
}

/// Returns the live blocks that were allocated since `begin`.
pub fn live() -> Vec<Vec<u8>> {
    WATCHING.set(false);
    let blocks = BLOCKS.lock().expect("one thread");
    let live = blocks.blocks[..blocks.count].iter().filter(|block| !block.freed);
    let live = live.map(|block| block.contents().to_vec()).collect();
    drop(blocks);
    WATCHING.set(true);
    live
}

/// Stops watching. Returns each block as it was when it was freed, or as it is now.
pub fn end() -> Vec<Seen> {
    WATCHING.set(false);
    let mut blocks = BLOCKS.lock().expect("one thread");
    let count = std::mem::take(&mut blocks.count);
    let mut seen = Vec::with_capacity(count);
    for block in &mut blocks.blocks[..count] {
        seen.push(Seen { bytes: block.contents().to_vec(), freed: block.freed });
        if block.freed {
            let layout = Layout::from_size_align(block.bytes, block.align)
                .expect("the layout of its allocation");
            // SAFETY: allocated by `System` with this layout, and freed by its owner.
            unsafe { System.dealloc(block.at as *mut u8, layout) };
        }
        *block = Block::NONE;
    }
    seen
}

// `realloc` is the trait's default: it allocates, copies and frees, so that the old block is
// preserved. SAFETY: all memory is that of `System`, and freed blocks stay allocated until `end`.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let at = unsafe { System.alloc(layout) };
        if watching() && !at.is_null() {
            let mut blocks = BLOCKS.lock().expect("one thread");
            let count = blocks.count;
            assert!(count < MAX_BLOCKS, "the scenario allocates too many blocks");
            // SAFETY: new memory of that length. Cleared, so that old contents are not attributed
            // to the scenario.
            unsafe { at.write_bytes(0, layout.size()) };
            let (at, bytes, align) = (at.addr(), layout.size(), layout.align());
            blocks.blocks[count] = Block { at, bytes, align, freed: false };
            blocks.count += 1;
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if watching() {
            let mut blocks = BLOCKS.lock().expect("one thread");
            let count = blocks.count;
            let found = blocks.blocks[..count].iter_mut().rev().find(|block| block.at == at.addr());
            if let Some(block) = found {
                block.freed = true;
                return;
            }
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) };
    }
}
