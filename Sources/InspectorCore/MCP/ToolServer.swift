import SocketCore

/// A server of the Model Context Protocol, without the work of its tools: JSON-RPC 2.0, one message per line.
///
/// https://modelcontextprotocol.io/specification/2025-06-18
package struct ToolServer: Sendable {
    /// How to handle a message.
    package enum Step: Equatable, Sendable {
        /// Write this line.
        case reply(JSON)
        /// Run a tool, and reply with `reply(_:to:)`.
        case call(ToolCall, id: JSON)
    }

    /// JSON-RPC's error codes.
    private enum Code: Int64 {
        case unreadable = -32700
        case invalid = -32600
        case unknownMethod = -32601
        case wrongParameters = -32602
    }

    /// The supported versions, newest first.
    package static let versions = ["2025-11-25", "2025-06-18", "2024-11-05"]
    /// The maximum length of a line in bytes.
    package static let longestLine = 1 << 20

    private let version: String
    private var isInitialized = false

    /// `version` is the version of the program.
    package init(version: String) { self.version = version }

    /// Handles one line, without its line ending.
    package mutating func absorb(_ line: [UInt8]) -> Step? {
        guard line.count <= Self.longestLine else {
            return refuse(.null, .unreadable, "a line can have at most \(Self.longestLine) bytes")
        }
        do throws(JSONReader.Problem) {
            return absorb(try JSONReader.read(line))
        } catch {
            return refuse(.null, .unreadable, error.message)
        }
    }

    private mutating func absorb(_ message: JSON) -> Step? {
        guard case .object = message else {
            return refuse(.null, .invalid, "a message is one object; batches are not supported")
        }
        guard message["jsonrpc"]?.string == "2.0" else { return refuse(.null, .invalid, "jsonrpc must be \"2.0\"") }
        guard let method = message["method"]?.string else {
            // A response to a request that was never made.
            return message["result"] != nil || message["error"] != nil
                ? nil : refuse(message["id"] ?? .null, .invalid, "method is missing")
        }
        // Notifications get no response, not even an error.
        guard let id = message["id"] else { return nil }
        switch id {
        case .string, .integer: return answer(method, message["params"] ?? .object([]), id)
        default: return refuse(.null, .invalid, "id must be a string or an integer")
        }
    }

    private mutating func answer(_ method: String, _ parameters: JSON, _ id: JSON) -> Step {
        switch method {
        case "initialize": return initialize(parameters, id)
        case "ping": return reply(.object([]), to: id)
        case _ where !isInitialized:
            return refuse(id, .invalid, "initialize must come first")
        case "tools/list":
            return reply(["tools": .array(ToolCall.Kind.allCases.map(\.description))], to: id)
        case "tools/call":
            do throws(ToolCall.Problem) {
                return .call(try ToolCall(parameters), id: id)
            } catch {
                return refuse(id, .wrongParameters, error.sentence)
            }
        default: return refuse(id, .unknownMethod, "no such method: \(method)")
        }
    }

    private mutating func initialize(_ parameters: JSON, _ id: JSON) -> Step {
        guard let wanted = parameters["protocolVersion"]?.string else {
            return refuse(id, .wrongParameters, "protocolVersion is missing")
        }
        isInitialized = true
        let spoken = Self.versions.contains(wanted) ? wanted : Self.versions[0]
        return reply(
            [
                "protocolVersion": .string(spoken), "capabilities": ["tools": [:]],
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

    /// Returns the line that responds to a call.
    package static func reply(_ result: ToolResult, to id: JSON) -> JSON {
        ["jsonrpc": "2.0", "id": id, "result": result.json]
    }
}
