import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// A connection before, during and after its TLS handshake.
@Suite("TLS in pictures")
struct TLSPictures {
    private static let certificate = TLSCertificate(
        subject: "CN=mail.example", issuer: "CN=Test Authority", names: ["DNS:mail.example", "DNS:*.mail.example"],
        notBefore: 1_690_000_000, notAfter: 1_721_536_000, fingerprint: (0..<32).map { UInt8($0 * 7) },
        publicKeyDigest: [])

    private static func base(_ phase: TLSSnapshot.Phase) -> SocketSnapshot {
        var socket = World.make(1, .client, .connected, target: "mail.example:143")
        socket.local = .v4(host: "192.0.2.10", port: 51514)
        socket.peer = .v4(host: "192.0.2.143", port: 143)
        socket.connected = World.at(14, 2, 10)
        socket.flags = [.socketStarted, .connected, .socketCanAcceptBytes, .writeSourceSuspended, .queuedTLS]
        socket.received = 4_312
        socket.sent = 1_204
        var tls = TLSSnapshot(role: .client, phase: phase, asked: World.at(14, 2, 10.5))
        tls.serverName = "mail.example"
        tls.expectedName = "mail.example"
        socket.tls = tls
        return socket
    }

    private static var queued: SocketSnapshot {
        var socket = base(.queued)
        socket.reading = QueueSnapshot(
            current: OperationSnapshot(
                id: OperationID(1), kind: .read(.delimiter([13, 10], limit: 8192)), tag: 42),
            pending: [OperationSnapshot(id: OperationID(2), kind: .read(.length(4)), tag: 43)], pendingCount: 1)
        socket.reading.barrier = 1
        socket.writing = QueueSnapshot(
            pending: [
                OperationSnapshot(
                    id: OperationID(3), kind: .write, tag: 9, total: 12, preview: Array("a001 LOGIN\r\n".utf8))
            ], pendingCount: 1, pendingBytes: 12)
        socket.writing.barrier = 0
        return socket
    }

    private static var asking: SocketSnapshot {
        var socket = base(.asking)
        (socket.reading.barrier, socket.writing.barrier) = (0, 0)
        socket.tls?.began = World.at(14, 2, 12)
        socket.tls?.chain = [certificate]
        socket.tls?.question = TLSTrust(
            question: OperationID(7), chain: [certificate], expectedName: "mail.example", code: 20,
            problem: "unable to get local issuer certificate")
        return socket
    }

    private static var secure: SocketSnapshot {
        var socket = base(.secure)
        socket.flags.insert(.socketSecure)
        socket.reading.current = OperationSnapshot(
            id: OperationID(1), kind: .read(.available(limit: nil)), tag: 0, isStanding: true)
        socket.tls?.version = "TLSv1.3"
        socket.tls?.cipher = "TLS_AES_256_GCM_SHA384"
        socket.tls?.group = "x25519"
        socket.tls?.applicationProtocol = "imap"
        socket.tls?.handshakeTime = .microseconds(2_443)
        socket.tls?.chain = [certificate]
        socket.tls?.verification = .acceptedByHand("unable to get local issuer certificate")
        socket.tls?.plaintextReceived = 2_100
        socket.tls?.plaintextSent = 300
        return socket
    }

    private static func model(_ socket: SocketSnapshot, _ size: Size, _ keys: [Key]) -> Model {
        var model = Model(options: .init(ascii: true, version: "test"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(World.snapshot([socket])))
        _ = model.update(.opened(SocketID(1), OpenRequest(.tcp(host: "mail.example", port: 143))))
        _ = model.update(.snapshot(World.snapshot([socket])))
        model.press(.escape)
        for key in keys { model.press(key) }
        return model
    }

    private static var plain: SocketSnapshot {
        var plain = queued
        plain.tls = nil
        (plain.reading.barrier, plain.writing.barrier) = (nil, nil)
        return plain
    }

    /// Before, during and after the handshake.
    static let screens: [Screen] = [
        Screen("tls-queued") { model(queued, $0, [.character("3")]) },
        Screen("tls-asking") { model(asking, $0, [.character("3")]) },
        Screen("tls-secure") { model(secure, $0, [.character("3")]) },
        Screen("tls-talk") { model(queued, $0, [.character("2")]) },
        Screen("tls-question") { model(asking, $0, [.character("A")]) },
        Screen("tls-list") { model(queued, $0, [.character("1")]) },
        Screen("tls-list-asking") { model(asking, $0, [.character("1")]) },
        Screen("tls-form") { model(plain, $0, [.character("T")]) },
    ]

    @Test("what the form of T asks for")
    func form() throws {
        var model = Self.model(Self.plain, Size(80, 24), [.character("T")])
        guard case .startTLS(let id, let settings)? = model.press(.enter).first else {
            Issue.record("nothing was asked for")
            return
        }
        #expect(id == SocketID(1) && settings.role == .client && settings.serverName == "mail.example")
        #expect(settings.checksName && settings.trust == .system && settings.trustEvaluator == .delegateIfRefused)
    }

    @Test("a certificate is accepted this once, or refused, by a letter")
    func question() {
        for (letter, verdict) in [("a", TrustVerdict.accept), ("r", .refuse)] {
            var model = Self.model(Self.asking, Size(80, 24), [.character("A")])
            let effects = model.press(.character(Character(letter)))
            #expect(effects == [.send(.answerTrust(SocketID(1), OperationID(7), verdict))])
        }
    }
}
