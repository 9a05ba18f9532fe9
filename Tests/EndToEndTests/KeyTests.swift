import Glibc
import InspectorCore
import InspectorScreen
import SocketKit
import SocketRecords
import SocketTestSupport
import Testing

/// Every key of the key table, pressed in a terminal. Whoever adds a key adds what must come of it to `KeyCase`.
@Suite("Keys", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(15)), .serialized)
struct KeyTests {
    @Test("every key of the table has a case, and does what it says", arguments: KeyContext.allCases)
    func keys(place: KeyContext) throws {
        let listener = try GreetingListener()
        var tried: Set<Key> = []
        for binding in KeyTable.standard.bindings(in: place) {
            for key in binding.keys where tried.insert(key).inserted {
                guard let wanted = KeyCase.of(binding.line, in: place) else {
                    Issue.record("\(key.label) in \(place): nothing says what \(binding.line) must do")
                    continue
                }
                try KeyPress(key, in: place, port: listener.port).expect(wanted)
            }
        }
        #expect(!tried.isEmpty)
    }
}

/// The program at the beginning of a place, and one key of it.
private final class KeyPress {
    private let key: Key
    private let place: KeyContext
    private let inspection: Inspection
    private let folder: TemporaryFolder
    private var tmux: Tmux { inspection.tmux }

    init(_ key: Key, in place: KeyContext, port: UInt16) throws {
        (self.key, self.place) = (key, place)
        folder = try TemporaryFolder()
        let addresses = Array(repeating: "127.0.0.1:\(port)", count: 12).joined(separator: " ")
        var opening = place == .start ? "" : "connect \(addresses)"
        if place == .rewound {
            let file = fopen(folder.path + "/minute.pcapng", "w")
            let minute = Self.minute
            #expect(fwrite(minute, 1, minute.count, file) == minute.count && fclose(file) == 0)
            opening = "open \(folder.path)/minute.pcapng --at 30"
        }
        if place == .output { opening = "run" }
        let command = place == .output ? "-- sh -c 'seq 99; exec sleep 999'" : ""
        inspection = try Inspection(
            "\(opening) --log \(folder.path)/log \(command)", height: place == .detail ? 16 : 24,
            recent: "1700000000\texample.invalid:1\n", editor: "exit 3;")
        if place == .start {
            try inspection.wait(for: "example.invalid:1")
        } else if place == .output {
            try inspection.wait(for: "5 Output")
            try tmux.keys("5")
            try inspection.wait(for: "\n99\n")
        } else if place == .rewound {
            try inspection.wait(for: "REWIND 00:30.000 / 01:00.000 x1")
        } else {
            try begin()
        }
    }

    /// A capture of one minute, with a datagram every five seconds.
    private static var minute: [UInt8] {
        var writer = PcapngWriter()
        writer.section(application: "test", comment: "")
        let interface = writer.interface(name: "lo", description: "")
        let ends = [40_000, 53].map { SyntheticPacket.End(.v4(UInt32(0x7F00_0001).bigEndian), $0) }
        for number in 0...12 as ClosedRange<UInt64> {
            let frame = SyntheticPacket(from: ends[0], to: ends[1]).udp(Array("beat \(number)".utf8)[...])
            writer.packet(
                frame, length: frame.count, interface: interface,
                nanoseconds: 1_700_000_000_000_000_000 + number * 5_000_000_000, notes: PacketNotes())
        }
        return writer.bytes
    }

    private func begin() throws {
        try inspection.wait(for: "hello 99")
        try tmux.keys("M-1")
        try inspection.wait(for: "[1 List]")
        try inspection.send(":sort id")
        try inspection.wait(for: "sort id")
        try tmux.keys("g")
        try #require(try eventually { try cursor() == 1 }, tmux.picture)
        guard let (home, text) = Self.homes[place] else { return }
        try tmux.keys(home)
        try inspection.wait(for: text)
        // A key that came before the traffic above the line would page through nothing.
        if place == .composer { try inspection.wait(for: "hello 99") }
    }

