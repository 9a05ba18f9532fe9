import Glibc
import InspectorCore

/// The targets that this user opened recently, in a file of lines `seconds since 1970, tab, text`, newest first. It is
/// a convenience, so a file that can't be read or written is not an error.
package struct RecentTargets: Sendable {
    package let path: String
    package static let limit = 20

    /// The targets in `$XDG_STATE_HOME/socktui/recent` or below `~/.local/state`, or `nil` if there is no home folder.
    package static func ofThisUser() -> RecentTargets? { StateFolder.path("recent").map(RecentTargets.init) }

    /// Moves a target to the front.
    package func add(_ text: String, now: Int = time(nil)) {
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return }
        let others = entries().filter { $0.text != text }
        let lines = ([(now, text)] + others).prefix(Self.limit).map { "\($0)\t\($1)\n" }
        StateFolder.replace(path, with: lines.joined())
    }

    /// Returns the targets for the start screen.
    package func offers(now: Int = time(nil)) -> [StartOffers.Recent] {
        entries().map { StartOffers.Recent(text: $0.text, age: Self.age(of: $0.time, now: now)) }
    }

    private func entries() -> [(time: Int, text: String)] {
        let lines = (TextFile.read(path, limit: 64 << 10) ?? "").split(separator: "\n")
        return lines.prefix(Self.limit).compactMap { line in
            let parts = line.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2, let time = Int(parts[0]) else { return nil }
            return (time, String(parts[1]))
        }
    }

    /// Returns the age in words.
    package static func age(of time: Int, now: Int) -> String {
        // The file may contain anything.
        let (difference, isOutOfRange) = now.subtractingReportingOverflow(time)
        let seconds = isOutOfRange ? (time < now ? Int.max : 0) : difference
        switch seconds {
        case ..<60: return "just now"
        case ..<3600: return count(seconds / 60, "minute")
        case ..<86_400: return count(seconds / 3600, "hour")
        case ..<172_800: return "yesterday"
        case ..<1_209_600: return count(seconds / 86_400, "day")
        case ..<5_184_000: return count(seconds / 604_800, "week")
        default: return count(seconds / 2_592_000, "month")
        }
    }

    private static func count(_ number: Int, _ unit: String) -> String {
        "\(number) \(unit)\(number == 1 ? "" : "s") ago"
    }
}
