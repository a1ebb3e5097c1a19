//! Every rule there is, in the order of the ids.
//!
//! WW001 to WW029 are about the shape of schemas and definitions, WW030 to WW039 about defaults, WW040 to WW059
//! about OpenAPI and JSON Schema, WW060 to WW069 about findings that are let pass, WW070 to WW079 about rules in CEL,
//! WW100 to WW109 about documents, WW110 to WW129 about catalogs and changes files, WW130 to WW139 about changes, WW140 to
//! WW149 about the lock, WW150 to WW179 about what versions do to each other, WW180 to WW189 about what is carried and
//! filled in, WW190 to WW199 about fields that are computed, WW200 to WW219 about what a revision published, WW220 to
//! WW229 about what computing fields does to documents, WW230 to WW239 about what versions do not see, and WW240 to WW249 about
//! documents that are refused. An id is never used again for anything else.

use crate::{Level, Rule};

/// Every rule, in the order of the ids.
pub fn all() -> &'static [&'static Rule] {
    ALL
}

/// The rule of an id (`WW005`, `ww005`) or a name (`type-required`).
pub fn find(id_or_name: &str) -> Option<&'static Rule> {
    ALL.iter()
        .find(|rule| rule.id.eq_ignore_ascii_case(id_or_name) || rule.name.eq_ignore_ascii_case(id_or_name))
        .copied()
}

macro_rules! rules {
    ($($constant:ident: $id:literal $name:literal $level:ident {
        summary: $summary:literal,
        why: $why:literal,
        mend: $mend:literal,
    })*) => {
        $(
            #[doc = concat!($id, ": ", $summary, ".")]
            pub static $constant: Rule = Rule {
                id: $id,
                name: $name,
                summary: $summary,
                why: $why,
                mend: $mend,
                level: Level::$level,
                page: include_str!(concat!("../../../docs/rules/", $id, ".md")),
            };
        )*

        static ALL: &[&Rule] = &[$(&$constant),*];
    };
}

