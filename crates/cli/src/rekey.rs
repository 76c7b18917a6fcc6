//! `tagmac rekey`: verifies a tree or a list under one key, and seals or tags it under another.

use tagmac_files::Error;
use tagmac_files::audit::{Audited, Status};
use tagmac_files::chain::Chain;
use tagmac_files::escaped::Escaped;
use tagmac_files::objects::ManifestKey;
use tagmac_files::pin::{PinFile, Seen};
use tagmac_files::rekey::{Key, Names, Rekeyed, Rekeying};

use tagmac::Tag;

use crate::args::RekeyArgs;
use crate::audit::{Combined, Form, Report};
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::mac;
use crate::names;
use crate::progress::Progress;
use crate::rekey_list;

/// Gives a manifest or a list a new key. Returns `Some(exit)` unless everything is unchanged.
pub fn run(args: &RekeyArgs) -> Result<Option<Exit>, Error> {
    let output = args.output.as_ref().unwrap_or(&args.manifest);
    names::output(if args.output.is_some() { "-o" } else { "MANIFEST" }, output)?;
    args.directory.iter().try_for_each(|directory| names::directory(directory))?;
    for name in [&args.manifest, output].into_iter().chain(&args.directory) {
        names::file(name)?;
    }
    let (old, old_raw) = mac::open_with_raw(&args.key.options(), false)?;
    let (new, new_raw) = mac::open_with_raw(&args.new_options(), false)?;
    if old.key_id() == new.key_id() {
        return Err(Error::usage("--new-key: expected another key, found the old one"));
    }
    let Some(directory) = &args.directory else { return rekey_list::run(args, &old, &new) };
    let names = Names { manifest: &args.manifest, output, directory };
    let old_key = Key { open: &old, raw: &old_raw };
    let rekeying = Rekeying::new(old_key, Key { open: &new, raw: &new_raw }, names)?;
    let manifest = rekeying.manifest();
    let (shown, seal) = (Escaped::name(&args.manifest).to_string(), manifest.seal);
    let mut pin = None;
    if let Some(path) = &args.pin {
        let found = PinFile::open(path, &ManifestKey::new(&old.mac, &old_raw))?;
        if found.pin().is_none() {
            let what = "the pin does not exist; the first audit with --pin creates it";
            return Err(Error::io(format_args!("{}: {what}", Escaped::name(path))));
        }
        found.check(&shown, &seen(&manifest.header.chain, seal))?;
        pin = Some(found);
    }
    let form = Form { quiet: args.quiet, ..Form::default() };
    let mut report = Report::new(form, &old, seal, Combined::Nowhere);
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let bar = progress.start("sealing", rekeying.total());
    let put =
        &mut |path: &[u8], kind, status: Status<'_>, turn| report.put(path, kind, status, turn);
    let Rekeyed { written, audited } = rekeying.run(args.reading.num_threads, &bar, put)?;
    drop(bar);
    let Audited { skipped, renames_complete, left_out, .. } = audited;
    let exit = report.finish(skipped, left_out, renames_complete, None);
    let output = Escaped::name(output).to_string();
    let Some((seal, chain)) = written else {
        diagnostic(format_args!("{output}: not written, as not every entry is unchanged"));
        return Ok(exit);
    };
    if !args.quiet {
        let key_id = new.key_id();
        diagnostic(format_args!("{output}: sealed under the key {key_id}; its seal is {seal}"));
    }
    if let Some(pin) = pin {
        pin.rekey(&ManifestKey::new(&new.mac, &new_raw), &output, &seen(&chain, seal))?;
    }
    Ok(exit)
}

fn seen(chain: &Chain, seal: Tag) -> Seen<'_> {
    Seen { chain: chain.name(seal), sequence: chain.sequence, seal, links: &chain.links }
}
