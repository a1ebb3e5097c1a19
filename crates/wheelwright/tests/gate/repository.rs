//! A git repository in which `check` is run, and the findings that it reports.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

/// The files of a working tree, by name.
pub(crate) type Files = BTreeMap<String, String>;

/// How grave the findings of one run are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    /// No finding at all.
    Silent,
    Note,
    Warning,
    /// An error, with which `check` exits 1.
    Error,
}

/// One run of `check`.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// Rule, level and message of every finding.
    pub(crate) findings: BTreeSet<(String, String, String)>,
    /// The exit code.
    pub(crate) exit: i32,
}

impl Checked {
    /// The gravest finding that `base` does not have.
    pub(crate) fn level_since(&self, base: &Self) -> Level {
        let news = self.findings.difference(&base.findings);
        let gravest = news.map(|(_, level, _)| match level.as_str() {
            "error" => Level::Error,
            "warning" => Level::Warning,
            _ => Level::Note,
        });
        let gravest = gravest.max().unwrap_or(Level::Silent);
        // A file that cannot be read stops the gate, too.
        if self.exit == 2 { Level::Error } else { gravest }
    }

    /// Whether a finding says that Kubernetes itself refuses the schema.
    pub(crate) fn is_malformed_since(&self, base: &Self) -> bool {
        let mut news = self.findings.difference(&base.findings);
        news.any(|(rule, level, _)| level == "error" && rule.as_str() < "WW110")
    }
}

/// A repository that is deleted with its value.
#[derive(Debug)]
pub(crate) struct Repository(PathBuf);

impl Repository {
    /// A repository with one commit that holds these files.
    pub(crate) fn new(name: &str, files: &Files) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("gate-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("folders can be created");
        let repository = Self(folder);
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository.write(files);
        repository
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "the published state"]);
    }

    /// Makes the working tree hold exactly these files.
    pub(crate) fn write(&self, files: &Files) {
        for entry in fs::read_dir(&self.0).expect("the folder can be read").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != ".git" && !files.contains_key(&name) {
                fs::remove_file(entry.path()).expect("files can be removed");
            }
        }
        for (name, text) in files {
            fs::write(self.0.join(name), text).expect("files can be written");
        }
    }

    /// Runs `check` over the working tree, without the laws: rules alone have to find the harm.
    pub(crate) fn check(&self, arguments: &[&str]) -> Checked {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
        let output = command
            .current_dir(&self.0)
            .args(["check", "--format", "json", "--no-laws"])
            .args(arguments)
            .output()
            .expect("the command can be started");
        let findings = String::from_utf8_lossy(&output.stdout).lines().filter_map(finding).collect();
        let exit = output.status.code().unwrap_or(-1);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!((0..=2).contains(&exit), "check ended with {exit} in {}: {said}", self.0.display());
        Checked { findings, exit }
    }

    /// Runs `lock`; whether it wrote one.
    pub(crate) fn lock(&self) -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
        let output = command.current_dir(&self.0).arg("lock").output().expect("the command can be started");
        output.status.success()
    }

    /// The text of a file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("the file is there")
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .arg("-C")
            .arg(&self.0)
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("git is there").success(), "git {arguments:?}");
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Rule, level and message of a line that `--format json` writes.
fn finding(line: &str) -> Option<(String, String, String)> {
    let finding: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let field = text("field");
    Some((text("rule"), text("level"), format!("{field}: {}", text("message"))))
}
