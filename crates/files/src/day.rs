//! Calendar days in UTC, as `2026-11-28`.
//!
//! Dates follow from day numbers in the proleptic Gregorian calendar. The algorithms are those of
//! Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, so that the
//! leap day is the last day of a year, and eras of 400 years have 146,097 days each.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::column::push_number;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i32 = 719_468;
const ERA: i32 = 146_097;
const SECONDS: u64 = 86_400;

/// A day between 1970-01-01 and 9999-12-31.
///
/// ```
/// use tagmac_files::day::Day;
///
/// let day = Day::parse(b"2026-11-28").unwrap();
/// assert_eq!(day.days(), 20_785);
/// assert_eq!(day.to_string(), "2026-11-28");
/// assert_eq!(Day::parse(b"2026-11-31"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i32);

impl Day {
    /// 1970-01-01.
    pub const MIN: Day = Day(0);
    /// 9999-12-31.
    pub const MAX: Day = Day(2_932_896);

    /// Returns the day that begins `days` days after 1970-01-01. Returns `None` if it is not between
    /// [`MIN`](Day::MIN) and [`MAX`](Day::MAX).
    pub fn from_days(days: i32) -> Option<Day> {
        (Day::MIN.0..=Day::MAX.0).contains(&days).then_some(Day(days))
    }

    /// Returns the number of days since 1970-01-01.
    pub fn days(self) -> i32 {
        self.0
    }

    /// Returns the current day by the system's clock; [`MIN`](Day::MIN) if the clock is before 1970.
    pub fn today() -> Day {
        Day::at(SystemTime::now())
    }

    fn at(time: SystemTime) -> Day {
        let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
        let days = i32::try_from(seconds / SECONDS).unwrap_or(i32::MAX);
        Day(days).min(Day::MAX)
    }

    /// Parses a day. Returns `None` unless `text` is exactly what [`Display`](fmt::Display) writes.
    pub fn parse(text: &[u8]) -> Option<Day> {
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0, |number, digit| {
                digit.is_ascii_digit().then(|| 10 * number + i32::from(digit - b'0'))
            })
        };
        let (year, month, day) =
            (number(&[*y1, *y2, *y3, *y4])?, number(&[*m1, *m2])?, number(&[*d1, *d2])?);
        let found = Day::from_days(from_civil(year, month, day))?;
        // Other dates than those of the calendar become days of the next month.
        (found.civil() == (year, month, day)).then_some(found)
    }

    /// Appends the day as in a line.
    pub(crate) fn push(self, out: &mut Vec<u8>) {
        let (year, month, day) = self.civil();
        push_number(year as u64, 4, out);
        for number in [month, day] {
            out.push(b'-');
            push_number(number as u64, 2, out);
        }
    }

    /// Returns the year, the month from 1 and the day of the month from 1.
    fn civil(self) -> (i32, i32, i32) {
        let days = self.0 + EPOCH;
        let (era, day_of_era) = (days / ERA, days % ERA);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Months from March; 153 days are five months.
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        (year_of_era + 400 * era + i32::from(month <= 2), month, day)
    }
}

/// Returns the number of days since 1970-01-01. Any `month` and `day` of two digits are accepted.
fn from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = year - i32::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * ERA + 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        let mut days = 0;
        for year in 1970..=2400 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if leap { 29 } else { 28 };
            let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(months) {
                for day in 1..=99 {
                    let text = format!("{year:04}-{month:02}-{day:02}");
                    let found = Day::parse(text.as_bytes());
                    if day > length {
                        assert_eq!(found, None, "{text}");
                        continue;
                    }
                    assert_eq!(found, Some(Day(days)), "{text}");
                    assert_eq!(Day(days).to_string(), text);
                    days += 1;
                }
            }
        }
    }

    #[test]
    fn the_first_and_the_last_day() {
        assert_eq!(
            (Day::MIN.to_string(), Day::MAX.to_string()),
            ("1970-01-01".into(), "9999-12-31".into())
        );
        assert_eq!(Day::parse(b"9999-12-31"), Some(Day::MAX));
        assert_eq!(Day::from_days(Day::MAX.days()), Some(Day::MAX));
        assert_eq!(Day::from_days(-1), None);
        assert_eq!(Day::from_days(Day::MAX.days() + 1), None);
    }

    #[test]
    fn only_the_canonical_form_is_a_day() {
        for text in [
            "",
            "-",
            "2026-1-28",
            "02026-11-28",
            "2026-11-28 ",
            "+026-11-28",
            "2026/11/28",
            "2026-00-28",
            "2026-13-01",
            "2026-11-00",
            "2026-11-31",
            "1969-12-31",
            "0000-00-00",
            "0000-01-01",
            "2026-11-2x",
            "2026-99-99",
            "9999-12-32",
        ] {
            assert_eq!(Day::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_day_lasts_from_midnight_to_midnight() {
        let at = |seconds| Day::at(UNIX_EPOCH + Duration::from_secs(seconds)).days();
        assert_eq!([0, 86_399, 86_400, 20_785 * 86_400].map(at), [0, 0, 1, 20_785]);
        assert_eq!(Day::at(UNIX_EPOCH - Duration::from_secs(1)), Day::MIN);
        assert_eq!(at(1 << 48), Day::MAX.days());
        assert!(Day::today() > Day::parse(b"2024-01-01").unwrap());
    }
}
