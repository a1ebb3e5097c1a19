//! The laws over the definitions of real kinds, and over a kind of our own.

#[path = "support/lost.rs"]
mod lost;

use std::{env, fs, path::PathBuf};

use wheelwright_document::{Arena, Decode, Span, Value, decode_json_spanned};
use wheelwright_evolve::{
    Declaration, DeclaredVersion, Hook, HookCall, HookError, Hooks, Kind, VersionName,
    laws::{Generator, Laws, Random, Report},
    overlaid_schema, parse_changes,
};
use wheelwright_schema::{Root, lower_definition, lower_schema};

use lost::Compared;

/// How many cases a kind: a sample in the ordinary run, ten thousand in the full one.
fn cases() -> usize {
    env::var("WHEELWRIGHT_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

const V1: &str = r#"{"type":"object","properties":{
    "spec":{"type":"object","properties":{
        "qty":{"type":"integer","default":1},"city":{"type":"string"},"coupon":{"type":"string","nullable":true},
        "lines":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["sku"],
            "items":{"type":"object","required":["sku"],"properties":{"sku":{"type":"string"},"gift":{"type":"boolean"}}}},
        "notes":{"type":"array","items":{"type":"object","properties":{"by":{"type":"string"},"text":{"type":"string"}}}},
        "source":{"type":"object","properties":{"web":{"type":"string"},"shop":{"type":"string"},"phone":{"type":"string"}},
            "oneOf":[{"required":["web"]},{"required":["shop"]},{"required":["phone"]}]},
        "extra":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
        "rates":{"type":"object","additionalProperties":{"type":"object","properties":{"rate":{"type":"number"}}}}}},
    "status":{"type":"object","properties":{"phase":{"type":"string"}}}}}"#;
const V2: &str = r#"{"type":"object","properties":{
    "spec":{"type":"object","properties":{
        "quantity":{"type":"integer","default":2},"delivery":{"type":"object","properties":{
            "city":{"type":"string"},"express":{"type":"boolean","default":false}}},
        "lines":{"type":"array","items":{"type":"object","properties":{"article":{"type":"string"},
            "price":{"type":"object","properties":{"amount":{"type":"number"}}}}}},
        "notes":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}},
        "source":{"type":"object","properties":{"web":{"type":"string"},"shop":{"type":"string"}},
            "oneOf":[{"required":["web"]},{"required":["shop"]}]},
        "extra":{"type":"object","properties":{"level":{"type":"integer","default":3}}},
        "rates":{"type":"object","additionalProperties":{"type":"object","nullable":true,"properties":{
            "percent":{"type":"number"}}}}}},
    "status":{"type":"object","properties":{"phase":{"type":"string"},"since":{"type":"string"}}}}}"#;
const CHANGES: &str = r#"{"v2":{"renamed":{"spec.qty":"spec.quantity","spec.city":"spec.delivery.city",
    "spec.lines[].sku":"spec.lines[].article"},"removed":["spec.coupon","spec.lines[].gift","spec.notes[].by",
    "spec.source.phone","spec.rates{}.rate"]}}"#;

const COMPUTED_V1: &str = r#"{"type":"object","properties":{"spec":{"type":"object","properties":{
    "timeout":{"type":"string"},"size":{"type":"string","default":"1Ki"},"weight":{"type":"integer"},
    "port":{"type":"string","nullable":true},"mode":{"type":"string"},"args":{"type":"array","items":{"type":"string"}},
    "image":{"type":"string"},"disk":{"type":"object","properties":{"path":{"type":"string"},"gigabytes":{"type":"integer"}}},
    "limit":{"type":"integer"},"delays":{"type":"array","items":{"type":"string"}},"endpoint":{"type":"string"},
    "extraArgs":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}},
    "cpu":{"type":"string"},"memory":{"type":"string"},"labels":{"type":"object","additionalProperties":{"type":"string"}},
    "first":{"type":"string"},"last":{"type":"string"},"address":{"type":"string"},"nick":{"type":"string"},
    "steps":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"wait":{"type":"string"},
        "secret":{"type":"string"}}}},
    "pools":{"type":"object","additionalProperties":{"type":"object","properties":{"grace":{"type":"string"}}}}}},
    "status":{"type":"object","properties":{"age":{"type":"string"}}}}}"#;
