import SocketCore
import Testing

@testable import SocketKit

/// What lies below a connection and above it, and who looks on, as values.
@Suite struct LayersTests {
    private let operation = OperationID(7)

    private func tls() throws -> TLSLayer {
        try TLSLayer.make(TLSContexts.context(for: .client()), host: "peer.example", address: "peer.example:443")
    }

    private func webSocket() throws -> WebSocketLayer {
        let configuration = WebSocketConfiguration()
        let plan = try WebSocketPlan(WebSocketURL.parse("ws://peer.example/"), configuration)
        return WebSocketLayer(
            plan, handle: WebSocket(engine: SocketEngine(), configuration: configuration),
            now: MonotonicTime(nanoseconds: 1))
    }

    @Test func aNewConnectionHasNone() {
        let layers = Layers()
        #expect(layers.isEmpty && layers.isWirePlain && layers.isTakenByHandle)
        #expect(layers.tls == nil && layers.webSocket == nil)
        #expect(!layers.hasWireEnded && layers.deadline == nil)
        #expect(layers.keepsBytes && layers.keepsBytes(of: operation))
    }

    @Test func TLSIsOnTheWireAndEndsBeforeItsPlaintext() throws {
        var layers = Layers()
        let layer = try tls()
        layers.wire = .tls(layer)
        #expect(layers.tls === layer && !layers.isWirePlain && layers.isTakenByHandle && !layers.isEmpty)
        #expect(!layers.hasWireEnded)
        layer.hasWireEnded = true
        #expect(layers.hasWireEnded)
    }

    @Test func aWebSocketTakesTheBytesOfTheHandleAndHidesThemOnceItIsOpen() throws {
        var layers = Layers()
        let layer = try webSocket()
        layers.taker = .webSocket(layer)
        #expect(layers.webSocket === layer && layers.isWirePlain && !layers.isTakenByHandle && !layers.isEmpty)
        #expect(layers.deadline == layer.openDeadline && layers.deadline != nil)
        #expect(layers.keepsBytes)
        layer.stage = .open
        #expect(!layers.keepsBytes)
    }

    @Test func theLastWriteOfTheOpeningAndThoseBeforeItAreNoFrames() throws {
        var layers = Layers()
        let layer = try webSocket()
        layers.taker = .webSocket(layer)
        layer.lastPlainWrite = operation
        #expect(layers.keepsBytes(of: operation) && layers.keepsBytes(of: OperationID(operation.number - 1)))
        #expect(!layers.keepsBytes(of: OperationID(operation.number + 1)))
    }

    @Test func keptTrafficIsATap() {
        var taps = Taps()
        #expect(taps.isEmpty && !taps.keepsTraffic && !taps.seesFrames)
        taps.traffic.append(TrafficLog())
        #expect(!taps.isEmpty && taps.keepsTraffic && !taps.seesFrames)
    }
}
