//! URLs, as Go reads the target of a request.

use wheelwright_text::Url;

use super::{Answer, Cost, Kind, Overload, TEXTS, global, member, strings::text_at, tenth};
use crate::{
    Failure,
    evaluate::{Evaluator, MapBuilder},
    value::Val,
};

const TRAVERSAL: Cost = Cost::Traversal(1);
/// The functions pay for reading the URL again.
const PAID: Cost = Cost::Fixed(1);

pub(super) const OVERLOADS: &[Overload] = &[
    global("url", &[Kind::String], Kind::Url, TRAVERSAL, |_, arguments| {
        let text = text_at(arguments, 0)?;
        match Url::is_url(text) {
            true => Ok(Val::Url(text)),
            false => Err(Failure::unreadable(text, "URL")),
        }
    }),
    global("isURL", &[Kind::String], Kind::Bool, TRAVERSAL, |_, arguments| {
        Ok(Val::Bool(Url::is_url(text_at(arguments, 0)?)))
    }),
    member("getScheme", &[Kind::Url], Kind::String, PAID, |evaluator, arguments| {
        part(evaluator, arguments, Url::scheme)
    }),
    member("getHost", &[Kind::Url], Kind::String, PAID, |evaluator, arguments| part(evaluator, arguments, Url::host)),
    member("getHostname", &[Kind::Url], Kind::String, PAID, |evaluator, arguments| {
        part(evaluator, arguments, Url::hostname)
    }),
    member("getPort", &[Kind::Url], Kind::String, PAID, |evaluator, arguments| part(evaluator, arguments, Url::port)),
    member("getEscapedPath", &[Kind::Url], Kind::String, PAID, |evaluator, arguments| {
        part(evaluator, arguments, Url::escaped_path)
    }),
    member("getQuery", &[Kind::Url], Kind::Map(&Kind::String, &TEXTS), PAID, |evaluator, arguments| {
        let url = url_at(evaluator, arguments)?;
        let mut query = MapBuilder::default();
        for (name, values) in url.query() {
            let values = values.iter().map(|value| Val::String(evaluator.arena.text(value)));
            let values = Val::List(evaluator.arena.slice(&values.collect::<Vec<_>>()));
            query.insert(Val::String(evaluator.arena.text(&name)), values)?;
        }
        Ok(query.finish(evaluator.arena))
    }),
];

/// A URL is kept as its text, and read whenever a part of it is asked for.
fn url_at(evaluator: &mut Evaluator<'_>, arguments: &[Val<'_>]) -> Result<Url, Failure> {
    let Val::Url(text) = arguments[0] else { return Err(Failure::no_such_overload("url")) };
    evaluator.charge(tenth(text.len() as u64))?;
    Url::parse(text).ok_or_else(|| Failure::unreadable(text, "URL"))
}

fn part<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>], part: fn(&Url) -> &str) -> Answer<'a> {
    let url = url_at(evaluator, arguments)?;
    Ok(Val::String(evaluator.arena.text(part(&url))))
}
