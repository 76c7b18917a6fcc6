//! A heap that keeps what is freed: while it watches, blocks are neither given back nor written to.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;

/// Blocks that one scenario may allocate.
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
        // SAFETY: the block was allocated with this length and is not given back before `end`.
        unsafe { std::slice::from_raw_parts(self.at as *const u8, self.bytes) }
    }
}

fn watching() -> bool {
    WATCHING.try_with(Cell::get).unwrap_or(false)
}

/// What a block held, and whether it was freed.
pub struct Seen {
    pub bytes: Vec<u8>,
    pub freed: bool,
}

/// Begins to watch this thread.
pub fn begin() {
    BLOCKS.lock().expect("one thread").count = 0;
    WATCHING.set(true);
}

/// The blocks that are allocated now and were allocated since `begin`.
pub fn live() -> Vec<Vec<u8>> {
    WATCHING.set(false);
    let blocks = BLOCKS.lock().expect("one thread");
    let live = blocks.blocks[..blocks.count].iter().filter(|block| !block.freed);
    let live = live.map(|block| block.contents().to_vec()).collect();
    drop(blocks);
    WATCHING.set(true);
    live
}

/// Ends to watch: what each block held when it was freed, or holds now.
pub fn end() -> Vec<Seen> {
    WATCHING.set(false);
    let mut blocks = BLOCKS.lock().expect("one thread");
    let count = std::mem::take(&mut blocks.count);
    let mut seen = Vec::with_capacity(count);
    for block in &mut blocks.blocks[..count] {
        seen.push(Seen { bytes: block.contents().to_vec(), freed: block.freed });
        if block.freed {
            let layout = Layout::from_size_align(block.bytes, block.align).expect("as it was");
            // SAFETY: allocated by `System` with this layout, and its owner gave it back.
            unsafe { System.dealloc(block.at as *mut u8, layout) };
        }
        *block = Block::NONE;
    }
    seen
}

// `realloc` is the trait's own: it allocates, copies and frees, so that what it leaves is seen.
// SAFETY: all memory is that of `System`, and what is freed stays allocated until `end`.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's word.
        let at = unsafe { System.alloc(layout) };
        if watching() && !at.is_null() {
            let mut blocks = BLOCKS.lock().expect("one thread");
            let count = blocks.count;
            assert!(count < MAX_BLOCKS, "more blocks than a scenario may allocate");
            // SAFETY: new memory of that length. Nothing old in it is taken for the scenario's.
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
        // SAFETY: the caller's word.
        unsafe { System.dealloc(at, layout) };
    }
}
