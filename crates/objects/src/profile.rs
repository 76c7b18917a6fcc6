//! The files of AWS's tools: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Only keys, region and endpoint are used from a profile. Settings that produce keys in another
//! way (`sso_`, `role_arn`, `credential_process`) are refused by name, with an alternative. So are
//! other settings that change a request and are not supported: see `aws`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;

/// Larger files cannot be AWS's.
const MAX_BYTES: u64 = 1 << 20;
/// Settings that make AWS's tools get keys from elsewhere.
const ELSEWHERE: [&str; 10] = [
    "credential_process",
    "sso_session",
    "sso_start_url",
    "sso_account_id",
    "sso_role_name",
    "role_arn",
    "source_profile",
    "credential_source",
    "web_identity_token_file",
    "login_session",
];
/// Settings that stop AWS's tools from signing with the profile's keys. With a role they use the
/// keys to assume it, and they exchange a token before they look for keys.
///
/// The AWS CLI and boto3 also prefer SSO settings to a profile's keys, and `login_session` and
/// `credential_process` to keys in the config file. Here the keys sign.
const BEFORE_KEYS: [&str; 2] = ["role_arn", "web_identity_token_file"];

/// The settings of a section. A nested setting has the name `name.part`.
type Section = BTreeMap<String, String>;

/// The settings of a profile.
#[derive(Default)]
pub struct Profile {
    name: String,
    settings: Section,
    /// The services section that the profile names, if it exists.
    pub services: Option<Section>,
}

impl Profile {
    /// Loads the profile that the environment names, or the one called `default`. `variable`
    /// returns the value of an environment variable, which may be empty. With `keys`, a profile
    /// that gets its keys from elsewhere is refused. Without, a missing credentials file is allowed
    /// even if a variable names it.
    pub fn load(variable: &dyn Fn(&str) -> Option<OsString>, keys: bool) -> Result<Profile, Error> {
        let var = |name| variable(name).filter(|value| !value.is_empty());
        let names = ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"];
        let named_by = names.into_iter().find(|name| var(name).is_some()).unwrap_or(names[0]);
        let asked = var(named_by);
        let name = asked.clone().map_or(Ok("default".into()), |name| name.into_string());
        let name = name.map_err(|name| {
            let name = Escaped::name(&name).to_string();
            Error::usage(format_args!("{named_by}: {name} is not valid UTF-8"))
        })?;
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
        let found = Profile::parse(&name, &config, &credentials);
        if asked.is_some() && found.is_none() {
            let name = Escaped::text(name.as_bytes());
            return Err(Error::usage(format_args!(
                "{named_by}: ~/.aws/config and ~/.aws/credentials have no profile with the name \
                 {name}"
            )));
        }
        let profile = found.unwrap_or_default();
        if keys {
            profile.has_keys_here(&name)?;
        }
        Ok(profile)
    }

    /// Parses both files and returns the profile with a name, if one of them has it.
    pub fn parse(name: &str, config: &str, credentials: &str) -> Option<Profile> {
        let profile = format!("profile {name}");
        let in_config = match name {
            // Settings under the second title override those under the first.
            "default" => [section(config, name), section(config, &profile)],
            _ => [None, section(config, &profile)],
        };
        // The credentials file overrides the config file.
        let found = in_config.into_iter().chain([section(credentials, name)]).flatten();
        let settings = found.reduce(|mut settings, more| {
            settings.extend(more);
            settings
        })?;
        let services = settings.get("services");
        let services = services.and_then(|name| section(config, &format!("services {name}")));
        Some(Profile { name: name.into(), settings, services })
    }

    /// Returns the name, escaped for a message.
    pub fn shown(&self) -> String {
        Escaped::text(self.name.as_bytes()).to_string()
    }

    /// Returns the error for a setting that is not supported.
    pub fn refused(&self, setting: &str) -> Error {
        Error::usage(format_args!("profile {}: tagmac does not support {setting}", self.shown()))
    }

