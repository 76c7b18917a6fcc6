//! `tagmac keygen`: a new key in a new file.

use std::time::SystemTime;

use tagmac_any::KeyFile;
use tagmac_files::escaped::Escaped;
use tagmac_files::overwrite::Overwrite;
use tagmac_files::{Error, new_file};

use crate::allowance::{Allowance, PROBABILITY};
use crate::args::KeygenArgs;
use crate::diagnostic::diagnostic;
use crate::number::{show_count, show_probability, show_size};
use crate::{mac, names, output};

/// Generates a key, writes its file, prints its id.
pub fn run(args: &KeygenArgs) -> Result<(), Error> {
    let name = Escaped::name(&args.output);
    names::output("-o", &args.output)?;
    names::file(&args.output)?;
    let key = KeyFile::generate(args.algorithm, SystemTime::now())
        .map_err(|error| Error::io(format_args!("{name}: no random bytes for a key: {error}")))?;
    new_file::write(&args.output, 0o600, Overwrite::Nothing, key.to_text().as_bytes())?;
    diagnostic(format_args!("wrote a key for {} to {name}", args.algorithm));
    if let Some(theorem) = args.algorithm.theorem() {
        diagnostic(budget(&Allowance::usual(theorem), theorem.nonces().is_some()));
    }
    let bits = args.algorithm.default_tag_bits();
    if bits < mac::SHORT {
        let algorithm = args.algorithm;
        diagnostic(format_args!(
            "tags of {algorithm} have {bits} bits: use --allow-short with this key"
        ));
    }
    output::write(format!("{}\n", key.id()).as_bytes())
}

/// Describes the limits of the key on one line.
fn budget(allowance: &Allowance, takes_nonces: bool) -> String {
    let nonces = if takes_nonces { " under random nonces" } else { "" };
    let probability = show_probability(PROBABILITY);
    if allowance.guesses == 0 {
        return format!(
            "one guessed tag passes with a probability above {probability}; see 'tagmac bounds'"
        );
    }
    format!(
        "this key may authenticate {} messages of {}{nonces}, or reject {} wrong tags, while a \
         forgery has a probability of at most {probability}; see 'tagmac bounds'",
        show_count(allowance.messages),
        show_size(allowance.length.into(), f64::floor),
        show_count(allowance.guesses),
    )
}
