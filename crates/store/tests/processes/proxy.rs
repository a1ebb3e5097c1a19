//! A stand-in for the network between a store and its server, which can be cut.

use std::{
    io::copy,
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

/// Passes connections on to a port of the loopback address.
pub(crate) struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

struct State {
    /// Where connections go; none if they are ended at once.
    to: Option<u16>,
    /// Both ends of every connection.
    open: Vec<TcpStream>,
}

impl Proxy {
    pub(crate) fn start(to: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
        let port = listener.local_addr().expect("a listener has an address").port();
        let state = Arc::new(Mutex::new(State { to: Some(to), open: Vec::new() }));
        let accepting = state.clone();
        // Ends with the process: nobody is in its way.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let mut state = lock(&accepting);
                let Some(port) = state.to else { continue };
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
                    thread::spawn(move || pass_on(from, to));
                }
                state.open.extend([client, server]);
            }
        });
        Self { port, state }
    }

    /// The address of a server as it is through here.
    pub(crate) fn address(&self, address: &str, port: u16) -> String {
        address.replacen(&format!(":{port}/"), &format!(":{}/", self.port), 1)
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        for end in lock(&self.state).open.drain(..) {
            // The other side may have been faster.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Ends all connections, and every new one at once.
    pub(crate) fn refuse(&self) {
        lock(&self.state).to = None;
        self.cut();
    }

    /// Lets connections through again.
    pub(crate) fn accept(&self, to: u16) {
        lock(&self.state).to = Some(to);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    // However it ends, both sides shall know.
    let _ = copy(&mut from, &mut to);
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
