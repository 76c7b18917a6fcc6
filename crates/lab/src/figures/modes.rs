//! The modes of LightMAC's figure 1 with the bounds that we draw.
//!
//! Most cells of the paper's table 2 are lost in our copy. For those, the formula is from the paper
//! that the table cites, as far as its abstract could be read; see [`Mode::source`].

use tagmac_any::bounds::lightmac;

/// A curve of the figure.
pub struct Mode {
    /// The paper's name of the mode.
    pub name: &'static str,
    /// Our copy's text of the table's row; empty if it is lost, "none" if the row is not in the
    /// table.
    pub printed: &'static str,
    /// The bound that we draw.
    pub formula: &'static str,
    /// The source of the formula.
    pub source: &'static str,
    /// Returns the bound for q messages of l blocks of n bits.
    pub bound: fn(n: u32, q: f64, l: f64) -> f64,
    /// Returns the logarithm of the maximum of blocks in a message, if there is a limit.
    pub top: Option<fn(n: u32) -> u32>,
}

/// Returns 2^-n.
fn point(n: u32) -> f64 {
    2f64.powi(-(n as i32))
}

const fn mode(
    name: &'static str,
    printed: &'static str,
    formula: &'static str,
    source: &'static str,
    bound: fn(u32, f64, f64) -> f64,
) -> Mode {
    Mode { name, printed, formula, source, bound, top: None }
}

const ORDER: &str = "order as remembered of the cited paper, constants taken as 1";

/// In the order of table 2; LightMAC last.
pub const MODES: [Mode; 8] = [
    mode(
        "3kf9",
        "4q/2^n + 4q^3/2^2n; powers of l lost",
        "4 l q/2^n + 4 l^3 q^3/2^2n",
        "the cell, with the powers of l of the cited paper's abstract",
        |n, q, l| 4.0 * l * q * point(n) + 4.0 * (l * q).powi(3) * point(2 * n),
    ),
    mode(
        "EMAC",
        "",
        "l q^2/2^n",
        "order as remembered of the cited paper, with l for d'(l) as the caption has it",
        |n, q, l| l * q * q * point(n),
    ),
    mode(
        "OMAC",
        "",
        "4 l q^2/2^n",
        "ePrint 2007/292, the full version of the cited paper: abstract",
        |n, q, l| 4.0 * l * q * q * point(n),
    ),
    mode(
        "PMAC",
        "",
        "(5 l - 3.5) q^2/2^n",
        "the cited paper's abstract, (5 q sigma - 3.5 q^2)/2^n with sigma = q l",
        |n, q, l| (5.0 * l - 3.5) * q * q * point(n),
    ),
    mode("PMAC_Plus", "", "l q/2^n + l^3 q^3/2^2n", ORDER, |n, q, l| {
        l * q * point(n) + (l * q).powi(3) * point(2 * n)
    }),
    mode(
        "PMACX, m = 14, l = 12",
        "(72 + 1.5q^2)/2^n + 576q^2/2^2n and, further right, 144q^2/2^2n",
        "(72 + 1.5 q^2)/2^n + 576 q^2/2^2n + 144 l^2 q^2/2^2n",
        "both cells; our reading of the second one's place is that it belongs to l^2",
        |n, q, l| (72.0 + 1.5 * q * q) * point(n) + (576.0 + 144.0 * l * l) * q * q * point(2 * n),
    ),
    mode("PMAC/P", "", "q^2/2^n + l^2 q^2/2^2n", ORDER, |n, q, l| {
        q * q * point(n) + (l * q).powi(2) * point(2 * n)
    }),
    Mode {
        top: Some(|n| n / 2 - 1),
        ..mode(
            "LightMAC",
            "none",
            "(1 + 1/(N - 1) + 1/(2 (N - 1)^2)) q^2/2^n, N = 2^(n/2)",
            "the paper's theorem 1",
            |n, q, _| {
                let bound = lightmac::prf(n, n / 2, q as u128, u128::MAX);
                bound.expect("one message at least").value()
            },
        )
    },
];

impl Mode {
    /// Returns the maximum of blocks that each of q messages may have with a bound of at most the
    /// probability; `None` if one block is too much. `end` is the end of the picture.
    pub fn most_blocks(&self, n: u32, q: u64, probability: f64, end: f64) -> Option<f64> {
        let fits = |l: f64| (self.bound)(n, q as f64, l) <= probability;
        let end = self.top.map_or(end, |top| 2f64.powi(top(n) as i32).min(end));
        if !fits(1.0) {
            return None;
        }
        // Bisection on whole numbers of blocks, because bounds never fall as l grows.
        let (mut low, mut over) = (1.0, end + 1.0);
        while over - low > 1.0 {
            let middle = ((low + over) / 2.0f64).floor();
            if fits(middle) { low = middle } else { over = middle }
        }
        Some(low)
    }
}
