//! Commands, and the proofs that their results are correct.

use assure::process::place::is_draft;

/// The proof that a result is correct.
#[derive(Clone, Debug)]
pub enum Proof {
    /// Standard output is correct.
    Output,
    /// The key file `new` can tag.
    Key,
    /// The manifest matches the folder `t`.
    Manifest(&'static str),
    /// An audit accepts the records, and the pin has seen the manifest and the ledger.
    Records(Records),
    /// The partials `new` and `p2` combine to the tag of `f`.
    Partial,
    /// The folder has the same manual pages as without a fault.
    Pages(&'static str),
    /// The report has the same lines as without a fault, or lists the unreadable files.
    Report(&'static str),
    /// The file has these bytes, and its sidecar matches them.
    Updated(&'static str, Vec<u8>),
}

/// The manifest of an audit, and its records.
#[derive(Clone, Copy, Debug)]
pub struct Records {
    pub manifest: &'static str,
    pub ledger: &'static str,
    pub pin: &'static str,
}

/// A command on an example.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: &'static str,
    pub args: Vec<&'static str>,
    pub stdin: Vec<u8>,
    /// The correct exit status.
    pub expect: i32,
    /// Files that it may create or change, and folders where it may do so.
    pub makes: Vec<&'static str>,
    /// It refuses to replace a file.
    pub refuses: bool,
    pub proof: Proof,
    /// A command that succeeds afterwards, unless the same one does.
    pub again: Option<Vec<&'static str>>,
    /// Its calls have no fixed order.
    pub threads: bool,
}

impl Case {
    pub fn new(name: &'static str, args: &[&'static str]) -> Case {
        Case {
            name,
            args: args.to_vec(),
            stdin: Vec::new(),
            expect: 0,
            makes: Vec::new(),
            refuses: false,
            proof: Proof::Output,
            again: None,
            threads: false,
        }
    }

    pub fn proof(self, proof: Proof, makes: &[&'static str]) -> Case {
        Case { proof, makes: makes.to_vec(), ..self }
    }

    pub fn records(self, records: Records) -> Case {
        self.proof(Proof::Records(records), &[records.ledger, records.pin])
    }

    pub fn refuses(self) -> Case {
        Case { refuses: true, ..self }
    }

    pub fn expect(self, expect: i32) -> Case {
        Case { expect, ..self }
    }

    pub fn again(self, again: &[&'static str]) -> Case {
        Case { again: Some(again.to_vec()), ..self }
    }

    /// Returns whether it may create or change a file.
    pub fn may_make(&self, name: &str) -> bool {
        let within = |made: &&str| name == *made || made.ends_with('/') && name.starts_with(made);
        self.makes.iter().any(within) && !is_draft(name)
    }

    /// Returns whether files are enough to prove the result.
    pub fn proof_is_of_files(&self) -> bool {
        !matches!(self.proof, Proof::Output)
    }
}
