import Glibc
import Testing

@testable import SocketCore
@testable import SocketRecords

/// The page that describes the wire has every field of every message, with its number, its name and its type. With
/// SOCKTUI_WRITE_DOCS=1, the blocks of the page are written again; what stands in parentheses stays.
@Suite("The page of the inspection wire")
struct InspectionPageTests {
    private static let root = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
    private static let path = "Sources/SocketKit/SocketKit.docc/InspectionWire.md"
    private static let page = text(path)

    /// The names of the messages in the page.
    private static let names = [
        "InspectionHello": "Hello", "InspectionTick": "Tick", "InspectionTraffic": "Traffic",
        "InspectionWatch": "Watch", "InspectionCommand": "Command", "WireWebSocketCommand": "WebSocketCommand",
        "WireVariant": "Variant", "SocketSnapshot": "Socket", "RelaySnapshot": "Leg", "Watermarks": "Marks",
        "QueueSnapshot": "Queue", "OperationSnapshot": "Operation", "KernelSnapshot": "Kernel",
        "ActivitySnapshot": "Activity", "CallbackSnapshot": "Callbacks", "CloseRecord": "Close",
        "SocketError": "Error", "SocketError.Attempt": "FailedAttempt", "ConnectSnapshot": "Connect",
        "ConnectSnapshot.Attempt": "Attempt", "SocketEvent": "Event", "TrafficItem": "Item",
        "WebSocketTraffic": "Message", "WebSocketFrameRecord": "Frame", "TLSSnapshot": "TLS",
        "TLSCertificate": "Certificate", "TLSTrust": "Question", "DatagramSnapshot": "Datagrams",
        "DatagramCounters": "DatagramCounters",
        "AssociationCounts": "Associations", "DatagramPeer": "Peer", "WebSocketPicture": "WebSocket",
        "HTTPHead": "Head", "HTTPField": "HeaderField", "WebSocketCloseReport": "Report",
        "WebSocketCloseFrame": "CloseFrame", "WebSocketObservation": "Observation", "WebSocketSnapshot": "Frames",
        "WebSocketMessageProgress": "Incoming", "WebSocketSendProgress": "Outgoing",
        "WebSocketCounters": "FrameCounters", "PerMessageDeflateParameters": "Compression",
        "EngineCounters": "Counters", "EngineTimes": "Times", "HostSnapshot": "Host",
        "HostSnapshot.TCP": "HostTCP", "Verdict": "Verdict", "HostNamespace": "Namespace",
        "InspectionRecord": "Record", "InspectionPeer": "OtherEnd", "PeerEnd": "End", "PeerEnd.Program": "Holder",
        "PeerEnd.Waiting": "Waiting",
        "FaultSnapshot": "Fault", "FaultSnapshot.Rule": "Rule", "FaultSnapshot.Hold": "Hold",
        "InspectionAnswer": "Answer", "ExchangeSnapshot": "Exchanges",
        "CallUpdate": "Calls", "SocketCall": "Call", "SocketCall.Gathered": "Gathered", "SocketCall.Poll": "Poll",
        "CallLosses": "CallLosses",
    ]

    @Test("every field of every message is in the page, and nothing else")
    func fields() {
        var messages = FieldRecorder.Messages()
        for root: any WireMessage.Type in [
            InspectionHello.self, InspectionTick.self, InspectionTraffic.self, InspectionWatch.self,
            InspectionCommand.self, InspectionRecord.self, SocketSnapshot.self, SocketEvent.self, WireVariant.self,
            InspectionPeer.self, InspectionAnswer.self, CallUpdate.self,
        ] { messages.visit(root) }
        let written = Self.written()
        let identifiers = Self.identifiers()
        #expect(messages.fields.count > 40 && Set(messages.fields.keys) == Set(Self.names.keys))
        #expect(Set(written.keys) == Set(Self.names.values))
        for (message, fields) in messages.fields {
            let expected = fields.map { field in
                let identifier = identifiers[message]?[field.number] ?? "?"
                return [
                    "\(field.number)", field.shape, Self.words(identifier),
                    field.message.flatMap { Self.names[$0] }.map { "`\($0)`" } ?? "",
                ].filter { !$0.isEmpty }.joined(separator: " ")
            }
            let name = Self.names[message] ?? message
            let found = written[name] ?? []
            if getenv("SOCKTUI_WRITE_DOCS") != nil, found.map(\.plain) != expected { rewrite(name, found, expected) }
            #expect(found.map(\.plain) == expected, "\(message): \(expected.joined(separator: ", "))")
        }
    }

    /// Writes a block of the page again.
    private func rewrite(_ name: String, _ found: [Entry], _ expected: [String]) {
        let entries = expected.map { plain in found.first { $0.plain == plain }?.text ?? plain }
        var lines = ["- `\(name)`:"]
        for word in entries.joined(separator: ", ").split(separator: " ") {
            if lines[lines.count - 1].count + word.count + 1 > 120 { lines.append(" ") }
            lines[lines.count - 1] += " \(word)"
        }
        let page = Self.text(Self.path)
        guard let start = page.firstRange(of: "\n- `\(name)`: ")?.lowerBound,
            let end = ["\n- ", "\n\n"].compactMap({ page[page.index(after: start)...].firstRange(of: $0)?.lowerBound })
                .min(),
            let file = fopen("\(Self.root)/\(Self.path)", "w")
        else { return }
        defer { fclose(file) }
        fputs(page[..<start] + "\n" + lines.joined(separator: "\n") + page[end...], file)
    }

