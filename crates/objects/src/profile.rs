//! The files that AWS's tools keep: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Of a profile only what stands in the files is read: keys, region and endpoint. What makes keys
//! another way (`sso_`, `role_arn`, `credential_process`) is refused by its name, with a way out; so is
//! what else changes a request and is not followed here: see `aws`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;

/// Larger files are none.
const MAX_BYTES: u64 = 1 << 20;
/// Settings by which other tools get keys.
const ELSEWHERE: [&str; 5] =
    ["credential_process", "sso_session", "sso_start_url", "role_arn", "login_session"];

/// The settings of a section, those that have parts of their own as `name.part`.
type Section = BTreeMap<String, String>;

/// The settings of a profile.
#[derive(Default)]
pub struct Profile {
    name: String,
    settings: Section,
    /// Those of the section of services that the profile names, if it is there.
    pub services: Option<Section>,
}

impl Profile {
    /// The profile that the environment names, or the one called `default`.
    /// With `keys` it has to have them here, or none at all.
    pub fn load(keys: bool) -> Result<Profile, Error> {
        let var = |name| env::var_os(name).filter(|value| !value.is_empty());
        let asked = var("AWS_PROFILE").or_else(|| var("AWS_DEFAULT_PROFILE"));
        let name = asked.clone().map_or(Ok("default".into()), |name| name.into_string());
        let name = name.map_err(|name| {
            let name = Escaped::name(&name).to_string();
            Error::usage(format_args!("AWS_PROFILE: expected a name in UTF-8, found {name}"))
        })?;
        let text = |variable, base| {
            let path = match var(variable) {
                Some(path) => Some(PathBuf::from(path)),
                None => var("HOME").map(|home| PathBuf::from(home).join(".aws").join(base)),
            };
            Ok(path.map(read).transpose()?.flatten().unwrap_or_default())
        };
        let config = text("AWS_CONFIG_FILE", "config")?;
        let credentials = text("AWS_SHARED_CREDENTIALS_FILE", "credentials")?;
        let found = Profile::parse(&name, &config, &credentials);
        if asked.is_some() && found.is_none() {
            let name = Escaped::text(name.as_bytes());
            return Err(Error::usage(format_args!(
                "AWS_PROFILE: expected a profile in ~/.aws/config or ~/.aws/credentials, found none \
                 with the name {name}"
            )));
        }
        let profile = found.unwrap_or_default();
        if keys {
            profile.has_keys_here(&name)?;
        }
        Ok(profile)
    }

    /// The profile of a name in the texts of both files, if it is in one of them.
    pub fn parse(name: &str, config: &str, credentials: &str) -> Option<Profile> {
        let profile = format!("profile {name}");
        let in_config = match name {
            // The first one gives way to the second.
            "default" => [section(config, name), section(config, &profile)],
            _ => [None, section(config, &profile)],
        };
        // What stands in both files counts as it does in the second.
        let found = in_config.into_iter().chain([section(credentials, name)]).flatten();
        let settings = found.reduce(|mut settings, more| {
            settings.extend(more);
            settings
        })?;
        let services = settings.get("services");
        let services = services.and_then(|name| section(config, &format!("services {name}")));
        Some(Profile { name: name.into(), settings, services })
    }

    /// The name, for a message.
    pub fn shown(&self) -> String {
        Escaped::text(self.name.as_bytes()).to_string()
    }

    /// The error for a setting that is not followed.
    pub fn refused(&self, setting: &str) -> Error {
        Error::usage(format_args!(
            "profile {}: expected only settings that tagmac follows, found {setting}",
            self.shown()
        ))
    }

    /// Refuses a profile whose keys another tool has to make.
    fn has_keys_here(&self, name: &str) -> Result<(), Error> {
        // With a role besides, AWS's tools would use these keys to become somebody else.
        if self.get("aws_access_key_id").is_some() && self.get("role_arn").is_none() {
            return Ok(());
        }
        let Some(setting) = ELSEWHERE.iter().find(|setting| self.get(setting).is_some()) else {
            return Ok(());
        };
        let name = Escaped::text(name.as_bytes());
        Err(Error::usage(format_args!(
            "profile {name}: expected aws_access_key_id, found {setting}, which tagmac cannot follow; \
             'aws configure export-credentials --profile {name} --format env' prints keys for the \
             environment"
        )))
    }

    /// A setting.
    pub fn get(&self, setting: &str) -> Option<&str> {
        self.settings.get(setting).map(String::as_str)
    }
}

/// The text of a file, if there is one.
fn read(path: PathBuf) -> Result<Option<String>, Error> {
    let failed = |error: io::Error| {
        Error::io(format_args!("{}: {}", Escaped::name(&path), io_reason(&error)))
    };
    // By which a user says that there is none.
    if path.as_os_str() == "/dev/null" {
        return Ok(None);
    }
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(facts) if !facts.is_file() || facts.len() > MAX_BYTES => {
            let name = Escaped::name(&path);
            let what = "expected a file of at most 1 MiB, found something else";
            return Err(Error::io(format_args!("{name}: {what}")));
        }
        Ok(_) => {}
    }
    fs::read_to_string(&path).map(Some).map_err(failed)
}

/// The settings of a section. Lines with a blank before them are parts of the setting above.
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
            // A name with blanks may have quotes.
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
        let sso = profile("[default]\nsso_session = x").has_keys_here("default").unwrap_err();
        assert!(sso.to_string().contains("found sso_session"));
        let role = profile("[default]\nrole_arn = x\naws_access_key_id = k");
        assert!(role.has_keys_here("default").unwrap_err().to_string().contains("found role_arn"));
        let both = "[default]\nsso_session = x\naws_access_key_id = k";
        assert!(profile(both).has_keys_here("default").is_ok());
        assert!(profile("[default]\nregion = x").has_keys_here("default").is_ok());
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
