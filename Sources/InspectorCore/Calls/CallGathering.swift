import SocketCore

/// Finds the loops that read one message in pieces: each call reads into the rest of the buffer of the one before, on the
/// same descriptor. A call in between that writes there begins anew, since an answer is not sent to half a message.
package struct CallGathering: Sendable {
    private struct Place: Hashable {
        var process: Int
        var descriptor: Int
    }

    private struct Rest {
        /// Where the next call puts its bytes, and how many it asks for.
        var address: UInt64
        var asked: Int64
        var gathered: SocketCall.Gathered
    }

    private var rests: [Place: Rest] = [:]

    /// The most descriptors that are followed.
    private static let most = 4_096

    package init() {}

    /// Adds to a call what was read of its message before. `address` is that of its buffer, or 0 if it has several.
    package mutating func absorb(_ call: inout SocketCall, at address: UInt64) {
        let place = Place(process: call.process, descriptor: call.descriptor)
        switch call.kind {
        case .read, .recvfrom: break
        case .write, .sendto, .writev, .sendmsg, .sendmmsg, .sendfile, .splice, .readv, .recvmsg, .recvmmsg, .close:
            rests[place] = nil
            return
        case .accept, .accept4, .connect, .shutdown, .poll, .ppoll, .select, .pselect6, .epollWait, .epollPwait,
            .epollPwait2:
            return
        }
        guard let asked = call.asked, address != 0 else { return rests[place] = nil }
        if let rest = rests[place], rest.address == address, rest.asked == asked { call.gathered = rest.gathered }
        // Nothing has come of it, so the next one can continue.
        if call.isWaiting || call.errno != nil { return }
        rests[place] = rest(after: call, asked: asked, at: address)
        if rests.count > Self.most { rests = [:] }
    }

    /// Returns what is left of the buffer after a call, or `nil` if nothing is, or nothing was read.
    private func rest(after call: SocketCall, asked: Int64, at address: UInt64) -> Rest? {
        guard let count = call.returnedBytes, count > 0, count < asked else { return nil }
        var gathered =
            call.gathered ?? SocketCall.Gathered(asked: asked, had: 0, calls: 0, began: call.began)
        gathered.had = gathered.had.saturatingAdd(count)
        gathered.calls += 1
        return Rest(address: address &+ UInt64(count), asked: asked - count, gathered: gathered)
    }
}

extension SocketCall {
    /// Returns the calls with those of one message as one: the last of them, which has how far it has come.
    package static func gathered(_ calls: [SocketCall]) -> [SocketCall] {
        struct Place: Hashable { var process: Int, descriptor: Int }
        var (whole, last): ([SocketCall?], [Place: Int]) = ([], [:])
        for call in calls {
            let place = Place(process: call.process, descriptor: call.descriptor)
            if let gathered = call.gathered, let index = last[place], whole[index]?.isPart(of: gathered) == true {
                whole[index] = nil
            }
            if call.isReading { last[place] = whole.count }
            whole.append(call)
        }
        return whole.compactMap { $0 }
    }

    private var isReading: Bool { kind == .read || kind == .recvfrom }

    private func isPart(of other: Gathered) -> Bool { (gathered?.began ?? began) == other.began }

    /// The bytes of the whole message that it belongs to, or those that it asked for.
    package var messageAsked: Int64? { gathered?.asked ?? asked }

    /// The bytes that it and the calls before it have read of the message, or `nil` if there are none.
    package var messageBytes: Int64? {
        gathered.map { $0.had.saturatingAdd(returnedBytes ?? 0) } ?? returnedBytes
    }

    /// How long reading the message has taken, or `nil` while it waits.
    package var messageTook: Duration? { ended.map { $0 - (gathered?.began ?? began) } }
}
