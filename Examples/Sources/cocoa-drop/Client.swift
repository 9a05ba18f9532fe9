import CocoaAsyncSocket
import Foundation

/// Finds a server by UDP.
final class Finder: NSObject, GCDAsyncUdpSocketDelegate {
    private let queue = DispatchQueue(label: "finder")
    private var socket: GCDAsyncUdpSocket!
    private let found: (UInt16) -> Void

    init(found: @escaping (UInt16) -> Void) {
        self.found = found
        super.init()
        socket = GCDAsyncUdpSocket(delegate: self, delegateQueue: queue)
    }

    func ask(port: UInt16) throws {
        socket.setIPv6Enabled(false)
        try socket.bind(toPort: 0)
        try socket.sendIPv4Multicast(onInterface: "127.0.0.1")
        try socket.receiveOnce()
        let question = Data(Discovery.question.utf8)
        socket.send(question, toHost: Discovery.group, port: port, withTimeout: Patience.discovery, tag: 0)
        queue.asyncAfter(deadline: .now() + Patience.discovery) { [weak self] in
            if self != nil { quit(1, "nobody answered within \(Patience.discovery) s") }
        }
    }

    func udpSocket(
        _ sock: GCDAsyncUdpSocket, didReceive data: Data, fromAddress address: Data,
        withFilterContext filterContext: Any?
    ) {
        let words = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[0] == Discovery.answer, let port = UInt16(words[1]) else {
            try? sock.receiveOnce()
            return
        }
        sock.close()
        found(port)
    }

    func udpSocket(_ sock: GCDAsyncUdpSocket, didNotSendDataWithTag tag: Int, dueToError error: Error?) {
        quit(1, "the question was not sent: \(error?.localizedDescription ?? "")")
    }
}

/// Sends one file, or has its checksum made.
final class Client: NSObject {
    enum Job {
        case put(secured: Bool)
        case sum
    }

    private let queue = DispatchQueue(label: "client")
    private let content: Data
    private let name: String
    private let job: Job
    private var sent: UInt = 0
    private lazy var socket = GCDAsyncSocket(delegate: self, delegateQueue: queue)
    private var answer: String?

    init(file: String, job: Job) throws {
        let url = URL(fileURLWithPath: file)
        content = try Data(contentsOf: url)
        name = url.lastPathComponent
        self.job = job
    }

    func start(port: UInt16) throws {
        try socket.connect(toHost: "localhost", onPort: port, withTimeout: 5)
        // All of this waits for the connection, and TLS for what comes before it.
        switch job {
        case .put(secured: true):
            socket.write(line: "TLS", tag: Tag.header)
            socket.readLine(tag: Tag.goAhead)
            socket.startTLS([GCDAsyncSocketManuallyEvaluateTrust: NSNumber(value: true)])
            put()
        case .put(secured: false):
            put()
        case .sum:
            socket.write(line: "SUM", tag: Tag.header)
            socket.write(content, withTimeout: Patience.content, tag: Tag.content)
            socket.readLine(tag: Tag.answer)
        }
    }

    private func put() {
        socket.write(line: "PUT \(name) \(content.count)", tag: Tag.header)
        socket.write(content, withTimeout: Patience.content, tag: Tag.content)
        socket.readLine(tag: Tag.answer)
    }

    private func showProgress() {
        let share = content.isEmpty ? 1 : Double(sent) / Double(content.count)
        let bar = String(repeating: "#", count: Int(share * 40))
        say("\r[\(bar.padding(toLength: 40, withPad: " ", startingAt: 0))] \(Int(share * 100)) %", terminator: "")
    }
}

extension Client: GCDAsyncSocketDelegate {
    func socket(_ sock: GCDAsyncSocket, didConnectToHost host: String, port: UInt16) {
        say("connected to \(host):\(port)")
    }

    func socket(
        _ sock: GCDAsyncSocket, didReceive trust: SecTrust, completionHandler: @escaping (Bool) -> Void
    ) {
        // Shown, and taken: this is an example, and its server makes its own certificate.
        let certificate = SecTrustGetCertificateAtIndex(trust, 0)
        let subject = certificate.flatMap { SecCertificateCopySubjectSummary($0) as String? } ?? "nobody"
        var error: CFError?
        let passes = SecTrustEvaluateWithError(trust, &error)
        say("certificate of \(subject)" + (passes ? "" : ", which is not trusted: \(error!.localizedDescription)"))
        completionHandler(certificate != nil)
    }

    func socketDidSecure(_ sock: GCDAsyncSocket) { say("secured") }

    func socket(_ sock: GCDAsyncSocket, didWritePartialDataOfLength partialLength: UInt, tag: Int) {
        guard tag == Tag.content else { return }
        sent += partialLength
        showProgress()
    }

    func socket(_ sock: GCDAsyncSocket, didWriteDataWithTag tag: Int) {
        guard tag == Tag.content else { return }
        sent = UInt(content.count)
        showProgress()
        say("")
        guard case .sum = job else { return }
        // The end of our stream; the answer comes back on the other half.
        sock.perform { shutdown(sock.socketFD(), Int32(SHUT_WR)) }
    }

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
        let line = text(of: data)
        if tag == Tag.goAhead {
            if line != "OK" { quit(1, "the server has no TLS: \(line)") }
            return
        }
        answer = line
        sock.disconnect()
    }

    func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: Error?) {
        guard let answer else { quit(1, "no answer: \(err?.localizedDescription ?? "closed")") }
        print(answer)
        let expected = "OK \(Checksum.of(content)) \(content.count)"
        quit(answer == expected ? 0 : 1, answer == expected ? nil : "expected: \(expected)")
    }
}
