//! Keys for S3, renewed before they expire.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::future::BoxFuture;
use object_store::client::HttpClient;
use tokio::sync::Mutex;

use crate::aws::key::{Issued, Key};
use crate::aws::machine::{Container, Instance};
use crate::aws::process::Process;
use crate::aws::sso::Sso;
use crate::aws::sts::{Role, WebIdentity};
use crate::dialect::S3;
use crate::failure::Failure;

/// The time before keys expire when they are renewed, as in AWS's tools.
const RENEWAL: Duration = Duration::from_secs(300);
/// The pause between renewals of keys that are still valid.
const PAUSE: Duration = Duration::from_secs(60);

/// The source of the keys.
pub enum Source {
    /// The environment, or the keys of a profile.
    Fixed(Arc<Key>),
    /// A program.
    Process(Process),
    /// IAM Identity Center.
    Sso(Sso),
    /// A role, and the source of the keys that assume it.
    Role(Role, Box<Source>),
    /// A role in exchange for a web identity token.
    WebIdentity(WebIdentity),
    /// The service of a container.
    Container(Container),
    /// The metadata service of an instance.
    Instance(Instance),
    /// No keys were found.
    Nowhere,
}

impl Source {
    /// Gets a key.
    pub fn fetch<'a>(&'a self, client: &'a HttpClient) -> BoxFuture<'a, Result<Issued, Failure>> {
        Box::pin(async move {
            match self {
                Source::Fixed(key) => Ok(Issued { key: Arc::clone(key), expires: None }),
                Source::Process(process) => process.fetch().await,
                Source::Sso(sso) => sso.fetch(client).await,
                Source::Role(role, base) => {
                    let base = base.fetch(client).await?;
                    role.fetch(client, &base.key).await
                }
                Source::WebIdentity(identity) => identity.fetch(client).await,
                Source::Container(container) => container.fetch(client).await,
                Source::Instance(instance) => instance.fetch(client).await,
                Source::Nowhere => Err(Failure::Final(S3.no_credentials.into())),
            }
        })
    }

    /// Returns whether AWS STS issues the keys, or the keys that sign the request for them.
    pub fn uses_aws_sts(&self) -> bool {
        match self {
            Source::Role(role, base) => role.sts.is_aws || base.uses_aws_sts(),
            Source::WebIdentity(identity) => identity.sts.is_aws,
            _ => false,
        }
    }

    /// Returns whether the instance issues the keys, or the keys that sign the request for them.
    pub fn uses_instance(&self) -> bool {
        match self {
            Source::Role(_, base) => base.uses_instance(),
            Source::Instance(_) => true,
            _ => false,
        }
    }

    /// Returns whether a service of AWS issues the keys, or the keys that sign the request for them.
    pub fn uses_aws(&self) -> bool {
        match self {
            Source::Sso(sso) => sso.portal.is_aws || sso.oidc.is_aws,
            Source::Role(role, base) => role.sts.is_aws || base.uses_aws(),
            _ => self.uses_aws_sts(),
        }
    }
}

/// Gives keys, and renews them.
pub struct Provider {
    source: Source,
    client: HttpClient,
    state: Mutex<State>,
}

enum State {
    /// No key was needed yet.
    Empty,
    /// A key, and the time of the last attempt to get one.
    Ready(Issued, Instant),
    /// The last attempt failed, and ended at this time.
    Failed(Failure, Instant),
}

impl Provider {
    /// Gives keys from a source. `client` sends the requests for them.
    pub fn new(source: Source, client: HttpClient) -> Provider {
        Provider { source, client, state: Mutex::new(State::Empty) }
    }

    /// Gives one key, which never expires.
    #[cfg(test)]
    pub fn fixed(key: Key) -> Provider {
        Provider::new(Source::Fixed(Arc::new(key)), crate::aws::tests::client())
    }

    /// Returns a valid key.
    pub async fn key(&self) -> Result<Arc<Key>, Failure> {
        let called = Instant::now();
        let mut state = self.state.lock().await;
        match &*state {
            // Calls that waited for an attempt share its failure. Otherwise each of them would wait
            // for the attempts of all others.
            State::Failed(failure, ended)
                if matches!(failure, Failure::Final(_)) || *ended >= called =>
            {
                return Err(failure.clone());
            }
            State::Ready(issued, at) if is_fresh(issued, *at) => {
                return Ok(Arc::clone(&issued.key));
            }
            _ => {}
        }
        let fetched = match self.source.fetch(&self.client).await {
            Ok(issued) if !is_valid(&issued) => {
                Err(Failure::Final("the keys for S3 had expired when they were issued".into()))
            }
            fetched => fetched,
        };
        match (fetched, &mut *state) {
            (Ok(issued), state) => {
                let key = Arc::clone(&issued.key);
                *state = State::Ready(issued, Instant::now());
                Ok(key)
            }
            // The next attempt may succeed before the keys expire.
            (Err(_), State::Ready(issued, at)) if is_valid(issued) => {
                *at = Instant::now();
                Ok(Arc::clone(&issued.key))
            }
            (Err(failure), state) => {
                *state = State::Failed(failure.clone(), Instant::now());
                Err(failure)
            }
        }
    }
}

fn is_valid(issued: &Issued) -> bool {
    issued.expires.is_none_or(|expires| expires > SystemTime::now())
}

