//! Random versions, and the random edits that make the next version of one.

use serde_json::{Map, Value as Json, json};

use super::{Field, Focus, NAMES, Object, Tape, Type, computing::Planned};

/// Makes and changes versions.
pub(super) struct Editor {
    pub(super) focus: Focus,
    pub(super) next: usize,
    /// Fields that are gone, and the objects they were in.
    pub(super) graveyard: Vec<(usize, Field)>,
    /// The computed changes of the step that is being made.
    pub(super) planned: Vec<Planned>,
}

impl Editor {
    pub(super) fn identity(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    pub(super) fn root(&mut self, tape: &mut Tape<'_>) -> Object {
        if matches!(self.focus, Focus::Anything | Focus::Unknown | Focus::Computed) {
            return self.object(tape, 0);
        }
        if self.focus.has_parts() {
            let mut root = self.empty();
            for name in ["spec", "status"] {
                let shape = Type::Object(self.object(tape, 1));
                let name = name.to_owned();
                root.fields.push(Field { identity: self.identity(), name, shape, nullable: false, default: None });
            }
            return root;
        }
        if self.focus == Focus::ComputedObjects {
            return self.object_to_respell(tape);
        }
        let mut inner = if self.focus == Focus::AlikeItems { self.item(tape) } else { self.object(tape, 2) };
        let shape = if self.focus == Focus::Unions {
            inner.union = true;
            inner.discriminator = inner.fields.first().map(|field| field.identity).filter(|_| tape.chance(40));
            Type::Object(inner)
        } else {
            let key = inner.fields.iter().find(|field| matches!(field.shape, Type::String));
            let keys = key.filter(|_| tape.chance(40)).map(|field| field.identity).into_iter().collect();
            let items = Type::Object(inner);
            match tape.pick(6) {
                4 => Type::Map(Box::new(items)),
                5 => Type::List(Box::new(Type::List(Box::new(items), keys)), Vec::new()),
                _ => Type::List(Box::new(items), keys),
            }
        };
        let name = NAMES[0].to_owned();
        let field = Field { identity: self.identity(), name, shape, nullable: false, default: None };
        Object { fields: vec![field], ..self.empty() }
    }

    /// An item with few fields, some of which are lists of such items.
    fn item(&mut self, tape: &mut Tape<'_>) -> Object {
        let mut item = self.flat_item(tape);
        if tape.chance(60) {
            let inner = self.flat_item(tape);
            let keys = inner.fields.first().filter(|_| tape.chance(30)).map(|field| field.identity);
            let shape = Type::List(Box::new(Type::Object(inner)), keys.into_iter().collect());
            let name = NAMES[3].to_owned();
            item.fields.push(Field { identity: self.identity(), name, shape, nullable: false, default: None });
        }
        item
    }

    fn flat_item(&mut self, tape: &mut Tape<'_>) -> Object {
        let mut item = self.empty();
        for name in &NAMES[..2 + tape.pick(2)] {
            self.add_scalar(&mut item, (*name).to_owned(), tape);
        }
        item
    }

    fn add_scalar(&mut self, object: &mut Object, name: String, tape: &mut Tape<'_>) {
        let shape = [Type::String, Type::String, Type::Integer][tape.pick(3)].clone();
        let default = tape.chance(10).then(|| default(&shape, tape)).flatten();
        object.fields.push(Field { identity: self.identity(), name, shape, nullable: false, default });
    }

    pub(super) fn empty(&mut self) -> Object {
        let identity = self.identity();
        Object {
            identity,
            fields: Vec::new(),
            keeps_unknown: false,
            refuses_empty: false,
            union: false,
            discriminator: None,
        }
    }

    fn object(&mut self, tape: &mut Tape<'_>, depth: usize) -> Object {
        let mut object = self.empty();
        for _ in 0..1 + tape.pick(if depth == 0 { 5 } else { 3 }) {
            self.add(&mut object, tape, depth);
        }
        object.keeps_unknown = tape.chance(if self.focus == Focus::Unknown { 60 } else { 15 });
        object.union = depth > 0 && tape.chance(15);
        object.refuses_empty = depth > 0 && tape.chance(30);
        object
    }

    fn add(&mut self, object: &mut Object, tape: &mut Tape<'_>, depth: usize) {
        let Some(name) = object.free_name(tape) else { return };
        let shape = self.shape(tape, depth);
        let nullable = tape.chance(15);
        let default = tape.chance(20).then(|| default(&shape, tape)).flatten();
        object.fields.push(Field { identity: self.identity(), name, shape, nullable, default });
    }

    fn shape(&mut self, tape: &mut Tape<'_>, depth: usize) -> Type {
        let depth = depth + 1;
        match tape.pick(if depth > 3 { 4 } else { 12 }) {
            0 | 3 => Type::String,
            1 => Type::Integer,
            2 => Type::Boolean,
            4..7 => Type::Object(self.object(tape, depth)),
            7 | 8 => {
                let object = self.object(tape, depth);
                let key = object.fields.first().filter(|field| matches!(field.shape, Type::String));
                let keys = key.filter(|_| tape.chance(60)).map(|field| field.identity).into_iter().collect();
                Type::List(Box::new(Type::Object(object)), keys)
            }
            9 => Type::Map(Box::new(Type::Object(self.object(tape, depth)))),
            10 => {
                let inner = Type::List(Box::new(Type::Object(self.object(tape, depth))), Vec::new());
                Type::List(Box::new(inner), Vec::new())
            }
            _ if tape.chance(50) => Type::Map(Box::new(Type::String)),
            _ => Type::List(Box::new(Type::String), Vec::new()),
        }
    }

    pub(super) fn edit(&mut self, root: &mut Object, tape: &mut Tape<'_>) {
        let is_narrow = !matches!(self.focus, Focus::Anything | Focus::Unknown | Focus::Computed);
        // Other edits of what is in the object would mostly leave nothing of it to be told apart.
        if self.focus == Focus::ComputedObjects && !root.fields.is_empty() && tape.chance(80) {
            if self.planned.is_empty() {
                self.respell(root, 0, tape);
            }
            return;
        }
        let kind = if is_narrow && tape.chance(40) { tape.pick(2) } else { tape.pick(14) };
        if matches!(self.focus, Focus::Lists | Focus::AlikeItems) && kind == 10 {
            return toggle_key(root, tape);
        }
        let mut objects = Vec::new();
        objects_of(root, root.identity, 0, &mut objects);
        if is_narrow && objects.len() > 1 && (self.focus.has_parts() || !tape.chance(10)) {
            objects.remove(0);
        }
        let (identity, scope, depth) = objects[tape.pick(objects.len())];
        let place = tape.pick(64);
        let Some(object) = find_mut(root, identity) else { return };
        let count = object.fields.len();
        let at = place % count.max(1);
        if self.focus == Focus::AlikeItems && tape.chance(85) {
            let is_scalar = |field: &Field| matches!(field.shape, Type::String | Type::Integer);
            return match object.free_name(tape) {
                Some(name) if count < 2 || tape.chance(50) => self.add_scalar(object, name, tape),
                _ if count > 0 && is_scalar(&object.fields[at]) => {
                    self.graveyard.push((identity, object.fields.remove(at)))
                }
                _ => {}
            };
        }
        if kind > 0 && count == 0 && !self.focus.computes() {
            return;
        }
        if self.focus.computes() && tape.chance(70) {
            return match tape.pick(10) {
                _ if count == 0 => self.derive(object, at, tape),
                0..6 => self.respell(object, at, tape),
                6 => self.wrap(object, at, tape),
                _ => self.derive(object, at, tape),
            };
        }
        if kind > 0 && count == 0 {
            return;
        }
        match kind {
            0 => self.add(object, tape, depth),
            1 => {
                let field = object.fields.remove(at);
                self.graveyard.push((identity, field));
            }
            2 => {
                if let Some(name) = object.free_name(tape) {
                    object.fields[at].name = name;
                }
            }
            3 => {
                let other = tape.pick(count);
                let name = object.fields[at].name.clone();
                object.fields[at].name = std::mem::replace(&mut object.fields[other].name, name);
            }
            4 | 5 => {
                let targets: Vec<usize> =
                    objects.iter().filter(|(_, other, _)| *other == scope).map(|(target, ..)| *target).collect();
                let target = targets[tape.pick(targets.len())];
                let field = object.fields.remove(at);
                self.move_to(root, target, identity, field, tape);
            }
            6 => {
                let shape = self.shape(tape, depth);
                let identity = self.identity();
                let field = &mut object.fields[at];
                (field.shape, field.identity, field.default) = (shape, identity, None);
            }
            7 => {
                let dead: Vec<Field> = self
                    .graveyard
                    .iter()
                    .filter(|(home, field)| *home == identity && object.field(&field.name).is_none())
                    .map(|(_, field)| field.clone())
                    .collect();
                if !dead.is_empty() {
                    let field = dead[tape.pick(dead.len())].clone();
                    let alive = self.identity();
                    let Some(object) = find_mut(root, identity) else { return };
                    object.fields.push(Field { identity: alive, ..field });
                }
            }
            8 => match &mut object.fields[at].shape {
                Type::List(element, _) | Type::Map(element) if tape.chance(60) => element.toggle_nullable(),
                _ => object.fields[at].nullable ^= true,
            },
            9 => object.fields[at].default = default(&object.fields[at].shape, tape),
            10 if tape.chance(50) => object.refuses_empty ^= true,
            10 => object.keeps_unknown ^= true,
            11 => {
                if let Type::List(items, keys) = &mut object.fields[at].shape
                    && !items.item_fields().is_empty()
                {
                    let found = items.item_fields().iter().find(|field| matches!(field.shape, Type::String));
                    *keys = found.filter(|_| keys.is_empty()).map(|field| field.identity).into_iter().collect();
                } else if matches!(object.fields[at].shape, Type::Integer | Type::String) {
                    object.fields[at].shape = Type::IntOrString;
                } else {
                    object.union ^= true;
                }
            }
            12 => {
                object.union = true;
                object.discriminator = Some(object.fields[at].identity).filter(|_| !tape.chance(30));
            }
            _ => {
                let mut field = object.fields.remove(at);
                let mut wrapper = self.empty();
                let name = field.name.clone();
                field.name = wrapper.free_name(tape).unwrap_or(name.clone());
                wrapper.fields.push(field);
                let shape = Type::Object(wrapper);
                object.fields.push(Field { identity: self.identity(), name, shape, nullable: false, default: None });
            }
        }
    }

    /// Moves a field into another object, under a free name; it stays where it was if it cannot.
    fn move_to(&mut self, root: &mut Object, target: usize, home: usize, mut field: Field, tape: &mut Tape<'_>) {
        let target = if find_mut(root, target).is_some() { target } else { home };
        let Some(object) = find_mut(root, target) else { return };
        if object.field(&field.name).is_some() {
            match object.free_name(tape) {
                Some(name) => field.name = name,
                None => return self.graveyard.push((home, field)),
            }
        }
        object.fields.push(field);
    }
}

/// Makes a field a key of the first list of an object, or one of its keys none.
fn toggle_key(object: &mut Object, tape: &mut Tape<'_>) {
    let mut lists = object.fields.iter_mut().filter_map(|field| match &mut field.shape {
        Type::List(items, keys) => Some((items, keys)),
        _ => None,
    });
    if let Some((items, keys)) = lists.next()
        && !items.item_fields().is_empty()
    {
        let field = items.item_fields()[tape.pick(items.item_fields().len())].identity;
        if tape.chance(40) {
            keys.clear();
        }
        match keys.iter().position(|key| *key == field) {
            Some(position) => drop(keys.remove(position)),
            None => keys.push(field),
        }
    }
}

fn default(shape: &Type, tape: &mut Tape<'_>) -> Option<Json> {
    Some(match shape {
        Type::String | Type::IntOrString => json!(["a", "b"][tape.pick(2)]),
        Type::Integer | Type::Within(_) => json!(tape.pick(2)),
        Type::Boolean => json!(tape.pick(2) == 1),
        Type::Object(object) => {
            let mut value = Map::new();
            for field in &object.fields {
                if tape.chance(30)
                    && let Some(default) = default(&field.shape, tape)
                {
                    value.insert(field.name.clone(), default);
                }
            }
            Json::Object(value)
        }
        Type::Nullable(shape) => return default(shape, tape),
        Type::List(element, _) => (0..tape.pick(3)).filter_map(|_| default(element, tape)).collect(),
        Type::Map(element) => {
            let mut value = Map::new();
            for name in &NAMES[..tape.pick(3)] {
                if let Some(default) = default(element, tape) {
                    value.insert((*name).to_owned(), default);
                }
            }
            Json::Object(value)
        }
    })
}

/// Every object with the scope that it is in and its depth.
fn objects_of(object: &Object, scope: usize, depth: usize, found: &mut Vec<(usize, usize, usize)>) {
    found.push((object.identity, scope, depth));
    for field in &object.fields {
        if let Some(inner) = field.shape.object() {
            // Nothing moves between spec and status.
            let is_field = matches!(field.shape, Type::Object(_)) && field.name != "status";
            objects_of(inner, if is_field { scope } else { inner.identity }, depth + 1, found);
        }
    }
}

fn find_mut(object: &mut Object, identity: usize) -> Option<&mut Object> {
    if object.identity == identity {
        return Some(object);
    }
    object.fields.iter_mut().filter_map(|field| field.shape.object_mut()).find_map(|inner| find_mut(inner, identity))
}
