import Glibc
import SocketKit
import SocketRecords

/// A viewer of the inspection wire as simple as can be: every call waits.
package final class InspectionClient {
    /// Its connection; -1 once closed.
    package private(set) var descriptor: Int32
    /// What it was told.
    package var mirror = InspectionMirror()
    /// Frames that the mirror does not take: greetings, refusals, notices.
    package private(set) var others: [InspectionFrame] = []
    private var decoder = InspectionFrameDecoder()

    /// Connects and, unless told otherwise, greets.
    package init(_ path: String, greets: Bool = true, version: UInt64 = InspectionHello.version) throws {
        let kernel = LinuxKernel()
        guard case .bytes(let opened) = kernel.openStream(for: .unix(path: path)) else {
            throw PeerFailure(errno: errno)
        }
        descriptor = Int32(opened)
        let failure = kernel.connect(descriptor, to: .unix(path: path))
        guard failure == 0 else { throw PeerFailure(errno: failure) }
        guard greets else { return }
        var hello = InspectionHello()
        hello.program = "test"
        hello.major = version
        send(InspectionFrame.hello(hello).bytes)
    }

    deinit { close() }

    /// Hangs up.
    package func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Sends all bytes, as far as somebody takes them.
    package func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Asks to be told more.
    package func watch(_ watch: InspectionWatch) {
        mirror.watches(watch)
        send(InspectionFrame.watch(watch).bytes)
    }

    /// Takes all that has come; false when the other end has hung up.
    @discardableResult
    package func take() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { decoder.append(buffer[..<count]) }
            while let frame = try decoder.next() {
                try mirror.absorb(frame)
                switch frame {
                case .hello, .refusal, .notice, .passed, .answer: others.append(frame)
                case .sockets, .tick, .events, .traffic, .reset, .peers, .calls, .watch, .command, .request, .unknown:
                    break
                }
            }
            if count <= 0 { return count != 0 }
        }
    }

    /// Takes what comes until the condition holds for the picture.
    package func sees(_ isWanted: (EngineSnapshot) -> Bool) -> Bool {
        eventually {
            _ = try? self.take()
            return self.mirror.snapshot(engine: "").map(isWanted) ?? false
        }
    }

    /// The sentence with which it was refused, once the other end has hung up.
    package var refusal: String? {
        guard eventually({ (try? self.take()) == false }) else { return nil }
        for case .refusal(let sentence) in others { return sentence }
        return nil
    }
}

extension InspectionMirror {
    /// The picture, without taking the events out of it.
    package var seen: EngineSnapshot? {
        var copy = self
        return copy.snapshot(engine: "")
    }
}
