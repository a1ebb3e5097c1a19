//! `wheelwright lock`, killed at any moment: the lock is the old or the new one, and nothing else is left.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]
#![expect(clippy::print_stdout, reason = "counts what was tried")]

use std::{
    collections::BTreeSet,
    env, fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Instant,
};

const OLD: &str = "format 1\n";

fn lock(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
    command.args(["lock", "--catalog"]).arg(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_killed_lock_leaves_the_old_or_the_new_lock_and_nothing_else() {
    let kills: u32 = env::var("WHEELWRIGHT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let copied = Command::new("cp").arg("-R").arg(orders.join(".")).arg(folder).status().unwrap();
    assert!(copied.success());
    let path = folder.join("wheelwright.lock");
    let expected = names(folder);
    fs::write(&path, OLD).unwrap();
    let began = Instant::now();
    assert!(lock(folder).status().unwrap().success());
    let whole = began.elapsed();
    let new = fs::read_to_string(&path).unwrap();
    assert_ne!(new, OLD);
    let (mut old, mut left) = (0, 0);
    for round in 0..kills {
        fs::write(&path, OLD).unwrap();
        let mut child = lock(folder).spawn().unwrap();
        // Spread over the time of a run and a little longer: 617 has no divisor in common with 1,000.
        thread::sleep(whole * (round * 617 % 1_000) / 800);
        let signal = ["-KILL", "-INT", "-TERM"][round as usize % 3];
        let _ = Command::new("kill").arg(signal).arg(child.id().to_string()).stderr(Stdio::null()).status();
        child.wait().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text == OLD || text == new, "{text}");
        old += u32::from(text == OLD);
        left += u32::from(names(folder) != expected);
        assert!(lock(folder).status().unwrap().success());
        assert_eq!(fs::read_to_string(&path).unwrap(), new);
        assert_eq!(names(folder), expected);
    }
    println!("{kills} kills: {old} left the old lock, {} the new one, {left} a temporary file", kills - old);
    // Between naming the temporary file and renaming it, a kill can still leave it until the next run.
    assert!(!cfg!(target_os = "linux") || left <= 1 + kills / 100, "{left} of {kills} left a temporary file");
}