const COMPUTED_V2: &str = r#"{"type":"object","properties":{"spec":{"type":"object","properties":{
    "timeoutSeconds":{"type":"integer"},"sizeBytes":{"type":"integer"},"weightGrams":{"type":"number"},
    "portNumber":{"type":"integer","nullable":true},"mode":{"type":"string"},"argLine":{"type":"string"},
    "image":{"type":"object","properties":{"name":{"type":"string"},"tag":{"type":"string"}}},
    "disks":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"gigabytes":{"type":"integer"}}}},
    "cap":{"type":"integer"},"delaySeconds":{"type":"array","items":{"type":"integer"}},
    "server":{"type":"object","properties":{"host":{"type":"string"},"port":{"type":"integer"}}},
    "extraArgs":{"type":"object","additionalProperties":{"type":"string"}},
    "limits":{"type":"object","additionalProperties":{"type":"string"}},
    "labels":{"type":"object","additionalProperties":{"type":"string"}},
    "full":{"type":"string"},"location":{"type":"string"},"country":{"type":"string"},
    "knownAs":{"type":"string"},"tier":{"type":"string"},"owner":{"type":"string"},
    "steps":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"waitSeconds":{"type":"integer"},
        "label":{"type":"string"}}}},
    "pools":{"type":"object","additionalProperties":{"type":"object","properties":{"graceSeconds":{"type":"number"}}}}}},
    "status":{"type":"object","properties":{"ageSeconds":{"type":"integer"}}}}}"#;
const COMPUTED_V3: &str = r#"{"type":"object","properties":{"spec":{"type":"object","properties":{
    "timeout":{"type":"object","properties":{"milliseconds":{"type":"integer"}}},"timeoutSeconds":{"type":"string"},
    "mode":{"type":"string"},"name":{"type":"string"},"knownAs":{"type":"string"},"tier":{"type":"string"},
    "steps":{"type":"object","additionalProperties":{"type":"object","properties":{"waitSeconds":{"type":"integer"},
        "label":{"type":"string"}}}}}},
    "status":{"type":"object","properties":{"ageSeconds":{"type":"integer"}}}}}"#;
