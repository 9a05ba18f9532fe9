import SocketCore

/// A sentence about what a healthy connection is doing.
extension HostJudge {
    /// Returns what is in transit between both ends, and the call in which each end waits.
    package func story(of id: UInt64) -> String? {
        guard let socket = scene[id] else { return nil }
        return HostStory(facts).text(socket)
    }
}

struct HostStory {
    private let facts: HostFacts

    init(_ facts: HostFacts) { self.facts = facts }

    func text(_ socket: HostSocket) -> String {
        if socket.isListening { return listener(socket) }
        if let text = unconnected(socket) { return text }
        let ends = facts.scene.ends(of: socket)
        let askings = ends.map { facts.asker.asking(for: $0) }
        let calls = Self.sentence(zip(ends, askings).map(call).joined(separator: "; "))
        let isQuiet = ends.allSatisfy { $0.unread ?? 0 == 0 && $0.unsent ?? 0 == 0 }
        guard isQuiet else {
            return Self.sentence(zip(ends, askings).map(amounts).joined(separator: "; ")) + ". \(calls)."
        }
        if let half = halfClosed(ends, askings) { return "\(half) \(calls)." }
        let waits = askings.allSatisfy { $0.kind == .asks || $0.kind == .edge }
        let both = ends.count == 2 && waits ? " Both ends are waiting to read." : ""
        return "\(QuietWords.nothing)\(both)\(lastToSend(ends, askings)) \(calls)."
    }

    /// Returns `api.py[4711] has 79 B unread and 0 B unsent`.
    private func amounts(_ end: HostSocket, _ asking: HostAsking) -> String {
        let unsent = end.transport.isUnix ? "" : " and \(HostRules.size(end.unsent)) unsent"
        let (who, size) = (facts.scene.title(asking, of: end), HostRules.size(end.unread))
        let isProgram = asking.process != nil || asking.kind == .hidden
        return isProgram ? "\(who) has \(size) unread\(unsent)" : "\(size) unread\(unsent) at \(who)"
    }

    /// Returns a sentence if one end has closed its half.
    private func halfClosed(_ ends: [HostSocket], _ askings: [HostAsking]) -> String? {
        guard let place = ends.firstIndex(where: { $0.state == .closeWait }) else { return nil }
        let (end, who) = (ends[place], facts.scene.title(askings[place], of: ends[place]))
        let peer = facts.scene.peer(of: end).map { facts.scene.title(facts.asker.asking(for: $0), of: $0) }
        let ago = end.tcp?.lastAcknowledged.map { " \(Format.duration($0)) ago" } ?? ""
        let closer = peer ?? HostScene.safe("\(end.peer ?? .unnamed)")
        return "\(closer) sent FIN\(ago), and \(who) has not closed yet (CLOSE-WAIT)."
    }

    /// Returns a sentence. A program's name at its start keeps its case.
    private static func sentence(_ text: String) -> String {
        text.hasPrefix("a program of ") ? "A" + text.dropFirst() : text
    }

    /// Returns the story of a socket that is not connected.
    private func unconnected(_ socket: HostSocket) -> String? {
        let asking = facts.asker.asking(for: socket)
        switch socket.state {
        case .synSent:
            let seen = facts.ledger[socket.id].map { $0.socket.time - $0.owned } ?? .zero
            let lasting = max(seen, .seconds(Int(socket.retransmits)))
            let time = lasting > .zero ? " for at least \(Format.duration(lasting))" : ""
            return "Connecting\(time)\(HostRules.timer(socket)). \(call(socket, asking))."
        case .timeWait:
            return "Closed by its program; the kernel keeps it in TIME-WAIT for a while, in case late segments arrive."
        case .closed where socket.peer == nil && socket.transport != .unixPacket && socket.transport != .unixStream:
            return "\(socket.local?.port ?? 0 == 0 ? "Not bound" : "Bound"), not connected. \(call(socket, asking))."
        case .closed where socket.transport.isStream: return "Not connected. \(call(socket, asking))."
        default: return nil
        }
    }

    private func listener(_ socket: HostSocket) -> String {
        let asking = facts.asker.asking(for: socket)
        let waiting =
            switch socket.receiveQueue {
            case nil: "the number of waiting connections is not known"
            case 0: "no connections wait"
            case 1: "1 connection waits"
            case let count?: "\(count) connections wait"
            }
        let limit = socket.sendQueue.map { "\($0)" } ?? "-"
        let who = facts.scene.title(asking, of: socket)
        return Self.sentence("\(who) listens; \(waiting), backlog \(limit). \(call(socket, asking)).")
    }

    /// The kernel's clock for bytes sent ticks up to every 10 ms, and both ends are asked one after the other.
    private static let tick = Duration.milliseconds(20)

    /// ` Last to send: curl[81], 312 B in all, 41s ago.`
    private func lastToSend(_ ends: [HostSocket], _ askings: [HostAsking]) -> String {
        guard ends.allSatisfy({ $0.transport == .tcp && $0.tcp?.sent != nil }) else { return "" }
        let senders = zip(ends, askings).compactMap { end, asking -> (ago: Duration, who: String, size: String)? in
            guard let sent = end.tcp?.sent, sent > 0, let ago = end.tcp?.lastSent else { return nil }
            return (ago, facts.scene.title(asking, of: end), "\(Format.size(sent)) in all")
        }.sorted { $0.ago < $1.ago }
        guard let last = senders.first else { return ends.count == 2 ? " Neither has sent a byte." : "" }
        if senders.count == 2, senders[1].ago - last.ago <= Self.tick {
            return
                " Both sent last \(Format.duration(last.ago)) ago, within \(Format.duration(Self.tick)) of each other."
        }
        return QuietWords.lastToSend(last.who, last.size, last.ago)
    }

    /// `api.py[4711] fd 4: thread 4711 is in recv of 1.0M with MSG_WAITALL, for at least 12s`
    private func call(_ socket: HostSocket, _ asking: HostAsking) -> String {
        let descriptor = asking.descriptor.map { " fd \($0)" } ?? ""
        let does = asking.words.isEmpty ? Self.without(asking.kind) : asking.words
        let idle = asking.waited.map { ", for at least \(Format.duration($0))" } ?? ""
        return "\(facts.scene.title(asking, of: socket))\(descriptor): \(does)\(idle)\(record(socket, asking))"
    }

    /// Returns what is said of an end whose program's activity is not seen.
    private static func without(_ kind: HostAsking.Kind) -> String {
        switch kind {
        case .unaccepted: "waits to be accepted"
        case .orphan: "its program has closed it"
        default: "activity unknown"
        }
    }

    /// OpenSSL requests the rest of a TLS record when it has a part of it. The request is smaller than the largest
    /// record and not a round number.
    private func record(_ socket: HostSocket, _ asking: HostAsking) -> String {
        guard asking.kind == .asks, let descriptor = asking.descriptor, let number = asking.process?.number,
            let call = facts.scene.programs[number]?.reader(of: descriptor)?.call, call.kind == .read,
            ["read", "recv", "recvfrom"].contains(call.name), let amount = call.amount, amount > 5,
            amount < Self.longestRecord, amount % 512 != 0, socket.tcp?.received ?? 0 > 5, !call.waitsForAll
        else { return "" }
        return " (if it speaks TLS: the rest of a record, of which \(Format.size(amount)) have not arrived)"
    }

    /// RFC 8446, 5.2 and RFC 5246, 6.2.3: 2^14 bytes, plus what encryption adds.
    private static let longestRecord: UInt64 = 16_384 + 2_048
}
