//! Commands, and what shows that the result of one is right.

use assure::process::place::is_draft;

/// What shows that a result is right.
#[derive(Clone, Debug)]
pub enum Proof {
    /// Standard output.
    Output,
    /// The key file `new` tags.
    Key,
    /// The manifest agrees with the folder `t`.
    Manifest(&'static str),
    /// The partial `new` and `p2` make the tag of `f`.
    Partial,
    /// The folder has the manual pages that it has without a fault.
    Pages(&'static str),
    /// The report has the lines that it has without a fault, or says what could not be read.
    Report(&'static str),
    /// The file has these bytes, and its sidecar follows them.
    Updated(&'static str, Vec<u8>),
}

/// A command on an example.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: &'static str,
    pub args: Vec<&'static str>,
    pub stdin: Vec<u8>,
    /// The right exit status.
    pub expect: i32,
    /// Files that it may make or change, and folders in which it may do so.
    pub makes: Vec<&'static str>,
    /// It refuses to replace a file.
    pub refuses: bool,
    pub proof: Proof,
    /// What succeeds after it, if not the same again.
    pub again: Option<Vec<&'static str>>,
    /// Its calls are in no fixed order.
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

    pub fn refuses(self) -> Case {
        Case { refuses: true, ..self }
    }

    pub fn expect(self, expect: i32) -> Case {
        Case { expect, ..self }
    }

    pub fn again(self, again: &[&'static str]) -> Case {
        Case { again: Some(again.to_vec()), ..self }
    }

    /// Whether it may make or change a file.
    pub fn may_make(&self, name: &str) -> bool {
        let within = |made: &&str| name == *made || made.ends_with('/') && name.starts_with(made);
        self.makes.iter().any(within) && !is_draft(name)
    }

    /// Whether a file alone shows if it is right.
    pub fn proof_is_of_files(&self) -> bool {
        !matches!(self.proof, Proof::Output)
    }
}
