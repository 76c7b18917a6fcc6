//! Tables, figures and the report from the command line.

use std::fs;
use std::path::{Path, PathBuf};

use tagmac_lab::figures::FIGURES;
use tagmac_lab::tables::TABLES;

use crate::command::run;

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/record");

/// Returns a folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Cells printed in the papers, read from their texts by hand: the table, the beginning of the row,
/// and the row's cells in this order.
const PRINTED: &[(&str, &str, &[&str])] = &[
    ("pmac-3", "Keying material", &["One block-cipher key.", "16 bytes"]),
    ("pmac-3", "Memory", &["About 6n bits beyond the key"]),
    ("pmac-5", "PMAC, Pentium 3", &["22.1", "18.7", "18.4"]),
    ("pmac-5", "CBC MAC, Pentium 3", &["18.9", "17.4", "17.1"]),
    ("umac-3", "UMAC-MMX-60", &["2.9 (0.98)", "cell lost in our copy", "(10)"]),
    ("umac-3", "UMAC-STD-60", &["(2.8)", "(4.3)"]),
    ("umac-3", "UMAC-STD-30", &["(2.2)"]),
    ("umac-3", "UMAC-MMX-15", &["cell lost in our copy"; 3]),
    ("umac-text", "MMH in place of NH, UMAC-STD-30", &["24 %"]),
    ("umac-text", "key set-up, UMAC-MMX-60", &["158,000", "450"]),
    ("umac-text", "512 bytes", &["47 %"]),
    ("lightmac-1", "Simon", &["5", "cell lost in our copy"]),
    ("lightmac-2", "PMACX", &["(72 + 1.5q^2)/2^n + 576q^2/2^2n", "144q^2/2^2n"]),
    ("lightmac-2", "OMAC", &["cell lost in our copy", "4 l q^2/2^n"]),
    ("lightmac-3", "AES (AES-NI, serial)", &["cell lost in our copy"]),
    ("lightmac-4", "LightMAC, PRESENT, s = n/3 = 24, Skylake", &["cell lost in our copy"; 7]),
    ("elimac-1", "LightMAC ", &["96l + 95", "0", "10l", "10l"]),
    ("elimac-1", "EliMAC ", &["128l", "7(l - 1)", "4(l - 1) + 10", "11l - 1"]),
    ("elimac-3", "aesenc, aesenclast", &["p0+p015", "p5", "p0", "p01"]),
    ("elimac-3", "pclmulqdq", &["complex", "p0", "p5", "4*p12"]),
    ("pmac-calls", "padded always, triple", &["ceil(|M + 1|/n) + 2", "3", "3", "4", "4", "5", "5"]),
    ("elimac-2", "LightMAC, Broadwell", &["8.75", "0.98", "1.08"]),
    ("elimac-2", "EliMAC p.c., Zen 2", &["0.87", "0.14", "0.13"]),
    ("elimac-2", "PMAC2, Skylake", &["1.71", "0.67", "0.64"]),
    ("elimac-2", "ZMAC, Ivy Bridge", &["5.70", "1.49", "1.26"]),
    ("slides-aligned", "UltraSPARC III", &["854", "1383", "5601"]),
    ("slides-unaligned", "PowerPC Sstar", &["1159", "1560", "6083"]),
    ("slides-guarantee", "Pr[all", &["0.999999999999998", "0.9999999996"]),
];

#[test]
fn tables_have_what_the_papers_print() {
    let (status, list, _) = run(&["table"], &[]);
    assert_eq!((status, list.lines().count()), (0, TABLES.len()));
    for table in TABLES {
        assert!(list.lines().any(|line| line.starts_with(table.name)), "{}", table.name);
        let (status, text, errors) = run(&["table", table.name], &[]);
        assert_eq!((status, &*errors), (0, ""), "{}", table.name);
        let all = PRINTED.iter().filter(|(name, ..)| *name == table.name);
        for (_, label, cells) in all {
            let row = text.lines().find(|line| line.starts_with(label));
            let mut rest = row.unwrap_or_else(|| panic!("{}: {label}", table.name));
            for cell in *cells {
                let (_, after) = rest.split_once(cell).unwrap_or_else(|| panic!("{label}: {cell}"));
                rest = after;
            }
        }
    }
}

