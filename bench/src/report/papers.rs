//! The papers' own figures, as far as our copies contain them.

/// A paper's figures, to be shown next to a record's.
pub struct Printed {
    /// The paper's name of the algorithm.
    pub name: &'static str,
    /// The paper's machine.
    pub cpu: &'static str,
    /// The figures in the order of the lengths.
    pub figures: [f64; 3],
}

const fn printed(name: &'static str, cpu: &'static str, figures: [f64; 3]) -> Printed {
    Printed { name, cpu, figures }
}

/// Cycles per byte; PMAC 2001, figure 5.
pub const PMAC_LENGTHS: [u64; 3] = [16, 128, 2048];
pub const PMAC: [Printed; 2] = [
    printed("PMAC", "Pentium 3", [22.1, 18.7, 18.4]),
    printed("CBC MAC, no padding", "Pentium 3", [18.9, 17.4, 17.1]),
];

/// Cycles per byte; EliMAC 2023, table 2.
pub const ELIMAC_LENGTHS: [u64; 3] = [64, 1536, 4096];
pub const ELIMAC: [Printed; 20] = [
    printed("LightMAC", "Ivy Bridge", [3.43, 1.13, 1.11]),
    printed("EliMAC", "Ivy Bridge", [2.18, 1.02, 0.98]),
    printed("EliMAC p.c.", "Ivy Bridge", [2.00, 0.46, 0.43]),
    printed("PMAC2", "Ivy Bridge", [4.50, 1.28, 1.22]),
    printed("ZMAC", "Ivy Bridge", [5.70, 1.49, 1.26]),
    printed("LightMAC", "Broadwell", [8.75, 0.98, 1.08]),
    printed("EliMAC", "Broadwell", [1.94, 0.76, 0.74]),
    printed("EliMAC p.c.", "Broadwell", [1.75, 0.30, 0.27]),
    printed("PMAC2", "Broadwell", [3.25, 1.13, 1.09]),
    printed("ZMAC", "Broadwell", [6.97, 1.34, 1.23]),
    printed("LightMAC", "Skylake", [2.53, 0.86, 0.85]),
    printed("EliMAC", "Skylake", [1.56, 0.70, 0.69]),
    printed("EliMAC p.c.", "Skylake", [1.31, 0.27, 0.26]),
    printed("PMAC2", "Skylake", [1.71, 0.67, 0.64]),
    printed("ZMAC", "Skylake", [4.64, 0.91, 0.84]),
    printed("LightMAC", "Zen 2", [2.18, 0.58, 0.58]),
    printed("EliMAC", "Zen 2", [1.31, 0.45, 0.42]),
    printed("EliMAC p.c.", "Zen 2", [0.87, 0.14, 0.13]),
    printed("PMAC2", "Zen 2", [1.31, 0.58, 0.56]),
    printed("ZMAC", "Zen 2", [4.34, 0.88, 0.81]),
];

/// Cycles per message with key set-up; Poly1305-AES slides, aligned and in cache.
pub const POLY1305_LENGTHS: [u64; 3] = [16, 128, 1024];
pub const POLY1305: [Printed; 4] = [
    printed("Poly1305-AES", "Athlon", [712.0, 1055.0, 3843.0]),
    printed("Poly1305-AES", "Pentium III", [746.0, 1247.0, 5361.0]),
    printed("Poly1305-AES", "PowerPC Sstar", [910.0, 1459.0, 5905.0]),
    printed("Poly1305-AES", "UltraSPARC III", [854.0, 1383.0, 5601.0]),
];

/// The same, unaligned.
pub const POLY1305_UNALIGNED_LENGTHS: [u64; 3] = [43, 127, 1025];
pub const POLY1305_UNALIGNED: [Printed; 4] = [
    printed("Poly1305-AES", "Athlon", [890.0, 1152.0, 4060.0]),
    printed("Poly1305-AES", "Pentium III", [970.0, 1383.0, 5316.0]),
    printed("Poly1305-AES", "PowerPC Sstar", [1159.0, 1560.0, 6083.0]),
    printed("Poly1305-AES", "UltraSPARC III", [1075.0, 1444.0, 5742.0]),
];
