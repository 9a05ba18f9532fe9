import Glibc
import SocketKit
import SocketSimulation
import SocketTestSupport
import Testing

/// What the simulated kernel answers is what Linux answers: the same calls, on both, over loopback.
@Suite("Fidelity of the simulated kernel") struct FidelityTests {
    /// Two connected ends, and what calls on them came to.
    final class Pair {
        let client: Int32
        let server: Int32
        private let kernel: any Kernel
        private let settle: () -> Void
        private(set) var answers: [String] = []
        private var open: Set<Int32>

        init(_ kernel: any Kernel, address: SocketAddress, settle: @escaping () -> Void) {
            self.kernel = kernel
            self.settle = settle
            let listener = Self.descriptor(kernel, address)
            _ = kernel.bind(listener, to: address)
            _ = kernel.listen(listener, backlog: 1)
            client = Self.descriptor(kernel, address)
            _ = kernel.connect(client, to: kernel.localAddress(listener) ?? address)
            settle()
            var accepted: Int32 = -1
            _ = eventually {
                if case .accepted(let descriptor, _) = kernel.accept(listener) { accepted = descriptor }
                return accepted >= 0
            }
            server = accepted
            open = [client, server]
            kernel.close(listener)
        }

        deinit {
            for descriptor in open { kernel.close(descriptor) }
        }

        private static func descriptor(_ kernel: any Kernel, _ address: SocketAddress) -> Int32 {
            guard case .bytes(let number) = kernel.openStream(for: address) else { return -1 }
            return Int32(number)
        }

        func send(_ end: Int32, _ count: Int) {
            let bytes = [UInt8](repeating: 1, count: count)
            bytes.withUnsafeBytes { buffer in
                withUnsafePointer(to: buffer) {
                    answers.append("send \(kernel.send(end, UnsafeBufferPointer(start: $0, count: 1)))")
                }
            }
            settle()
        }

        func receive(_ end: Int32, peek: Bool = false) {
            var bytes = [UInt8](repeating: 0, count: 64)
            let result = bytes.withUnsafeMutableBytes { kernel.receive(end, into: $0, peek: peek) }
            answers.append("\(peek ? "peek" : "receive") \(result)")
            settle()
        }

        func shutWrite(_ end: Int32) {
            answers.append("shutdown \(kernel.shutdownWrite(end))")
            settle()
        }

        func close(_ end: Int32, reset: Bool = false) {
            if reset { _ = kernel.set(.resetOnClose, on: end) }
            kernel.close(end)
            open.remove(end)
            settle()
        }

        func askNames(_ end: Int32) {
            answers.append("own \(kernel.localAddress(end) != nil), peer \(kernel.peerAddress(end) != nil)")
        }

        func askError(_ end: Int32) {
            answers.append("error \(kernel.pendingError(end))")
        }
    }

    /// A row of calls.
    struct Script: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (Pair) -> Void
    }

    static let scripts = [
        Script(testDescription: "bytes, then nothing") { pair in
            pair.send(pair.server, 3)
            pair.receive(pair.client, peek: true)
            pair.receive(pair.client)
            pair.receive(pair.client)
        },
        Script(testDescription: "FIN behind bytes") { pair in
            pair.send(pair.server, 3)
            pair.shutWrite(pair.server)
            for _ in 0..<3 { pair.receive(pair.client) }
            pair.send(pair.client, 2)
            pair.receive(pair.server)
            pair.send(pair.server, 1)
            pair.askNames(pair.client)
        },
        Script(testDescription: "RST behind unread bytes") { pair in
            pair.send(pair.server, 3)
            pair.close(pair.server, reset: true)
            pair.receive(pair.client, peek: true)
            for _ in 0..<3 { pair.receive(pair.client) }
            pair.send(pair.client, 2)
            pair.shutWrite(pair.client)
            pair.askNames(pair.client)
        },
        Script(testDescription: "closed with unread bytes: RST, told to a send") { pair in
            pair.send(pair.client, 3)
            pair.close(pair.server)
            pair.send(pair.client, 1)
            pair.send(pair.client, 1)
            pair.receive(pair.client)
        },
        Script(testDescription: "RST is told once, by SO_ERROR too") { pair in
            pair.close(pair.server, reset: true)
            pair.askError(pair.client)
            pair.askError(pair.client)
            pair.receive(pair.client)
            pair.send(pair.client, 1)
        },
        Script(testDescription: "sent to a peer that has closed: RST behind FIN") { pair in
            pair.close(pair.server)
            pair.receive(pair.client)
            for _ in 0..<3 { pair.send(pair.client, 1) }
            pair.receive(pair.client)
            pair.shutWrite(pair.client)
        },
        Script(testDescription: "half-closed on both sides") { pair in
            pair.shutWrite(pair.client)
            pair.shutWrite(pair.server)
            pair.receive(pair.client)
            pair.receive(pair.server)
            pair.send(pair.client, 1)
            pair.askNames(pair.client)
        },
    ]

    @Test("the same calls come to the same", arguments: scripts)
    func sameAnswers(script: Script) {
        let machine = QuietMachine()
        let simulated = Pair(machine.kernel, address: QuietMachine.address(port: 9), settle: machine.deliver)
        script.run(simulated)
        var real: [String] = []
        // Loopback delivers at once, save when the machine is busy.
        let isSame = eventually {
            let pair = Pair(LinuxKernel(), address: .v4(host: "127.0.0.1", port: 0)) {}
            script.run(pair)
            real = pair.answers
            return real == simulated.answers
        }
        #expect(isSame, "Linux: \(real), simulated: \(simulated.answers)")
    }
}
