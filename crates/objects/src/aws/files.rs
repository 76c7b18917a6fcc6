//! The files of AWS's tools: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use zeroize::Zeroizing;

/// Larger files cannot be AWS's.
const MAX_BYTES: u64 = 1 << 20;

/// A file, or a value in one. Either may be a key.
type Text = Zeroizing<String>;
/// The settings of a section. A nested setting has the name `name.part`.
type Settings = BTreeMap<String, Text>;

/// The content of both files.
#[derive(Default)]
pub struct Files {
    config: Text,
    credentials: Text,
    /// The home directory.
    pub home: Option<PathBuf>,
}

impl Files {
    /// Loads the files. `variable` returns the value of an environment variable, which may be
    /// empty. Without `keys`, a missing credentials file is allowed even if a variable names it.
    pub fn load(variable: &dyn Fn(&str) -> Option<OsString>, keys: bool) -> Result<Files, Error> {
        let var = |name| variable(name).filter(|value| !value.is_empty());
        let home = var("HOME").map(PathBuf::from);
        let text = |variable, base, is_needed| {
            let found = match (var(variable), &home) {
                (Some(path), _) => {
                    named(variable, &PathBuf::from(path), home.as_deref(), is_needed)?
                }
                (None, Some(home)) => read(&home.join(".aws").join(base))?,
                (None, None) => None,
            };
            Ok::<_, Error>(found.unwrap_or_default())
        };
        let config = text("AWS_CONFIG_FILE", "config", true)?;
        let credentials = text("AWS_SHARED_CREDENTIALS_FILE", "credentials", keys)?;
        Ok(Files { config, credentials, home })
    }

    /// Returns the profile that the environment names, or the one called `default`, which may be
    /// missing.
    pub fn chosen(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Profile, Error> {
        let var = |name| variable(name).filter(|value| !value.is_empty());
        let names = ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"];
        let named_by = names.into_iter().find(|name| var(name).is_some()).unwrap_or(names[0]);
        let asked = var(named_by);
        let name = asked.clone().map_or(Ok("default".into()), |name| name.into_string());
        let name = name.map_err(|name| {
            let name = Escaped::name(&name).to_string();
            Error::usage(format_args!("{named_by}: {name} is not valid UTF-8"))
        })?;
        match self.profile(&name) {
            None if asked.is_some() => {
                let name = Escaped::text(name.as_bytes());
                Err(Error::usage(format_args!(
                    "{named_by}: ~/.aws/config and ~/.aws/credentials have no profile with the \
                     name {name}"
                )))
            }
            found => Ok(found.unwrap_or_else(|| Profile { name, ..Profile::default() })),
        }
    }

    /// Returns the profile with a name, if one of the files has it.
    pub fn profile(&self, name: &str) -> Option<Profile> {
        let title = format!("profile {name}");
        let in_config = match name {
            // Settings under the second title override those under the first.
            "default" => [section(&self.config, name), section(&self.config, &title)],
            _ => [None, section(&self.config, &title)],
        };
        let in_credentials = section(&self.credentials, name);
        let keys_in_credentials =
            in_credentials.as_ref().is_some_and(|found| found.contains_key("aws_access_key_id"));
        // The credentials file overrides the config file.
        let settings = in_config.into_iter().chain([in_credentials]).flatten();
        let settings = settings.reduce(|mut settings, more| {
            settings.extend(more);
            settings
        })?;
        Some(Profile { name: name.into(), settings, keys_in_credentials })
    }

    /// Returns a section of the config file, such as `services NAME`.
    pub fn section(&self, kind: &str, name: &str) -> Option<Section> {
        section(&self.config, &format!("{kind} {name}")).map(Section)
    }
}

#[cfg(test)]
impl Files {
    /// Returns files with these contents.
    pub fn with(config: &str, credentials: &str) -> Files {
        let [config, credentials] = [config, credentials].map(|text| String::from(text).into());
        Files { config, credentials, home: None }
    }
}

/// A section of the config file.
pub struct Section(Settings);

impl Section {
    /// Returns the value of a setting; `None` if it is empty.
    pub fn get(&self, setting: &str) -> Option<&str> {
        get(&self.0, setting)
    }

