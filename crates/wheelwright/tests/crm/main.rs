//! The story that `examples/crm` tells, version by version: what was declared at the time, what was stored, and what every
//! version shows of what every other one wrote.
//!
//! `UPDATE_GOLDEN=1` writes the lock of the example anew.

mod time;

use std::{env, fs, path::Path, process::Command};

use time::{VERSIONS, changes_until, example, input, json, spelled, story, text, time, without};
use wheelwright::{
    document::{Arena, canonical},
    evolve::{Part, laws::Laws},
};

const ADA: &str = r#"{"id":"1","firstName":"Ada","lastName":"Lovelace"}"#;
const GRACE: &str = r#"{"id":"3","firstName":"Grace","middleName":"Brewster","lastName":"Hopper"}"#;
const EMILY: &str = r#"{"id":"12","residentialAddress":{"label":"The Homestead"}}"#;

#[test]
fn in_2011_01_01_a_person_has_a_first_and_a_last_name() {
    let then = time("2011-01-01");
    assert_eq!(then.hub(), "2011-01-01");
    assert_eq!(then.told(&[("2011-01-01", ADA)], "2011-01-01"), ADA);
}

#[test]
fn in_2012_02_02_nothing_changes() {
    let then = time("2012-02-02");
    assert_eq!(then.hub(), "2012-02-02");
    assert_eq!(then.told(&[("2011-01-01", ADA)], "2012-02-02"), ADA);
    assert_eq!(then.told(&[("2012-02-02", ADA)], "2011-01-01"), ADA);
}

#[test]
fn in_2013_03_03_a_middle_name_comes_that_older_clients_keep() {
    let then = time("2013-03-03");
    assert_eq!(then.hub(), "2013-03-03");
    let married = r#"{"id":"3","firstName":"Grace","lastName":"Murray"}"#;
    assert_eq!(then.told(&[("2013-03-03", GRACE)], "2011-01-01"), without(GRACE, "middleName"));
    assert_eq!(
        then.told(&[("2013-03-03", GRACE), ("2011-01-01", married)], "2013-03-03"),
        r#"{"id":"3","firstName":"Grace","middleName":"Brewster","lastName":"Murray"}"#
    );
}

