import SocketCore

/// A server of the Model Context Protocol, without the work of its tools: JSON-RPC 2.0, one message per line.
///
/// https://modelcontextprotocol.io/specification/2025-11-25
package struct ToolServer: Sendable {
    /// A version of the protocol.
    package enum Version: String, CaseIterable, Comparable, Sendable {
        case november2024 = "2024-11-05"
        /// Adds annotations of tools, and batches.
        case march2025 = "2025-03-26"
        /// Adds structured results, and removes batches.
        case june2025 = "2025-06-18"
        /// Reports wrong arguments as results, so that a model sees them.
        case november2025 = "2025-11-25"

        package static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }

        /// The version to speak with clients whose own version is unknown here.
        static let newest = november2025
    }

    /// How to handle a message.
    package enum Step: Equatable, Sendable {
        /// Write this answer.
        case reply(JSON)
        /// Run a tool, and reply with `reply(_:to:)`.
        case call(ToolCall, id: JSON)
        /// Stop the call with this identifier, and don't answer it.
        case cancel(id: JSON)
    }

    /// What one line asks for.
    package struct Request: Equatable, Sendable {
        package var steps: [Step]
        /// Whether its answers are written together, as an array.
        package var isBatch = false
    }

    /// JSON-RPC's error codes.
    private enum Code: Int64 {
        case unreadable = -32700
        case invalid = -32600
        case unknownMethod = -32601
        case wrongParameters = -32602
        /// The server's own: it has too much to do.
        case busy = -32000
    }

    /// The maximum length of a line in bytes.
    package static let longestLine = 1 << 20
    /// The most messages of a batch.
    package static let longestBatch = 64

    private let version: String
    /// The version agreed on, or `nil` before `initialize`.
    private var spoken: Version?

    /// `version` is the version of the program.
    package init(version: String) { self.version = version }

    /// Handles one line, without its line ending.
    package mutating func absorb(_ line: [UInt8]) -> Request {
        guard line.count <= Self.longestLine else {
            return Request(steps: [refuse(.null, .unreadable, "a line can have at most \(Self.longestLine) bytes")])
        }
        do throws(JSONReader.Problem) {
            let message = try JSONReader.read(line)
            if case .array(let messages) = message, spoken == .march2025 { return batch(messages) }
            return Request(steps: absorb(message).map { [$0] } ?? [])
        } catch {
            return Request(steps: [refuse(.null, .unreadable, error.message)])
        }
    }

    private mutating func batch(_ messages: [JSON]) -> Request {
        guard (1...Self.longestBatch).contains(messages.count) else {
            return Request(steps: [refuse(.null, .invalid, "a batch has 1 to \(Self.longestBatch) messages")])
        }
        let steps = messages.compactMap { message -> Step? in
            guard message["method"]?.string != "initialize" else {
                return refuse(message["id"] ?? .null, .invalid, "initialize must not be in a batch")
            }
            return absorb(message)
        }
        return Request(steps: steps, isBatch: true)
    }

    private mutating func absorb(_ message: JSON) -> Step? {
        guard case .object = message else {
            return refuse(.null, .invalid, "a message must be one object; only version 2025-03-26 has batches")
        }
        guard message["jsonrpc"]?.string == "2.0" else { return refuse(.null, .invalid, "jsonrpc must be \"2.0\"") }
        guard let method = message["method"]?.string else {
            // A response to a request that was never made.
            return message["result"] != nil || message["error"] != nil
                ? nil : refuse(message["id"] ?? .null, .invalid, "method is missing")
        }
        // Notifications get no response, not even an error.
        guard let id = message["id"] else {
            guard method == "notifications/cancelled" else { return nil }
            return (message["params"]?["requestId"]).map { .cancel(id: $0) }
        }
        switch id {
        case .string, .integer: return answer(method, message["params"] ?? .object([]), id)
        default: return refuse(.null, .invalid, "id must be a string or an integer")
        }
    }

    private mutating func answer(_ method: String, _ parameters: JSON, _ id: JSON) -> Step {
        switch method {
        case "initialize": return initialize(parameters, id)
        case "ping": return reply(.object([]), to: id)
        case _ where spoken == nil:
            return refuse(id, .invalid, "initialize must come first")
        case "tools/list":
            let tools = ToolCall.Kind.allCases.map { $0.description(in: spoken ?? .newest) }
            return reply(["tools": .array(tools)], to: id)
        case "tools/call":
            do throws(ToolCall.Problem) {
                return .call(try ToolCall(parameters), id: id)
            } catch {
                guard error.isOfArguments, let spoken, spoken >= .november2025 else {
                    return refuse(id, .wrongParameters, error.sentence)
                }
                return .reply(reply(.failure(error.sentence), to: id))
            }
        default: return refuse(id, .unknownMethod, "no such method: \(method)")
        }
    }

    private mutating func initialize(_ parameters: JSON, _ id: JSON) -> Step {
        guard let wanted = parameters["protocolVersion"]?.string else {
            return refuse(id, .wrongParameters, "protocolVersion is missing")
        }
        let spoken = Version(rawValue: wanted) ?? .newest
        self.spoken = spoken
        return reply(
            [
                "protocolVersion": .string(spoken.rawValue), "capabilities": ["tools": [:]],
                "serverInfo": ["name": "socktui", "version": .string(version)],
                "instructions": "Explains why programs on this Linux host hang on their sockets. Changes nothing.",
            ], to: id)
    }

    private func reply(_ result: JSON, to id: JSON) -> Step {
        .reply(["jsonrpc": "2.0", "id": id, "result": result])
    }

    private func refuse(_ id: JSON, _ code: Code, _ message: String) -> Step {
        .reply(["jsonrpc": "2.0", "id": id, "error": ["code": .integer(code.rawValue), "message": .string(message)]])
    }

    /// Returns the answer to a call.
    package func reply(_ result: ToolResult, to id: JSON) -> JSON {
        ["jsonrpc": "2.0", "id": id, "result": result.json(in: spoken ?? .newest)]
    }

    /// Returns the answer to a call that can't be accepted now.
    package func busy(_ sentence: String, _ id: JSON) -> Step { refuse(id, .busy, sentence) }
}
