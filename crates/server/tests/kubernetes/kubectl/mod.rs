//! Real kubectl against the server: whatever people do in a day, at every version.

mod daily;
mod recorded;

use std::{
    env, fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use tempfile::TempDir;

/// kubectl, pointed at a server, in a folder of its own.
pub(crate) struct Kubectl {
    program: PathBuf,
    folder: TempDir,
    /// The minor number of its version.
    pub(crate) minor: u32,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command that goes on until this is dropped.
pub(crate) struct Going {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Kubectl {
    /// The kubectl of this machine; its namespace is given.
    pub(crate) fn at(address: SocketAddr, namespace: &str) -> Self {
        let program = program();
        let folder = tempfile::tempdir().unwrap();
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: it\n\
             clusters: [{{name: it, cluster: {{server: \"http://{address}\"}}}}]\n\
             contexts: [{{name: it, context: {{cluster: it, user: it, namespace: {namespace}}}}}]\n\
             users: [{{name: it, user: {{}}}}]\n"
        );
        fs::write(folder.path().join("config"), config).unwrap();
        let mut kubectl = Self { program, folder, minor: 0 };
        let version = kubectl.run(&["version", "--output=json"]).stdout;
        let version: serde_json::Value = serde_json::from_str(&version).expect("kubectl tells its version");
        let minor = version["clientVersion"]["minor"].as_str().expect("a minor version");
        kubectl.minor = minor.trim_end_matches('+').parse().expect("a number");
        kubectl
    }

    /// Writes a file into the folder that commands are run in.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(&self.program).args(arguments))
    }

    /// A command as one writes it in a shell.
    pub(crate) fn shell(&self, line: &str) -> Outcome {
        let line = line.replace("kubectl ", &format!("'{}' ", self.program.display()));
        Outcome::of(self.command(Path::new("sh")).args(["-c", &line]))
    }

    /// The same, with an editor that is a command for one file.
    pub(crate) fn edit(&self, editor: &str, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(&self.program).args(arguments).env("KUBE_EDITOR", editor))
    }

    /// A command that must succeed, and what it prints.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 0, "kubectl {}: {outcome:?}", arguments.join(" "));
        outcome.stdout
    }

    /// Begins a command that does not end by itself.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Going {
        let mut child = self
            .command(&self.program)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("kubectl can be started");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Going { child, lines }
    }

    fn command(&self, program: &Path) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null());
        command.env("KUBECONFIG", folder.join("config")).env("HOME", folder).env("TMPDIR", folder);
        command.env("KUBECACHEDIR", folder.join("cache")).env_remove("KUBERNETES_SERVICE_HOST");
        command
    }
}

impl Going {
    /// The next line.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(30)).expect("kubectl prints another line")
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Outcome {
    fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the command can be started");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// `WHEELWRIGHT_KUBECTL`, or the one in the path.
fn program() -> PathBuf {
    let named = env::var_os("WHEELWRIGHT_KUBECTL").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let mut all = named.into_iter().chain(env::split_paths(&path).map(|folder| folder.join("kubectl")));
    all.find(|program| program.is_file())
        .expect("kubectl is needed: install it (apt-get install kubernetes-client), or name it in WHEELWRIGHT_KUBECTL")
}
