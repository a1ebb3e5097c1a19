//! Kinds in which something of every sort is hidden.

/// What a kind is about, its versions with their fields, and its changes.
pub(super) type Described = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// Kinds in which something of every sort is hidden. None has defaults: those make a document that
/// was read another than the one that was stored.
pub(super) const KINDS: &[Described] = &[
    (
        "fields that come and go",
        &[
            ("v1", "spec: {type: object, properties: {a: {type: string}, b: {type: integer}}}"),
            (
                "v2",
                "spec: {type: object, properties: {a: {type: string}, o: {type: object, properties: {c: {type: boolean}, p: {type: object, properties: {d: {type: string}}}}}}}",
            ),
            (
                "v3",
                "spec: {type: object, properties: {b: {type: integer}}}, status: {type: object, properties: {s: {type: string}}}",
            ),
        ],
        "",
    ),
    (
        "moves",
        &[
            (
                "v1",
                "a: {type: object, properties: {b: {type: object, properties: {c: {type: string}, e: {type: string}}}, d: {type: string}}}",
            ),
            (
                "v2",
                "a: {type: object, properties: {c: {type: string}, b: {type: object, properties: {f: {type: string}}}}}, d: {type: string}",
            ),
            (
                "v3",
                "a: {type: object, properties: {b: {type: object, properties: {e: {type: string}}}}}, e: {type: string}",
            ),
        ],
        "v2: {renamed: {a.b.c: a.c, a.d: d}}",
    ),
    (
        "nulls",
        &[
            (
                "v1",
                "b: {type: object, nullable: true, properties: {c: {type: string}, q: {type: object, properties: {r: {type: string}, h: {type: string}}}}}, m: {type: object, additionalProperties: {type: string}}",
            ),
            (
                "v2",
                "b: {type: object, nullable: true, properties: {d: {type: string, nullable: true}}}, c: {type: string}, q: {type: object, properties: {r: {type: string}, i: {type: string}}}, m: {type: object, additionalProperties: {type: string, nullable: true}}",
            ),
            (
                "v3",
                "b: {type: object, properties: {d: {type: string}}}, m: {type: object, additionalProperties: {type: string}}",
            ),
        ],
        "v2: {renamed: {b.c: c, b.q: q}}",
    ),
    (
        "items without keys",
        &[
            (
                "v1",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, k: {type: array, items: {type: object, properties: {x: {type: string}}}}}}}",
            ),
            (
                "v2",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, secret: {type: string}, k: {type: array, items: {type: object, properties: {x: {type: string}, y: {type: string}}}}}}}",
            ),
        ],
        "",
    ),
    (
        "items with keys, and lists in lists",
        &[
            (
                "v1",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, v: {type: string}}}}, ll: {type: array, items: {type: array, items: {type: object, properties: {n: {type: string}}}}}",
            ),
            (
                "v2",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, p: {type: string}, secret: {type: string}}}}, ll: {type: array, items: {type: array, items: {type: object, properties: {n: {type: string}, s: {type: string}}}}}",
            ),
        ],
        "{v1: {keys: {l: [n]}}, v2: {keys: {l: [n, p]}}}",
    ),
    (
        "values of maps",
        &[
            ("v1", "m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}"),
            (
                "v2",
                "m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}, b: {type: string}, l: {type: array, items: {type: object, properties: {c: {type: string}}}}}}}",
            ),
            (
                "v3",
                "m: {type: object, additionalProperties: {type: object, nullable: true, properties: {l: {type: array, items: {type: object, properties: {c: {type: string}, d: {type: string}}}}}}}",
            ),
        ],
        "",
    ),
    (
        "unknown fields",
        &[
            (
                "v1",
                "o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}, p: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {q: {type: string}}}}}",
            ),
            ("v2", "o: {type: object, properties: {a: {type: string}, b: {type: string}}}"),
            (
                "v3",
                "o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string}, $bag: {type: string}, u: {type: string}}}",
            ),
        ],
        "",
    ),
    (
        "unions",
        &[
            (
                "v1",
                "source: {type: object, properties: {git: {type: string}, http: {type: string}}, oneOf: [{required: [git]}, {required: [http]}]}",
            ),
            (
                "v2",
                "source: {type: object, properties: {git: {type: string}, http: {type: string}, oci: {type: object, properties: {x: {type: string}, y: {type: object, properties: {z: {type: string}}}}}}, oneOf: [{required: [git]}, {required: [http]}, {required: [oci]}]}",
            ),
        ],
        "",
    ),
    (
        "objects that go while what others have elsewhere stays",
        &[
            (
                "v1",
                "c: {type: object, properties: {a: {type: object, properties: {a: {type: string}, h: {type: string}}}}}",
            ),
            ("v2", "c: {type: object}, d: {type: object, properties: {a: {type: string}}}, b: {type: string}"),
            (
                "v3",
                "a: {type: string}, c: {type: object, properties: {a: {type: string}}}, d: {type: object, properties: {b: {type: string}}}",
            ),
            ("v4", "a: {type: string}, c: {type: object}, d: {type: object}"),
        ],
        "{v2: {renamed: {c.a: d, c.a.a: d.a}}, v3: {renamed: {d.a: c.a, b: d.b}}}",
    ),
    (
        "objects that are null to others",
        &[
            (
                "v1",
                "a: {type: object, properties: {a: {type: string}, t: {type: object, properties: {n: {type: string}, r: {type: string}}}}}",
            ),
            (
                "v2",
                "a: {type: object, nullable: true, properties: {h: {type: string}}}, d: {type: string}, t: {type: object, properties: {n: {type: string, nullable: true}, r: {type: string}}}",
            ),
            (
                "v3",
                "a: {type: object, nullable: true, properties: {t: {type: object, properties: {n: {type: string}, r: {type: string}}}}}",
            ),
        ],
        "{v2: {renamed: {a.a: d, a.t: t}}, v3: {renamed: {t: a.t}}}",
    ),
    (
        "unions with members that others have elsewhere",
        &[
            (
                "v1",
                "s: {type: object, properties: {a: {type: object, properties: {x: {type: string}, y: {type: string}}}, b: {type: string}, c: {type: string}}, oneOf: [{required: [a]}, {required: [b]}, {required: [c]}]}",
            ),
            (
                "v2",
                "s: {type: object, properties: {b: {type: string}, c: {type: string}}, oneOf: [{required: [b]}, {required: [c]}]}, o: {type: object, properties: {a: {type: object, properties: {x: {type: string}}}, d: {type: string}}, oneOf: [{required: [a]}, {required: [d]}]}",
            ),
            (
                "v3",
                "s: {type: object, properties: {b: {type: string}, c: {type: string}}}, o: {type: object, properties: {d: {type: string}}}",
            ),
        ],
        "{v2: {renamed: {s.a: o.a}}}",
    ),
    (
        "facts in several spellings",
        &[
            (
                "v1",
                "mode: {type: string}, words: {type: array, items: {type: string}}, o: {type: object, properties: {n: {type: string}, x: {type: string}}}, m: {type: object, additionalProperties: {type: string}}",
            ),
            (
                "v2",
                "style: {type: string}, line: {type: string}, o: {type: object, properties: {i: {type: integer}, x: {type: string}}}, m: {type: array, items: {type: object, properties: {k: {type: string}, v: {type: string}}}}",
            ),
            (
                "v3",
                "style: {type: string}, o: {type: object, properties: {y: {type: string}}}, i: {type: string}, line: {type: string}",
            ),
        ],
        "{v2: {converted: {mode: {to: style, with: {values: {a: b, b: c}}}, words: {to: line, with: {joined: c}}, o.n: {to: o.i, up: size(self), down: string(self)}}, reshaped: [{from: m, to: m, key: k, value: v}]}, v3: {converted: {o.i: {to: i, with: text}}}}",
    ),
    (
        "derived fields",
        &[
            ("v1", "first: {type: string}, last: {type: string}, n: {type: integer}"),
            (
                "v2",
                "known: {type: string}, last: {type: string}, full: {type: string}, o: {type: object, properties: {c: {type: string}, d: {type: string}}}, n: {type: string}",
            ),
            ("v3", "known: {type: string}, full: {type: string}, key: {type: string}, n: {type: string}"),
        ],
        "{v2: {converted: {n: {with: text}}, derived: {up: {known: self.first, full: self.first + self.last, o.c: self.last, o.d: '\"d\"'}, down: {first: self.known}}}, v3: {derived: {up: {key: self.known + self.n}, down: {last: self.full}}}}",
    ),
    (
        "computed fields in items",
        &[
            (
                "v1",
                "l: {type: array, items: {type: object, properties: {a: {type: string}, w: {type: array, items: {type: string}}, k: {type: string}}}}",
            ),
            (
                "v2",
                "l: {type: array, items: {type: object, properties: {b: {type: string}, w: {type: string}, d: {type: string}, k: {type: string}}}}",
            ),
        ],
        "{v1: {keys: {l: [k]}}, v2: {keys: {l: [k]}, converted: {'l[].a': {to: 'l[].b', with: {values: {a: b}}}, 'l[].w': {with: {joined: b}}}, derived: {up: {'l[].d': self.a}, down: {'l[].a': self.d}}}}",
    ),
];