rules! {
    UNREADABLE: "WW001" "unreadable" Error {
        summary: "the file is not valid JSON or YAML, or is over a limit",
        why: "nothing else can be checked until the file can be read",
        mend: "correct the text at the place shown, or split a file that is too large",
    }
    MALFORMED_SCHEMA: "WW002" "malformed-schema" Error {
        summary: "a schema keyword has a value of the wrong sort",
        why: "such a schema cannot be decoded; Kubernetes refuses all of a definition for it",
        mend: "write the keyword's value in the sort it takes: a number for `minLength`, a list for \
            `required`",
    }
    UNKNOWN_KEYWORD: "WW003" "unknown-keyword" Warning {
        summary: "a schema keyword is not one that Kubernetes knows",
        why: "unless asked to be strict, Kubernetes drops the keyword, and what it was to say is never \
            enforced",
        mend: "correct the spelling, or remove the keyword",
    }
    UNSUPPORTED_KEYWORD: "WW004" "unsupported-keyword" Error {
        summary: "a JSON Schema keyword is not supported in definitions",
        why: "Kubernetes refuses keywords that it cannot prune, default or check by",
        mend: "say the same with supported keywords; write out what a `$ref` points to",
    }
    TYPE_REQUIRED: "WW005" "type-required" Error {
        summary: "a part of the schema has no type",
        why: "a structural schema states the type of every value, so that unknown fields can be pruned \
            and defaults applied",
        mend: "add a `type`, or `x-kubernetes-int-or-string` or `x-kubernetes-preserve-unknown-fields` \
            where no one type fits",
    }
    TYPE_UNKNOWN: "WW006" "type-unknown" Error {
        summary: "a type is none of the six that exist",
        why: "no value has such a type, and Kubernetes refuses a definition with it",
        mend: "use array, boolean, integer, number, object or string; for a value that may be null write \
            `nullable: true`, or in OpenAPI 3.1 a list of types",
    }
    ROOT_NOT_OBJECT: "WW007" "root-not-object" Error {
        summary: "the root of the schema is not a plain object",
        why: "every resource is an object with `apiVersion`, `kind` and `metadata`, and is never null",
        mend: "write `type: object` at the root, and no `nullable`",
    }
    ITEMS_REQUIRED: "WW008" "items-required" Error {
        summary: "an array does not say what its items are",
        why: "without a schema for the items they can be neither pruned nor defaulted nor checked",
        mend: "add `items` with the schema of one item",
    }
    ADDITIONAL_PROPERTIES_CONFLICT: "WW009" "additional-properties-conflict" Error {
        summary: "additionalProperties stands where it is not allowed",
        why: "an object either has known fields or is a map; mixing both makes pruning ambiguous",
        mend: "keep `properties` for known fields or `additionalProperties` for a map, in a field of \
            its own",
    }
    NESTED_STRUCTURE: "WW010" "nested-structure" Error {
        summary: "a junctor holds a keyword that only the structure may have",
        why: "what is inside allOf, anyOf, oneOf or not only checks values; the shape must not depend \
            on which branch applies",
        mend: "move the keyword out of the junctor, to where the field itself is declared",
    }
    UNDECLARED_NESTED_FIELD: "WW011" "undeclared-nested-field" Error {
        summary: "a junctor speaks of a field that the structure does not declare",
        why: "a field that only a junctor names is unknown, and so is pruned before the junctor could \
            check it",
        mend: "declare the field, with its type, next to the junctor",
    }
    RESTRICTED_METADATA: "WW012" "restricted-metadata" Error {
        summary: "the metadata of the resource is constrained too far",
        why: "metadata belongs to Kubernetes; only the name may be narrowed",
        mend: "write `metadata: {type: object}`, at most with `name` and `generateName` constrained",
    }
    TYPE_META_NOT_STRING: "WW013" "type-meta-not-string" Error {
        summary: "apiVersion or kind is not a string",
        why: "both are strings in every resource, so no resource could ever be valid",
        mend: "write `type: string`, or leave both out of the schema",
    }
    INT_OR_STRING_CONFLICT: "WW014" "int-or-string-conflict" Error {
        summary: "x-kubernetes-int-or-string is combined with what excludes it",
        why: "such a value is an integer or a string and nothing else",
        mend: "remove the other extension, or remove `x-kubernetes-int-or-string`",
    }
    EMBEDDED_RESOURCE: "WW015" "embedded-resource" Error {
        summary: "an embedded resource is not an object with known content",
        why: "an embedded resource has apiVersion, kind and metadata, so it is an object, and its \
            other fields need a schema",
        mend: "write `type: object` with `properties` or `x-kubernetes-preserve-unknown-fields: true`",
    }
    PRESERVE_UNKNOWN_FIELDS_FALSE: "WW016" "preserve-unknown-fields-false" Error {
        summary: "x-kubernetes-preserve-unknown-fields is false",
        why: "unknown fields are pruned unless it is true; false is refused because it suggests that \
            pruning could be switched back on",
        mend: "remove the keyword; pruning resumes by itself under every declared property",
    }
    LIST_TYPE: "WW017" "list-type" Error {
        summary: "x-kubernetes-list-type or x-kubernetes-list-map-keys does not fit",
        why: "server-side apply merges lists by these keywords, so they must say one clear thing",
        mend: "use atomic, set or map on an array, and list-map-keys with map only",
    }
    LIST_MAP_KEY: "WW018" "list-map-key" Error {
        summary: "items cannot be told apart by the keys of their list",
        why: "an item without its key, or with null for one, cannot be found again when the list is \
            merged",
        mend: "declare each key as a scalar of the items, make it required or give it a default, and do \
            not make it nullable",
    }
    MAP_TYPE: "WW019" "map-type" Error {
        summary: "x-kubernetes-map-type does not fit",
        why: "server-side apply merges objects by this keyword, so it must say one clear thing",
        mend: "use granular or atomic, on an object only",
    }
    INVALID_PATTERN: "WW020" "invalid-pattern" Error {
        summary: "a pattern is not a valid regular expression",
        why: "patterns are RE2: no look-around and no back-references, in exchange for linear time",
        mend: "write the pattern in RE2, or say the rest with a second pattern in `allOf`",
    }
    STATUS_ROOT_KEYWORDS: "WW021" "status-root-keywords" Error {
        summary: "the root has a keyword that the status subresource does not allow there",
        why: "status is checked on its own, by its property alone, so a rule over the whole root could \
            not be kept",
        mend: "move the keyword into `spec` or `status`",
    }
    DEFINITION_VERSIONS: "WW022" "definition-versions" Error {
        summary: "the versions of a definition do not fit together",
        why: "objects are stored in exactly one version, and each version is addressed by its name",
        mend: "give every version a name of its own and a schema, and set `storage: true` on exactly \
            one",
    }
    DEFINITION_NAMES: "WW023" "definition-names" Error {
        summary: "the names of a definition do not fit together",
        why: "Kubernetes finds a definition by its plural name and group, and serves it under its \
            names",
        mend: "set `metadata.name` to the plural name, a dot and the group; keep names lower-case, the \
            kind in CamelCase",
    }
    PATTERN_TOO_LARGE: "WW024" "pattern-too-large" Error {
        summary: "a pattern, or all of a schema together, would take too much memory",
        why: "a schema from outside must not cost more than it is worth; Kubernetes accepts the pattern, we cannot check it",
        mend: "repeat less, use smaller classes, or limit the length with maxLength instead of a counted repetition",
    }
    WORD_READ_AS_BOOLEAN: "WW025" "word-read-as-boolean" Warning {
        summary: "a word without quotes in a definition or schema is read as a boolean",
        why: "kubectl reads y, yes and on as true, and n, no and off as false, also where they are names or texts",
        mend: "quote the word if the text is meant, or write true or false",
    }
    INVALID_DEFAULT: "WW030" "invalid-default" Error {
        summary: "a default is not valid where it stands",
        why: "a default is checked as written, before nested defaults fill it; one that fails makes objects \
            invalid, and Kubernetes refuses it",
        mend: "write a default that the schema accepts by itself, with all its required fields",
    }
    DEFAULT_HAS_UNKNOWN_FIELDS: "WW031" "default-has-unknown-fields" Error {
        summary: "a default has fields that the schema does not declare",
        why: "such fields would be pruned as soon as the default was applied",
        mend: "remove them from the default, or declare them",
    }
    DEFAULT_NOT_ALLOWED_HERE: "WW032" "default-not-allowed-here" Error {
        summary: "a default stands where none may be",
        why: "apiVersion, kind and metadata come from the request, never from a schema",
        mend: "remove the default",
    }
    DEFAULT_METADATA_INVALID: "WW033" "default-metadata-invalid" Error {
        summary: "the default of an embedded resource is not a resource",
        why: "every resource has an apiVersion and a kind, and metadata that is valid",
        mend: "add `apiVersion` and `kind` to the default, and correct its metadata",
    }
    UNCHECKED_DEFAULT: "WW034" "unchecked-default" Error {
        summary: "a default in a map's values is not valid",
        why: "Kubernetes does not check defaults under additionalProperties, and then makes objects \
            that it refuses",
        mend: "write a default that the schema accepts by itself",
    }
    DEFAULT_NOT_UNIQUE: "WW035" "default-not-unique" Error {
        summary: "a default list has items that its list type forbids",
        why: "Kubernetes does not check this, and then makes objects that it refuses",
        mend: "remove the repeated items from the default",
    }
    UNREACHABLE_DEFAULT: "WW036" "unreachable-default" Note {
        summary: "a default can never apply when its parent is absent",
        why: "defaults fill only objects that exist; an absent parent without a default of its own is \
            not created",
        mend: "add `default: {}` to the parent",
    }
    REFERENCE_NOT_FOUND: "WW040" "reference-not-found" Error {
        summary: "a reference leads nowhere",
        why: "what it should stand for is unknown, so nothing of it can be checked, pruned or defaulted",
        mend: "correct the name or the path, or add what it refers to",
    }
    REFERENCE_NOT_A_SCHEMA: "WW041" "reference-not-a-schema" Error {
        summary: "a reference leads to something that is no schema",
        why: "a value cannot be held against a parameter, a response or a text",
        mend: "refer to a definition, or to the schema inside of what is referred to",
    }
    REFERENCE_CYCLE: "WW042" "reference-cycle" Error {
        summary: "references lead in a circle without ever saying anything",
        why: "a value that is whatever itself is has no schema",
        mend: "write the schema where one of the references is",
    }
    REFERENCE_OUTSIDE_TREE: "WW043" "reference-outside-tree" Error {
        summary: "a reference leads out of the tree",
        why: "a schema from outside must not decide which files of this machine are read, and the network is never asked",
        mend: "copy the file into the tree and refer to it by a relative path, or name a larger tree with `--tree`",
    }
    RECURSIVE_SCHEMA: "WW044" "recursive-schema" Note {
        summary: "a definition contains itself",
        why: "values nest as deep as they like, and only so many levels can be written out; deeper ones are kept as \
            they are",
        mend: "leave it, if that is good enough, or limit the levels by definitions of their own",
    }
    SCHEMA_TOO_LARGE: "WW045" "schema-too-large" Error {
        summary: "a definition becomes too large when its references are put in",
        why: "few lines that refer to each other twice grow without bounds, and must not take all memory",
        mend: "refer less often, or split the definition",
    }
    REFERENCE_SIBLINGS: "WW046" "reference-siblings" Warning {
        summary: "a keyword beside a reference does not count",
        why: "up to OpenAPI 3.0 and draft 7, a reference stands for the whole schema, and what is beside it is ignored",
        mend: "put the reference into `allOf`, with the keywords beside that",
    }
    CONFLICTING_PARTS: "WW047" "conflicting-parts" Error {
        summary: "the parts of allOf contradict each other",
        why: "a value must satisfy all parts, and no value can, or it is not clear which of them counts",
        mend: "say it in one of the parts only",
    }
    KEYWORD_NOT_CHECKED: "WW048" "keyword-not-checked" Warning {
        summary: "a keyword cannot be checked",
        why: "the keyword has no counterpart in a structural schema; what it forbids is let through",
        mend: "say it with other keywords, or check it elsewhere",
    }
    PATTERN_NOT_CHECKED: "WW049" "pattern-not-checked" Warning {
        summary: "a pattern cannot be checked",
        why: "patterns are RE2: no look-around and no back-references, in exchange for linear time; what the pattern \
            forbids is let through",
        mend: "write the pattern in RE2, or say the rest with a second pattern in `allOf`",
    }
    SUBTYPES_NOT_CHECKED: "WW050" "subtypes-not-checked" Note {
        summary: "a discriminator chooses among definitions that are not listed",
        why: "which definition an object follows is known only from those that include this one; their fields are kept, \
            and not checked",
        mend: "list the definitions under `oneOf`, beside the discriminator",
    }
    DEFAULT_IN_ALTERNATIVE: "WW051" "default-in-alternative" Warning {
        summary: "a default stands in an alternative",
        why: "which of the alternatives holds is known only when the document is complete, so no default of them is \
            filled in",
        mend: "move the default to a field beside the alternatives",
    }
    SUPPRESSION_MALFORMED: "WW060" "suppression-malformed" Warning {
        summary: "something is meant to let findings pass, but cannot be understood",
        why: "nothing is let pass for it: an allowance names its rules and gives a reason, so that nothing is hidden \
            by accident",
        mend: "write # wheelwright: allow, the rules, perhaps until and a date, then -- and the reason",
    }
    SUPPRESSION_EXPIRED: "WW061" "suppression-expired" Warning {
        summary: "findings were let pass until a day that is over",
        why: "whoever allowed it wanted to be asked again, so the findings count again",
        mend: "mend what was let pass and remove the allowance, or give it a later day",
    }
    SUPPRESSION_UNUSED: "WW062" "suppression-unused" Warning {
        summary: "an allowance lets nothing pass",
        why: "what it was for is mended or has moved; left where it is, it would hide the next mistake",
        mend: "remove it, or write it right above what it is for",
    }
    INVALID_RULE: "WW070" "invalid-rule" Error {
        summary: "a validation rule is no CEL expression, or does not fit the schema",
        why: "Kubernetes refuses a definition with a rule that it cannot type-check",
        mend: "correct the expression at the place shown",
    }
    MALFORMED_RULE: "WW071" "malformed-rule" Error {
        summary: "a part of a validation rule is missing or not what it must be",
        why: "Kubernetes refuses a rule without an expression, with a message of several lines, or with \
            a reason or a path that it does not know",
        mend: "write the part as the message says",
    }
    MISPLACED_TRANSITION_RULE: "WW072" "misplaced-transition-rule" Error {
        summary: "a validation rule uses oldSelf where no old value can be found",
        why: "Kubernetes matches old and new items of lists by key only, and refuses the rule elsewhere",
        mend: "give the list keys, or compare the list as a whole",
    }
    COSTLY_RULE: "WW073" "costly-rule" Error {
        summary: "a validation rule can cost more than Kubernetes allows",
        why: "Kubernetes estimates the worst case from the limits in the schema, and refuses what is over \
            its budget",
        mend: "add maxItems, maxProperties and maxLength to what the rule goes through, or make it simpler",
    }
    FOREIGN_FUNCTION: "WW074" "foreign-function" Warning {
        summary: "a validation rule uses a function that Kubernetes does not have",
        why: "the rule works here, but Kubernetes refuses the definition",
        mend: "say the same with functions that Kubernetes has",
    }
    INVALID_VALUE: "WW100" "invalid-value" Error {
        summary: "a value of a document is not what its schema asks for",
        why: "a server with this schema refuses the document",
        mend: "change the value to one that the schema accepts",
    }
    UNKNOWN_FIELD: "WW101" "unknown-field" Warning {
        summary: "a document has a field that its schema does not declare",
        why: "unless asked to be strict, Kubernetes removes the field, and what was written there is lost; other \
            servers refuse the document",
        mend: "correct the spelling, remove the field, or declare it in the schema",
    }
    DUPLICATE_KEY: "WW102" "duplicate-key" Error {
        summary: "a key occurs twice in one object",
        why: "only one of the values is kept, and which one depends on who reads the document",
        mend: "remove one of them",
    }
    DOCUMENT_WORD_READ_AS_BOOLEAN: "WW103" "document-word-read-as-boolean" Warning {
        summary: "a word without quotes in a document is read as a boolean",
        why: "kubectl reads y, yes and on as true, and n, no and off as false, also where they are names or texts",
        mend: "quote the word if the text is meant, or write true or false",
    }
    MALFORMED_CATALOG: "WW110" "malformed-catalog" Error {
        summary: "a catalog or changes file has a value of the wrong sort, or lacks one that it needs",
        why: "what it was to say cannot be taken into account, and conversion would lose what it was to keep",
        mend: "write the value in the sort that the key takes",
    }
    UNKNOWN_CATALOG_KEY: "WW111" "unknown-catalog-key" Error {
        summary: "a catalog or changes file has a key that nobody knows",
        why: "what stands there would have no effect, and nobody would notice until data is lost",
        mend: "correct the spelling, or remove the key",
    }
    MALFORMED_PATH: "WW112" "malformed-path" Error {
        summary: "a path to a field is not written as paths are",
        why: "nobody can tell which field is meant",
        mend: "write names with dots between them, [] for the items of a list, {} for the values of a map, and \
            [\"x.y\"] for names with other characters",
    }
    CONTRADICTION: "WW113" "contradiction" Error {
        summary: "a step names one field twice where only one can be true",
        why: "a step is a set of facts without an order, so neither can win",
        mend: "remove one of the two",
    }
    MALFORMED_CHANGE: "WW114" "malformed-change" Error {
        summary: "a change that computes fields does not say how, or says it in a way that cannot be followed",
        why: "to pass over it would lose the values that it was to carry over",
        mend: "write one converter that is known, or expressions for both ways",
    }
    UNKNOWN_VERSION: "WW115" "unknown-version" Error {
        summary: "a catalog or changes file names a version that is neither declared nor locked",
        why: "what is said about the version would have no effect",
        mend: "correct the name, or declare the version",
    }
    MISSING_FILE: "WW116" "missing-file" Error {
        summary: "a file that a catalog names cannot be read",
        why: "nothing is known of the kind without it",
        mend: "correct the path, which is relative to the folder of the catalog",
    }
    DUPLICATE_KIND: "WW117" "duplicate-kind" Error {
        summary: "a kind is declared twice",
        why: "nobody can tell which of the two a document is of",
        mend: "remove one of them; versions of one kind belong into one definition, or into one entry of the catalog",
    }
    DUPLICATE_VERSION: "WW118" "duplicate-version" Error {
        summary: "a version of a kind is declared twice",
        why: "nobody can tell which of the two schemas a document of the version has",
        mend: "remove one of them, or give one another name",
    }
    INCOMPLETE_ORDER: "WW119" "incomplete-order" Error {
        summary: "the order of the versions of a kind lacks one of them, or has one twice",
        why: "changes are relative to the version before, so every version needs its place",
        mend: "name every version once, the oldest first",
    }
    SUCCESSOR_CYCLE: "WW120" "successor-cycle" Error {
        summary: "versions succeed each other in a circle",
        why: "documents of a version that is gone are read as its successor, and a circle has no end",
        mend: "let every chain of successors end at a version that is there",
    }
    UNKNOWN_DEFINITION: "WW121" "unknown-definition" Error {
        summary: "a file does not declare what a catalog looks for in it",
        why: "nothing is known of the kind without its schema",
        mend: "correct the name, or name the file that declares it",
    }
    DECLARED_DEFAULT_UNFIT: "WW122" "declared-default-unfit" Error {
        summary: "a default that changes declare is no value of its field",
        why: "it would be filled into documents, which their own version then refuses, and once locked it stays",
        mend: "write a value that the schema of the version accepts",
    }
    UNKNOWN_CHANGE_PATH: "WW130" "unknown-change-path" Error {
        summary: "a change names a field that its version does not have",
        why: "the change says nothing, and what it was meant to carry over is hidden or lost",
        mend: "correct the path: those on the left are of the version before, those on the right of the new one",
    }
    RENAME_COLLISION: "WW131" "rename-collision" Error {
        summary: "two renames claim the same field",
        why: "a field has one identity, so that only one of them can be followed",
        mend: "rename every field once, and to a field of its own",
    }
    RENAME_CHANGES_SHAPE: "WW132" "rename-changes-shape" Error {
        summary: "a rename leads to a field of another shape",
        why: "the values of one are no values of the other; a rename carries them over as they are",
        mend: "declare it as `converted`, if one says the same as the other in another form; else declare the old field as \
            `removed` instead",
    }
    RENAME_LEAVES_ITS_PLACE: "WW133" "rename-leaves-its-place" Error {
        summary: "a rename crosses between spec and status, or leaves its list or map",
        why: "spec and status are written apart, and a list has many items where the other place has one value",
        mend: "rename within the same list items or map values, and on the same side of spec and status",
    }
    STORAGE_DEFAULT_FROZEN: "WW134" "storage-default-frozen" Error {
        summary: "a storage default is declared for a field that was published before",
        why: "readers have filled in another value, or none, for documents that lack the field",
        mend: "declare storage defaults on the step that introduces the field, before it is locked",
    }
    LOCKED_VERSION_CHANGED: "WW135" "locked-version-changed" Error {
        summary: "a locked version lost a field, or has one of another shape now",
        why: "stored documents and clients rely on what was published",
        mend: "put it back, and change it in a new version",
    }
    NO_ORDER: "WW136" "no-order" Warning {
        summary: "the names of the versions do not say which came first",
        why: "changes are relative to the version before, and the newest stable version is the hub",
        mend: "declare `order` in the catalog, oldest first",
    }
    UNKNOWN_FROM: "WW137" "unknown-from" Error {
        summary: "`from` names no version that precedes",
        why: "the changes of a step are relative to a version that came before",
        mend: "name a version that precedes, or leave `from` out",
    }
    CHANGE_CONTRADICTS_LOCK: "WW138" "change-contradicts-lock" Error {
        summary: "a change says something else about fields than the lock does",
        why: "stored documents are read as the lock says, so that the change is not followed, and what it was meant to \
            carry over stays hidden",
        mend: "delete the line, and make the change in a new version, whose step can be `from` the version before this one",
    }
    UNKNOWN_POLICY_FIELD: "WW139" "unknown-policy-field" Error {
        summary: "a policy is for a field that no version has",
        why: "the policy says nothing, and the field that was meant is treated like all others",
        mend: "correct the path, or remove the policy",
    }
    LOCK_UNREADABLE: "WW140" "lock-unreadable" Error {
        summary: "a line of the lock cannot be read",
        why: "what is locked decides what stored documents mean; guessing at it could lose data",
        mend: "restore the file from version control",
    }
    LOCK_EDITED: "WW141" "lock-edited" Error {
        summary: "what is locked of a kind was edited by hand",
        why: "stored documents rely on every line of the lock; only `wheelwright lock` may add some",
        mend: "restore the file from version control, and run `wheelwright lock` again",
    }
    LOCK_TOO_NEW: "WW142" "lock-too-new" Error {
        summary: "the lock was written by a newer release",
        why: "it may say what this release does not understand, and would lose",
        mend: "update wheelwright",
    }
    LOCK_CONFLICT: "WW143" "lock-conflict" Error {
        summary: "the lock has the marks of a merge that was left undone",
        why: "two branches have locked something, and only one can have been first",
        mend: "take the file of the branch that came first, and run `wheelwright lock` again",
    }
    LOCK_INCONSISTENT: "WW144" "lock-inconsistent" Error {
        summary: "lines of the lock contradict one another",
        why: "a version cannot be read from a lock that says two things about it",
        mend: "restore the file from version control, and run `wheelwright lock` again",
    }
    LOCKED_FACT_CHANGED: "WW145" "locked-fact-changed" Error {
        summary: "what is declared contradicts the lock",
        why: "readers rely on what is locked: ids, storage defaults, the order of versions and where each comes from",
        mend: "undo the change, or make it in a new version",
    }
    HUB_MOVED: "WW146" "hub-moved" Error {
        summary: "the hub is not the one that is locked",
        why: "the hub is the shape of stored documents, and releases that do not know it cannot read them",
        mend: "move it with `wheelwright lock --hub`, which says what to deploy first",
    }
    NOT_LOCKED: "WW147" "not-locked" Note {
        summary: "a kind, a version or a field is declared and not locked yet",
        why: "what the lock lacks can still change without anybody noticing: ids of fields, and what readers fill in for them",
        mend: "run `wheelwright lock`, review what it adds, and commit it",
    }
    KIND_NAME_TAKEN: "WW148" "kind-name-taken" Error {
        summary: "two kinds claim the same name, now or from before",
        why: "a document says by the name of its kind what it is, so that it could be of both",
        mend: "let only one kind say that it had the name, and give a new kind a name that no other had",
    }
    UNKNOWN_FORMER_KIND: "WW149" "unknown-former-kind" Error {
        summary: "a kind is said to have had a name that neither its files nor the lock know",
        why: "documents under the name that was meant are not found, and no lock continues under the new one",
        mend: "correct the name or its group, or name the file that declares the versions under it",
    }
    REMOVAL_NOT_ASSESSED: "WW150" "removal-not-assessed" Error {
        summary: "a field of the version before is gone, and no change says why",
        why: "clients of the old version still write it; whether it was renamed, or is gone on purpose, no schema \
            can say",
        mend: "declare it under `removed` or `renamed` in the changes of the version, or put it back",
    }
    PROBABLE_RENAME: "WW151" "probable-rename" Error {
        summary: "a field is gone and another came that is probably the same",
        why: "without a word both are fields of their own: what clients of one version write, those of the other \
            do not see",
        mend: "declare it under `renamed`, or under `removed` if they are two fields",
    }
    SHAPE_CHANGED: "WW152" "shape-changed" Error {
        summary: "a field has another shape than in the version before",
        why: "values of one are no values of the other, so that they are two fields, and neither version sees \
            what the other writes",
        mend: "give the new field a name of its own, or declare the old one under `removed`",
    }
    SHAPE_WIDENED: "WW153" "shape-widened" Warning {
        summary: "a field takes values that the version before cannot say",
        why: "a client of the old version that expects an integer gets a fraction or a text",
        mend: "keep the shape, or add a field of its own for the new values",
    }
    NEWLY_REQUIRED: "WW154" "newly-required" Error {
        summary: "a field is required that documents of the version before can lack",
        why: "an old document is not valid in the new version, and a client that reads it and writes it back is \
            refused",
        mend: "make the field optional, or, if it is new, give it a default",
    }
    ENUM_MEMBER_REMOVED: "WW155" "enum-member-removed" Error {
        summary: "a value is not listed any more",
        why: "old documents have it, and are not valid in the new version",
        mend: "keep the value in the list, and refuse it for new documents with a transition rule and `optionalOldSelf`; if it \
            has another name now, declare the field as `converted` with `values`",
    }
    LIMIT_TIGHTENED: "WW156" "limit-tightened" Error {
        summary: "a bound, length or count is tighter than in the version before",
        why: "old documents may be beyond it, and are not valid in the new version",
        mend: "keep the limit, or tighten it for new documents only, with a transition rule and `optionalOldSelf`",
    }
    PATTERN_CHANGED: "WW157" "pattern-changed" Error {
        summary: "a pattern or format is not that of the version before",
        why: "old documents may not match it, and are not valid in the new version",
        mend: "accept what the old one accepts; if it does, allow this finding with that reason",
    }
    NULL_TAKEN_AWAY: "WW158" "null-taken-away" Error {
        summary: "null is not a value of a field any more",
        why: "old documents say null, which the new version shows as absent",
        mend: "keep the field nullable",
    }
    DEFAULT_CHANGED: "WW160" "default-changed" Warning {
        summary: "a field that was published before has another default, or one for the first time, or none any more",
        why: "a new document that leaves the field out may mean something else in each version; readers keep to what was \
            frozen first",
        mend: "keep the default, or add a field of its own",
    }
    STORAGE_DEFAULT_REJECTED: "WW161" "storage-default-rejected" Error {
        summary: "what readers fill in for a field is no value of it in another version",
        why: "an old document that leaves the field out is not valid in that version",
        mend: "keep the value valid in every version that has the field",
    }
    ZERO_VALUE_LOST: "WW162" "zero-value-lost" Error {
        summary: "writers leave out a zero value, and readers fill in another one",
        why: "somebody set false or 0, and gets the default instead",
        mend: "make the zero value the default, or let writers say it",
    }
    KEYS_CHANGED: "WW163" "keys-changed" Error {
        summary: "the items of a list are told apart by other fields than in the version before",
        why: "items of both versions are matched by their keys; without a match, what one version hides in an \
            item is lost with it",
        mend: "keep the keys, or declare them under `keys` in the changes",
    }
    KEY_NOT_IN_EVERY_VERSION: "WW164" "key-not-in-every-version" Warning {
        summary: "the items of a list are told apart by a field that one version does not have",
        why: "clients of that version cannot say which item they mean, and two items may look the same to them",
        mend: "keep the field in every version; or, before they are published, choose a key that all have",
    }
    UNION_CHANGED: "WW165" "union-changed" Error {
        summary: "members of an object exclude each other in one version only",
        why: "a client of one version sets a second member, and a document of the other has one too many",
        mend: "declare the `union` in the changes, or keep it in the schema",
    }
    HUB_MOVES: "WW170" "hub-moves" Error {
        summary: "documents are stored in the shape of another version than the one that is wanted",
        why: "releases that do not know the new shape cannot read documents that are stored in it, so that it \
            takes two phases",
        mend: "deploy a release that reads both everywhere, then run `wheelwright lock --hub`",
    }
    NO_SLOT: "WW171" "no-slot" Error {
        summary: "a field has no place in stored documents, or two",
        why: "what is written there would be lost, or read from the wrong place",
        mend: "restore the lock from version control; if it was not edited, report a bug",
    }
    LOST_UNDER_NONE: "WW172" "lost-under-none" Warning {
        summary: "fields are lost between two versions under `strategy: None`",
        why: "Kubernetes only changes the apiVersion then, and prunes what the other version does not declare",
        mend: "convert with Wheelwright, and say in the changes what became of each field",
    }
    OLD_RECORDS_LACK: "WW173" "old-records-lack" Note {
        summary: "records of an older version lack fields of a newer one",
        why: "readers of the newer version find a default there, or nothing",
        mend: "see that what they read as is what was meant",
    }
    LAW_BROKEN: "WW174" "law-broken" Error {
        summary: "what one version writes, another does not read back",
        why: "a document would change by being read and written back, or what a client wrote would be lost",
        mend: "look at the changes of the fields that differ in the example; if nothing is wrong with them, report a bug",
    }
    VERSION_GONE: "WW175" "version-gone" Error {
        summary: "a version that was published is gone, or is not served any more",
        why: "clients that still use it are refused from one day to the next",
        mend: "put it back; once nobody uses it, name the version that speaks for it under `successors` of its kind",
    }
    KIND_GONE: "WW176" "kind-gone" Error {
        summary: "a kind that was published is gone",
        why: "its clients are refused, and Kubernetes deletes every object of a kind with its definition",
        mend: "put it back, unless it was meant to go",
    }
    UNDECODABLE_CARRY: "WW180" "undecodable-carry" Warning {
        summary: "an annotation that carries what a version cannot say cannot be read",
        why: "other versions do not show what it holds; it is kept as it is",
        mend: "put back what was there, or remove the annotation if it is nobody's",
    }
    CARRY_TOO_LARGE: "WW181" "carry-too-large" Error {
        summary: "what a version cannot say does not fit into annotations",
        why: "an API server takes 256 KiB of annotations; past that the object cannot be read at that version",
        mend: "let the version say the largest field, or serve a version that can",
    }
    AMBIGUOUS_ZERO: "WW182" "ambiguous-zero" Error {
        summary: "an absent field may be unset or zero",
        why: "a default in the place of a zero that was left out changes what was meant",
        mend: "record which version wrote the document, or write the field",
    }
    DEFAULTS_DISAGREE: "WW183" "defaults-disagree" Error {
        summary: "two ways to a document give a field different defaults",
        why: "what a document means would depend on who reads it",
        mend: "report it: no default of a version explains it, so that it is a mistake in the tool",
    }
    NO_ACTING_VERSION: "WW184" "no-acting-version" Error {
        summary: "a document was written with a version that is gone and has no successor",
        why: "nobody knows how to act for it",
        mend: "declare a version that speaks for it among the successors, without a circle",
    }
    CONVERSION_UNFIT: "WW190" "conversion-unfit" Error {
        summary: "a conversion is not made for the fields that it is declared for",
        why: "it would fail for every document, and one version would never see what the other wrote",
        mend: "name another converter or other fields, or say the conversion with expressions",
    }
    COMPUTED_EXPRESSION: "WW191" "computed-expression" Error {
        summary: "an expression for a computed field cannot be used",
        why: "without it the field would be absent from every document",
        mend: "correct the expression at the place shown",
    }
    TEMPLATE_UNFIT: "WW192" "template-unfit" Error {
        summary: "a template or pattern does not name the fields that it is declared for",
        why: "a part that is not named would be lost on the way",
        mend: "name every field once, by the last name of its path",
    }
    HOOK_NOT_REGISTERED: "WW193" "hook-not-registered" Error {
        summary: "a hook is declared, and nothing is registered under its name",
        why: "its fields could not be converted",
        mend: "register the hook before the catalog is built, or declare the change without one",
    }
    COMPUTED_FIELD: "WW194" "computed-field" Error {
        summary: "the service is said to fill in what is no field that it could fill in",
        why: "nothing would ever be filled in, and whoever leaves the field out would be refused, or be without it",
        mend: "name a field of the hub that no list or map is around, and that is not kept beside the document",
    }
    LOCK_REWRITTEN: "WW200" "lock-rewritten" Error {
        summary: "a line of the lock is missing or different since the revision that is compared with",
        why: "records are read by these lines: without one, a field that was stored is hidden, or another field is read",
        mend: "restore the lock from that revision and run `wheelwright lock`, which only appends to it",
    }
    ENDPOINT_CHANGED: "WW201" "endpoint-changed" Error {
        summary: "the scope, plural, a subresource, a selectable field, conversion or storage of a published kind changed",
        why: "clients that use the endpoint get an error or lose fields, or the stored objects are not found",
        mend: "revert the change, or publish another version or kind",
    }
    STORAGE_PREFIX_CHANGED: "WW202" "storage-prefix-changed" Error {
        summary: "the keys of a kind's records begin with another prefix than before",
        why: "the records that are stored under the old prefix are not found any more",
        mend: "keep `adopt.prefix`, or move the records first",
    }
    RESET_INTRODUCED: "WW203" "reset-introduced" Error {
        summary: "`olderWrite: reset` is introduced for a kind that was published without it",
        why: "a client of an older version that writes a document back deletes the fields that it does not know",
        mend: "keep `olderWrite: preserve`",
    }
    LOCKED_SCHEMA_CHANGED: "WW204" "locked-schema-changed" Warning {
        summary: "the schema of a published version changed, and no other rule says how",
        why: "the version may refuse documents that it accepted, or fill in or drop something that it did not",
        mend: "review the change of the schema; if it is meant, run `wheelwright lock`, which records its fingerprint",
    }
    REQUIRED_FIELD_REMOVED: "WW205" "required-field-removed" Error {
        summary: "a field is removed that an older version requires, or that a rule of it demands",
        why: "clients of the older version read documents without it, which are invalid there, and cannot write them back",
        mend: "keep the field, or derive it for the older version, under `derived` and `down`",
    }
    INPUT_NOT_READ: "WW206" "input-not-read" Error {
        summary: "a conversion replaces a field that its expressions never read",
        why: "clients of the other version do not see its value, and a write of theirs replaces it",
        mend: "read the field in the expression, or take it out of `from` and declare it as `removed`, which keeps its value",
    }
    LEVELS_LOWERED: "WW207" "levels-lowered" Warning {
        summary: "the catalog lowers the level of findings since the revision that is compared with",
        why: "a change that was refused at the revision passes now, for this and every later change",
        mend: "keep the level, and allow the single finding with a comment and a reason",
    }
    POLICY_CHANGED: "WW208" "policy-changed" Error {
        summary: "a policy of a published kind changed: what is refused, what null does, or how stored documents are read",
        why: "the same request, or the same stored document, means something else than at the revision that is compared with",
        mend: "keep the policy; or allow it with a reason once no client depends on it",
    }
    ACCESS_CHANGED: "WW209" "access-changed" Error {
        summary: "clients cannot write or read a field that they could before, or can read one that was hidden",
        why: "what clients write is dropped or refused, what they read is missing, or a secret is shown",
        mend: "let clients write the field as before; or add a field of another name",
    }
    NOT_COMPUTED: "WW220" "not-computed" Warning {
        summary: "a field could not be computed from a document",
        why: "the version that has it shows its default, or nothing; what it would be computed from stays stored as it was \
            written",
        mend: "correct the value in the document, or make the conversion or expression accept it",
    }
    CONVERSION_DRIFTS: "WW221" "conversion-drifts" Note {
        summary: "a value that is converted, converted back and converted again is another one",
        why: "`down` does not undo `up`: what a client reads and copies into a new document is another value for the others",
        mend: "correct one of the two, so that up(down(up(x))) is up(x)",
    }
    SPELLING_STAYS: "WW222" "spelling-stays" Warning {
        summary: "a field is converted into another and still has its place in the new version",
        why: "a fact has one spelling in a version, so that the field of the old name is another one from now on, which nobody \
            has written",
        mend: "say with `derived` what follows from what, if both are facts; else remove the field from the new version",
    }
    SPELLING_TAKEN: "WW223" "spelling-taken" Error {
        summary: "a field is converted into one that the version before has already",
        why: "what was written to that field is shown no more in the new version, which has the converted one in its place",
        mend: "give the new spelling a name of its own, or declare the old field as removed",
    }
    CONVERSION_REFUSED: "WW224" "conversion-refused" Error {
        summary: "a valid value of one version becomes one that another version refuses, or cannot be converted",
        why: "clients of the other version read a document that is invalid there, or lacks the field, and cannot write it back",
        mend: "let the schema of the other version take the value, or declare another conversion; leave it, if no document \
            has such a value",
    }
    VALUE_NOT_LISTED: "WW225" "value-not-listed" Warning {
        summary: "a change names a value that its field does not list",
        why: "no document has the value, and the one that was meant is not converted",
        mend: "correct the spelling, or list the value in the schema",
    }
    ITEMS_NOT_IDENTIFIED: "WW230" "items-not-identified" Warning {
        summary: "the items of a list hide fields from a version, and no key identifies them",
        why: "a write through that version has to guess which item is which, and what an item hides can go with it",
        mend: "declare `keys` for the list in the changes, or let clients of that version send JSON patches",
    }
    EMPTY_OBJECT_HIDES: "WW231" "empty-object-hides" Note {
        summary: "an object that is shown as {} may hold fields of other versions",
        why: "a client that leaves the object out removes it, with the fields it does not see",
        mend: "let clients write back what they read; or, before the version is published, refuse {} in its schema, with \
            minProperties or a required field",
    }
    DOCUMENTS_REFUSED: "WW240" "documents-refused" Error {
        summary: "a rule, an alternative, the kind of a list or the new place of a field refuses documents of the version before",
        why: "documents that are stored are not valid in the new version, and a client that reads one and writes it back is \
            refused",
        mend: "accept what the version before accepts, or demand it of new documents only, with a transition rule",
    }
    UNDECLARED_FIELDS_DROPPED: "WW241" "undeclared-fields-dropped" Error {
        summary: "an object does not keep undeclared fields any more",
        why: "clients of the new version do not see what clients of the version before put there, and Kubernetes removes it",
        mend: "keep `x-kubernetes-preserve-unknown-fields`, or declare the fields",
    }
    OLDER_VERSION_REFUSES: "WW242" "older-version-refuses" Note {
        summary: "the version before refuses documents that this version accepts",
        why: "its clients read values that their schema does not accept, and may fail to write them back",
        mend: "leave it, if clients of the version before can cope with such values",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_count_up_and_skip_only_to_a_new_ten() {
        let numbers: Vec<u32> = all().iter().map(|rule| rule.id.strip_prefix("WW").unwrap().parse().unwrap()).collect();
        assert_eq!(numbers[0], 1);
        for pair in numbers.windows(2) {
            assert!(pair[1] == pair[0] + 1 || (pair[1] > pair[0] && pair[1] % 10 == 0), "{pair:?}");
        }
    }

    #[test]
    fn names_are_unique_and_in_kebab_case() {
        let names: HashSet<_> = all().iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), all().len());
        for name in names {
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
            assert!(name.split('-').all(is_word), "{name}");
        }
    }

    #[test]
    fn rules_are_found_by_id_and_by_name() {
        for id_or_name in ["WW005", "ww005", "type-required", "Type-Required"] {
            assert_eq!(find(id_or_name).unwrap().id, "WW005");
        }
        assert!(find("WW999").is_none());
        assert!(find("").is_none());
    }

    #[test]
    fn every_page_explains_its_rule() {
        for rule in all() {
            let page = rule.page;
            assert!(page.starts_with(&format!("# {} {}\n\n", rule.id, rule.name)), "{}: title", rule.id);
            let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            assert_eq!(headings, ["Why", "Bad", "How to mend", "Good"], "{}", rule.id);
            let (bad, good) = (example(page, "Bad"), example(page, "Good"));
            assert!(!bad.is_empty() && !good.is_empty() && bad != good, "{}: examples", rule.id);
        }
    }

    #[test]
    fn texts_are_fragments_of_one_line() {
        for rule in all() {
            for text in [rule.summary, rule.why, rule.mend] {
                assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{}: {text}", rule.id);
            }
        }
    }

    /// The YAML example in a section of a page.
    fn example<'p>(page: &'p str, heading: &str) -> &'p str {
        let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
        section.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default()
    }
}
