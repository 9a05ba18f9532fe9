import InspectorCore
import SocketCore

/// What a script waits for.
extension Model {
    /// The model without what the user typed and sent, so that a script waits for output of others.
    package var withoutOwnInput: Model {
        var model = self
        model.start.editor = LineEditor()
        model.field.open?.editor = LineEditor()
        model.list.found?.hidesRequest = true
        if case .form(var form) = dialogs.open {
            for index in form.fields.indices {
                if case .text = form.fields[index].value { form.fields[index].value = .text(LineEditor()) }
            }
            model.dialogs.open = .form(form)
        }
        if let id = list.selected {
            model.composers[id]?.editor = LineEditor()
            if let socket = selected { model.hideSent(onlyInjected: !isOwn(socket)) }
        }
        return model
    }

    /// Whether this user sends its bytes. A relay's clients and other programs send their own.
    private func isOwn(_ socket: SocketSnapshot) -> Bool { socket.linked == nil && shared.isOurs(socket.id) }

    /// Hides the bytes of this user's writes, in the traffic and in the queue.
    private mutating func hideSent(onlyInjected: Bool) {
        guard let id = list.selected else { return }
        traffic.snapshot.hideSent(onlyInjected: onlyInjected)
        shared.frozen?.traffic.hideSent(onlyInjected: onlyInjected)
        guard !onlyInjected else { return }
        shared.latest?.hidePreviews(of: id)
        shared.frozen?.snapshot.hidePreviews(of: id)
    }

    /// Whether the selected connection has received these bytes consecutively, as far as they are kept.
    package func hasReceived(_ bytes: [UInt8]) -> Bool {
        let items = traffic.shown(in: shared).items.filter { $0.direction == .received }
        return Self.runs(items).contains { run in
            guard let first = bytes.first, run.count >= bytes.count else { return false }
            return (0...run.count - bytes.count).contains { start in
                run[start] == first && run[start..<start + bytes.count].elementsEqual(bytes)
            }
        }
    }

    /// Returns the runs of consecutive bytes, with nothing missing in between.
    private static func runs(_ items: [TrafficItem]) -> [[UInt8]] {
        var runs: [[UInt8]] = [[]]
        for item in items {
            if item.skipped > 0 { runs.append([]) }
            runs[runs.count - 1] += item.bytes
            if item.missingBytes > 0 { runs.append(item.tail) }
        }
        return runs
    }

    /// The reason why nothing opened here will change any more: every connection is closed, or what was to be opened
    /// was rejected. `nil` while something can change, or if nothing was opened.
    package var whyNothingGoesOn: String? {
        guard let latest = shared.latest, expected == nil, shared.programs.isEmpty, shared.transmissions.isEmpty,
            shared.frozen == nil
        else { return nil }
        guard latest.sockets.allSatisfy({ $0.phase == .closed }) else { return nil }
        if let refusal = start.error ?? notice.flatMap({ $0.isError ? $0.text : nil }) { return refusal }
        guard let last = latest.sockets.last else { return nil }
        let ending = last.ending ?? "closed"
        // The kernel's errors already name the address.
        let peer = ending.hasPrefix(last.peerText) ? "" : "\(last.peerText): "
        return "every connection is closed (\(last.id) \(peer)\(ending))"
    }
}

extension TrafficSnapshot {
    fileprivate mutating func hideSent(onlyInjected: Bool) {
        for index in items.indices where items[index].isInjected || !onlyInjected && items[index].direction == .sent {
            (items[index].bytes, items[index].tail) = ([], [])
        }
    }
}

extension EngineSnapshot {
    fileprivate mutating func hidePreviews(of id: SocketID) {
        guard let index = sockets.firstIndex(where: { $0.id == id }) else { return }
        sockets[index].writing.current?.preview = []
        for place in sockets[index].writing.pending.indices { sockets[index].writing.pending[place].preview = [] }
    }
}