fn is_fresh(issued: &Issued, at: Instant) -> bool {
    let is_new = issued.expires.is_none_or(|expires| expires > SystemTime::now() + RENEWAL);
    is_new || is_valid(issued) && at.elapsed() < PAUSE
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::aws::endpoints::Service;
    use crate::aws::key::time;
    use crate::aws::machine::Token;
    use crate::aws::server::Server;
    use crate::aws::tests::client;

    /// Returns the answer of a container whose keys are valid for some seconds more.
    fn keys(id: u32, seconds: i64) -> (u16, String) {
        let expires = chrono::Utc::now() + chrono::TimeDelta::seconds(seconds);
        let expires = expires.to_rfc3339();
        let text = format!(
            r#"{{"AccessKeyId": "{id}", "SecretAccessKey": "s", "Expiration": "{expires}"}}"#
        );
        (200, text)
    }

    /// Returns the IDs of keys that a provider gives, or its failures, and the number of requests.
    async fn given(answer: impl Fn(u32) -> (u16, String) + Send + 'static) -> (Vec<String>, usize) {
        let count = AtomicU32::new(0);
        let server = Server::new(move |_| answer(count.fetch_add(1, Ordering::Relaxed)));
        let container = Container { url: server.url.clone(), token: Token::None };
        let provider = Provider::new(Source::Container(container), client());
        let mut given = Vec::new();
        for _ in 0..3 {
            given.push(match provider.key().await {
                Ok(key) => key.credential().key_id.clone(),
                Err(Failure::Final(what)) => what,
                Err(other) => panic!("{other:?}"),
            });
        }
        (given, server.requests().len())
    }

    #[tokio::test]
    async fn keys_are_requested_once_while_they_are_valid() {
        let (ids, requests) = given(|id| keys(id, 3600)).await;
        assert_eq!((ids, requests), (vec!["0".into(); 3], 1));
        // Keys that expire soon are used, and renewed after a pause.
        let (ids, requests) = given(|id| keys(id, 100)).await;
        assert_eq!((ids, requests), (vec!["0".into(); 3], 1));
    }

    #[tokio::test]
    async fn a_failure_is_final() {
        let (failures, requests) = given(|_| (403, String::new())).await;
        assert_eq!(failures, ["keys of the container: the service rejects the request (403)"; 3]);
        assert_eq!(requests, 1);
        let (failures, requests) = given(|id| keys(id, -1)).await;
        assert_eq!(failures, ["the keys for S3 had expired when they were issued"; 3]);
        assert_eq!(requests, 1);
    }

    #[tokio::test]
    async fn calls_that_wait_share_a_failure() {
        let role = |url: &str| {
            let [arn, session] = ["a", "s"].map(String::from);
            let key = Arc::new(Key::new("k".into(), "s".into(), None));
            let sts = Service { url: url.into(), region: "r".into(), is_aws: false };
            let base = Box::new(Source::Fixed(key));
            Source::Role(Role { arn, session, external_id: None, seconds: None, sts }, base)
        };
        let server = Server::new(|_| (503, String::new()));
        let provider = Provider::new(role(&server.url), client());
        let call = async || assert!(matches!(provider.key().await, Err(Failure::Passing(..))));
        futures_util::future::join3(call(), call(), call()).await;
        assert_eq!(server.requests().len(), 1);
        call().await;
        assert_eq!(server.requests().len(), 2);
    }

    #[tokio::test]
    async fn keys_are_renewed_before_they_expire() {
        let answer = |id| match id {
            0 => keys(0, 100),
            1 => (500, String::new()),
            _ => keys(id, 3600),
        };
        let count = AtomicU32::new(0);
        let server = Server::new(move |_| answer(count.fetch_add(1, Ordering::Relaxed)));
        let container = Container { url: server.url.clone(), token: Token::None };
        let provider = Provider::new(Source::Container(container), client());
        let id = async || provider.key().await.unwrap().credential().key_id.clone();
        assert_eq!(id().await, "0");
        let past = async || {
            if let State::Ready(_, at) = &mut *provider.state.lock().await {
                *at -= PAUSE;
            }
        };
        past().await;
        // The container is asked again after its error.
        assert_eq!(id().await, "2");
        assert_eq!(server.requests().len(), 3);
        past().await;
        assert_eq!(id().await, "2");
    }

    #[tokio::test]
    async fn valid_keys_survive_a_failed_renewal() {
        let server = Server::new(|_| (404, String::new()));
        let container = Container { url: server.url.clone(), token: Token::None };
        let provider = Provider::new(Source::Container(container), client());
        let key = Arc::new(Key::new("old".into(), String::new(), None));
        let soon = Some(SystemTime::now() + Duration::from_secs(100));
        let issued = Issued { key, expires: soon };
        *provider.state.lock().await = State::Ready(issued, Instant::now() - PAUSE);
        for _ in 0..2 {
            assert_eq!(provider.key().await.ok().unwrap().credential().key_id, "old");
        }
        assert_eq!(server.requests().len(), 1);
        if let State::Ready(issued, _) = &mut *provider.state.lock().await {
            issued.expires = Some(SystemTime::now());
        }
        assert!(provider.key().await.is_err());
    }

    #[test]
    fn times_are_in_rfc_3339() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        for text in ["2001-09-09T01:46:40Z", "2001-09-09T01:46:40UTC", "2001-09-09T03:46:40+02:00"]
        {
            assert_eq!(time(text), at(1_000_000_000), "{text}");
        }
        for text in ["", "x", "2001-09-09", "1000000000", "2001-09-09T01:46:40"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
