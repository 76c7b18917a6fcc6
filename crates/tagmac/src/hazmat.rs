//! Low-level operations that can break security if misused: parts of messages, and the building
//! blocks of MACs.
//!
//! # Parts
//!
//! A [`Part`] is the keyed hash of a range of a message. Parts of neighbouring ranges can be joined
//! in any grouping and on any machine. The first part and the rest of the message determine the
//! tag.
//!
//! Keep in mind:
//!
//! * **Parts are as secret as the key.** Anyone who sees the sums of some ranges can forge tags.
//!   They are wiped on drop and print nothing in `Debug`. They leave the process only sealed
//!   (`Part::seal`, with the feature `save`), under a key derived from the MAC's; anyone who can
//!   open the seal could have made the tag. Only `Parts::save` of the crate `tagmac-any` returns
//!   unencrypted sums, for you to seal.
//! * **A part authenticates nothing.** Only the whole message has a tag. Check it before you use
//!   any of the bytes.
//! * **Ranges are in bytes from the start of the message**, multiples of [`Hash::block`]. Joining
//!   rejects parts that are not neighbours, but it cannot detect parts of different messages, and
//!   only the parts of the crate `tagmac-any` know their key. A sealed part is bound to the name of
//!   its object: never give two messages the same name, or a mix of both gets a tag that neither
//!   has.
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
//! # Writing a MAC
//!
//! A MAC implements [`Hash`] and [`Construction`]. Its kernels are written with [`isa`](crate::isa)
//! and [`cipher`](crate::cipher). [`absorbable_len`], [`XorDigest::block`], [`PmacKey`] and
//! [`Chain`] help to build on existing hashes and keys. The crate `tagmac-papers` uses only these.

pub use crate::algo::{Chain, PmacKey};
pub use crate::algo::{Poly1305Digest, Poly1305Hash, Poly1305Sum};
pub use crate::algo::{UmacDigest, UmacHash, UmacPad, UmacSum};
pub use crate::algo::{XorDigest, XorSum};
pub use crate::construction::{Construction, Hash, absorbable_len};
pub use crate::part::{Part, PartError};
pub use crate::plan::{Plan, SharedFinish};
#[doc(hidden)]
pub use crate::precompiled::COMPILED;