const COMPUTED_CHANGES: &str = r#"{
  "v2":{
    "removed":["spec.steps[].secret"],
    "converted":{
      "spec.timeout":{"to":"spec.timeoutSeconds","with":"durationSeconds"},
      "spec.size":{"to":"spec.sizeBytes","with":"quantity"},
      "spec.weight":{"to":"spec.weightGrams","with":{"scale":1000}},
      "spec.port":{"to":"spec.portNumber","with":"text"},
      "spec.mode":{"with":{"values":{"Fast":"Quick","Slow":"Careful","Lazy":"Careful"}}},
      "spec.args":{"to":"spec.argLine","with":{"joined":","}},
      "spec.image":{"to":"spec.image","with":{"key":"name"}},
      "spec.disk":{"to":"spec.disks","with":"oneItem"},
      "spec.limit":{"to":"spec.cap","up":"self * 2","down":"self / 2"},
      "spec.delays[]":{"to":"spec.delaySeconds[]","with":"durationSeconds"},
      "spec.steps[].wait":{"to":"spec.steps[].waitSeconds","with":"durationSeconds"},
      "spec.pools{}.grace":{"to":"spec.pools{}.graceSeconds","with":"durationSeconds"},
      "status.age":{"to":"status.ageSeconds","with":"durationSeconds"}},
    "reshaped":[
      {"from":"spec.endpoint","to":["spec.server.host","spec.server.port"],"template":"{host}:{port}"},
      {"from":"spec.extraArgs","to":"spec.extraArgs","key":"name","value":"value"},
      {"from":["spec.cpu","spec.memory"],"to":"spec.limits","entries":["cpu","memory"]},
      {"from":"spec.labels","to":"spec.labels","renamedKeys":{"app":"application"}},
      {"from":["spec.first","spec.last"],"to":"spec.full","up":{"spec.full":"self.spec.first + ' ' + self.spec.last"},
        "down":{"spec.first":"self.spec.full.split(' ')[0]","spec.last":"self.spec.full.split(' ')[1]"}}],
    "derived":{
      "up":{"spec.knownAs":"self.spec.nick","spec.tier":"'basic'","spec.owner":"metadata.name","spec.steps[].label":"self.id"},
      "down":{"spec.nick":"self.spec.knownAs"}},
    "hook":[{"name":"address","from":["spec.address"],"to":["spec.location","spec.country"]}]},
  "v3":{
    "removed":["spec.sizeBytes","spec.weightGrams","spec.portNumber","spec.argLine","spec.image","spec.disks","spec.cap",
      "spec.delaySeconds","spec.server","spec.extraArgs","spec.limits","spec.labels","spec.location","spec.country",
      "spec.pools","spec.owner"],
    "converted":{
      "spec.timeoutSeconds":{"to":"spec.timeout.milliseconds","with":{"scale":1000}},
      "spec.full":{"to":"spec.name","up":"self","down":"self"}},
    "reshaped":[{"from":"spec.steps","to":"spec.steps","key":"id"}]}}"#;

const ROLLOUT: [&str; 3] = [
    r#"{"type":"object","properties":{"spec":{"type":"object","properties":{
            "image":{"type":"object","default":{"tag":"7"},"properties":{"tag":{"type":"string"},"port":{"type":"string"}}},
            "strategy":{"type":"object","default":{"surge":1},"properties":{"surge":{"type":"integer"}}},
            "zones":{"type":"array","default":["a"],"items":{"type":"string"}},
            "window":{"type":"object","nullable":true,"properties":{"start":{"type":"string"},"end":{"type":"string"}}},
            "sizes":{"type":"string","default":"10m"}}}}}"#,
    r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"port":{"type":"string"},
            "window":{"type":"object","nullable":true,"properties":{"end":{"type":"string"}}},"start":{"type":"string"},
            "rollout":{"type":"object","properties":{"strategy":{"type":"object","properties":{"surge":{"type":"integer"}}},
                "zones":{"type":"array","items":{"type":"string"}}}},
            "sizes":{"type":"array","items":{"type":"string"}}}}}}"#,
    r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"port":{"type":"string"},
            "window":{"type":"object","nullable":true,"properties":{"end":{"type":"string"}}},"start":{"type":"string"},
            "rollout":{"type":"object","properties":{"strategy":{"type":"object","properties":{"surge":{"type":"integer"}}},
                "zones":{"type":"array","items":{"type":"string"}},"sizes":{"type":"array","items":{"type":"string"}}}}}}}}"#,
];
const ROLLOUT_CHANGES: &str = r#"{"v2":{"renamed":{"spec.image.port":"spec.port","spec.strategy":"spec.rollout.strategy",
            "spec.zones":"spec.rollout.zones","spec.window.start":"spec.start"},"removed":["spec.image"],"converted":{"spec.sizes":{"with":{"joined":","}}}},
        "v3":{"renamed":{"spec.sizes":"spec.rollout.sizes"}}}"#;

/// The first line of an address, and the rest; fails without a line.
struct Address;

