import SocketCore

/// What lies below a connection and above it. Whether there is TLS or a WebSocket, and what follows from that, is asked
/// here and nowhere else; what works with one of them takes it from the connection.
struct Layers {
    /// What bytes pass on their way from the kernel and to it.
    enum Wire {
        /// Nothing: they are what the peer's program sent.
        case plain
        /// TLS, from when it was asked for; it begins once what was queued before it is done.
        case tls(TLSLayer)
    }

    /// Who takes what was received.
    enum Taker {
        /// The reads of the handle, which is told of all that happens.
        case handle
        /// A WebSocket, which is told instead of the handle.
        case webSocket(WebSocketLayer)
    }

    var wire = Wire.plain
    var taker = Taker.handle

    @inline(__always)
    var tls: TLSLayer? { if case .tls(let layer) = wire { layer } else { nil } }

    @inline(__always)
    var webSocket: WebSocketLayer? { if case .webSocket(let layer) = taker { layer } else { nil } }

    /// Whether bytes pass unchanged: TLS was not asked for.
    @inline(__always)
    var isWirePlain: Bool { if case .plain = wire { true } else { false } }

    /// Whether received bytes are for the reads of the handle.
    @inline(__always)
    var isTakenByHandle: Bool { if case .handle = taker { true } else { false } }

    /// Whether there is nothing below and nothing above.
    var isEmpty: Bool { isWirePlain && isTakenByHandle }

    /// Whether the peer's end came below TLS, which may still have plaintext from before it.
    @inline(__always)
    var hasWireEnded: Bool { tls?.hasWireEnded == true }

    /// When the taker has to be woken; nil: at no time.
    @inline(__always)
    var deadline: MonotonicTime? { isTakenByHandle ? nil : webSocket?.deadline }

    /// Whether bytes that come are kept as they are, for a person to look at: not those of frames.
    var keepsBytes: Bool { webSocket?.isOpen != true }

    /// Whether those of a write are.
    func keepsBytes(of write: OperationID) -> Bool {
        webSocket.map { write.number <= $0.lastPlainWrite.number } ?? true
    }
}

/// Who looks at what passes, and has no say in it.
struct Taps {
    /// Who looks for a WebSocket among the bytes of others that pass here; nil: nobody, or there is none.
    var webSocket: WebSocketTap?
    /// What is kept of the traffic: none, or one.
    var traffic: [TrafficLog] = []

    var keepsTraffic: Bool { !traffic.isEmpty }

    /// Whether what passes is the frames of others, and is shown as such.
    var seesFrames: Bool { webSocket?.isOpen == true }

    /// Whether nobody looks.
    var isEmpty: Bool { webSocket == nil && traffic.isEmpty }
}

/// Each as if it were the connection's own.
extension Connection {
    @inline(__always)
    var tls: TLSLayer? { layers.tls }

    @inline(__always)
    var webSocket: WebSocketLayer? { layers.webSocket }

    /// Whether bytes from the kernel are TLS's.
    var isWireEncrypted: Bool { !layers.isWirePlain && machine.upgrade.hasBegun }

    var tap: WebSocketTap? { rare?.taps.webSocket }

    /// Whether anybody looks at what passes: asked at every step.
    var isTapped: Bool { rare.map { !$0.taps.isEmpty } ?? false }

    /// Whether traffic is kept: asked at every step.
    var keepsTraffic: Bool { rare?.taps.keepsTraffic ?? false }

    /// Whether what passes is the frames of others, and is shown as such.
    var seesFrames: Bool { rare?.taps.seesFrames ?? false }

    /// What is kept of its traffic; nil: nothing is.
    var traffic: TrafficLog? {
        get { rare?.taps.traffic.first }
        _modify {
            var traffic = rare?.taps.traffic.popLast()
            let before = traffic?.cost ?? 0
            defer {
                let change = (traffic?.cost ?? 0) - before
                if let traffic { madeRare.taps.traffic.append(traffic) }
                if change != 0 { engine.charge(change) }
            }
            yield &traffic
        }
    }
}