    /// An entry of a block, and the same without what stands in parentheses.
    private struct Entry {
        var text = ""
        var plain = ""

        mutating func trim() {
            text = text.split(separator: " ").joined(separator: " ")
            plain = plain.split(separator: " ").joined(separator: " ")
        }
    }

    @Test("every kind of frame and every word of a command is in the page")
    func words() {
        for kind in InspectionFrame.Kind.allCases {
            #expect(Self.page.contains("| \(kind.rawValue) `\(kind)` |"), "\(kind)")
        }
        var count = 0
        for file in ["InspectionCommand.swift", "WebSocketCommand+Wire.swift"] {
            for line in Self.text("Sources/SocketRecords/Inspection/\(file)").split(separator: "\n") {
                guard let start = line.firstRange(of: "        case \"") else { continue }
                let word = line[start.upperBound...].prefix { $0 != "\"" }
                guard !word.contains(".") else { continue }
                count += 1
                #expect(Self.page.contains("`\(word)`"), "\(word)")
            }
        }
        #expect(count >= 28)
    }

    /// `isReadingPaused` is "reading paused".
    private static func words(_ identifier: String) -> String {
        let words = identifier.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
        let prefix = ["is ", "has "].first { words.hasPrefix($0) } ?? ""
        return String(words.dropFirst(prefix.count))
    }

    /// The entries of each block of the page.
    private static func written() -> [String: [Entry]] {
        let start = page.firstRange(of: "## Blocks")?.upperBound ?? page.endIndex
        let end = page[start...].firstRange(of: "\nVariants:")?.lowerBound ?? page.endIndex
        var blocks: [String: [Entry]] = [:]
        for block in page[start..<end].split(separator: "\n- `").dropFirst() {
            let name = String(block.prefix { $0 != "`" })
            var entries = [Entry()]
            var depth = 0
            for character in block.dropFirst(name.count + 2) {
                if character == "," && depth == 0 {
                    entries.append(Entry())
                    continue
                }
                if character == "(" { depth += 1 }
                let shown = character == "\n" ? " " : character
                entries[entries.count - 1].text.append(shown)
                if depth == 0 { entries[entries.count - 1].plain.append(shown) }
                if character == ")" { depth -= 1 }
            }
            for index in entries.indices { entries[index].trim() }
            blocks[name] = entries
        }
        return blocks
    }

    /// The names of all fields in the source, by message and number.
    private static func identifiers() -> [String: [UInt32: String]] {
        let files = [
            "SocketSnapshot+Wire", "InspectionMessages", "InspectionRecord", "InspectionCommand",
            "DatagramSnapshot+Wire",
            "TLSSnapshot+Wire", "WebSocketCommand+Wire", "WebSocketPicture+Wire", "WebSocketTraffic+Wire",
            "WireVariants", "HostSnapshot+Wire", "ExchangeSnapshot+Wire", "SocketCall+Wire",
        ]
        var names: [String: [UInt32: String]] = [:]
        for file in files {
            var message = ""
            let words = text("Sources/SocketRecords/Inspection/\(file).swift").split { " \n():,&".contains($0) }
            for (place, word) in words.enumerated() {
                switch word {
                case "struct", "extension": message = String(words[place + 1])
                case "coder.field", "coder.exactField", "coder.inlined":
                    guard let number = UInt32(words[place + 1]) else { continue }
                    names[message, default: [:]][number] = String(words[place + 2])
                default: continue
                }
            }
        }
        return names
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen("\(root)/\(path)", "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A coder that notes which fields a message has.
private struct FieldRecorder: WireCoder {
    struct Field {
        var number: UInt32
        var shape: String
        /// The type of the message that it holds.
        var message: String?
    }

    /// The fields of messages, and of those within them.
    struct Messages {
        private(set) var fields: [String: [Field]] = [:]

        mutating func visit(_ message: any WireMessage.Type) {
            let name = FieldRecorder.name(message)
            guard fields[name] == nil else { return }
            let recorder = FieldRecorder.fields(of: message)
            fields[name] = recorder.fields
            for inner in recorder.messages { visit(inner) }
        }
    }

    private(set) var fields: [Field] = []
    private(set) var messages: [any WireMessage.Type] = []

    private static func fields<Message: WireMessage>(of _: Message.Type) -> FieldRecorder {
        var recorder = FieldRecorder()
        var message = Message.blank
        // A recorder never throws.
        try? message.fields(&recorder)
        return recorder
    }

    private static func name(_ message: any WireMessage.Type) -> String {
        String(String(reflecting: message).drop { $0 != "." }.dropFirst())
    }

    private mutating func note<Value: WireValue>(_ number: UInt32, _ shape: String, _: Value.Type) {
        let message = Value.self as? any WireMessage.Type
        if let message { messages.append(message) }
        fields.append(Field(number: number, shape: shape, message: message.map(Self.name)))
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) { note(number, "", Value.self) }
    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        note(number, "optional", Value.self)
    }
    mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        note(number, "repeated", Value.self)
    }
}
