import SocketCore

/// The layers below and above a connection. Only this type decides whether there is TLS or a WebSocket, and what
/// follows from that. Code that works with one of them gets it from the connection.
struct Layers {
    /// What bytes pass through on their way to and from the kernel.
    enum Wire {
        /// No layer: the bytes are what the peer's program sent.
        case plain
        /// TLS, once requested. It begins after the operations queued before it.
        case tls(TLSLayer)
    }

    /// The consumer of received bytes.
    enum Taker {
        /// The handle's reads. The handle is notified of everything.
        case handle
        /// A WebSocket, which is notified instead of the handle.
        case webSocket(WebSocketLayer)
    }

    var wire = Wire.plain
    var taker = Taker.handle

    @inline(__always)
    var tls: TLSLayer? { if case .tls(let layer) = wire { layer } else { nil } }

    @inline(__always)
    var webSocket: WebSocketLayer? { if case .webSocket(let layer) = taker { layer } else { nil } }

    /// Whether bytes pass unchanged because TLS wasn't requested.
    @inline(__always)
    var isWirePlain: Bool { if case .plain = wire { true } else { false } }

    /// Whether received bytes go to the handle's reads.
    @inline(__always)
    var isTakenByHandle: Bool { if case .handle = taker { true } else { false } }

    /// Whether there is neither TLS nor a WebSocket.
    var isEmpty: Bool { isWirePlain && isTakenByHandle }

    /// Whether FIN was received below TLS, which may still hold plaintext from before it.
    @inline(__always)
    var hasWireEnded: Bool { tls?.hasWireEnded == true }

    /// When the consumer must be woken, or `nil` for never.
    @inline(__always)
    var deadline: MonotonicTime? { isTakenByHandle ? nil : webSocket?.deadline }

    /// Whether received bytes are logged as they are. Those of WebSocket frames are not.
    var keepsBytes: Bool { webSocket?.isOpen != true }

    /// Whether a write's bytes are logged as they are.
    func keepsBytes(of write: OperationID) -> Bool {
        webSocket.map { write.number <= $0.lastPlainWrite.number } ?? true
    }
}

/// Observers of a connection's bytes, which change nothing.
struct Taps {
    /// The tap that looks for a WebSocket in forwarded bytes, or `nil` if there is none.
    var webSocket: WebSocketTap?
    /// The traffic log: none, or one.
    var traffic: [TrafficLog] = []

    var keepsTraffic: Bool { !traffic.isEmpty }

    /// Whether the bytes are frames of a forwarded WebSocket, and are shown as such.
    var seesFrames: Bool { webSocket?.isOpen == true }

    var isEmpty: Bool { webSocket == nil && traffic.isEmpty }
}

/// Shortcuts to the layers and taps.
extension Connection {
    @inline(__always)
    var tls: TLSLayer? { layers.tls }

    @inline(__always)
    var webSocket: WebSocketLayer? { layers.webSocket }

    /// Whether bytes from the kernel belong to TLS.
    var isWireEncrypted: Bool { !layers.isWirePlain && machine.upgrade.hasBegun }

    var tap: WebSocketTap? { rare?.taps.webSocket }

    /// Whether any tap observes the bytes. Checked at every step.
    var isTapped: Bool { rare.map { !$0.taps.isEmpty } ?? false }

    /// Whether traffic is kept. Checked at every step.
    var keepsTraffic: Bool { rare?.taps.keepsTraffic ?? false }

    /// Whether the bytes are frames of a forwarded WebSocket, and are shown as such.
    var seesFrames: Bool { rare?.taps.seesFrames ?? false }

    /// The traffic log, or `nil` if traffic isn't kept.
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