    /// Returns the names of the settings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The settings of a profile.
#[derive(Default)]
pub struct Profile {
    /// The name.
    pub name: String,
    settings: Settings,
    /// True if the credentials file has the keys.
    pub keys_in_credentials: bool,
}

impl Profile {
    /// Returns the value of a setting; `None` if it is empty.
    pub fn get(&self, setting: &str) -> Option<&str> {
        get(&self.settings, setting)
    }

    /// Returns the name, escaped for a message.
    pub fn shown(&self) -> String {
        Escaped::text(self.name.as_bytes()).to_string()
    }

    /// Returns a usage error.
    pub fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::usage(format_args!("profile {}: {what}", self.shown()))
    }

    /// Returns the error for a setting that is not supported.
    pub fn refused(&self, setting: &str) -> Error {
        self.wrong(format_args!("tagmac does not support {setting}"))
    }

    /// Returns the error for a source of keys that is not supported, with an alternative.
    pub fn refused_keys(&self, setting: &str) -> Error {
        let name = self.shown();
        self.wrong(format_args!(
            "tagmac does not support {setting}; 'aws configure export-credentials --profile {name} \
             --format env' prints keys for the environment"
        ))
    }
}

fn get<'a>(settings: &'a Settings, name: &str) -> Option<&'a str> {
    settings.get(name).map(|value| value.as_str()).filter(|value| !value.is_empty())
}

/// Reads the file that a variable names. AWS's tools ignore a missing file. But it could name the
/// store, and without it a request for a private store would go to AWS. So a file that is needed
/// must exist.
fn named(
    variable: &str,
    path: &Path,
    home: Option<&Path>,
    is_needed: bool,
) -> Result<Option<Text>, Error> {
    let wrong = |what: &str| {
        let shown = Escaped::name(path);
        Error::usage(format_args!("{variable}: {shown}: {what}"))
    };
    let path = match path.strip_prefix("~") {
        Ok(rest) => home.ok_or_else(|| wrong("HOME is not set, so ~ is unknown"))?.join(rest),
        // The home of another user.
        Err(_) if path.as_os_str().as_encoded_bytes().starts_with(b"~") => {
            return Err(wrong("only ~/ is supported; write the full path"));
        }
        Err(_) => path.into(),
    };
    let text = read(&path)?;
    if is_needed && text.is_none() {
        let shown = Escaped::name(&path);
        return Err(Error::usage(format_args!(
            "{variable}: {shown}: no such file; use /dev/null for an empty one"
        )));
    }
    Ok(text)
}

/// Reads a file; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Text>, Error> {
    let failed = |error: io::Error| {
        Error::io(format_args!("{}: {}", Escaped::name(path), io_reason(&error)))
    };
    // The usual way to configure an empty file.
    if path.as_os_str() == "/dev/null" {
        return Ok(Some(Text::default()));
    }
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(facts) if !facts.is_file() || facts.len() > MAX_BYTES => {
            let name = Escaped::name(path);
            let what = "not a regular file, or larger than 1 MiB";
            return Err(Error::io(format_args!("{name}: {what}")));
        }
        Ok(_) => {}
    }
    fs::read_to_string(path).map(|text| Some(text.into())).map_err(failed)
}

