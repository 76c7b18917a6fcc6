//! Formats numbers for axes and labels.

/// Formats a number of bytes with its unit.
pub fn bytes(count: f64) -> String {
    match count {
        _ if count * 2.0 % 1024.0 != 0.0 => format!("{count}"),
        _ if count >= (1u64 << 30) as f64 => format!("{} GiB", count / (1u64 << 30) as f64),
        _ if count >= (1 << 20) as f64 => format!("{} MiB", count / (1 << 20) as f64),
        _ if count >= 1024.0 => format!("{} KiB", count / 1024.0),
        _ => format!("{count}"),
    }
}

/// Formats a measured number with three digits.
pub fn number(y: f64) -> String {
    match y {
        _ if y >= 100.0 => format!("{y:.0}"),
        _ if y >= 10.0 => format!("{y:.1}"),
        _ if y >= 1.0 => format!("{y:.2}"),
        _ => format!("{y:.3}"),
    }
}

/// Formats a number of an axis.
pub fn plain(y: f64) -> String {
    match y {
        _ if y >= 1e6 => format!("{:.0} M", y / 1e6),
        _ if y >= 1e4 => format!("{:.0} k", y / 1e3),
        _ if y >= 1.0 => format!("{y:.0}"),
        _ if y == 0.0 => "0".into(),
        _ => format!("{y:.4}").trim_end_matches('0').into(),
    }
}

/// Formats a power of 2 with a raised exponent; rounds other values to a power.
pub fn power(value: f64) -> String {
    exponent(value.log2().round() as i32)
}

/// Formats 2 with a raised exponent.
pub fn exponent(exponent: i32) -> String {
    let raise = |c: char| match c {
        '-' => '⁻',
        c => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize],
    };
    "2".chars().chain(exponent.to_string().chars().map(raise)).collect()
}
