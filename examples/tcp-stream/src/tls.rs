//! TLS for comparison: version 1.3 with AES-128-GCM, ring's fastest cipher on CPUs with AES
//! instructions, and raw public keys (RFC 7250). The client knows the server's key, so no
//! certificates are needed.

use std::error::Error;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;

use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, PeerIncompatible,
    ServerConfig, ServerConnection, SignatureScheme,
};

/// The number of bytes that a record adds to a message: header, type and tag (RFC 8446, section
/// 5.2).
pub const ADDED_BYTES: usize = 5 + 1 + 16;

type Tls = (ClientConnection, ServerConnection);

/// Connects a client and a server under a new key, including the handshake.
pub fn connect(
    mut client: &TcpStream,
    mut server: &TcpStream,
) -> Result<Tls, Box<dyn Error + Send + Sync>> {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map_err(|_| "the system's random generator failed")?;
    let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(pkcs8.as_ref()))?;
    let public = key.public_key().ok_or("the key has no public key")?.into_owned();
    let certified = CertifiedKey::new(vec![CertificateDer::from(public.to_vec())], key);

    let cipher_suites = vec![TLS13_AES_128_GCM_SHA256];
    let provider = Arc::new(CryptoProvider { cipher_suites, ..provider::default_provider() });
    let client_config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(KnownKey { public, provider: provider.clone() }))
        .with_no_client_auth();
    let mut server_config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified))));

    // The client only writes. An unread ticket would reset the connection when the client closes
    // it.
    server_config.send_tls13_tickets = 0;
    let name = ServerName::try_from("localhost")?;
    let mut connections = (
        ClientConnection::new(Arc::new(client_config), name)?,
        ServerConnection::new(Arc::new(server_config))?,
    );
    thread::scope(|threads| {
        let serving = threads.spawn(|| connections.1.complete_io(&mut server));
        connections.0.complete_io(&mut client)?;
        serving.join().expect("the server does not panic")
    })?;
    Ok(connections)
}

/// Accepts only the server with this key.
#[derive(Debug)]
struct KnownKey {
    public: SubjectPublicKeyInfoDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for KnownKey {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if end_entity.as_ref() == self.public.as_ref() {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        _: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &self.public, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
