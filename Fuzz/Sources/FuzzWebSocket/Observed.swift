import FuzzSupport
import SocketCore

/// The same bytes as they pass between two others: whoever looks on sees what a machine without limits makes of them,
/// however they are cut.
struct Observed {
    /// Which end they come to.
    let role: WebSocketRole
    let deflate: PerMessageDeflateParameters?

    func check(_ bytes: [UInt8], piece: Int) {
        let whole = seen(bytes, piece: max(1, bytes.count))
        let cut = seen(bytes, piece: piece)
        require(whole.steady == cut.steady, "\(whole) became \(cut) when it passed in pieces of \(piece)")
        let machine = received(bytes)
        require(whole.traffic.received == machine.received, "\(whole.traffic.received) was seen of \(machine.received)")
        require(whole.traffic.closeReceived == machine.closeReceived, "\(whole.traffic) was seen of \(machine)")
        require(whole.traffic.failure == machine.failure, "\(whole.traffic) was seen of \(machine)")
        require(whole.traffic.awaiting == machine.awaiting, "\(whole.traffic) was seen of \(machine)")
        require(whole.messages == Int(machine.received.messages), "\(whole.messages) messages of \(machine)")
        // Few bytes may be kept of much, and many of little: no more than passed or was inflated.
        let limited = seen(bytes, piece: piece, inflatedLimit: 64)
        require(limited.longest <= max(64, bytes.count), "\(limited.longest) bytes of a message over the limit")
        require(limited.messages >= whole.messages, "\(limited) was seen under a limit, \(whole) without")
        // Under an allowance for all of it: so many bytes in and out, and one more.
        let allowed = seen(bytes, piece: piece, allowance: 200)
        require(allowed.longest <= max(200, bytes.count), "\(allowed.longest) bytes of a message over what was allowed")
        require(allowed.messages >= whole.messages, "\(allowed) was seen under an allowance, \(whole) without")
        require(allowed.left >= -1, "\(allowed.left) left of what was allowed")
    }

    private struct Sight: Equatable {
        var traffic: WebSocketSnapshot
        var messages = 0
        var longest = 0
        /// What was left of the allowance.
        var left = Int.max

        /// Without what a matter is of how the bytes came: how much of a frame passed before it was found to be wrong.
        var steady: Sight {
            var sight = self
            sight.longest = 0
            sight.left = 0
            guard traffic.failure != nil else { return sight }
            sight.traffic.discardedBytes = 0
            (sight.traffic.received.payloadBytes, sight.traffic.received.messageBytes) = (0, 0)
            return sight
        }
    }

    private func seen(
        _ bytes: [UInt8], piece: Int, inflatedLimit: Int = .max, allowance: Int = .max
    ) -> Sight {
        var allowance = allowance
        var observer = WebSocketObserver(role: role, keepsTraffic: true, inflatedLimit: inflatedLimit, now: .zero) {
            _ in
            "accepted"
        }
        let fields = deflate.map { _ in "Sec-WebSocket-Extensions: permessage-deflate\r\n" } ?? ""
        let request =
            "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\(fields)\r\n"
        let answer =
            "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: accepted\r\n"
            + "\(fields)\r\n"
        for (text, ofClient) in [(request, true), (answer, false)] {
            let isSent = ofClient == (role == .client)
            let plain = Array(text.utf8).withUnsafeBytes {
                observer.see($0, isSent: isSent, now: .zero, allowance: &allowance)
            }
            require(plain == text.utf8.count, "\(plain) bytes of a head")
        }
        require(observer.isOpen, "it did not open")
        var rest = bytes[...]
        while !rest.isEmpty {
            let frames = Array(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            let plain = frames.withUnsafeBytes {
                observer.see($0, isSent: false, now: .zero, allowance: &allowance)
            }
            require(plain == 0, "\(plain) bytes are no frames")
        }
        guard let traffic = observer.picture()?.traffic else { fatalError("no traffic of an open WebSocket") }
        var sight = Sight(traffic: traffic)
        sight.left = allowance
        observer.end(by: .peer, now: .zero)
        for item in observer.takeItems() {
            require(item.bytes.count <= item.length, "\(item.bytes.count) of \(item.length) bytes")
            switch item.traffic.kind {
            case .text, .binary:
                sight.longest = max(sight.longest, item.length)
                if !item.traffic.isPart { sight.messages += 1 }
            case .ping, .pong, .close, .undecoded: break
            }
        }
        return sight
    }

    private func received(_ bytes: [UInt8]) -> WebSocketSnapshot {
        let limits = WebSocketLimits(streamedMessageBytes: .max, emptyFragments: .max)
        var machine = WebSocketMachine(
            role: role, deflate: deflate, settings: WebSocketSettings(limits: limits, delivery: .chunks), now: .zero)
        var events: [WebSocketEvent] = []
        machine.receive(bytes.span.bytes, now: .zero, into: &events)
        while machine.hasHeldInput { machine.proceed(now: .zero, into: &events) }
        return machine.snapshot()
    }
}
