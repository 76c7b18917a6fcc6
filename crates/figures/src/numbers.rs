//! Numbers as axes and labels show them.

/// Bytes in words.
pub fn bytes(count: f64) -> String {
    match count {
        _ if count * 2.0 % 1024.0 != 0.0 => format!("{count}"),
        _ if count >= (1u64 << 30) as f64 => format!("{} GiB", count / (1u64 << 30) as f64),
        _ if count >= (1 << 20) as f64 => format!("{} MiB", count / (1 << 20) as f64),
        _ if count >= 1024.0 => format!("{} KiB", count / 1024.0),
        _ => format!("{count}"),
    }
}

/// A measured number, in three digits.
pub fn number(y: f64) -> String {
    match y {
        _ if y >= 100.0 => format!("{y:.0}"),
        _ if y >= 10.0 => format!("{y:.1}"),
        _ if y >= 1.0 => format!("{y:.2}"),
        _ => format!("{y:.3}"),
    }
}

/// A number of an axis.
pub fn plain(y: f64) -> String {
    match y {
        _ if y >= 1e6 => format!("{:.0} M", y / 1e6),
        _ if y >= 1e4 => format!("{:.0} k", y / 1e3),
        _ if y >= 1.0 => format!("{y:.0}"),
        _ if y == 0.0 => "0".into(),
        _ => format!("{y:.4}").trim_end_matches('0').into(),
    }
}

/// A power of 2 with its exponent raised; other values are rounded to one.
pub fn power(value: f64) -> String {
    exponent(value.log2().round() as i32)
}

/// 2 to an exponent, which is raised.
pub fn exponent(exponent: i32) -> String {
    let raise = |c: char| match c {
        '-' => '⁻',
        c => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize],
    };
    "2".chars().chain(exponent.to_string().chars().map(raise)).collect()
}
