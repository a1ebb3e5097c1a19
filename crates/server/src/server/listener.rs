//! The address of a server, bound before the server is complete.

use std::{error::Error, fmt, io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// An address that is bound before the server of it is complete. Connections wait until it serves.
#[derive(Debug)]
pub struct Listener {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddr,
}

/// An address that cannot be had.
#[derive(Debug)]
pub struct BindError {
    address: SocketAddr,
    error: io::Error,
}

impl Listener {
    /// Binds an address.
    ///
    /// # Errors
    /// Another program has the address, or this machine does not.
    pub async fn bind(address: SocketAddr) -> Result<Self, BindError> {
        let failed = |error| BindError { address, error };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }
}

/// Listens at an address, with more room for connections that nobody has accepted yet than is usual: one that finds none
/// waits for a second.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    const BACKLOG: u32 = 4096;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen at {}: {}", self.address, self.error)
    }
}

impl Error for BindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
