import Dispatch
import InspectorCore
import SocketExport
import SocketKit
import SocketWorkshop

/// A connection to the server that a recording is replayed to. Writes are queued and never awaited. The replay waits
/// only for received bytes, so neither side can block the other.
package struct PlayedConnection {
    /// The result of waiting for bytes.
    package enum Reading {
        case bytes([UInt8])
        /// Nothing arrived in time.
        case nothing
        case ended(AnswerEnding)
    }

    private let socket: AsyncSocket

    /// Connects, within the time allowed for an answer. `receiveBuffer` sets SO_RCVBUF if it is not `nil`.
    package init(
        _ request: ReplayRequest, on engine: SocketEngine, receiveBuffer: Int? = nil
    ) async throws(SocketError) {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        configuration.timeoutVerdict = .failOperation
        configuration.options.noDelay = true
        configuration.options.receiveBuffer = receiveBuffer
        socket =
            if let tls = request.tls {
                try await AsyncSocket.connect(
                    to: request.endpoint, on: engine, timeout: request.patience, configuration: configuration, tls: tls)
            } else {
                try await AsyncSocket.connect(
                    to: request.endpoint, on: engine, timeout: request.patience, configuration: configuration)
            }
    }

    package func write(_ bytes: some Sequence<UInt8>) { socket.write(Array(bytes)) }

    /// Sends FIN after the queued writes.
    package func finish() { socket.halfClose() }

    package func close() { socket.disconnect(.now) }

    package func reset() { socket.disconnect(.reset) }

    /// The number of bytes that the kernel has not accepted yet.
    package var pending: Int { socket.pendingWriteBytes }

    /// Waits for the next bytes, at most `limit` of them.
    ///
    /// Never inlined, because the Swift 6.3.1 optimizer crashes on loops that contain such a call.
    @inline(never)
    package func read(limit: Int = 1 << 16, for time: Duration) async -> Reading {
        let kind = ReadRequest.Kind.available(limit: limit)
        do throws(SocketError) {
            return .bytes(try await socket.read(ReadRequest(kind, timeout: max(time, .milliseconds(1)))))
        } catch {
            return reading(after: error)
        }
    }

    /// Waits for exactly that many bytes.
    @inline(never)
    package func skip(_ count: Int, within time: Duration) async -> Bool {
        guard count > 0 else { return true }
        do throws(SocketError) {
            _ = try await socket.read(ReadRequest(.length(count), timeout: time))
            return true
        } catch {
            return false
        }
    }

    private func reading(after error: SocketError) -> Reading {
        switch error.reason {
        case .readTimeout: return .nothing
        case .closedByPeer: return .ended(.closed)
        case .tls(.closedAbort): return .ended(.cut)
        case .notConnected:
            switch socket.closeRecord?.error?.reason {
            case .closedByPeer?: return .ended(.closed)
            case .tls(.closedAbort)?: return .ended(.cut)
            default: return .ended(.reset)
            }
        default: return .ended(.reset)
        }
    }
}

/// Runs a task and waits for it, on a thread that has nothing else to do.
package enum Awaited {
    package static func result<Value: Sendable>(of body: @escaping @Sendable () async -> Value) -> Value {
        let value = Lock<Value?>(nil)
        let isThere = DispatchSemaphore(value: 0)
        Task {
            let result = await body()
            value.withLock { $0 = result }
            isThere.signal()
        }
        isThere.wait()
        guard let value = value.withLock({ $0 }) else { preconditionFailure("signalled once it is there") }
        return value
    }
}

extension ReplayRequest {
    /// Returns the session that the filter selects, and its traffic.
    package func session() throws(Refusal) -> (row: ExportRow, conversation: ExportedConversation, isDamaged: Bool) {
        let capture = CaptureFile(path: file, filter: filter)
        let (rows, start, problem) = try capture.rows()
        let row = try capture.one(of: rows)
        guard row.isStream else { throw Refusal(sentence: "\(row.id): only streams can be replayed, not datagrams") }
        let conversation = try capture.conversation(
            of: row, PacketSelection(flows: [row.flow], span: .zero ... .seconds(Int64.max / 2), start: start),
            whenCut: "export a part of it first")
        // Its bytes are sent again, and the server's are compared with the answers.
        for side in ExportedConversation.Side.allCases where conversation.missing(of: side) > 0 {
            throw Refusal(
                sentence:
                    "\(row.id): \(conversation.missing(of: side)) of the \(side.rawValue)'s bytes are not in the file")
        }
        let first = conversation.parts.first { $0.side == .client }?.bytes ?? []
        // A TLS handshake record, of any version.
        if !row.isPlaintext, first.starts(with: [0x16, 0x03]) {
            throw Refusal(
                sentence: "\(row.id): it is TLS-encrypted; only recordings made by socktui have the plaintext")
        }
        if row.isPlaintext, tls == nil {
            StandardStream.error.writeLine("socktui: \(row.id) used TLS; --connect tls://\(address) uses it again")
        }
        return (row, conversation, problem != nil)
    }
}