#[test]
fn in_2014_04_04_preview_other_names_replace_the_old_ones_and_the_hub_stays() {
    let then = time("2014-04-04-preview");
    assert_eq!(then.hub(), "2013-03-03");
    let [old, new] = ["2013-03-03", "2014-04-04-preview"];
    let grace = r#"{"id":"3","fullName":"Grace Brewster Hopper","familyName":"Hopper","knownAs":"Grace"}"#;
    assert_eq!(then.told(&[(old, GRACE)], new), grace);
    let ada = r#"{"id":"1","fullName":"Ada Lovelace","familyName":"Lovelace","knownAs":"Ada"}"#;
    assert_eq!(then.told(&[(old, ADA)], new), ada);
    assert_eq!(then.told(&[(new, ada)], old), ADA);
    // Half a name is no full one.
    assert_eq!(then.told(&[(old, r#"{"id":"1","firstName":"Ada"}"#)], new), r#"{"id":"1","knownAs":"Ada"}"#);
    // Both said the same so far, so that an edit of the one is an edit of the other; and the middle name stays.
    let amazing = r#"{"id":"3","fullName":"Grace Brewster Hopper","familyName":"Hopper","knownAs":"Amazing Grace"}"#;
    assert_eq!(then.told(&[(old, GRACE), (new, amazing)], new), amazing);
    assert_eq!(then.told(&[(old, GRACE), (new, amazing)], old), GRACE.replace("Grace", "Amazing Grace"));
}

#[test]
fn in_2014_04_04_the_full_name_is_the_legal_one_and_there_is_a_key_to_sort_by() {
    let then = time("2014-04-04");
    assert_eq!(then.hub(), "2014-04-04");
    let [old, preview, new] = ["2013-03-03", "2014-04-04-preview", "2014-04-04"];
    let grace =
        r#"{"id":"3","legalName":"Grace Brewster Hopper","familyName":"Hopper","knownAs":"Grace","alphaKey":"Hopper"}"#;
    assert_eq!(then.told(&[(old, GRACE)], new), grace);
    assert_eq!(then.told(&[(new, grace)], old), without(GRACE, "middleName"));
    assert_eq!(
        then.told(&[(new, grace)], preview),
        r#"{"id":"3","fullName":"Grace Brewster Hopper","familyName":"Hopper","knownAs":"Grace"}"#
    );
    // Derived values follow what they are derived from.
    let married = GRACE.replace("Hopper", "Murray");
    assert_eq!(then.told(&[(old, GRACE), (old, &married)], new), grace.replace("Hopper", "Murray"));
    // Those that somebody wrote do not, unless they did so far.
    let sorted = grace.replace(r#""alphaKey":"Hopper""#, r#""alphaKey":"H""#);
    assert_eq!(
        then.told(&[(old, GRACE), (new, &sorted), (old, &married)], new),
        grace.replace("Hopper", "Murray").replace(r#""alphaKey":"Murray""#, r#""alphaKey":"H""#)
    );
    // That there is none can be said, too.
    let unsorted = without(grace, "alphaKey");
    assert_eq!(then.told(&[(old, GRACE), (new, &unsorted)], new), unsorted);
    assert_eq!(then.told(&[(old, GRACE), (new, &unsorted)], old), GRACE);
}

#[test]
fn in_2015_05_05_the_key_has_another_name_and_the_first_version_is_dropped_and_still_read() {
    let then = time("2015-05-05");
    assert_eq!(then.hub(), "2015-05-05");
    let keyed = r#"{"id":"5","alphaKey":"Beethoven"}"#;
    assert_eq!(then.told(&[("2014-04-04", keyed)], "2015-05-05"), r#"{"id":"5","sortKey":"Beethoven"}"#);
    assert!(!then.catalog.contains("api/2011-01-01.yaml"), "{}", then.catalog);
    assert_eq!(
        then.told(&[("2011-01-01", ADA)], "2015-05-05"),
        r#"{"id":"1","legalName":"Ada Lovelace","familyName":"Lovelace","knownAs":"Ada","sortKey":"Lovelace"}"#
    );
    let known = r#"{"id":"1","familyName":"Lovelace","knownAs":"Ada"}"#;
    assert_eq!(then.told(&[("2015-05-05", known)], "2011-01-01"), ADA);
}

#[test]
fn in_2016_06_06_an_address_is_required_and_nobody_makes_one_up() {
    let then = time("2016-06-06");
    assert_eq!(then.hub(), "2016-06-06");
    then.keeps_the_address_of_holmes();
    // Reading never fails; `check` says where a view is not valid, and the schema why that is let pass.
    let named = r#"{"id":"7","knownAs":"Sherlock"}"#;
    assert_eq!(then.told(&[("2015-05-05", named)], "2016-06-06"), named);
    assert_eq!(then.check(&["--no-laws"]), ["WW154 2016-06-06 mailingAddress is allowed"]);
}

#[test]
fn in_2017_07_07_an_address_is_optional() {
    let then = time("2017-07-07");
    assert_eq!(then.hub(), "2017-07-07");
    then.keeps_the_address_of_holmes();
    let nowhere = r#"{"id":"13"}"#;
    assert_eq!(then.told(&[("2017-07-07", nowhere)], "2016-06-06"), nowhere);
}

#[test]
fn in_2018_08_08_an_address_is_whole_and_the_street_is_kept() {
    let then = time("2018-08-08");
    assert_eq!(then.hub(), "2018-08-08");
    let [old, new] = ["2017-07-07", "2018-08-08"];
    let street = r#"{"id":"7","mailingAddress":{"street":"221B Baker Street","city":"London"}}"#;
    let full = r#"{"id":"7","mailingAddress":{"fullAddress":"221B Baker Street, London","city":"London"}}"#;
    assert_eq!(then.told(&[(old, street)], new), full);
    assert_eq!(then.told(&[(new, full)], old), street);
    let country = full.replace(r#""city":"London""#, r#""city":"London","country":"United Kingdom""#);
    assert_eq!(then.told(&[(old, street), (new, &country), (old, street)], new), country);
    // An address without a street has none to show, and one that is there stays there.
    let city = r#"{"id":"7","mailingAddress":{"city":"London"}}"#;
    assert_eq!(then.told(&[(old, city)], new), city);
    assert_eq!(then.told(&[(new, r#"{"id":"7","mailingAddress":{}}"#)], old), r#"{"id":"7","mailingAddress":{}}"#);
}

#[test]
fn in_2019_09_09_an_address_is_a_location() {
    let then = time("2019-09-09");
    assert_eq!(then.hub(), "2019-09-09");
    let fogg = r#"{"id":"10","mailingAddress":{"city":"London","latitude":51.511,"longitude":-0.140}}"#;
    let address = r#"{"id":"10","mailingAddress":{"city":"London"}}"#;
    assert_eq!(then.told(&[("2019-09-09", fogg)], "2018-08-08"), address);
    assert_eq!(then.told(&[("2019-09-09", fogg), ("2016-06-06", address)], "2019-09-09"), fogg);
}

#[test]
fn in_2020_10_10_a_person_is_a_party() {
    let then = time("2020-10-10");
    assert_eq!(then.hub(), "2020-10-10");
    assert_eq!(time("2019-09-09").kind.name(), "Person");
    assert_eq!(then.kind.name(), "Party");
    let names = ["2011-01-01", "2019-09-09", "2020-10-10"].map(|name| then.kind.name_in(then.version(name)));
    assert_eq!(names, ["Person", "Person", "Party"]);
    assert_eq!(
        then.told(&[("2020-10-10", r#"{"id":"11","legalName":"Reform Club"}"#)], "2014-04-04-preview"),
        r#"{"id":"11","fullName":"Reform Club"}"#
    );
}

#[test]
fn in_2021_11_11_there_is_a_residential_address() {
    let then = time("2021-11-11");
    assert_eq!(then.hub(), "2021-11-11");
    assert_eq!(then.told(&[("2021-11-11", EMILY)], "2020-10-10"), r#"{"id":"12"}"#);
    assert_eq!(then.told(&[("2021-11-11", EMILY), ("2020-10-10", r#"{"id":"12"}"#)], "2021-11-11"), EMILY);
}

#[test]
fn in_2022_12_12_it_is_gone_and_kept() {
    let then = time("2022-12-12");
    assert_eq!(then.hub(), "2022-12-12");
    assert_eq!(then.told(&[("2021-11-11", EMILY)], "2022-12-12"), r#"{"id":"12"}"#);
    let named = r#"{"id":"12","knownAs":"Emily"}"#;
    assert_eq!(
        then.told(&[("2021-11-11", EMILY), ("2022-12-12", named)], "2021-11-11"),
        r#"{"id":"12","knownAs":"Emily","residentialAddress":{"label":"The Homestead"}}"#
    );
}

#[test]
fn in_2023_01_13_it_is_still_gone_and_kept() {
    let then = time("2023-01-13");
    assert_eq!(then.hub(), "2023-01-13");
    let unaware = [("2021-11-11", EMILY), ("2022-12-12", r#"{"id":"12"}"#), ("2023-01-13", r#"{"id":"12"}"#)];
    assert_eq!(then.told(&unaware, "2021-11-11"), EMILY);
}

#[test]
fn in_2024_02_14_it_is_back_with_other_fields_and_those_that_it_had_are_kept() {
    let then = time("2024-02-14");
    assert_eq!(then.hub(), "2024-02-14");
    assert_eq!(then.told(&[("2021-11-11", EMILY)], "2024-02-14"), r#"{"id":"12","residentialAddress":{}}"#);
    let street = r#"{"id":"12","residentialAddress":{"street":"280 Main Street","city":"Amherst"}}"#;
    let writes = [("2021-11-11", EMILY), ("2024-02-14", street), ("2022-12-12", r#"{"id":"12"}"#)];
    assert_eq!(then.told(&writes, "2024-02-14"), street);
    assert_eq!(then.told(&writes, "2021-11-11"), EMILY);
    assert_eq!(then.told(&writes, "2023-01-13"), r#"{"id":"12"}"#);
    // Who takes it away takes it away whole.
    let gone = [("2021-11-11", EMILY), ("2024-02-14", r#"{"id":"12"}"#)];
    assert_eq!(then.told(&gone, "2021-11-11"), r#"{"id":"12"}"#);
}

#[test]
fn five_of_fifteen_versions_need_a_word() {
    let changes = text("changes.yaml");
    let spoken: Vec<&str> = VERSIONS.into_iter().filter(|name| changes.contains(&format!("\n{name}:\n"))).collect();
    assert_eq!(spoken, ["2014-04-04-preview", "2014-04-04", "2015-05-05", "2018-08-08", "2022-12-12"]);
}

#[test]
fn the_example_is_where_the_story_ends() {
    let end = time("2024-02-14");
    assert_eq!(end.catalog, text("wheelwright.yaml"));
    assert_eq!(changes_until("2024-02-14"), text("changes.yaml"));
    let lock = end.lock();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(example().join("wheelwright.lock"), &lock).unwrap();
    }
    assert_eq!(lock, text("wheelwright.lock"), "UPDATE_GOLDEN=1 writes it");
}

#[test]
fn a_lock_has_all_that_the_one_before_has() {
    for pair in story().windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|time| {
            let lock = time.lock();
            let is_about_versions = |line: &&str| !line.starts_with("  hub ") && !line.starts_with("  sum ");
            lock.lines().filter(is_about_versions).map(str::to_owned).collect::<Vec<_>>()
        });
        assert!(after.starts_with(&before), "{after:#?}");
    }
}

#[test]
fn at_no_time_anything_is_wrong_but_what_is_allowed() {
    for time in story() {
        let mut found = time.check(&["--no-laws"]);
        found.retain(|finding| !finding.ends_with(" is allowed"));
        assert_eq!(found, [""; 0], "{}", time.newest);
    }
}

/// What was stored when the story began is moved from hub to hub as they come, and read by the first and the last version.
#[test]
fn what_was_stored_first_is_read_to_the_end() {
    let arena = Arena::new();
    let first = time("2011-01-01");
    let normal = first.kind.normal(first.version("2011-01-01"), json(ADA, &arena), &arena).unwrap();
    let mut stored = first.kind.put(first.version("2011-01-01"), normal, None, Part::Whole, &arena).unwrap();
    for pair in story().windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let from = after.kind.lenses_for(after.version(before.hub()));
        stored = json(&spelled(from.rehub(stored, after.kind.lenses(), &arena)), &arena);
        assert_eq!(spelled(after.kind.get(after.version("2011-01-01"), stored, &arena)), ADA, "{}", after.newest);
    }
    let end = time("2024-02-14");
    assert_eq!(
        spelled(end.kind.get(end.version("2024-02-14"), stored, &arena)),
        r#"{"id":"1","legalName":"Ada Lovelace","familyName":"Lovelace","knownAs":"Ada","sortKey":"Lovelace"}"#
    );
}

#[test]
fn every_document_comes_back_from_every_other_version_at_every_time() {
    let mut trips = 0;
    for time in story() {
        let versions: Vec<&str> = VERSIONS.into_iter().filter(|name| time.kind.version(name).is_some()).collect();
        for from in &versions {
            for via in &versions {
                let arena = Arena::new();
                let (from, via) = (time.version(from), time.version(via));
                let document = input(&time.kind.history().version(from).name.to_string(), &arena);
                let back = time.kind.round_trip(from, via, document, &arena).unwrap();
                assert_eq!(canonical(back), canonical(document));
                trips += 1;
            }
        }
    }
    assert_eq!(trips, (1..=VERSIONS.len()).map(|count| count * count).sum::<usize>());
}

/// `wheelwright test --update` writes them.
#[test]
fn every_version_shows_what_is_expected_of_what_every_other_wrote() {
    for (from, to) in VERSIONS.iter().flat_map(|from| VERSIONS.map(|to| (from, to))) {
        let name = if *from == to { format!("input.{to}.yaml") } else { format!("{to}.yaml") };
        assert!(example().join(format!("tests/written-{from}")).join(&name).exists(), "{from}: {name}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_wheelwright")).current_dir(example()).arg("test").output();
    let output = output.expect("the command can be started");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Also for the version that only the lock still knows.
#[test]
fn the_tool_writes_what_every_version_shows() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crm-written");
    let inputs = VERSIONS.map(|name| (format!("written-{name}"), format!("input.{name}.yaml")));
    let _ = fs::remove_dir_all(&folder);
    for (example_folder, input) in &inputs {
        fs::create_dir_all(folder.join(example_folder)).unwrap();
        let from = example().join("tests").join(example_folder).join(input);
        fs::copy(from, folder.join(example_folder).join(input)).unwrap();
    }
    let arguments = ["test", "--update", "--all-versions", "--catalog", "."];
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
    let output = command.current_dir(example()).args(arguments).arg(&folder).output();
    let output = output.expect("the command can be started");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    for (example_folder, _) in &inputs {
        let files = fs::read_dir(example().join("tests").join(example_folder)).unwrap();
        for file in files.map(|file| file.unwrap().path()) {
            let written = folder.join(example_folder).join(file.file_name().unwrap());
            assert_eq!(fs::read_to_string(written).ok(), fs::read_to_string(&file).ok(), "{}", file.display());
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_laws_hold_at_every_time() {
    for time in story() {
        let report = Laws { cases: 100, seed: 5 }.run(&time.kind, &time.declaration, &mut |_| {});
        assert!(report.is_success() && report.is_complete(), "{}: {report:#?}", time.newest);
    }
}
