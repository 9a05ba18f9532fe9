import Testing

@testable import SocketCore

@Suite("The client's side of CONNECT")
struct TunnelTests {
    private let who = HTTPCredentials(user: "u", password: "p")

    private func tunnel(_ credentials: HTTPCredentials? = nil) -> TunnelHandshake {
        TunnelHandshake(host: "::1", port: 443, credentials: credentials)
    }

    private func text(_ tunnel: TunnelHandshake) -> String { String(decoding: tunnel.request, as: UTF8.self) }

    private func step(_ tunnel: inout TunnelHandshake, _ text: String) -> TunnelHandshake.Step {
        tunnel.receive(Array(text.utf8).span.bytes)
    }

    @Test("H17: asks with host and port, and takes any 2xx")
    func h17Opens() {
        var tunnel = tunnel(who)
        #expect(text(tunnel) == "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n")
        #expect(step(&tunnel, "HTTP/1.1 200 Connection esta") == .wait)
        #expect(step(&tunnel, "blished\r\nContent-Length: 7\r\n\r\nframes") == .open(taken: 30))
        var other = self.tunnel()
        #expect(step(&other, "HTTP/1.0 204 x\r\n\r\n") == .open(taken: 18))
    }

    @Test("H17: 407 is answered with credentials once")
    func h17SaysWhoOnce() {
        let refusal = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 3\r\n\r\nwho"
        var tunnel = tunnel(who)
        #expect(step(&tunnel, refusal) == .again(onNewConnection: false))
        #expect(text(tunnel).contains("\r\nProxy-Authorization: Basic dTpw\r\n"))
        guard case .refused(let second) = step(&tunnel, refusal) else {
            Issue.record("asked again")
            return
        }
        #expect(second.status == 407)
        #expect(second.body == Array("who".utf8))
        var nobody = self.tunnel()
        guard case .refused = step(&nobody, refusal) else {
            Issue.record("asked again without credentials")
            return
        }
    }

    @Test("H17: where the proxy ends the connection with its 407, a new one is asked for")
    func h17NewConnection() {
        let head = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: basic\r\n"
        var closing = tunnel(who)
        #expect(
            step(&closing, head + "Connection: close\r\nContent-Length: 0\r\n\r\n") == .again(onNewConnection: true))
        var endless = tunnel(who)
        #expect(step(&endless, head + "\r\nwho") == .wait)
        #expect(endless.receiveEnd() == .again(onNewConnection: true))
    }

    @Test("H17: a proxy that wants something else, or is none, is refused")
    func h17Refusals() {
        var digest = tunnel(who)
        let other = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Digest x\r\nContent-Length: 0\r\n\r\n"
        guard case .refused(let refusal) = step(&digest, other) else {
            Issue.record("answered")
            return
        }
        #expect(refusal.status == 407)
        var none = tunnel()
        guard case .broken(let problem) = step(&none, "SSH-2.0-x\r\n\r\n") else {
            Issue.record("taken")
            return
        }
        #expect(problem.contains("SSH-2.0-x"))
        var silent = tunnel()
        guard case .broken = silent.receiveEnd() else {
            Issue.record("went on")
            return
        }
    }
}
