//! Compares other libraries' MACs with their vectors, each other and tagmac.

#[cfg(all(linked = "nettle", linked = "openssl"))]
mod adversarial;
mod bursts;
mod differential;
#[cfg(all(linked = "nettle", linked = "openssl"))]
mod known;
mod proofs;
