//! One document on its way.

use wheelwright_document::{Arena, Entry, Value};
use wheelwright_schema::model::Type;
use wheelwright_text::names::is_dns1123_subdomain;

use super::{
    super::Random,
    Generator, ObjectShape, Shape, Unique, Values, free,
    rule::{Rule, Wish},
};

/// About how many values a document has beyond what its schema and its focus ask for.
const ALLOWANCE: usize = 40;
/// A document with so many values gets no more than it must have, however many items a schema demands.
const MOST: usize = 2_000;

/// No list gets longer, however many items a schema demands: items are compared with one another.
const LONGEST_LIST: usize = 256;

/// What becomes of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mood {
    /// As the schema wants it, as far as the generator understands.
    Sound,
    /// Required fields may be missing.
    Incomplete,
    /// Some values are wrong.
    Flawed,
}

/// What is decided about a field of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Plan {
    Open,
    Present,
    Forbidden,
}

pub(super) struct Run<'a, 'r> {
    pub(super) generator: &'a Generator,
    pub(super) random: &'r mut Random,
    pub(super) arena: &'a Arena,
    mood: Mood,
    /// The nodes that must be reached, with those above them.
    focus: Vec<bool>,
    /// Only the first item of a list needs to reach what is in focus.
    focusing: bool,
    made: usize,
    /// Of eight fields that rules speak of, so many are there: some rules want a field, some want it gone, and some want
    /// it with one of two others. One answer for all objects of a document meets one rule everywhere.
    in_rules: usize,
}

impl<'a, 'r> Run<'a, 'r> {
    pub(super) fn new(generator: &'a Generator, mood: Mood, random: &'r mut Random, arena: &'a Arena) -> Self {
        let focus = vec![false; generator.nodes.len()];
        let in_rules = [0, 4, 7][random.below(3)];
        Self { generator, random, arena, mood, focus, focusing: true, made: 0, in_rules }
    }

