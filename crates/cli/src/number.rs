//! Parses the numbers of the command line, and formats large ones.

use tagmac_files::leaf_size;

/// The units of sizes. Each is 1024 times the previous one.
const UNITS: [&str; 9] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];

/// The message for an invalid size.
pub const NOT_A_SIZE: &str =
    "expected a size in bytes, or with KiB, MiB, GiB, TiB, PiB or EiB, such as 1500, 4KiB or 2^20";

/// Parses the length of a tag in bits.
pub fn bits(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a number of bits, such as 64")
}

/// Parses a count: `1000000` or `2^40`.
pub fn count(text: &str) -> Result<u128, &'static str> {
    number(text).ok_or("expected a number, such as 1000000 or 2^40, below 2^128")
}

/// Parses a size in bytes: `1500`, `4KiB` or `2^20`.
pub fn size(text: &str) -> Result<u64, &'static str> {
    let unit = |power: usize| 1u128.checked_shl(10 * power as u32);
    let units = UNITS.iter().enumerate().rev();
    let (number, unit) = units
        .filter_map(|(power, name)| Some((text.strip_suffix(name)?.trim_end(), unit(power)?)))
        .find_map(|(text, unit)| Some((self::number(text)?, unit)))
        .or_else(|| Some((self::number(text)?, 1)))
        .ok_or(NOT_A_SIZE)?;
    let bytes = number.checked_mul(unit).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or("expected a size of less than 16 EiB")
}

/// Parses the length of a leaf in bytes.
pub fn leaf(text: &str) -> Result<u64, &'static str> {
    let leaf = size(text)?;
    let is_one = (leaf_size::MIN..=leaf_size::MAX).contains(&leaf);
    is_one.then_some(leaf).ok_or("expected a size from 4KiB to 64MiB")
}

/// Parses a rate in bytes per second, as a size of at least 1.
pub fn rate(text: &str) -> Result<u64, &'static str> {
    let rate = size(text)?;
    if rate == 0 { Err("expected at least 1 byte per second, such as 20MiB") } else { Ok(rate) }
}

/// Parses a probability: `2^-32` or `0.001`. The theorems check its range.
pub fn probability(text: &str) -> Result<f64, &'static str> {
    let wrong = "expected a probability, such as 2^-32 or 0.001";
    match text.strip_prefix("2^") {
        Some(power) => Ok(2f64.powi(power.parse().map_err(|_| wrong)?)),
        None => text.parse().map_err(|_| wrong),
    }
}

fn number(text: &str) -> Option<u128> {
    // `parse` would accept a sign.
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_prefix("2^") {
        Some(power) => digits(power).then(|| 1u128.checked_shl(power.parse().ok()?))?,
        None => digits(text).then(|| text.parse().ok())?,
    }
}

/// Formats a count: exactly below a million, else as a power of 2, rounded down.
pub fn show_count(count: u128) -> String {
    match count {
        0..1_000_000 => count.to_string(),
        u128::MAX => "2^128".into(),
        _ => format!("2^{}", plain(((count as f64).log2() * 100.0).floor() / 100.0)),
    }
}

/// Formats a probability, as a power of 2 if it is one.
pub fn show_probability(probability: f64) -> String {
    let log2 = probability.log2();
    if log2.fract() == 0.0 { format!("2^{log2}") } else { probability.to_string() }
}

/// Formats a size in the largest unit that it fills, rounded to hundredths by `round`.
pub fn show_size(bytes: u128, round: fn(f64) -> f64) -> String {
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if size >= 1024.0 {
        return format!("{} B", show_count(bytes));
    }
    format!("{} {}", plain(round(size * 100.0) / 100.0), UNITS[unit])
}

/// Formats with at most two decimals.
fn plain(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        for (text, expected) in [("0", 0), ("1000000", 1_000_000), ("2^0", 1), ("2^40", 1 << 40)] {
            assert_eq!(count(text), Ok(expected));
        }
        assert_eq!(count("2^127"), Ok(1 << 127));
        for text in ["", "-1", "+1", "1.5", "2^", "2^-1", "2^+1", "2^128", "1e6", "3^2", " 1", "x"]
        {
            assert!(count(text).is_err(), "{text}");
        }
        let sizes = [("1500", 1500), ("4KiB", 4096), ("4 KiB", 4096), ("7B", 7), ("2^20", 1 << 20)];
        for (text, expected) in sizes.into_iter().chain([("1MiB", 1 << 20), ("15EiB", 15 << 60)]) {
            assert_eq!(size(text), Ok(expected));
        }
        for text in ["", "KiB", "4kB", "4 kib", "16EiB", "1ZiB", "1YiB", "-4KiB", "1.5MiB", "2^64"]
        {
            assert!(size(text).is_err(), "{text}");
        }
        assert_eq!(bits("64"), Ok(64));
        assert!(["", "-1", "abc", "1.5"].iter().all(|text| bits(text).is_err()));
        assert_eq!(probability("2^-32"), Ok(2f64.powi(-32)));
        assert_eq!(probability("0.25"), Ok(0.25));
        assert!(["", "2^", "2^x", "half", "2^-1.5"].iter().all(|text| probability(text).is_err()));
    }

    #[test]
    fn numbers_are_shown() {
        let counts = [(0, "0"), (999_999, "999999"), (1 << 20, "2^20"), ((1 << 20) - 1, "2^19.99")];
        for (count, expected) in counts {
            assert_eq!(show_count(count), expected);
        }
        assert_eq!(show_count(u128::MAX), "2^128");
        let sizes =
            [(0, "0 B"), (1023, "1023 B"), (3840, "3.75 KiB"), ((1 << 30) - 1, "1023.99 MiB")];
        for (bytes, expected) in sizes {
            assert_eq!(show_size(bytes, f64::floor), expected);
        }
        assert_eq!(show_size(1 << 84, f64::floor), "16 YiB");
        assert_eq!(show_size(1 << 90, f64::floor), "2^90 B");
    }
}
