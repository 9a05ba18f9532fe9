import SocketCore

extension HostSnapshot {
    /// `nginx[812]+3`, or the owner of a program that can't be seen.
    package var programText: String {
        guard let program else { return user.map { "user \($0)" } ?? "-" }
        return program + (others > 0 ? "+\(others)" : "")
    }

    /// The program at the other end, `db1 postgres[411]` if it is on another host.
    package var peerName: String? {
        guard let peerProgram else { return peerMachine == machine ? nil : peerMachine }
        return (peerMachine == machine ? "" : peerMachine.map { "\($0) " } ?? "") + peerProgram
    }

    /// The unread bytes, or for a listener the number of waiting connections and its limit: `129/128`.
    package var unreadText: String? {
        guard state == .listening else { return unread.map { Format.bytes(Int($0)) } }
        guard let waiting else { return nil }
        return "\(waiting)" + (waitingLimit.map { "/\($0)" } ?? "")
    }

    /// The unsent bytes, or `nil` if they are not known. For a Unix-domain socket the kernel counts memory.
    package var unsentText: String? { transport.isUnix ? nil : unsent.map { Format.bytes(Int($0)) } }

    /// Whether the queue of waiting connections is full.
    package var isCrowded: Bool {
        guard let waiting, let waitingLimit else { return false }
        return waiting > 0 && waiting >= waitingLimit
    }
}
