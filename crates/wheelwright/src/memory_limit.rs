//! How much memory a process may use: sizes in arguments, and limits of the control groups (cgroups) that it is in.

use std::{fs, path::Path};

use wheelwright_server::Limits;

/// The most that is used where nothing limits it to less.
const MOST: usize = 512 << 20;

const LEAST: usize = Limits::LEAST_MEMORY;

/// A larger size is a mistake: 1 EiB.
const MOST_SIZE: f64 = (1_u64 << 60) as f64;

/// A shorter body has no document.
const LEAST_BODY: usize = 1 << 10;

/// Memory for a server: 512 MiB, or half of what its control groups may use if that is less. The other half is for the
/// buffers of sockets and for cached files, which count there, too. Half of a small limit may be less than a server can keep to:
/// then a warning is logged, and the server uses the least that it can.
pub(crate) fn default_memory() -> usize {
    match own_limit() {
        Some(limit) if limit / 2 < LEAST => {
            tracing::warn!(
                limit,
                needed = LEAST * 2,
                "the memory limit of the control group is less than a server needs, so the system may end it under load"
            );
            LEAST
        }
        Some(limit) => MOST.min(limit / 2),
        None => MOST,
    }
}

/// Logs a warning if a server may use more memory than its control groups may.
pub(crate) fn warn_above_limit(memory: usize) {
    if let Some(limit) = own_limit().filter(|limit| *limit < memory) {
        tracing::warn!(
            memory,
            limit,
            "--memory is more than the limit of the control group, so the system may end the server under load: use half of \
             that limit"
        );
    }
}

/// The limit of the groups that this process is in.
fn own_limit() -> Option<usize> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    limit_of(&groups, Path::new("/sys/fs/cgroup"))
}

/// The least limit of the groups that a process is in, and of those that they are in. Version 2 has one group, version 1
/// one for memory alone.
fn limit_of(groups: &str, root: &Path) -> Option<usize> {
    let limits = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
            _ => return None,
        };
        let group = Path::new(path.trim_start_matches('/'));
        // In a container, the path may be that on its host, of which only the root is there.
        let limit = |group: &Path| fs::read_to_string(root.join(group).join(file)).ok()?.trim().parse::<usize>().ok();
        group.ancestors().filter_map(limit).min()
    });
    limits.min()
}

/// Reads the size of the memory of a server.
pub(crate) fn memory(text: &str) -> Result<usize, String> {
    match size(text)? {
        bytes if bytes < LEAST => Err(format!("a server needs at least {} MiB", LEAST >> 20)),
        bytes => Ok(bytes),
    }
}

/// Reads the length of the longest body.
pub(crate) fn body(text: &str) -> Result<usize, String> {
    match size(text)? {
        bytes if bytes < LEAST_BODY => {
            Err(format!("no document fits in {bytes} bytes; such as {text}MiB, with a unit?"))
        }
        bytes => Ok(bytes),
    }
}

/// Reads a size, which may be 0.
pub(crate) fn size_or_zero(text: &str) -> Result<usize, String> {
    if text == "0" { Ok(0) } else { size(text) }
}

/// Reads a size: `512MiB`, `1.5GB`, `64m`, or a number of bytes, but not 0.
fn size(text: &str) -> Result<usize, String> {
    let wrong = || "expected a size of at least 1 byte, such as 512MiB or 1GB".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| wrong())?;
    let unit = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "ki" | "kib" => 1024.0,
        "kb" => 1e3,
        "m" | "mi" | "mib" => 1024.0 * 1024.0,
        "mb" => 1e6,
        "g" | "gi" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "gb" => 1e9,
        "t" | "ti" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "tb" => 1e12,
        _ => return Err(wrong()),
    };
    match number * unit {
        bytes if bytes < 1.0 => Err(wrong()),
        bytes if bytes > MOST_SIZE => {
            Err("no machine has so much memory; expected a size such as 512MiB or 1GB".to_owned())
        }
        bytes => Ok(bytes as usize),
    }
}

/// A size in MiB for messages, rounded down to two decimals.
pub(crate) fn in_mib(bytes: usize) -> f64 {
    (bytes as f64 / f64::from(1 << 20) * 100.0).floor() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("512MiB", 512 << 20),
            ("512m", 512 << 20),
            ("1.5 GiB", 3 << 29),
            ("1gb", 1_000_000_000),
            ("33554432", 32 << 20),
            ("40000kB", 40_000_000),
            ("1TiB", 1 << 40),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "512Mb/s", "-1g", "0", "0.5", "1..5g", "٣g"] {
            assert!(size(text).is_err(), "{text}");
        }
        for text in ["999999999999GiB", "1e3g", "99999999999999999999999999", "1048577TiB"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert_eq!([256 << 20, 3 << 19, 1].map(in_mib).map(|size| size.to_string()), ["256", "1.5", "0"]);
        assert_eq!((size_or_zero("0"), size_or_zero("1k")), (Ok(0), Ok(1024)));
        assert_eq!(body("1KiB"), Ok(1024));
        assert!(body("3").unwrap_err().contains("3MiB"));
        assert_eq!(memory("256MiB"), Ok(LEAST));
        assert_eq!(memory("255.9MiB"), Err("a server needs at least 256 MiB".to_owned()));
    }

    #[test]
    fn the_least_limit_of_all_groups_applies() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let limit = |groups: &str| limit_of(groups, root.path());
        assert_eq!(limit("0::/a/b\n"), None, "without any file");
        write("a/b/memory.max", "max\n");
        assert_eq!(limit("0::/a/b\n"), None);
        write("a/memory.max", "300000000\n");
        assert_eq!(limit("0::/a/b\n"), Some(300_000_000), "a group around it has a limit");
        write("memory.max", "200000000\n");
        assert_eq!(limit("0::/../elsewhere/on/the/host\n"), Some(200_000_000));
        write("memory/docker/x/memory.limit_in_bytes", "100000000\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let version_1 = "12:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n";
        assert_eq!(limit(version_1), Some(100_000_000));
    }
}
