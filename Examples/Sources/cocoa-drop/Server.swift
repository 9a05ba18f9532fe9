import CocoaAsyncSocket
import Foundation

/// One client, and what it has asked for.
final class Visitor {
    enum State {
        case asked
        case sending(name: String, length: UInt)
        case summing
    }

    let socket: GCDAsyncSocket
    var state = State.asked
    var sum = Checksum()
    var received = 0

    init(_ socket: GCDAsyncSocket) { self.socket = socket }
}

/// Takes files, and tells who asks by UDP where it is.
final class Server: NSObject {
    private let queue = DispatchQueue(label: "server")
    private let folder: URL
    private let identity: SecIdentity?
    private var listener: GCDAsyncSocket!
    private var beacon: GCDAsyncUdpSocket!
    private var visitors: [ObjectIdentifier: Visitor] = [:]

    init(folder: String, certificate: String?) {
        self.folder = URL(fileURLWithPath: folder, isDirectory: true)
        identity = certificate.map { SecIdentity(certificateFile: $0) }
        super.init()
        listener = GCDAsyncSocket(delegate: self, delegateQueue: queue)
        beacon = GCDAsyncUdpSocket(delegate: self, delegateQueue: queue)
    }

    func start(port: UInt16, discoveryPort: UInt16) throws {
        try listener.accept(onInterface: "localhost", port: port)
        try beacon.enableReusePort(true)
        beacon.setIPv6Enabled(false)
        try beacon.bind(toPort: discoveryPort)
        try beacon.joinMulticastGroup(Discovery.group, onInterface: "lo")
        beacon.setReceiveFilter(
            { data, _, context in
                // Whatever else comes to this port is not ours.
                guard String(decoding: data, as: UTF8.self) == Discovery.question else { return false }
                context.pointee = NSDate()
                return true
            }, with: DispatchQueue(label: "filter"))
        try beacon.beginReceiving()
        print("listening on port \(listener.localPort), found by UDP port \(beacon.localPort())")
    }
}

extension Server: GCDAsyncUdpSocketDelegate {
    func udpSocket(
        _ sock: GCDAsyncUdpSocket, didReceive data: Data, fromAddress address: Data,
        withFilterContext filterContext: Any?
    ) {
        let answer = Data("\(Discovery.answer) \(listener.localPort)".utf8)
        sock.send(answer, toAddress: address, withTimeout: Patience.discovery, tag: 0)
        let host = GCDAsyncUdpSocket.host(fromAddress: address) ?? "somebody"
        say("\(host):\(GCDAsyncUdpSocket.port(fromAddress: address)) asked at \(filterContext ?? "some time")")
    }

    func udpSocketDidClose(_ sock: GCDAsyncUdpSocket, withError error: Error?) {
        quit(1, "discovery ended: \(error?.localizedDescription ?? "closed")")
    }
}

extension Server: GCDAsyncSocketDelegate {
    func socket(_ sock: GCDAsyncSocket, didAcceptNewSocket newSocket: GCDAsyncSocket) {
        // A client's end of stream ends SUM; our answer still has to reach it.
        newSocket.autoDisconnectOnClosedReadStream = false
        visitors[ObjectIdentifier(newSocket)] = Visitor(newSocket)
        newSocket.readLine(tag: Tag.command)
    }

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
        guard let visitor = visitors[ObjectIdentifier(sock)] else { return }
        if tag == Tag.command { return obey(text(of: data), visitor) }
        visitor.sum.add(data)
        switch visitor.state {
        case .sending(let name, _): keep(data, as: name, visitor)
        case .summing: sock.readData(withTimeout: Patience.content, tag: Tag.content)
        case .asked: break
        }
    }

    private func obey(_ line: String, _ visitor: Visitor) {
        let words = line.split(separator: " ")
        let socket = visitor.socket
        switch words.first {
        case "TLS" where identity != nil && !socket.isSecure:
            socket.write(line: "OK", tag: Tag.answer)
            socket.startTLS([
                GCDAsyncSocketSSLIsServer: NSNumber(value: true),
                GCDAsyncSocketSSLCertificates: NSArray(array: [identity!]),
            ])
            socket.readLine(tag: Tag.command)
        case "PUT" where words.count == 3:
            guard let length = UInt(words[2]), length > 0, !words[1].contains("/") else { return refuse(line, socket) }
            visitor.state = .sending(name: String(words[1]), length: length)
            socket.readData(toLength: length, withTimeout: Patience.content, tag: Tag.content)
        case "SUM":
            visitor.state = .summing
            socket.readData(withTimeout: Patience.content, tag: Tag.content)
        default:
            refuse(line, socket)
        }
    }

    private func refuse(_ line: String, _ socket: GCDAsyncSocket) {
        socket.write(line: "NO \(line.prefix(40))", tag: Tag.answer)
        socket.disconnectAfterWriting()
    }

    private func keep(_ data: Data, as name: String, _ visitor: Visitor) {
        do {
            try data.write(to: folder.appendingPathComponent(name))
            visitor.socket.write(line: "OK \(visitor.sum) \(visitor.sum.count)", tag: Tag.answer)
        } catch {
            visitor.socket.write(line: "NO \(error.localizedDescription)", tag: Tag.answer)
        }
        visitor.socket.disconnectAfterWriting()
    }

    func socket(_ sock: GCDAsyncSocket, didReadPartialDataOfLength partialLength: UInt, tag: Int) {
        guard let visitor = visitors[ObjectIdentifier(sock)], case .sending(let name, let length) = visitor.state else {
            return
        }
        let before = visitor.received * 4 / Int(length)
        visitor.received += Int(partialLength)
        let quarter = visitor.received * 4 / Int(length)
        if quarter > before { say("\(name): \(quarter * 25) %") }
    }

    func socketDidCloseReadStream(_ sock: GCDAsyncSocket) {
        guard let visitor = visitors[ObjectIdentifier(sock)] else { return }
        if case .summing = visitor.state {
            sock.write(line: "OK \(visitor.sum) \(visitor.sum.count)", tag: Tag.answer)
        }
        sock.disconnectAfterWriting()
    }

    func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutReadWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval {
        // Who sends slowly gets a second chance; who sends nothing does not.
        elapsed <= Patience.content && length > 0 ? Patience.content : 0
    }

    func socketDidSecure(_ sock: GCDAsyncSocket) { say("\(sock.connectedHost ?? "a client") is secured") }

    func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: Error?) {
        visitors[ObjectIdentifier(sock)] = nil
        guard let error = err as NSError? else { return }
        if error.domain == GCDAsyncSocketErrorDomain, error.code == GCDAsyncSocketError.closedError.rawValue { return }
        say("a client is gone: \(error.localizedDescription)")
    }
}
