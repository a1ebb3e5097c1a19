//! Addresses and networks.

use wheelwright_text::{Cidr, Ip};

use super::{Answer, Cost, Kind, Overload, global, member, strings::text_at};
use crate::{Failure, evaluate::Evaluator, value::Val};

const ONE: Cost = Cost::Fixed(1);
const TRAVERSAL: Cost = Cost::Traversal(1);

pub(super) const OVERLOADS: &[Overload] = &[
    global("ip", &[Kind::String], Kind::Ip, TRAVERSAL, |evaluator, arguments| {
        Ok(evaluator.ip(read_ip(text_at(arguments, 0)?)?))
    }),
    global("isIP", &[Kind::String], Kind::Bool, TRAVERSAL, |_, arguments| {
        Ok(Val::Bool(Ip::parse(text_at(arguments, 0)?).is_some()))
    }),
    global("ip.isCanonical", &[Kind::String], Kind::Bool, Cost::Traversal(2), |_, arguments| {
        let text = text_at(arguments, 0)?;
        Ip::is_canonical(text).map(Val::Bool).ok_or_else(|| Failure::unreadable(text, "IP address"))
    }),
    member("family", &[Kind::Ip], Kind::Int, ONE, |_, arguments| Ok(Val::Int(ip_at(arguments, 0)?.family()))),
    member("isUnspecified", &[Kind::Ip], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(ip_at(arguments, 0)?.is_unspecified()))
    }),
    member("isLoopback", &[Kind::Ip], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(ip_at(arguments, 0)?.is_loopback()))
    }),
    member("isLinkLocalMulticast", &[Kind::Ip], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(ip_at(arguments, 0)?.is_link_local_multicast()))
    }),
    member("isLinkLocalUnicast", &[Kind::Ip], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(ip_at(arguments, 0)?.is_link_local_unicast()))
    }),
    member("isGlobalUnicast", &[Kind::Ip], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(ip_at(arguments, 0)?.is_global_unicast()))
    }),
    global("cidr", &[Kind::String], Kind::Cidr, TRAVERSAL, |evaluator, arguments| {
        Ok(evaluator.cidr(read_cidr(text_at(arguments, 0)?)?))
    }),
    global("isCIDR", &[Kind::String], Kind::Bool, TRAVERSAL, |_, arguments| {
        Ok(Val::Bool(Cidr::parse(text_at(arguments, 0)?).is_some()))
    }),
    member("containsIP", &[Kind::Cidr, Kind::Ip], Kind::Bool, Cost::Fixed(4), contains_ip),
    member("containsIP", &[Kind::Cidr, Kind::String], Kind::Bool, Cost::Fixed(8), contains_ip),
    member("containsCIDR", &[Kind::Cidr, Kind::Cidr], Kind::Bool, Cost::Fixed(7), contains_cidr),
    member("containsCIDR", &[Kind::Cidr, Kind::String], Kind::Bool, Cost::Fixed(12), contains_cidr),
    member("ip", &[Kind::Cidr], Kind::Ip, ONE, |evaluator, arguments| Ok(evaluator.ip(cidr_at(arguments, 0)?.ip()))),
    member("prefixLength", &[Kind::Cidr], Kind::Int, ONE, |_, arguments| {
        Ok(Val::Int(cidr_at(arguments, 0)?.prefix_length()))
    }),
    member("masked", &[Kind::Cidr], Kind::Cidr, ONE, |evaluator, arguments| {
        Ok(evaluator.cidr(cidr_at(arguments, 0)?.masked()))
    }),
];

impl<'a> Evaluator<'a> {
    fn ip(&self, address: Ip) -> Val<'a> {
        Val::Ip(&self.arena.slice(&[address])[0])
    }

    fn cidr(&self, network: Cidr) -> Val<'a> {
        Val::Cidr(&self.arena.slice(&[network])[0])
    }
}

fn read_ip(text: &str) -> Result<Ip, Failure> {
    Ip::parse(text).ok_or_else(|| Failure::unreadable(text, "IP address"))
}

fn read_cidr(text: &str) -> Result<Cidr, Failure> {
    Cidr::parse(text).ok_or_else(|| Failure::unreadable(text, "network in CIDR notation"))
}

fn ip_at(arguments: &[Val<'_>], at: usize) -> Result<Ip, Failure> {
    match arguments[at] {
        Val::Ip(address) => Ok(*address),
        _ => read_ip(text_at(arguments, at)?),
    }
}

fn cidr_at(arguments: &[Val<'_>], at: usize) -> Result<Cidr, Failure> {
    match arguments[at] {
        Val::Cidr(network) => Ok(*network),
        _ => read_cidr(text_at(arguments, at)?),
    }
}

fn contains_ip<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Bool(cidr_at(arguments, 0)?.contains_ip(ip_at(arguments, 1)?)))
}

fn contains_cidr<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Bool(cidr_at(arguments, 0)?.contains(cidr_at(arguments, 1)?)))
}
