import SocketCore

/// Verdicts as printed by `socktui host --check`.
package enum HostCheck {
    /// Returns two lines or more for each verdict, and the total. Lines are wrapped at `width`, or not at all if it is
    /// `nil`.
    package static func lines(
        _ found: [Verdict], sockets: Int, namespaces: Int = 1, hosts: Int = 0,
        hidden: HostLook.Hidden = HostLook.Hidden(), owners: String? = nil, width: Int? = 80
    ) -> [String] {
        let name = found.map(\.lint.count).max() ?? 0
        var lines: [String] = []
        for verdict in found {
            let head = "\(Format.padded(word(verdict.severity), to: 8)) \(Format.padded(verdict.lint, to: name)) "
            lines += wrapped(verdict.sentence, head: head, width: width)
        }
        return lines + [
            summary(found, sockets: sockets, namespaces: namespaces, hosts: hosts, hidden: hidden, owners: owners)
        ]
    }

    private static func word(_ severity: Severity) -> String {
        severity == .note ? severity.name : severity.name.uppercased()
    }

    /// Returns `2 problems, 1 note in 212 sockets; not checked: calls of 14 processes (ptrace_scope 1)`
    /// - Parameter owners: the users whose sockets have no visible program, from `HiddenOwners`.
    package static func summary(
        _ found: [Verdict], sockets: Int, namespaces: Int = 1, hosts: Int = 0, hidden: HostLook.Hidden,
        owners: String? = nil
    ) -> String {
        let place =
            hosts > 0
            ? " of \(Format.count(hosts, "host"))" : namespaces > 1 ? " of \(namespaces) network namespaces" : ""
        let notes = found.count { $0.severity == .note }
        var parts = [
            "\(Format.count(found.count - notes, "problem")), \(Format.count(notes, "note")) in "
                + Format.count(sockets, "socket") + place
        ]
        let missing = missing(hidden, owners)
        if !missing.isEmpty { parts.append("not checked: " + missing.joined(separator: ", ")) }
        return parts.joined(separator: "; ")
    }

    /// Returns what was not visible: `calls of 14 processes (ptrace_scope 1)`.
    package static func missing(_ hidden: HostLook.Hidden, _ owners: String?) -> [String] {
        var missing: [String] = []
        if hidden.calls > 0 {
            let reason = hidden.reason.map { " (\(HostScene.safe($0)))" } ?? ""
            missing.append("calls of \(processes(hidden.calls))\(reason)")
        }
        if hidden.processes > 0 { missing.append("descriptors of \(processes(hidden.processes))") }
        if let owners {
            missing.append("owners of \(owners)")
        } else if hidden.sockets > 0 {
            missing.append("owners of \(Format.count(hidden.sockets, "socket"))")
        }
        if hidden.namespaces > 0 { missing.append(Format.count(hidden.namespaces, "network namespace")) }
        missing += hidden.tables.map { "\($0.title), which this kernel does not list" }.sorted()
        return missing
    }

    private static func processes(_ count: Int) -> String { "\(count) process\(count == 1 ? "" : "es")" }

    private static func wrapped(_ text: String, head: String, width: Int?) -> [String] {
        guard let width, width > head.count + 10 else { return [head + text] }
        let indent = String(repeating: " ", count: head.count)
        var lines: [String] = [], line = head, isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, TextWidth.of(line) + 1 + TextWidth.of(String(word)) > width {
                lines.append(line)
                (line, isEmpty) = (indent, true)
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }
}
