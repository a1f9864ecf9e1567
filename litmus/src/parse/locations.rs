//! The names of memory and what it holds at first.

use super::unread::{Read, wrong};
use super::words::{is_of_name, proxy_of};
use crate::program::{Address, Proxy};

/// The addresses that were named so far, and what each physical location holds at first.
#[derive(Default)]
pub(super) struct Locations {
    pub(super) addresses: Vec<Address>,
    pub(super) initial: Vec<i64>,
}

impl Locations {
    /// Another name of a location, for a proxy.
    pub(super) fn alias(&mut self, name: &str, proxy: &str, of: &str) -> Read<()> {
        let aliased = self.address(of)?;
        let proxy = proxy_of(proxy)?;
        let Address { physical, virtual_address, .. } = self.addresses[aliased];
        let virtual_address = if proxy == Proxy::Generic { self.addresses.len() } else { virtual_address };
        self.addresses.push(Address { name: name.to_owned(), physical, virtual_address, proxy });
        Ok(())
    }

    /// The position of an address. A name that the initial state does not have begins with 0.
    pub(super) fn address(&mut self, name: &str) -> Read<usize> {
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') || !name.chars().all(is_of_name)
        {
            return wrong(format_args!("`{name}` is not the name of a location"));
        }
        if let Some(known) = self.addresses.iter().position(|address| address.name == name) {
            return Ok(known);
        }
        let (physical, virtual_address) = (self.initial.len(), self.addresses.len());
        self.initial.push(0);
        self.addresses.push(Address { name: name.to_owned(), physical, virtual_address, proxy: Proxy::Generic });
        Ok(self.addresses.len() - 1)
    }

    /// The physical location of a name.
    pub(super) fn physical(&mut self, name: &str) -> Read<usize> {
        let address = self.address(name)?;
        Ok(self.addresses[address].physical)
    }
}
