//! The columns of version 3.

use tagmac_any::{Algorithm, KeyId};

use crate::chain::Chain;
use crate::day::Day;
use crate::manifest::entry::{Entry, mode_text, mtime_text, owner_text};
use crate::manifest::header::Header;
use crate::manifest::options::ManifestOptions;

fn header(owner: bool, xattrs: bool) -> Header {
    let options = ManifestOptions { owner, xattrs, ..ManifestOptions::default() };
    let chain = Chain::start(Day::from_days(20_000).unwrap());
    let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
    let (key_id, filters) = (KeyId::from([7; 8]), Vec::new());
    Header { algorithm, bits: 32, key_id, options, chain, filters }
}

#[test]
fn reports_show_properties_as_lines_do() {
    assert_eq!(mtime_text((-2, 750_000_000)), "-2.750000000");
    assert_eq!((mode_text(0o4755), mode_text(0o7)), ("4755".into(), "0007".into()));
    assert_eq!(owner_text((1000, 0)), "1000:0");
}

#[test]
fn owners_and_attributes_have_one_form() {
    let header = header(true, true);
    let tag = "00112233445566778899aabbccddeeff";
    let line = |owner: &str, xattrs: &str, kind: &str| match kind {
        "file" => format!("file\t{owner}\t{xattrs}\t5\t0a0b0c0d\t2024-10-04\t-\ta"),
        "dir" => format!("dir\t{owner}\t{xattrs}\t-\t-\t-\t-\ta"),
        _ => format!("link\t{owner}\t{xattrs}\t-\t-\t-\t-\ta\tb"),
    };
    for kind in ["file", "dir"] {
        let entry = Entry::parse(line("1000:0", tag, kind).as_bytes(), &header).unwrap();
        assert_eq!((entry.owner, entry.xattrs.is_some()), (Some((1000, 0)), true));
    }
    let entry = Entry::parse(line("0:4294967295", "-", "link").as_bytes(), &header).unwrap();
    assert_eq!((entry.owner, entry.xattrs), (Some((0, u32::MAX)), None));
    let form = "expected numbers and names in canonical form";
    let (owner, value) =
        ("expected an owner and a group as UID:GID", "expected a value, found '-'");
    let attributes = "expected a tag of the attributes in hex digits";
    let unused = "expected '-' in a column that this kind does not use";
    for (wrong, why) in [
        (line("-", tag, "file"), owner),
        (line("1", tag, "file"), owner),
        (line("1:4294967296", tag, "file"), owner),
        (line("01:2", tag, "file"), form),
        (line("1:2", "-", "file"), value),
        (line("1:2", "-", "dir"), value),
        (line("1:2", &tag[2..], "dir"), attributes),
        (line("1:2", tag, "link"), unused),
    ] {
        assert_eq!(Entry::parse(wrong.as_bytes(), &header).err(), Some(why), "{wrong}");
    }
}

#[test]
fn days_and_stamps_have_one_form() {
    let header = header(false, false);
    let parse = |day: &str, stamp: &str| {
        let line = format!("file\t5\t0a0b0c0d\t{day}\t{stamp}\ta");
        Entry::parse(line.as_bytes(), &header).map(|entry| (entry.read, entry.stamp.is_some()))
    };
    let stamp = "-1.500000000,2.000000001,3,18446744073709551615";
    let day = Day::from_days(20_000);
    assert_eq!(parse("2024-10-04", "-"), Ok((day, false)));
    assert_eq!(parse("2024-10-04", stamp), Ok((day, true)));
    let wrong = "expected MTIME,CTIME,INODE,DEVICE or '-'";
    for stamp in ["", "1", "1.000000000,2.000000000,3", "1.000000000,2.000000000,3,4,5", "a,b,c,d"]
    {
        assert_eq!(parse("2024-10-04", stamp), Err(wrong), "{stamp}");
    }
    let form = Err("expected numbers and names in canonical form");
    assert_eq!(parse("2024-10-04", "1.5,2.000000000,3,4"), form);
    assert_eq!(parse("2024-10-04", "1.000000000,2.000000000,03,4"), form);
    assert_eq!(parse("-", "-"), Err("expected a value, found '-'"));
    assert_eq!(parse("2024-13-04", "-"), Err("expected a day as YYYY-MM-DD"));
    let folder = Entry::parse(b"dir\t-\t-\t2024-10-04\t-\ta", &header).err();
    assert_eq!(folder, Some("expected '-' in a column that this kind does not use"));
    let folder = Entry::parse(b"dir\t-\t-\t-\t1.000000000\ta", &header).err();
    assert_eq!(folder, Some("expected '-' in a column that this kind does not use"));
}
