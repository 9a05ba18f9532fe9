import SocketKit

/// What epoll would report.
extension Network {
    /// Everything that is ready and watched by this reactor, lowest descriptor first.
    func ready(for reactor: Int) -> [Readiness] {
        descriptors.compactMap { descriptor in
            guard let descriptor, let watch = descriptor.watch, watch.reactor == reactor else { return nil }
            return readiness(descriptor, watch)
        }
    }

    private func readiness(_ descriptor: Descriptor, _ watch: Watch) -> Readiness? {
        var state = Readiness(watch.token)
        switch descriptor.role {
        case .fresh:
            state.writable = true
            state.hungUp = true
        case .listening(_, _, let waiting):
            state.readable = !waiting.isEmpty
        case .connecting:
            return nil
        case .refused:
            state.readable = true
            state.writable = true
            state.hungUp = true
        case .mailbox(let mailbox):
            state.readable = !mailbox.inbox.isEmpty
            state.writable = true
            state.hasError = mailbox.error != 0
        case .stream(let link, let end):
            fill(&state, from: links[link], end)
        }
        state.readable = state.readable && watch.interest.contains(.read)
        state.writable = state.writable && watch.interest.contains(.write)
        let seesEnd = watch.interest.contains(.read) || watch.interest.contains(.peerClosed)
        state.peerClosed = state.peerClosed && seesEnd
        let isReady = state.readable || state.writable || state.peerClosed || state.hungUp || state.hasError
        return isReady ? state : nil
    }

    private func fill(_ state: inout Readiness, from link: Link, _ end: Int) {
        let incoming = link.directions[1 - end]
        let isReset = link.ends[end].isReset
        state.readable = incoming.unread > 0 || incoming.isEndDelivered || isReset
        state.writable = link.directions[end].room > 0 || isReset || link.ends[end].isWriteShut
        state.peerClosed = incoming.isEndDelivered || isReset
        state.hungUp = isReset || (incoming.isEndDelivered && link.ends[end].isWriteShut)
    }

    // MARK: The reactor's set

    /// epoll_ctl ADD; 0, or an errno.
    mutating func watch(
        _ number: Int32, _ interest: Interest, _ token: ReactorToken, by reactor: Int
    ) -> Int32 {
        _ = role(number, in: "watch")
        if self[number]?.watch != nil { findings.report(.badDescriptor, "\(number) is watched already") }
        self[number]?.watch = Watch(interest: interest, token: token, reactor: reactor)
        progress += 1
        return 0
    }

    /// epoll_ctl MOD.
    mutating func changeWatch(
        _ number: Int32, _ interest: Interest, _ token: ReactorToken, by reactor: Int
    ) {
        _ = role(number, in: "change of watch")
        if self[number]?.watch?.reactor != reactor { findings.report(.badDescriptor, "\(number) is not watched") }
        if self[number]?.watch?.interest != interest { progress += 1 }
        self[number]?.watch = Watch(interest: interest, token: token, reactor: reactor)
    }

    /// epoll_ctl DEL.
    mutating func unwatch(_ number: Int32) {
        _ = role(number, in: "end of watch")
        progress += 1
        self[number]?.watch = nil
    }
}
