//! Low-level operations that can break security if misused: parts of messages, and what MACs are made
//! of.
//!
//! # Parts
//!
//! A [`Part`] is the keyed hash of a range of a message. Parts of neighbouring ranges join, in any
//! grouping and on any machine, and the first part with the rest of the message gives the tag.
//!
//! Keep in mind:
//!
//! * **Parts are as secret as the key.** Anyone who sees the sums of some ranges can forge tags.
//!   They are wiped on drop and show nothing in `Debug`. They leave the process only sealed
//!   (`Part::seal`, with the feature `save`), under a key derived from the MAC's; anyone who can open
//!   the seal could have made the tag. Only `Parts::save` of the crate `tagmac-any` gives bare sums, to be sealed.
//! * **A part authenticates nothing.** Only the whole message has a tag. Check it before you use
//!   any of the bytes.
//! * **Ranges are in bytes from the start of the message**, multiples of [`Hash::block`]. Joining
//!   refuses what does not fit, but it cannot know that two parts are of the same message, and
//!   only the parts of the crate `tagmac-any` know their key. A sealed part is bound to the name of its
//!   object: give no two messages the same, or a mix of both gets a tag that neither has.
//!
//! ```
//! use tagmac::PmacAes128;
//! use tagmac::hazmat::Part;
//!
//! let (mac, message) = (PmacAes128::new(&[7; 16]), [3; 100]);
//! let left = Part::new(&mac, 0, &message[..32])?;
//! let right = Part::new(&mac, 32, &message[32..96])?;
//! let tag = left.join(&mac, &right)?.finish(&mac, &(), &message[96..])?;
//! assert_eq!(tag, mac.tag(&message)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A MAC of your own
//!
//! [`Hash`] and [`Construction`] are what a MAC is made of, and [`isa`](crate::isa) and
//! [`cipher`](crate::cipher) what its kernels are written on. [`absorbable_len`], [`XorDigest::block`],
//! [`PmacKey`] and [`Chain`] are for constructions on hashes and keys that there are. The crate `tagmac-papers` is
//! built on these alone.

pub use crate::algo::{Chain, PmacKey};
pub use crate::algo::{Poly1305Digest, Poly1305Hash, Poly1305Sum};
pub use crate::algo::{UmacDigest, UmacHash, UmacPad, UmacSum};
pub use crate::algo::{XorDigest, XorSum};
pub use crate::construction::{Construction, Hash, absorbable_len};
pub use crate::part::{Part, PartError};
pub use crate::plan::{Plan, SharedFinish};
#[doc(hidden)]
pub use crate::precompiled::COMPILED;