impl Hook for Address {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let address = call.get("spec.address").and_then(Value::as_str).ok_or("no address")?;
        let (location, country) = address.split_once('a').ok_or("no country")?;
        let arena = call.arena();
        call.set("spec.location", Value::string(arena.text(location)))?;
        call.set("spec.country", Value::string(arena.text(country)))
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let part = |path: &str| call.get(path).and_then(Value::as_str).unwrap_or_default();
        let address = format!("{}a{}", part("spec.location"), part("spec.country"));
        let address = Value::string(call.arena().text(&address));
        call.set("spec.address", address)
    }
}

#[test]
fn every_law_holds_for_a_kind_with_everything_in_it() {
    let report = report_of("Order", [V1, V2, V1], CHANGES);
    assert!(report.is_success() && report.is_complete(), "{}", told(&report));
    assert!(report.covered.unions.applies && report.covered.reorders.applies && report.covered.bags.applies);
    assert!(report.laws.iter().all(|law| law.held > 0), "every law was held against something");
}

#[test]
fn every_law_holds_for_a_kind_with_every_change_in_it() {
    let report = report_of("Machine", [COMPUTED_V1, COMPUTED_V2, COMPUTED_V3], COMPUTED_CHANGES);
    assert!(report.is_success() && report.is_complete(), "{}", told(&report));
    assert!(report.covered.guards.applies && report.covered.bags.applies);
}

#[test]
fn every_law_holds_for_a_kind_whose_objects_and_lists_have_defaults_and_move() {
    let report = report_of("Rollout", ROLLOUT, ROLLOUT_CHANGES);
    assert!(report.is_success() && report.is_complete(), "{}", told(&report));
}

