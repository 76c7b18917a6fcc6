//! The files that AWS's tools keep: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Of a profile only what stands in the files is read: keys, region and endpoint. What makes keys
//! another way (`sso_`, `role_arn`, `credential_process`) is refused by its name, with a way out.

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
const ELSEWHERE: [&str; 4] = ["credential_process", "sso_session", "sso_start_url", "role_arn"];

/// The settings of a profile.
#[derive(Default)]
pub struct Profile(BTreeMap<String, String>);

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
        let file = |variable, base| match var(variable) {
            Some(path) => Some(PathBuf::from(path)),
            None => Some(PathBuf::from(var("HOME")?).join(".aws").join(base)),
        };
        let mut settings = BTreeMap::new();
        let mut any = false;
        let files = [
            (file("AWS_CONFIG_FILE", "config"), true),
            // What stands in both counts as it does here.
            (file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), false),
        ];
        for (path, is_config) in files {
            let Some(text) = path.map(read).transpose()?.flatten() else { continue };
            let title = match &*name {
                "default" => name.clone(),
                _ if is_config => format!("profile {name}"),
                _ => name.clone(),
            };
            if let Some(found) = section(&text, &title) {
                any = true;
                settings.extend(found);
            }
        }
        if asked.is_some() && !any {
            let name = Escaped::text(name.as_bytes());
            return Err(Error::usage(format_args!(
                "AWS_PROFILE: expected a profile in ~/.aws/config or ~/.aws/credentials, found none \
                 with the name {name}"
            )));
        }
        let profile = Profile(settings);
        if keys {
            profile.has_keys_here(&name)?;
        }
        Ok(profile)
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
        self.0.get(setting).map(String::as_str)
    }
}

/// The text of a file, if there is one.
fn read(path: PathBuf) -> Result<Option<String>, Error> {
    let failed = |error: io::Error| {
        Error::io(format_args!("{}: {}", Escaped::name(&path), io_reason(&error)))
    };
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

/// The settings of a section. Lines with a blank before them belong to a setting that has parts of
/// its own, and are left out.
fn section(text: &str, title: &str) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    let mut inside = false;
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with(['#', ';']);
        if line.trim().is_empty() || is_comment || line.starts_with([' ', '\t']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            inside = name.split_whitespace().eq(title.split_whitespace());
            if inside {
                found.get_or_insert_default();
            }
        } else if inside
            && let (Some(found), Some((key, value))) = (&mut found, line.split_once('='))
        {
            found.insert(key.trim().to_ascii_lowercase(), value.trim().into());
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
        let found = section(text, "default").unwrap();
        assert_eq!(found.len(), 2);
        assert!(section(text, "profile a").is_none() && section("", "default").is_none());
    }

    #[test]
    fn keys_that_are_made_elsewhere_are_refused_by_name() {
        let profile = |text: &str| Profile(section(text, "default").unwrap());
        let sso = profile("[default]\nsso_session = x").has_keys_here("default").unwrap_err();
        assert!(sso.to_string().contains("found sso_session"));
        let role = profile("[default]\nrole_arn = x\naws_access_key_id = k");
        assert!(role.has_keys_here("default").unwrap_err().to_string().contains("found role_arn"));
        let both = "[default]\nsso_session = x\naws_access_key_id = k";
        assert!(profile(both).has_keys_here("default").is_ok());
        assert!(profile("[default]\nregion = x").has_keys_here("default").is_ok());
    }
}