    /// A whole document that reaches the given nodes.
    pub(super) fn document(mut self, focus: &[usize]) -> Value<'a> {
        let is_object = matches!(self.generator.nodes[0].shape, Shape::Object(_));
        if self.mood == Mood::Incomplete && is_object && self.random.one_in(2) {
            return Value::Object(self.arena.slice(&self.implied(0)));
        }
        for node in focus {
            let mut way = Some(*node).filter(|at| *at < self.focus.len());
            while let Some(at) = way {
                self.focus[at] = true;
                way = self.generator.nodes[at].parent;
            }
        }
        let allowance = self.random.below(ALLOWANCE);
        self.value(0, Wish::default(), allowance)
    }

    /// The value of a node, with about `allowance` values in it that it could do without.
    pub(super) fn value(&mut self, at: usize, wish: Wish<'a>, allowance: usize) -> Value<'a> {
        self.item(at, wish, allowance, &[])
    }

    /// The same, with the fields that tell it apart from the items beside it.
    fn item(&mut self, at: usize, mut wish: Wish<'a>, allowance: usize, keys: &'a [Box<str>]) -> Value<'a> {
        let generator = self.generator;
        let node = &generator.nodes[at];
        self.made += 1;
        if self.mood == Mood::Flawed && at > 0 && self.random.one_in(10) {
            return self.flaw(at);
        }
        let favourite = self.favourite(at);
        let null_once_in = if node.nullable { 8 } else { 48 };
        if at > 0 && !self.leads_on(at) && (node.nullable || node.has_default) && self.random.one_in(null_once_in) {
            return Value::Null;
        }
        for rule in std::mem::take(&mut wish.wanted) {
            rule.expand(&mut wish, favourite, self.random);
        }
        node.rule.expand(&mut wish, favourite, self.random);
        wish.settle_negations(favourite, self.random);
        if let Some(member) = self.random.pick(&wish.members()) {
            return member.share(self.arena);
        }
        if !node.rule.known.is_empty() && !self.random.one_in(4) {
            return node.rule.known[self.random.below(node.rule.known.len())].share(self.arena);
        }
        match &node.shape {
            Shape::Object(shape) => self.object(at, shape, &wish, allowance, keys),
            Shape::List { items, unique } => self.list(*items, unique, &wish, allowance),
            Shape::Scalar(r#type) => self.scalar(r#type, &wish),
            Shape::IntOrString | Shape::Any => self.of_branches(&node.shape, &wish, allowance),
        }
    }

    /// The field of an object that leads to what is in focus.
    fn favourite(&self, at: usize) -> Option<&'a str> {
        if !self.is_focused(at) {
            return None;
        }
        match &self.generator.nodes[at].shape {
            Shape::Object(shape) => {
                let focused = |(_, below): &&(Box<str>, usize)| self.is_focused(*below);
                shape.fields.iter().find(focused).map(|(name, _)| &**name)
            }
            _ => None,
        }
    }

    /// Whether something below is in focus.
    fn leads_on(&self, at: usize) -> bool {
        let below = match &self.generator.nodes[at].shape {
            Shape::Object(ObjectShape { values: Some(Values::Node(values)), .. }) => Some(*values),
            Shape::List { items, .. } => *items,
            _ => None,
        };
        self.favourite(at).is_some() || below.is_some_and(|below| self.is_focused(below))
    }

    fn is_focused(&self, at: usize) -> bool {
        self.focusing && self.focus[at]
    }

    /// A value of the type that a branch asks for, or of any.
    fn of_branches(&mut self, shape: &Shape, wish: &Wish<'a>, allowance: usize) -> Value<'a> {
        let r#type = wish.wanted.iter().rev().find_map(|rule| rule.r#type.clone());
        let is_int_or_string = matches!(shape, Shape::IntOrString);
        match r#type {
            Some(r#type @ (Type::String | Type::Integer | Type::Number | Type::Boolean)) => self.scalar(&r#type, wish),
            // A pattern speaks of the string; a number would be as good.
            _ if is_int_or_string => {
                let r#type = if self.random.one_in(2) { Type::Integer } else { Type::String };
                self.scalar(&r#type, wish)
            }
            _ if wish.wanted.iter().any(|rule| rule.limits_scalars()) => self.scalar(&Type::String, wish),
            _ => self.free(allowance.min(6)),
        }
    }

    /// A value that nothing describes; not null, which would be as good as absent.
    fn free(&mut self, allowance: usize) -> Value<'a> {
        match free::value(self.random, &self.generator.names, allowance, self.arena) {
            Value::Null => Value::Object(&[]),
            value => value,
        }
    }

    fn object(
        &mut self,
        at: usize,
        shape: &'a ObjectShape,
        wish: &Wish<'a>,
        allowance: usize,
        keys: &'a [Box<str>],
    ) -> Value<'a> {
        let mut plan: Vec<Plan> = vec![Plan::Open; shape.fields.len()];
        let mut undeclared: Vec<&'a str> = Vec::new();
        let required = wish.wanted.iter().flat_map(|rule| rule.required.iter()).chain(keys);
        for name in required {
            let misses = match self.mood {
                Mood::Sound => false,
                Mood::Incomplete => self.random.one_in(3),
                Mood::Flawed => self.random.one_in(16),
            };
            match shape.position(name) {
                Some(position) if !misses => plan[position] = Plan::Present,
                None if !misses && (shape.values.is_some() || shape.keeps_unknown) => undeclared.push(name),
                _ => {}
            }
        }
        for (position, (name, below)) in shape.fields.iter().enumerate() {
            // A default would fill the field with what a branch may not want.
            let has_default = self.generator.nodes[*below].has_default;
            let is_told = has_default && wish.wanted.iter().any(|rule| rule.field(name).is_some());
            if is_told || self.is_focused(*below) {
                plan[position] = Plan::Present;
            }
        }
        let discriminator = self.settle_union(at, shape, &mut plan);
        let mut avoided: Vec<(usize, &'a Rule)> = Vec::new();
        for rule in &wish.avoided {
            self.break_rule(rule, shape, &mut plan, &mut avoided);
        }
        for field in &shape.in_rules {
            if plan[*field] == Plan::Open && self.made < MOST && self.random.below(8) < self.in_rules {
                plan[*field] = Plan::Present;
            }
        }
        let count = wish.range(|rule| rule.properties.clone());
        self.settle_open(&mut plan, allowance, *count.start(), *count.end());

        let present = plan.iter().filter(|plan| **plan == Plan::Present).count();
        let values = self.map_size(shape, allowance, present, *count.start(), *count.end()).max(undeclared.len());
        let share = allowance.saturating_sub(present + values) / (present + values).max(1);
        let mut entries = self.implied(at);
        let implied = entries.len();
        for (position, (name, below)) in shape.fields.iter().enumerate() {
            if plan[position] != Plan::Present || entries[..implied].iter().any(|entry| entry.key == &**name) {
                continue;
            }
            let mut wish = wish.field(name);
            wish.avoided.extend(avoided.iter().filter(|(field, _)| *field == position).map(|(_, rule)| *rule));
            let value = match discriminator {
                Some((field, value)) if field == position => Value::string(value),
                _ => self.value(*below, wish, share),
            };
            entries.push(Entry { key: name, value });
        }
        self.add_values(&mut entries, shape, wish, undeclared, values, share);
        if self.random.one_in(8) {
            self.random.shuffle(&mut entries);
        }
        Value::Object(self.arena.slice(&entries))
    }

    /// Sets one member of a union, or none, and the field that says which.
    fn settle_union(&mut self, at: usize, shape: &'a ObjectShape, plan: &mut [Plan]) -> Option<(usize, &'a str)> {
        let union = shape.union.as_ref()?;
        if self.random.one_in(12) {
            return None;
        }
        let favourite = self.favourite(at).and_then(|name| shape.position(name));
        let favoured = union.cases.iter().find(|(_, field)| field.is_some() && *field == favourite);
        let (value, member) = favoured.or_else(|| self.random.pick(&union.cases))?;
        for (_, field) in &union.cases {
            if let Some(field) = field.filter(|field| plan[*field] == Plan::Open) {
                plan[field] = if Some(field) == *member { Plan::Present } else { Plan::Forbidden };
            }
        }
        plan[union.discriminator] = Plan::Present;
        Some((union.discriminator, value))
    }

    /// Sees to it that an object does not satisfy a rule, in one of the ways there are.
    fn break_rule(
        &mut self,
        rule: &'a Rule,
        shape: &ObjectShape,
        plan: &mut [Plan],
        avoided: &mut Vec<(usize, &'a Rule)>,
    ) {
        let required: Vec<Option<usize>> = rule.required.iter().map(|name| shape.position(name)).collect();
        let is_absent = |field: &Option<usize>| field.is_none_or(|field| plan[field] == Plan::Forbidden);
        if required.iter().any(is_absent) {
            return;
        }
        let open: Vec<usize> = required.into_iter().flatten().filter(|field| plan[*field] == Plan::Open).collect();
        if let Some(field) = self.random.pick(&open) {
            plan[*field] = Plan::Forbidden;
            return;
        }
        let fields = rule.fields().filter_map(|(name, rule)| Some((shape.position(name)?, rule)));
        let fields: Vec<(usize, &Rule)> = fields.filter(|(field, _)| plan[*field] != Plan::Forbidden).collect();
        if let Some((field, rule)) = self.random.pick(&fields) {
            plan[*field] = Plan::Present;
            avoided.push((*field, rule));
        }
    }

    /// Decides which optional fields are there.
    fn settle_open(&mut self, plan: &mut [Plan], allowance: usize, least: usize, most: usize) {
        let present = plan.iter().filter(|plan| **plan == Plan::Present).count();
        let mut open: Vec<usize> = (0..plan.len()).filter(|field| plan[*field] == Plan::Open).collect();
        let usual = match self.random.below(24) {
            _ if self.made > MOST => 0,
            0 => open.len().min(allowance),
            _ => self.random.below(open.len().min(allowance).min(4) + 1),
        };
        // One member is the point of an object that has room for one.
        let usual = if most == 1 && !self.random.one_in(12) { 1 } else { usual };
        let wanted = usual.max(least.saturating_sub(present)).min(most.saturating_sub(present)).min(open.len());
        self.random.shuffle(&mut open);
        for field in open.into_iter().take(wanted) {
            plan[field] = Plan::Present;
        }
    }

    /// How many undeclared fields there are.
    fn map_size(&mut self, shape: &ObjectShape, allowance: usize, present: usize, least: usize, most: usize) -> usize {
        let is_focused = matches!(shape.values, Some(Values::Node(values)) if self.is_focused(values));
        let usual = match &shape.values {
            _ if self.made > MOST => 0,
            Some(_) => self.random.below(allowance.min(3) + 1).max(usize::from(is_focused)),
            None if shape.keeps_unknown => self.random.below(allowance.min(3) + 1),
            // Fields that nothing declares are pruned, which is worth a look once in a while.
            None => return usize::from(allowance > 2 && most == usize::MAX && self.random.one_in(40)),
        };
        usual.max(least.saturating_sub(present).min(64)).min(most.saturating_sub(present))
    }

    fn add_values(
        &mut self,
        entries: &mut Vec<Entry<'a>>,
        shape: &'a ObjectShape,
        wish: &Wish<'a>,
        undeclared: Vec<&'a str>,
        count: usize,
        share: usize,
    ) {
        let least = entries.len() + count;
        let wish = wish.value();
        let missing = count.saturating_sub(undeclared.len());
        // Keys are drawn from a few, so that some are drawn twice.
        let drawn: Vec<&str> = (0..3 * missing).map(|_| free::key(self.random, &self.generator.names)).collect();
        for key in undeclared.into_iter().chain(drawn) {
            let is_new = shape.position(key).is_none() && entries.iter().all(|entry| entry.key != key);
            if is_new && entries.len() < least {
                let value = match shape.values {
                    Some(Values::Node(values)) => self.value(values, wish.clone(), share),
                    _ => free::value(self.random, &self.generator.names, share.min(6), self.arena),
                };
                entries.push(Entry { key, value });
            }
        }
    }

    fn list(&mut self, items: Option<usize>, unique: &'a Unique, wish: &Wish<'a>, allowance: usize) -> Value<'a> {
        let range = wish.range(|rule| rule.items.clone());
        let (least, most) = (*range.start(), *range.end());
        let usual = match self.random.below(8) {
            0 => 0,
            1..=3 => 1,
            4 | 5 => 2,
            6 => 3,
            _ if most <= 6 => most,
            _ => 4,
        };
        let is_focused = items.is_some_and(|items| self.is_focused(items));
        let usual = usual.min(allowance).max(usize::from(is_focused)).clamp(least, most);
        let count = if self.made > MOST { usual.min(1) } else { usual.min(LONGEST_LIST) };
        let share = allowance.saturating_sub(count) / count.max(1);
        let keys: &[Box<str>] = if let Unique::Keys(keys) = unique { keys } else { &[] };
        let unique_items = wish.wanted.iter().any(|rule| rule.unique_items);
        let allows_twins = self.mood == Mood::Flawed && self.random.one_in(2);
        let focusing = self.focusing;
        let mut list: Vec<Value<'a>> = Vec::with_capacity(count);
        for position in 0..count {
            self.focusing = focusing && (position == 0 || self.random.one_in(4));
            for _ in 0..6 {
                let item = match (items, self.random.pick(&list).copied()) {
                    (Some(at), Some(twin)) if self.random.one_in(4) => self.varied(at, twin, keys),
                    (Some(at), _) => self.item(at, wish.item(), share, keys),
                    (None, _) => free::value(self.random, &self.generator.names, share.min(4), self.arena),
                };
                if allows_twins || !list.iter().any(|other| is_same(unique, unique_items, *other, item)) {
                    list.push(item);
                    break;
                }
            }
        }
        self.focusing = focusing;
        Value::Array(self.arena.slice(&list))
    }

    /// An item that differs from another in one field, a key if it has keys.
    fn varied(&mut self, at: usize, item: Value<'a>, keys: &[Box<str>]) -> Value<'a> {
        let Some(entries) = item.as_object().filter(|entries| !entries.is_empty()) else {
            return item;
        };
        let key = self.random.pick(keys);
        let key = key.and_then(|key| entries.iter().position(|entry| entry.key == &**key));
        let changed = key.unwrap_or_else(|| self.random.below(entries.len()));
        let mut entries = entries.to_vec();
        if let Some(below) = self.generator.below(at, entries[changed].key) {
            entries[changed].value = self.value(below, Wish::default(), 2);
        }
        Value::Object(self.arena.slice(&entries))
    }

    /// A value that is probably not what the node wants.
    fn flaw(&mut self, at: usize) -> Value<'a> {
        match (self.random.below(4), &self.generator.nodes[at].shape) {
            (0, _) => Value::Null,
            (1, Shape::Scalar(r#type)) => self.scalar(r#type, &Wish::default()),
            _ => free::value(self.random, &self.generator.names, 3, self.arena),
        }
    }

    /// What every resource begins with, if the node is one.
    fn implied(&mut self, at: usize) -> Vec<Entry<'a>> {
        let generator = self.generator;
        let is_embedded = matches!(&generator.nodes[at].shape, Shape::Object(shape) if shape.embedded);
        let (api_version, kind, name) = match &generator.resource {
            Some(resource) if at == 0 => (&*resource.api_version, &*resource.kind, resource.name.as_ref()),
            _ if is_embedded => ("v1", "Embedded", None),
            _ => return Vec::new(),
        };
        let entry = |key, text| Entry { key, value: Value::string(text) };
        let metadata = Entry { key: "metadata", value: self.metadata(name) };
        vec![entry("apiVersion", api_version), entry("kind", kind), metadata]
    }

    /// The metadata of a resource.
    pub(super) fn metadata(&mut self, rule: Option<&'a Rule>) -> Value<'a> {
        let mut wish = Wish::default();
        if let Some(rule) = rule {
            rule.expand(&mut wish, None, self.random);
        }
        let names = |name: &Value<'_>| name.as_str().is_some_and(is_dns1123_subdomain);
        let name = match self.random.pick(&wish.members()) {
            Some(member) => Some(member.share(self.arena)),
            None if rule.is_some() => (0..16).map(|_| self.scalar(&Type::String, &wish)).find(names),
            None => None,
        };
        let usual = ["a", "example", "b.example", "name-0"][self.random.below(4)];
        let name = name.unwrap_or(Value::string(usual));
        let mut entries = vec![Entry { key: "name", value: name }];
        let texts = [("labels", "app"), ("annotations", "example.com/note")];
        for (key, name) in texts {
            if self.random.one_in(4) {
                let value = Value::string(["", "a", "b"][self.random.below(3)]);
                entries.push(Entry { key, value: Value::Object(self.arena.slice(&[Entry { key: name, value }])) });
            }
        }
        if self.random.one_in(6) {
            entries.push(Entry { key: "generateName", value: Value::string("a-") });
        }
        Value::Object(self.arena.slice(&entries))
    }
}

/// Whether two items may not be in one list.
fn is_same(unique: &Unique, unique_items: bool, a: Value<'_>, b: Value<'_>) -> bool {
    match unique {
        Unique::Keys(keys) => keys.iter().all(|key| match (a.get(key), b.get(key)) {
            (Some(a), Some(b)) => a.equivalent(b),
            (a, b) => a.is_none() && b.is_none(),
        }),
        Unique::Nothing if !unique_items => false,
        _ => a.equivalent(b),
    }
}
