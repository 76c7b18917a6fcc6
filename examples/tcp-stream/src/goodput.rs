//! Measures the throughput of plain TCP, of the stream with tags, and of TLS.

use std::error::Error;
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use rustls::{ClientConnection, ServerConnection};

use crate::stream::{MESSAGE_BYTES, Receiver, Sender, new_key};
use crate::tls;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The size of a read from the socket, the same for all receivers.
const READ_BYTES: usize = 4 * MESSAGE_BYTES;

/// A way to send the bytes.
#[derive(Clone, Copy, Debug)]
pub enum Transport {
    Tcp,
    Tags,
    Tls,
}

impl Transport {
    /// Sends `messages` messages of [`MESSAGE_BYTES`] over a new connection, and returns the
    /// throughput in GB/s. The time is from the first write until the receiver has the last byte
    /// and knows that it is the last. The handshake is not included.
    pub fn gigabytes_per_second(self, messages: u64) -> Result<f64> {
        let (to, from) = connection()?;
        let data = vec![b'x'; MESSAGE_BYTES];
        match self {
            Transport::Tcp => timed(messages, || send(&data, messages, to), || receive(from)),
            Transport::Tags => {
                let key = new_key()?;
                let sender = Sender::new(to, &key);
                let receiver = Receiver::new(buffered(from), &key);
                timed(messages, || send_tags(&data, messages, sender), || receive_tags(receiver))
            }
            Transport::Tls => {
                let (client, server) = tls::connect(&to, &from)?;
                let receive = || receive_tls(server, from);
                timed(messages, || send_tls(&data, messages, client, to), receive)
            }
        }
    }
}

fn buffered(from: TcpStream) -> BufReader<TcpStream> {
    BufReader::with_capacity(READ_BYTES, from)
}

fn connection() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let to = TcpStream::connect(listener.local_addr()?)?;
    // Without this, the end of a stream waits until everything before it is acknowledged.
    to.set_nodelay(true)?;
    Ok((to, listener.accept()?.0))
}

/// Runs both ends and checks that all bytes arrive.
fn timed(
    messages: u64,
    send: impl FnOnce() -> io::Result<()> + Send,
    receive: impl FnOnce() -> Result<u64>,
) -> Result<f64> {
    let (received, time) = thread::scope(|threads| {
        let start = Instant::now();
        let sending = threads.spawn(send);
        let received = receive()?;
        let time = start.elapsed();
        sending.join().expect("the sender does not panic")?;
        Result::Ok((received, time))
    })?;
    let sent = messages * MESSAGE_BYTES as u64;
    if received != sent {
        return Err(format!("expected {sent} bytes, received {received}").into());
    }
    Ok(sent as f64 / time.as_secs_f64() / 1e9)
}

fn send(data: &[u8], messages: u64, mut to: TcpStream) -> io::Result<()> {
    for _ in 0..messages {
        to.write_all(data)?;
    }
    to.shutdown(Shutdown::Write)
}

fn receive(mut from: TcpStream) -> Result<u64> {
    let mut buffer = vec![0; READ_BYTES];
    let mut received = 0;
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(received),
            more => received += more as u64,
        }
    }
}

fn send_tags(data: &[u8], messages: u64, mut to: Sender<TcpStream>) -> io::Result<()> {
    for _ in 0..messages {
        to.write_all(data)?;
    }
    to.finish()
}

fn receive_tags(mut from: Receiver<impl Read>) -> Result<u64> {
    let mut received = 0;
    while let Some(message) = from.receive()? {
        received += message.len() as u64;
    }
    Ok(received)
}

fn send_tls(
    data: &[u8],
    messages: u64,
    mut tls: ClientConnection,
    mut to: TcpStream,
) -> io::Result<()> {
    let mut stream = rustls::Stream::new(&mut tls, &mut to);
    for _ in 0..messages {
        stream.write_all(data)?;
    }
    stream.conn.send_close_notify();
    while stream.conn.wants_write() {
        stream.conn.write_tls(&mut stream.sock)?;
    }
    Ok(())
}

fn receive_tls(mut tls: ServerConnection, from: TcpStream) -> Result<u64> {
    // A connection reads only 4 KiB at a time from the socket.
    let mut from = buffered(from);
    let mut buffer = vec![0; READ_BYTES];
    let mut received = 0;
    loop {
        match tls.reader().read(&mut buffer) {
            Ok(0) => return Ok(received),
            Ok(more) => received += more as u64,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                tls.read_tls(&mut from)?;
                tls.process_new_packets()?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
