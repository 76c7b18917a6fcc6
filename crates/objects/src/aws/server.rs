//! A server for the tests, in this process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The request line and the headers, whose names are in lower case.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Request {
    /// Returns the ID of the key that signed.
    pub fn signer(&self) -> &str {
        let (_, rest) = self.head.split_once("Credential=").unwrap_or_default();
        rest.split('/').next().unwrap_or_default()
    }
}

/// Answers requests until it is dropped.
pub struct Server {
    /// The URL, without a slash at the end.
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    is_done: Arc<AtomicBool>,
    address: std::net::SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers each request with a status and a body.
    pub fn new(answer: impl Fn(&Request) -> (u16, String) + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, is_done) = (Arc::<Mutex<Vec<Request>>>::default(), Arc::default());
        let (seen, done) = (Arc::clone(&requests), Arc::<AtomicBool>::clone(&is_done));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if done.load(Ordering::SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else { continue };
                seen.lock().unwrap().push(request.clone());
                let (status, body) = answer(&request);
                let head = [
                    format!("HTTP/1.1 {status} x"),
                    format!("content-length: {}", body.len()),
                    "connection: close".into(),
                    "location: http://127.0.0.1:1/".into(),
                ];
                let head = head.join("\r\n") + "\r\n\r\n";
                // A client may end early, for example if the answer is too long.
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        let url = format!("http://{address}");
        Server { url, requests, is_done, address, thread: Some(thread) }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        if line == "\r\n" {
            break;
        }
        let line = match line.split_once(": ") {
            Some((name, value)) => format!("{}: {value}", name.to_ascii_lowercase()),
            None => line,
        };
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().ok()?;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { head, body: String::from_utf8(body).ok()? })
}
