//! Conversion of a new document: what would be read once it was written, without storing it in between.

use wheelwright_document::{Arena, Entry, Value};

use super::{Lenses, PutError, Trouble, get::Get, metadata_of, put::Put, state::Slots, trouble::Troubles};
use crate::{Part, VersionIndex};

impl Lenses {
    /// What a version shows of a new document of another: what [`get`](Self::get) shows of what [`put`](Self::put) stores.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    pub fn convert<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, PutError> {
        self.convert_heard(from, to, document, arena, &Troubles::default())
    }

    /// As [`convert`](Self::convert), and what could not be computed.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    pub fn convert_telling<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<Trouble>), PutError> {
        let troubles = Troubles::listening();
        let shown = self.convert_heard(from, to, document, arena, &troubles)?;
        Ok((shown, troubles.found()))
    }

    fn convert_heard<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
        troubles: &Troubles,
    ) -> Result<Value<'a>, PutError> {
        let Value::Object(entries) = document else { return Err(PutError::NoObject(document.kind_name())) };
        let (outside, inside) = self.split(entries, arena);
        if let Some(shown) = self.converted(from, to, inside, metadata_of(outside), arena, troubles) {
            return Ok(self.joined(to, outside, shown, arena));
        }
        let (stored, _) = self.put_heard(from, document, None, Part::Whole, arena, troubles.clone(), None)?;
        let mut get = Get::new(self, to, arena, ());
        get.troubles = troubles.clone();
        Ok(self.get_with(get, stored).0)
    }

    /// Most documents hold nothing that has to be stored to tell what it means: fields go from slot to slot.
    fn converted<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        entries: &'a [Entry<'a>],
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
        troubles: &Troubles,
    ) -> Option<&'a [Entry<'a>]> {
        let scope = &self.scopes[0];
        let (written, shown) = (scope.views[from.position()].as_ref()?, scope.views[to.position()].as_ref()?);
        let mut put = Put::new(self, from, arena, None);
        (put.metadata, put.troubles) = ((metadata, None), troubles.clone());
        let mut slots = Slots::default();
        slots.clear(scope);
        if !put.write_new(written, entries, &mut slots) {
            return None;
        }
        if !scope.computed.is_empty() {
            let needed = &scope.computed.shown[to.position()];
            let mut resolve = put.resolve(scope, metadata, troubles.clone());
            match put.says_all(scope) {
                true => resolve.expand(needed, &mut slots),
                false => resolve.settle(from, written, None, &[], &mut slots),
            }
            resolve.derive(needed, &mut slots);
        }
        let mut get = Get::new(self, to, arena, ()).with_room();
        (get.metadata, get.troubles) = (metadata, troubles.clone());
        Some(get.object(scope, shown, None, &shown.objects[0], &slots))
    }
}