    /// From the list to each place, and what is there then: in the detail also who the peer is, which is known later.
    private static let homes: [KeyContext: (key: String, text: String)] = [
        .traffic: ("2", "hello 99"), .detail: ("3", "unread 0 in "), .events: ("4", "following (F)"),
        .composer: ("w", "Enter send"), .field: (":", "Tab completes"), .form: ("r", "queue a read on #1"),
        .menu: ("x", "close #1 "), .help: ("?", "help: connection list"),
    ]

    private func press(_ step: String) throws {
        if step.hasPrefix("type ") {
            try tmux.type(String(step.dropFirst(5)))
            try inspection.wait(for: String(step.dropFirst(5)))
        } else if step == "scribble" {
            let file = open(try tmux.format("#{pane_tty}"), O_WRONLY | O_NOCTTY | O_CLOEXEC)
            defer { close(file) }
            // What changes just then is painted over it, so it may take a second stroke.
            let isThere = try eventually {
                _ = "\u{1B}[12;10HSCRIBBLE".withCString { write(file, $0, strlen($0)) }
                return try tmux.text().contains("SCRIBBLE")
            }
            try #require(isThere, tmux.picture)
        } else {
            try tmux.keys(step)
        }
    }

    func expect(_ wanted: KeyCase) throws {
        for step in wanted.before { try press(step) }
        try press(Self.name(key))
        for step in wanted.behind { try press(step) }
        let comment: Comment = "\(key.label) in \(place)"
        #expect(try eventually { try isAsWanted(wanted) }, "\(comment)\n\(tmux.picture)")
    }

    private func isAsWanted(_ wanted: KeyCase) throws -> Bool {
        if wanted.ends { return try tmux.format("#{pane_dead}") == "1" }
        if !wanted.logs.isEmpty { return ProcessFacts.text(folder.path + "/log").contains(wanted.logs) }
        if let row = wanted.selects, try cursor() != row { return false }
        let text = try tmux.text()
        return wanted.shows.allSatisfy(text.contains) && !wanted.hides.contains { text.contains($0) }
    }

    /// The number of the connection that the list's cursor is on.
    private func cursor() throws -> Int? {
        let row = try inspection.rows().first { $0.hasPrefix(">") }
        return row?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    /// As tmux calls it.
    private static func name(_ key: Key) -> String {
        switch key {
        case .character(" "): "Space"
        case .character(let character): String(character)
        case .control(let letter): "C-\(letter)"
        case .alt(let character): "M-\(character)"
        case .altEnter: "M-Enter"
        case .backTab: "BTab"
        case .backspace: "BSpace"
        case .delete: "DC"
        case .insert: "IC"
        case .pageUp: "PPage"
        case .pageDown: "NPage"
        case .escape: "Escape"
        case .shiftLeft: "S-Left"
        case .shiftRight: "S-Right"
        case .altLeft: "M-Left"
        case .altRight: "M-Right"
        case .enter, .tab, .up, .down, .left, .right, .home, .end, .function: key.label
        }
    }
}

/// Greets who connects with a hundred lines, and keeps the connection until the other end closes it.
private final class GreetingListener: SocketListenerDelegate, AsyncSocketDelegate {
    private let engine = SocketEngine()
    private let sockets = Lock<[ObjectIdentifier: AsyncSocket]>([:])
    private let listener = Lock<SocketListener?>(nil)
    let port: UInt16

    init() throws {
        port = try Peer.freePort()
        let listening = SocketListener(engine: engine, delegate: self)
        try listening.listen(on: .tcp(host: "127.0.0.1", port: port))
        listener.withLock { $0 = listening }
    }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        socket.delegate = self
        sockets.withLock { $0[ObjectIdentifier(socket)] = socket }
        socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        socket.write(Array((0..<100).map { "hello \($0)\n" }.joined().utf8))
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        _ = sockets.withLock { $0.removeValue(forKey: ObjectIdentifier(socket)) }
    }
}