/// Our values are the record's, by the same division by hand. Without a figure the cell names the
/// command that makes it.
#[test]
fn speeds_are_the_records() {
    let zen5 = format!("{RECORDS}/amd-epyc-zen5");
    let (_, text, _) = run(&["table", "elimac-2", "--speeds", &zen5], &[]);
    let ours = text.lines().find(|line| line.starts_with("LightMAC, ours, Zen 5")).expect("a row");
    let record = fs::read_to_string(format!("{zen5}/sizes.json")).expect("a record");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    let series = record["series"]
        .as_array()
        .expect("series")
        .iter()
        .find(|series| series["name"] == "LIGHTMAC-AES128-S32" && series["level"] == "avx512");
    let points = series.expect("LightMAC")["points"].as_array().expect("points");
    for bytes in [64, 1536, 4096] {
        let point = points.iter().find(|point| point[0] == bytes).expect("a point");
        let cycles = point[1].as_f64().expect("a number") / f64::from(bytes);
        assert!(ours.contains(&format!("{cycles:.2}")), "{ours}: {cycles}");
    }
    assert!(text.contains("Ours: AMD EPYC (family 26, model 2), "), "{text}");
    let few = folder("few");
    fs::copy(format!("{zen5}/sizes.json"), few.join("sizes.json")).expect("a copy");
    let few = few.to_str().expect("a name");
    let (status, text, _) = run(&["table", "slides-aligned", "--speeds", few], &[]);
    assert!(status == 0 && text.contains("not measured: bench keys"), "{text}");
}

#[test]
fn figures() {
    let (status, list, _) = run(&["figure"], &[]);
    assert_eq!((status, list.lines().count()), (0, FIGURES.len()));
    let file = folder("figures").join("a.svg");
    let name = file.to_str().expect("a name");
    assert_eq!(run(&["figure", "lightmac-1", "-o", name], &[]), (0, String::new(), String::new()));
    let svg = fs::read_to_string(&file).expect("a picture");
    assert_eq!(run(&["figure", "lightmac-1"], &[]), (0, svg + "\n", String::new()));
    assert_eq!(fs::read_dir(file.parent().expect("a folder")).expect("a folder").count(), 1);
}

#[test]
fn refusals_are_one_line() {
    let file = folder("refusals").join("file");
    fs::write(&file, "x").expect("a file");
    let file = file.to_str().expect("a name");
    let within = format!("{file}/out");
    let refused: &[(&[&str], &str)] = &[
        (&["table", "elimac2"], "table 'elimac2': unknown; nearest: elimac-2"),
        (&["figure", "lightmac"], "figure 'lightmac': unknown; nearest: lightmac-1"),
        (
            &["figure", "umac-3", "-o", "a.png"],
            "a.png: pictures are written as SVG; write FILE.svg",
        ),
        (&["figure", "umac-3", "-o", "a.gif"], "a.gif: the file name must end with .svg"),
        (&["figure", "-o", "a.svg"], "required arguments were not provided: <NAME>"),
        (&["figure", "lightmac-1", "-o", "/nowhere/a.svg"], "/nowhere/a.svg: No such file"),
        (&["table", "pmac-5", "--speeds", "/nowhere"], "no record in this folder"),
        (&["report", "-o", &within], "file/out/docs/design: Not a directory"),
        (&["report", "--speeds", "/nowhere"], "no record in this folder"),
    ];
    for (arguments, expected) in refused {
        let (status, out, errors) = run(arguments, &[]);
        assert_eq!((status, &*out), (2, ""), "{arguments:?}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
        assert!(errors.starts_with("tagmac-lab: ") && errors.lines().count() == 1, "{errors}");
    }
    let broken = folder("broken");
    fs::write(broken.join("sizes.json"), "{}").expect("a file");
    let (status, _, errors) =
        run(&["table", "pmac-5", "--speeds", broken.to_str().expect("a name")], &[]);
    assert!(status == 2 && errors.contains("not a record of bench: missing field"), "{errors}");
}

#[test]
fn help_lists_the_commands() {
    let (status, help, _) = run(&["--help"], &[]);
    let (_, list) = help.split_once("Commands:\n").expect("a list");
    let (list, _) = list.split_once("\n\n").expect("its end");
    let names: Vec<_> = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(status, 0);
    assert_eq!(names, ["list", "tag", "attack", "table", "figure", "report", "help"]);
    for name in ["table", "figure", "report"] {
        let (status, help, _) = run(&[name, "--help"], &[]);
        assert!(status == 0 && help.contains("--speeds <FOLDER>"), "{help}");
    }
}
