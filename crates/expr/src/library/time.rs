//! The parts of moments, in UTC or in a time zone, and of spans of time.

use wheelwright_text::{Civil, GoDuration, Zone};

use super::{Answer, Cost, Kind, Overload, member, strings::text_at};
use crate::{Failure, evaluate::Evaluator, value::Val};

const ONE: Cost = Cost::Fixed(1);

macro_rules! parts {
    ($($name:literal $part:ident),* $(,)?) => {
        pub(super) const MOMENTS: &[Overload] = &[
            $(
                member($name, &[Kind::Timestamp], Kind::Int, ONE, |evaluator, arguments| {
                    moment(evaluator, arguments, Civil::$part)
                }),
                member($name, &[Kind::Timestamp, Kind::String], Kind::Int, ONE, |evaluator, arguments| {
                    moment(evaluator, arguments, Civil::$part)
                }),
            )*
        ];
    };
}

parts! {
    "getFullYear" full_year,
    "getMonth" month,
    "getDayOfYear" day_of_year,
    "getDate" date,
    "getDayOfMonth" day_of_month,
    "getDayOfWeek" day_of_week,
    "getHours" hours,
    "getMinutes" minutes,
    "getSeconds" seconds,
    "getMilliseconds" milliseconds,
}

pub(super) const SPANS: &[Overload] = &[
    member("getHours", &[Kind::Duration], Kind::Int, ONE, |_, arguments| span(arguments, GoDuration::hours)),
    member("getMinutes", &[Kind::Duration], Kind::Int, ONE, |_, arguments| span(arguments, GoDuration::minutes)),
    member("getSeconds", &[Kind::Duration], Kind::Int, ONE, |_, arguments| span(arguments, GoDuration::seconds)),
    member("getMilliseconds", &[Kind::Duration], Kind::Int, ONE, |_, arguments| {
        span(arguments, GoDuration::milliseconds)
    }),
];

fn moment<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>], part: fn(Civil) -> i64) -> Answer<'a> {
    let Val::Timestamp(moment) = arguments[0] else { return Err(Failure::no_such_overload("timestamp")) };
    let name = if arguments.len() > 1 { text_at(arguments, 1)? } else { "UTC" };
    evaluator.charge(name.len() as u64 / 10)?;
    let zone = Zone::parse(name).ok_or_else(|| Failure::unreadable(name, "time zone"))?;
    Ok(Val::Int(part(moment.at(&zone))))
}

fn span<'a>(arguments: &[Val<'a>], part: fn(GoDuration) -> i64) -> Answer<'a> {
    match arguments[0] {
        Val::Duration(span) => Ok(Val::Int(part(span))),
        _ => Err(Failure::no_such_overload("duration")),
    }
}
