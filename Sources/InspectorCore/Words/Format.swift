import SocketCore

/// Numbers in readable form. Unknown is `-` everywhere.
package enum Format {
    /// Returns at most four characters: `0`, `312`, `1.2K`, `87K`, `1.4M`.
    package static func bytes(_ count: UInt64) -> String {
        guard count >= 1024 else { return String(count) }
        var value = Double(count)
        for unit in ["K", "M", "G", "T", "P", "E"] {
            value /= 1024
            if value < 9.95 { return tenths(value) + unit }
            if value < 999.5 { return String(Int(value + 0.5)) + unit }
        }
        return ">1E"
    }

    package static func bytes(_ count: Int) -> String { bytes(UInt64(max(0, count))) }

    /// Returns a size that always has a unit: `23 B`, `1.4M`.
    package static func size(_ count: Int) -> String {
        count < 1024 ? "\(max(0, count)) B" : bytes(count)
    }

    package static func size(_ count: UInt64) -> String {
        count < 1024 ? "\(count) B" : bytes(count)
    }

    /// Returns bytes per second, without the `/s`.
    package static func rate(_ rate: Double?) -> String {
        guard let rate, rate.isFinite else { return "-" }
        return bytes(UInt64(min(max(0, rate), 1e18) + 0.5))
    }

    /// Returns a percentage that is 100 only if nothing is missing.
    package static func percent(done: Int, total: Int) -> String {
        guard total > 0 else { return "-" }
        // Before the division, because the percentage could be too large for an integer.
        guard done < total else { return "100%" }
        return "\(min(99, Int(Double(max(0, done)) / Double(total) * 100)))%"
    }

    /// Returns a duration in one unit: `40us`, `0.2ms`, `31ms`, `2.3s`, `30s`, `5m`, `2h`.
    package static func duration(_ duration: Duration) -> String {
        let milliseconds = Double(duration.wholeNanoseconds) / 1e6
        let seconds = milliseconds / 1000
        if milliseconds > 0 && milliseconds < 0.0995 { return "\(max(1, Int(milliseconds * 1000 + 0.5)))us" }
        if milliseconds < 9.95 { return trimmed(tenths(max(0, milliseconds))) + "ms" }
        if milliseconds < 999.5 { return "\(Int(milliseconds + 0.5))ms" }
        if seconds < 9.95 { return trimmed(tenths(seconds)) + "s" }
        if seconds < 120 { return "\(Int(seconds + 0.5))s" }
        if seconds < 7200 { return "\(Int(seconds / 60))m" }
        if seconds < 172_800 { return "\(Int(seconds / 3600))h" }
        return "\(Int(min(seconds / 86_400, 99_999)))d"
    }

    /// Returns how long something has lasted: `04:12`, `1:04:12`, `2d 04h`.
    package static func age(_ duration: Duration) -> String {
        let seconds = max(0, duration.wholeNanoseconds / 1_000_000_000)
        let (minutes, hours, days) = (seconds / 60 % 60, seconds / 3600 % 24, seconds / 86_400)
        if days > 0 { return "\(days)d \(twoDigits(hours))h" }
        if hours > 0 { return "\(hours):\(twoDigits(minutes)):\(twoDigits(seconds % 60))" }
        return "\(twoDigits(minutes)):\(twoDigits(seconds % 60))"
    }

    /// Returns the time of day in UTC, to the microsecond: `14:02:10.911204`.
    package static func timeOfDay(wallNanoseconds: Int64) -> String {
        let day: Int64 = 86_400_000_000_000
        let within = (wallNanoseconds % day + day) % day
        let seconds = within / 1_000_000_000
        let micros = String(within % 1_000_000_000 / 1000)
        return "\(twoDigits(seconds / 3600)):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))."
            + String(repeating: "0", count: 6 - micros.count) + micros
    }

    private static func twoDigits(_ value: Int64) -> String {
        value < 10 ? "0\(value)" : String(value)
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int(value * 10 + 0.5)
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func trimmed(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns a text padded to `width` columns, at the left or at the right end.
    package static func padded(_ text: String, to width: Int, right: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - TextWidth.of(text)))
        return right ? blanks + text : text + blanks
    }

    /// Returns `1 read`, `2 reads`.
    package static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

extension Format {
    /// Returns all digits, in groups of three: `16,384`.
    package static func grouped(_ count: Int) -> String {
        let digits = Array(String(max(0, count)))
        return digits.indices.map { (digits.count - $0) % 3 == 0 && $0 > 0 ? ",\(digits[$0])" : "\(digits[$0])" }
            .joined()
    }

    /// Returns all digits of a small number, and a large one shortened: `4096`, `1.9M`.
    package static func whole(_ count: Int) -> String {
        count < 10_000 ? String(max(0, count)) : bytes(count)
    }
}

extension Format {
    /// Returns an instant in UTC as in RFC 3339, to the nanosecond: `2026-11-21T14:02:10.911204000Z`. Years 1970 to
    /// 9999.
    package static func instant(wallNanoseconds: Int64) -> String {
        let time = max(0, wallNanoseconds)
        let (year, month, day) = date(daysSince1970: time / 86_400_000_000_000)
        let nanos = String(time % 1000)
        return "\(year)-\(twoDigits(month))-\(twoDigits(day))T\(timeOfDay(wallNanoseconds: time))"
            + String(repeating: "0", count: 3 - nanos.count) + nanos + "Z"
    }

    /// Returns the Gregorian date. Years start in March here, so that the leap day is the last day of a year.
    private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (fourCenturies, century, fourYears, year): (Int64, Int64, Int64, Int64) = (146_097, 36_524, 1_461, 365)
        let sinceMarch0 = days + 719_468
        let within = sinceMarch0 % fourCenturies
        let yearOfEra =
            (within - within / (fourYears - 1) + within / century - within / (fourCenturies - 1)) / year
        let dayOfYear = within - (year * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let calendarMonth = month < 10 ? month + 3 : month - 9
        return (
            yearOfEra + sinceMarch0 / fourCenturies * 400 + (calendarMonth <= 2 ? 1 : 0), calendarMonth,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
