//! Days.

/// The day of a time, as 2026-11-21 (Howard Hinnant's `civil_from_days`).
pub fn date(seconds: u64) -> String {
    let days = seconds / 86400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    format!("{}-{month:02}-{day:02}", year + era * 400 + u64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_have_their_dates() {
        let dates = [0, 951_782_400, 1_795_219_200, 1_795_305_600].map(super::date);
        assert_eq!(dates, ["1970-01-01", "2000-02-29", "2026-11-21", "2026-11-22"]);
    }
}
