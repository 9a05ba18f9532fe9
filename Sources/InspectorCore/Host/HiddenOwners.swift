import SocketCore

/// The users whose sockets have no visible program.
package enum HiddenOwners {
    /// Returns `14 sockets of user 33 (www), 2 of user 0 (root)`, or `nil` if every program is known.
    package static func text(_ look: HostLook, names: [UInt32: String] = [:]) -> String? {
        var counts: [UInt32: Int] = [:]
        for socket in look.sockets where socket.inode != 0 && look.owners[socket.inode] == nil {
            counts[socket.user, default: 0] += 1
        }
        return text(counts, names: names)
    }

    /// - Parameter counts: the number of sockets of each user.
    package static func text(_ counts: [UInt32: Int], names: [UInt32: String]) -> String? {
        guard !counts.isEmpty else { return nil }
        let sorted = counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        var words = sorted.prefix(most).map { user, count in
            "\(count) of user \(user)" + (names[user].map { " (\($0))" } ?? "")
        }
        words[0] = words[0].replacing(
            " of", with: sorted[0].value == 1 ? " socket of" : " sockets of", maxReplacements: 1)
        if sorted.count > most {
            let rest = sorted.dropFirst(most)
            words.append("\(rest.reduce(0) { $0 + $1.value }) of \(rest.count) more users")
        }
        return words.joined(separator: ", ")
    }

    /// The most users that are named. The others are counted.
    private static let most = 3
}
