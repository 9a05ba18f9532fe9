import SocketCore

/// TLS in words.
package enum TLSWords {
    /// For a row of the list, where a connection failed: `cert refused`, `alert unknown_ca`.
    package static func short(_ failure: TLSFailure) -> String {
        switch failure {
        case .closedAbort: "cut off (TLS)"
        case .handshakeTimeout: "TLS timeout"
        case .untrusted(_, let text): text
        case .refused: "cert refused"
        case .alert(_, let name): "alert \(name)"
        case .library(let reason): reason
        }
    }

    /// What the numbers of a TLS event say; empty for others.
    package static func detail(_ event: SocketEvent) -> String {
        switch event.kind {
        case .tlsQueued: event.first + event.second == 0 ? "" : behind(reads: event.first, writes: event.second)
        case .tlsBegan: event.first > 0 ? "with \(Format.size(event.first)) read ahead" : ""
        case .trustAsked: "A answers: accept once, refuse"
        case .trustAnswered: event.first == 1 ? "accepted" : "refused"
        case .secured:
            "after \(Format.duration(.microseconds(event.first)))\(event.second == 1 ? ", session resumed" : "")"
        case .alertReceived, .alertSent: TLSFailure.alertName(UInt8(truncatingIfNeeded: event.first))
        default: ""
        }
    }

    /// What came of looking at the peer's certificate, in a word.
    package static func name(_ verification: TLSVerification) -> String {
        switch verification {
        case .none: "none"
        case .passed: "verified"
        case .pinned: "pinned"
        case .notRequired: "not verified"
        case .acceptedByHand: "accepted by hand"
        case .failed: "failed"
        }
    }

    /// What is wrong with the certificate; nil: nothing.
    package static func problem(_ verification: TLSVerification) -> String? {
        switch verification {
        case .none, .passed, .pinned: nil
        case .notRequired(_, let text), .failed(_, let text): text
        case .acceptedByHand(let text): text
        }
    }

    /// `1F:0A:...`.
    package static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    /// `behind 2 reads and 1 write`.
    package static func behind(reads: Int, writes: Int) -> String {
        let parts = [(reads, "read"), (writes, "write")].filter { $0.0 > 0 }.map { Format.count($0.0, $0.1) }
        return parts.isEmpty ? "" : "behind " + parts.joined(separator: " and ")
    }

    /// One sentence between the bytes of the talk.
    package static func note(_ event: SocketEvent) -> String {
        let detail = detail(event)
        return switch event.kind {
        case .tlsQueued: detail.isEmpty ? "TLS asked for" : "TLS asked for, \(detail)"
        case .tlsBegan: detail.isEmpty ? "TLS handshake begins" : "TLS handshake begins, \(detail)"
        case .trustAsked: "the peer's certificate is not trusted; \(detail)"
        case .trustAnswered: "the peer's certificate was \(detail)"
        case .secured: "TLS is set up \(detail)"
        case .alertReceived: "the peer sent TLS alert \(detail)"
        case .alertSent: "we sent TLS alert \(detail)"
        default: detail
        }
    }
}
