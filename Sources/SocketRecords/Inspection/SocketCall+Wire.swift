import SocketCore

// The calls of a program in a recording.

extension SocketCall.Kind: WireWord {}

extension SocketCall: WireMessage {
    package static var blank: SocketCall {
        SocketCall(process: 0, thread: 0, .read, descriptor: 0, asked: nil, .waits, began: .zero)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        var (returned, failed, hasVanished) = (Int64?.none, errno, state == .vanished)
        if case .returned(let value) = state { returned = value }
        try coder.field(1, &id)
        try coder.field(2, &process)
        try coder.field(3, &thread)
        try coder.field(4, &kind)
        try coder.field(5, &descriptor)
        try coder.field(6, &asked)
        try coder.field(7, &returned)
        try coder.field(8, &failed)
        try coder.field(9, &hasVanished)
        try coder.field(10, &began)
        try coder.field(11, &took)
        try coder.field(12, &gathered)
        try coder.field(13, &poll)
        took = took.map { max(.zero, $0) }
        state = hasVanished ? .vanished : failed.map { .failed($0) } ?? .returned(returned ?? -1)
        if took == nil { state = .waits }
    }
}

extension SocketCall.Gathered: WireMessage {
    package static var blank: SocketCall.Gathered { SocketCall.Gathered(asked: 0, had: 0, calls: 0, began: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &asked)
        try coder.field(2, &had)
        try coder.field(3, &calls)
        try coder.field(4, &began)
    }
}

extension SocketCall.Poll: WireMessage {
    package static var blank: SocketCall.Poll { SocketCall.Poll() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &descriptors)
        try coder.field(2, &timeout)
    }
}

extension CallLosses: WireMessage {
    package static var blank: CallLosses { CallLosses() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &lost)
        try coder.field(2, &strangePrograms)
        try coder.field(3, &hiddenPrograms)
        try coder.field(4, &rings)
    }
}

extension CallUpdate: WireMessage {
    package static var blank: CallUpdate { CallUpdate() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &first)
        try coder.field(2, &ended)
        try coder.field(3, &waiting)
        try coder.field(4, &continues)
        try coder.field(5, &losses)
    }
}
