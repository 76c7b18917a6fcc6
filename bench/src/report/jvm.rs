//! The tables of the JVM.

use tagmac_figures::number;

use super::machine_tables::{Machine, NOT_RECORDED, all_xs, cycles, quartiles};
use super::markdown::{flagged, table};

impl Machine<'_> {
    /// Returns the table of JMH.
    pub fn java(&self) -> String {
        let Some(record) = self.record("java") else { return NOT_RECORDED.into() };
        let xs = all_xs(record);
        let mut rows = vec![["", "by"].map(Into::into).to_vec()];
        rows[0].extend(xs.iter().map(|x| format!("{x} B, ns")));
        for series in &record.series {
            let cell = |x: &u64| series.at(*x).map_or(String::new(), cycles);
            let mut row = vec![series.case.clone().unwrap_or_default(), series.name.clone()];
            row.extend(xs.iter().map(cell));
            rows.push(row);
        }
        table(&rows)
    }

    /// Returns the table of functions of Spark SQL.
    pub fn spark(&self) -> String {
        let columns = ["", "by", "bytes per row", "nanoseconds", "quartiles"];
        self.cases("spark", columns, |series, case, x, figure| {
            [
                case.into(),
                series.name.clone(),
                x.to_string(),
                flagged(number(figure.median), figure),
                quartiles(figure, 1.0),
            ]
        })
    }

    /// Returns the table of the memory over time.
    pub fn soak(&self) -> String {
        let Some(record) = self.record("soak") else { return NOT_RECORDED.into() };
        let xs = all_xs(record);
        // Of 60 intervals the quarters' ends. The first interval is the start of the JVM.
        let shown = [1, 14, 29, 44, 59].iter().filter_map(|at| xs.get(*at).copied());
        let shown: Vec<u64> = shown.collect();
        let mut rows = vec![vec![String::new()]];
        rows[0].extend(shown.iter().map(|x| format!("{} min, MiB", x / 60)));
        for series in &record.series {
            let cell =
                |x: &u64| series.at(*x).map_or(String::new(), |figure| number(figure.median));
            let mut row = vec![series.case.clone().unwrap_or_default()];
            row.extend(shown.iter().map(cell));
            rows.push(row);
        }
        table(&rows)
    }
}