/// Parses a section. Indented lines are parts of the setting above them.
fn section(text: &str, title: &str) -> Option<Settings> {
    let mut found: Option<Settings> = None;
    let (mut inside, mut above) = (false, String::new());
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with(['#', ';']);
        if line.trim().is_empty() || is_comment {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            // A name with blanks may be quoted.
            let name = name.replace(['"', '\''], " ");
            inside = name.split_whitespace().eq(title.split_whitespace());
            above.clear();
            if inside {
                found.get_or_insert_default();
            }
        } else if inside
            && let (Some(found), Some((key, value))) = (&mut found, line.split_once('='))
        {
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            let is_part = line.starts_with([' ', '\t']);
            let key = if is_part { format!("{above}.{key}") } else { key };
            if !is_part {
                above.clone_from(&key);
            }
            found.insert(key, String::from(value).into());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_what_follows_its_title() {
        let text = "# c\n[default]\nregion = eu-1\n[profile  a b]\nRegion=x=y \ns3 =\n  region = z\n\
                    ; c\n[other]\nregion = o\n[default]\nk=v";
        let found = section(text, "profile a b").unwrap();
        assert_eq!(get(&found, "region"), Some("x=y"));
        assert_eq!(get(&found, "s3.region"), Some("z"));
        let found = section(text, "default").unwrap();
        assert_eq!(found.len(), 2);
        assert!(section("[profile \"a b\"]", "profile a b").is_some());
        assert!(section(text, "profile a").is_none() && section("", "default").is_none());
    }

    #[test]
    fn a_file_that_a_variable_names_is_there() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        fs::create_dir_all(home.join(".aws")).unwrap();
        fs::write(home.join("mine"), "[default]\nendpoint_url = https://e\n").unwrap();
        let load_with = |variables: &[(&str, &str)], keys| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let files = Files::load(&variable, keys);
            let profile = files.and_then(|files| files.chosen(&variable));
            let profile = profile.map_err(|error| error.to_string())?;
            Ok(profile.get("endpoint_url").map(String::from))
        };
        let load = |variables: &[(&str, &str)]| load_with(variables, true);
        let at = home.to_str().unwrap();
        let there: Result<_, String> = Ok(Some(String::from("https://e")));
        for name in ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
            assert_eq!(load(&[("HOME", at), (name, "~/mine")]), there);
            assert_eq!(load(&[("HOME", at), (name, &format!("{at}/mine"))]), there);
            assert_eq!(load(&[("HOME", at), (name, "/dev/null")]), Ok(None));
            for (path, what) in [
                ("~/none", "no such file; use /dev/null"),
                ("none", "none: no such file; use /dev/null"),
                ("$HOME/mine", "$HOME/mine: no such file; use /dev/null"),
                ("~root/mine", "~root/mine: only ~/ is supported; write the full path"),
            ] {
                let error = load(&[("HOME", at), (name, path)]).unwrap_err();
                assert!(error.contains(&format!("{name}: ")) && error.contains(what), "{error}");
            }
            let error = load(&[(name, "~/mine")]).unwrap_err();
            assert!(error.contains(&format!("{name}: ~/mine: HOME is not set")), "{error}");
        }
        // With keys from elsewhere, the credentials file is not needed. The config file may name
        // the store.
        let credentials = [("HOME", at), ("AWS_SHARED_CREDENTIALS_FILE", "none")];
        assert_eq!(load_with(&credentials, false), Ok(None));
        assert!(load_with(&[("HOME", at), ("AWS_CONFIG_FILE", "none")], false).is_err());
        let mine = [("HOME", at), ("AWS_SHARED_CREDENTIALS_FILE", "~/mine")];
        assert_eq!(load_with(&mine, false), there);
        // Files that no variable names may be missing.
        assert_eq!(load(&[("HOME", at)]), Ok(None));
        assert_eq!(load(&[]), Ok(None));
    }

    #[test]
    fn both_titles_of_the_default_profile_count() {
        let text = "[profile default]\nregion = x\n[default]\nregion = y\nendpoint_url = z\n";
        let files = Files::with(text, "[default]\nservices = s\nca_bundle =\n");
        let found = files.profile("default").unwrap();
        assert_eq!((found.get("region"), found.get("endpoint_url")), (Some("x"), Some("z")));
        assert!(found.get("services") == Some("s") && found.get("ca_bundle").is_none());
        assert!(!found.keys_in_credentials && files.section("services", "s").is_none());
        assert!(files.profile("other").is_none());
    }
}