    /// Rejects a profile that gets its keys from elsewhere.
    fn has_keys_here(&self, name: &str) -> Result<(), Error> {
        let (settings, has_keys) = match self.get("aws_access_key_id") {
            Some(_) => (&BEFORE_KEYS[..], true),
            None => (&ELSEWHERE[..], false),
        };
        let Some(setting) = settings.iter().find(|setting| self.get(setting).is_some()) else {
            return Ok(());
        };
        let name = Escaped::text(name.as_bytes());
        let what = match has_keys {
            true => format!("keys together with {setting}"),
            false => setting.to_string(),
        };
        Err(Error::usage(format_args!(
            "profile {name}: tagmac does not support {what}; 'aws configure \
             export-credentials --profile {name} --format env' prints keys for the environment"
        )))
    }

    /// Returns the value of a setting.
    pub fn get(&self, setting: &str) -> Option<&str> {
        self.settings.get(setting).map(String::as_str)
    }
}

/// Reads the file that a variable names. AWS's tools ignore a missing file. But it could name the
/// store, and without it a request for a private store would go to AWS. So a file that is needed
/// must exist.
fn named(
    variable: &str,
    path: &Path,
    home: Option<&Path>,
    is_needed: bool,
) -> Result<Option<String>, Error> {
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
fn read(path: &Path) -> Result<Option<String>, Error> {
    let failed = |error: io::Error| {
        Error::io(format_args!("{}: {}", Escaped::name(path), io_reason(&error)))
    };
    // The usual way to configure an empty file.
    if path.as_os_str() == "/dev/null" {
        return Ok(Some(String::new()));
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
    fs::read_to_string(path).map(Some).map_err(failed)
}

/// Parses a section. Indented lines are parts of the setting above them.
fn section(text: &str, title: &str) -> Option<Section> {
    let mut found: Option<Section> = None;
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
            found.insert(key, value.into());
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
        assert_eq!(found.get("region").map(String::as_str), Some("x=y"));
        assert_eq!(found.get("s3.region").map(String::as_str), Some("z"));
        let found = section(text, "default").unwrap();
        assert_eq!(found.len(), 2);
        assert!(section("[profile \"a b\"]", "profile a b").is_some());
        assert!(section(text, "profile a").is_none() && section("", "default").is_none());
    }

    #[test]
    fn keys_that_are_made_elsewhere_are_refused_by_name() {
        let profile = |text: &str| Profile::parse("default", text, "").unwrap();
        for setting in ELSEWHERE {
            let text = format!("[default]\n{setting} = x\n");
            let error = profile(&text).has_keys_here("default").unwrap_err().to_string();
            let line = format!("tagmac does not support {setting}; 'aws configure");
            assert!(error.contains(&line), "{error}");
            let with_keys = profile(&(text + "aws_access_key_id = k\n")).has_keys_here("default");
            // AWS's tools would assume the role or exchange the token.
            if BEFORE_KEYS.contains(&setting) {
                let error = with_keys.unwrap_err().to_string();
                let line = format!("tagmac does not support keys together with {setting}; 'aws");
                assert!(error.contains(&line), "{error}");
            } else {
                assert!(with_keys.is_ok(), "{setting}");
            }
        }
        assert!(profile("[default]\nregion = x").has_keys_here("default").is_ok());
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
            let profile = Profile::load(&variable, keys).map_err(|error| error.to_string());
            profile.map(|profile| profile.get("endpoint_url").map(String::from))
        };
        let load = |variables: &[(&str, &str)]| load_with(variables, true);
        let at = home.to_str().unwrap();
        let there = Ok(Some(String::from("https://e")));
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
        let found = Profile::parse("default", text, "[default]\nservices = s").unwrap();
        assert_eq!((found.get("region"), found.get("endpoint_url")), (Some("x"), Some("z")));
        assert!(found.get("services") == Some("s") && found.services.is_none());
        assert!(Profile::parse("other", text, "").is_none());
    }
}
