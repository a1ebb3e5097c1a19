//! The hooks of random kinds: a text without its last letter, which they keep beside the document.

use wheelwright_document::Value;
use wheelwright_evolve::{Conversion, Hook, HookCall, HookError, Hooks};

use crate::generate::{Change, Generated};

/// All hooks that a kind calls: one for every pair of fields, by its name.
pub(crate) fn hooks(generated: &Generated) -> Hooks {
    let changes = generated.changes.iter().flatten();
    changes.fold(Hooks::new(), |hooks, change| match change {
        Change::Respelled { from, to, with: Conversion::Hook(name), .. } => {
            hooks.register(name, Tail { from: from[0].to_string(), to: to[0].to_string() })
        }
        _ => hooks,
    })
}

struct Tail {
    from: String,
    to: String,
}

impl Hook for Tail {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let text = call.get(&self.from).and_then(Value::as_str).ok_or("no text")?;
        let (at, _) = text.char_indices().last().ok_or("no last letter")?;
        call.set_entry(Some(Value::string(&text[at..])));
        call.set(&self.to, Value::string(&text[..at]))
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let text = call.get(&self.to).and_then(Value::as_str).ok_or("no text")?;
        let last = call.entry().and_then(Value::as_str).unwrap_or_default();
        let text = call.arena().text(&format!("{text}{last}"));
        call.set(&self.from, Value::string(text))
    }
}