#[test]
fn warnings_of_conversions_name_what_is_lost_and_nothing_else() {
    for (kind, versions, changes) in [
        ("Order", [V1, V2, V1], CHANGES),
        ("Machine", [COMPUTED_V1, COMPUTED_V2, COMPUTED_V3], COMPUTED_CHANGES),
        ("Rollout", ROLLOUT, ROLLOUT_CHANGES),
    ] {
        let (kind, declaration) = kind_of(kind, versions, changes);
        let compared = hold_warnings(&kind, &declaration, cases()).unwrap_or_else(|error| panic!("{error}"));
        assert!(compared.warnings > 0 && compared.losses > 0, "{compared:?}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "says how many cases there were")]
fn warnings_of_conversions_of_real_kinds_name_what_is_lost_and_nothing_else() {
    let (mut wrong, mut compared) = (Vec::new(), Vec::new());
    for declaration in real_kinds() {
        let kind = Kind::compile(&declaration, None).0.expect("there are versions");
        match hold_warnings(&kind, &declaration, cases() / 20) {
            Ok(found) => compared.push(found),
            Err(error) => wrong.push(format!("{}: {error}", kind.name())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let sum = |of: fn(&Compared) -> usize| compared.iter().map(of).sum::<usize>();
    let (conversions, warnings, losses) = (sum(|it| it.conversions), sum(|it| it.warnings), sum(|it| it.losses));
    println!("{} kinds, {conversions} conversions: {warnings} warnings, {losses} values lost", compared.len());
}

/// Compares warnings and losses of generated documents of every version, converted to every other.
fn hold_warnings(kind: &Kind, declaration: &Declaration, documents: usize) -> Result<Compared, String> {
    let (mut compared, mut random, mut wrong) = (Compared::default(), Random::new(3), Vec::new());
    for from in kind.history().indexes() {
        let name = &kind.history().version(from).name;
        let declared = declaration.version(name.as_str()).expect("it is declared");
        let step = declaration.steps.iter().find(|step| step.version.item == *name);
        let schema = step.map(|step| overlaid_schema(&declared.schema, step));
        let generator = Generator::new(schema.as_deref().unwrap_or(&declared.schema), declared.root);
        let generator = generator.of_kind(kind.api_version(from).unwrap_or_default(), kind.name());
        for _ in 0..documents {
            let arena = Arena::new();
            let document = generator.generate(&mut random, &arena);
            for to in kind.history().indexes() {
                wrong.extend(compared.add(kind, (from, to), document).err());
            }
        }
    }
    if wrong.is_empty() { Ok(compared) } else { Err(format!("{} of {compared:?}:\n{}", wrong.len(), wrong.join("\n"))) }
}

fn report_of(kind: &str, versions: [&'static str; 3], changes: &'static str) -> Report {
    let (kind, declaration) = kind_of(kind, versions, changes);
    Laws { cases: 2 * cases(), seed: 2 }.run(&kind, &declaration, &mut |_| {})
}

fn kind_of(kind: &str, versions: [&'static str; 3], changes: &'static str) -> (Kind, Declaration) {
    let arena = Arena::new();
    let read = |text: &'static str| decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).expect("JSON");
    let mut own = Declaration::new("shop.example.com", kind);
    for (name, text) in ["v1", "v2", "v3"].into_iter().zip(versions) {
        let schema = lower_schema(&read(text)).item;
        own.versions.push(DeclaredVersion::new(VersionName::new(name), schema, Root::Resource, Span::default()));
    }
    let (steps, problems) = parse_changes(&read(changes));
    assert!(problems.is_empty(), "{problems:?}");
    own.steps = steps;
    let (kind, problems) = Kind::compile_with(&own, None, &Hooks::new().register("address", Address));
    assert!(problems.is_empty(), "{problems:?}");
    (kind.expect("there are versions"), own)
}

#[test]
fn every_law_holds_for_every_real_kind_with_several_versions() {
    let mut failures = Vec::new();
    let kinds = real_kinds();
    for declaration in &kinds {
        let (kind, problems) = Kind::compile(declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        let report = Laws { cases: cases(), seed: 1 }.run(&kind.unwrap(), declaration, &mut |_| {});
        if !(report.is_success() && report.is_complete()) {
            failures.push(told(&report));
        }
    }
    assert!(failures.is_empty(), "{} of {} kinds:\n{}", failures.len(), kinds.len(), failures.join("\n"));
}

/// The real kinds with several versions, if they are there; those with a file named by `WHEELWRIGHT_LAW_KIND` alone, if
/// it is set.
fn real_kinds() -> Vec<Declaration> {
    let Some(folder) = shared().map(|shared| shared.join("conformance/crds")).filter(|folder| folder.exists()) else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    let only = env::var("WHEELWRIGHT_LAW_KIND").unwrap_or_default();
    let files = files.iter().filter(|file| file.to_string_lossy().contains(&only));
    let kinds = files.map(|file| declaration(&fs::read(file).expect("a readable file")));
    let kinds: Vec<Declaration> = kinds.filter(|declaration| declaration.versions.len() > 1).collect();
    assert!(!kinds.is_empty() || !only.is_empty());
    kinds
}

fn told(report: &Report) -> String {
    let mut text = format!("{} {:?}: {:?}\n", report.kind, report.versions, report.covered);
    for law in report.laws.iter().filter(|law| law.broken > 0) {
        let example = law.example.as_ref().map(|example| example.explain(law.law)).unwrap_or_default();
        text.push_str(&format!("  broken {} of {} times\n  {example}", law.broken, law.broken + law.held));
    }
    text
}

fn declaration(bytes: &[u8]) -> Declaration {
    let arena = Arena::new();
    let document = decode_json_spanned(bytes, &arena, &Decode { max_bytes: 16 << 20, ..Decode::default() });
    let document = document.expect("definitions are JSON");
    let definition = lower_definition(&document).expect("definitions are of v1").item;
    let mut declaration = Declaration::new(definition.group.text, definition.kind.text);
    for version in definition.versions {
        let Some(schema) = version.schema else { continue };
        let name = VersionName::new(version.name.text);
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
    }
    declaration
}

fn shared() -> Option<PathBuf> {
    let named = env::var_os("WHEELWRIGHT_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    named.or_else(|| beside.exists().then_some(beside))
}
