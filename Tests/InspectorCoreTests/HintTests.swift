import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// What the screen says can be done, and what it counts, is so.
@Suite("Hints")
struct HintTests {
    private let size = Size(80, 24)

    private func lastRow(_ model: Model) -> Substring {
        draw(model, size).text.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    }

    @Test("A datagram socket is not offered a half-close")
    func datagrams() {
        var model = Conversation.model(ascii: true, size: size)
        #expect(lastRow(model).contains("half-close"))
        var socket = World.make(1, .datagram, .connected, target: "udp://localhost:8000")
        socket.peer = .v4(host: "127.0.0.1", port: 8000)
        _ = model.update(.snapshot(World.snapshot([socket], time: World.at(14, 3, 0))))
        #expect(model.context == .composer && !lastRow(model).contains("half-close"))
    }

    @Test("Keys that were bound to something else are not offered")
    func rebound() {
        var options = Model.Options(ascii: true, version: "0.1")
        options.keys.bind("q", in: .list, to: "")
        for context in KeyContext.views { options.keys.bind("c", in: context, to: "") }
        options.keys.bind(.character("X"), in: .list, to: "connect")
        var model = Model(options: options)
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(World.snapshot([World.dialing])))
        _ = model.update(.snapshot(World.snapshot([])))
        #expect(!lastRow(model).contains("q quit") && lastRow(model).contains("Q quit"))
        #expect(draw(model, size).text.contains("no sockets yet: X connects, l listens"))
        options.keys.bind("Q", in: .list, to: "")
        model = Model(options: options)
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(World.snapshot([World.dialing])))
        #expect(lastRow(model).hasSuffix("? help  ^C quit"))
    }

    @Test("Every hint that names a key follows the key table")
    func named() {
        var options = Model.Options(ascii: true, version: "0.1")
        for context in KeyContext.allCases {
            for key in KeyTable.standard.keys(in: context) { options.keys.bind(key, in: context, to: "") }
        }
        for action in Action.all where !action.uses.isEmpty {
            for context in action.uses.flatMap(\.contexts) {
                #expect(options.keys.naming("{\(action.name)} does it", in: context) == ":\(action.name) does it")
                #expect(KeyTable.standard.naming("{\(action.name)}", in: context) != ":\(action.name)")
            }
        }
    }

    @Test("Remedies and words for events name the key that is configured")
    func remedies() {
        var keys = KeyTable.standard
        for context in KeyContext.views {
            for key: Key in ["A", "r", "x"] { keys.bind(key, in: context, to: "") }
            keys.bind(.character("Z"), in: context, to: "answer")
        }
        for lint in Lint.all {
            #expect(!KeyTable.standard.naming(lint.remedy).contains("{"), "\(lint.name)")
            #expect(!KeyTable.standard.naming(lint.remedy).contains(":read"), "\(lint.name)")
        }
        func remedy(_ name: String) -> String { Lint.named(name).map { keys.naming($0.remedy) } ?? "" }
        #expect(remedy("timeout-asking").hasPrefix("press Z to "))
        #expect(remedy("read-starved").hasPrefix("queue a read (:read); "))
        #expect(remedy("write-blocked").hasSuffix("or close (:close)"))

        var options = Model.Options(ascii: true, version: "0.1")
        options.keys = keys
        var model = Model(options: options)
        _ = model.update(.resized(Size(80, 40)))
        var asked = World.snapshot([World.busy])
        asked.events = [
            SocketEvent(sequence: 0, time: World.now, socket: World.busy.id, kind: .trustAsked),
            SocketEvent(
                sequence: 1, time: World.now, socket: World.busy.id, kind: .readTimedOut, tag: 42, second: 30_000),
        ]
        asked.nextEvent = 2
        _ = model.update(.snapshot(asked))
        model.press(.character("4"))
        #expect(draw(model, Size(80, 40)).text.contains("Z answers: accept once, refuse"))
        model.press(.character("2"))
        #expect(draw(model, Size(80, 40)).text.contains("; press Z to extend, fail or close"))
        model.press(.escape, .character("?"))
        let help = HelpView.lines(model, HelpState(context: .list)).map(\.text)
        #expect(help.contains { $0.contains("ASK awaits an answer (Z)") })
        #expect(help.contains { $0.hasSuffix("; :read queues one") })
    }

    @Test("What the program says before its engine has told the time is shown at its own time")
    func earlyNote() {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(size))
        _ = model.update(.note("socktui begins", at: World.at(14, 2, 1)))
        _ = model.update(.snapshot(World.snapshot([World.busy])))
        model.press(.character("4"))
        let row = draw(model, size).text.split(separator: "\n").first { $0.contains("socktui begins") }
        #expect(row?.hasPrefix(" 14:02:01.000000 -") == true, "\(row ?? "")")
    }

    @Test("No more rows than events are counted")
    func events() {
        var model = World.model()
        _ = model.update(.note("socktui begins", at: World.at(14, 2, 0)))
        model.press(.character("4"))
        let text = draw(model, size).text
        let all = model.log.next
        #expect(text.contains(" \(all) events") && !text.contains("rows of"))
    }

    @Test("Help and detail say what is below only where there is something, and how to get there where a key does it")
    func below() {
        var model = World.model()
        model.press(.character("?"))
        model.press(.end)
        #expect(!draw(model, size).text.contains("0 more below"))
        model.press(.escape, .character("3"))
        #expect(draw(model, Size(80, 16)).text.contains("more lines below (k)") == false)
        _ = model.update(.resized(Size(80, 16)))
        #expect(draw(model, Size(80, 16)).text.contains("more lines below (j)"))
        _ = model.update(.resized(Size(140, 16)))
        model.press(.character("1"))
        let beside = draw(model, Size(140, 16)).text
        #expect(!beside.contains("(j)"))
    }

    @Test("The name of a saved file says what is in it, unless the user chose one")
    func saved() {
        var model = Conversation.model(ascii: true, size: size)
        model.press(.escape, .character("o"))
        #expect(draw(model, size).text.contains("socktui-1-received-2.bin"))
        model.press(.down, .right)
        #expect(draw(model, size).text.contains("socktui-1-received.bin"))
        model.press(.right)
        #expect(draw(model, size).text.contains("socktui-1-sent.bin"))
        model.press(.up)
        model.type("x")
        model.press(.down, .right)
        #expect(draw(model, size).text.contains("socktui-1-sent.binx"))
    }

    @Test("A fingerprint is shown whole at every width", arguments: [60, 72, 80, 100, 119, 120, 140, 200])
    func fingerprint(width: Int) {
        var socket = World.make(1, .client, .connected, target: "mail.example:143")
        var tls = TLSSnapshot(role: .client, phase: .secure, asked: World.at(14, 2, 10))
        let digest = (0..<32).map { UInt8($0 * 7 + 3) }
        tls.chain = [
            TLSCertificate(
                subject: "CN=mail.example", issuer: "CN=Test Authority", names: [], notBefore: 0, notAfter: 1,
                fingerprint: digest, publicKeyDigest: [])
        ]
        socket.tls = tls
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(Size(width, 60)))
        _ = model.update(.snapshot(World.snapshot([socket])))
        model.press(.character("3"))
        let text = draw(model, Size(width, 60)).text
        let hex = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        for start in stride(from: 0, to: 32, by: 8) {
            #expect(text.contains(hex[start..<start + 8].joined(separator: ":")), "\(text)")
        }
    }
}

@Suite("Keys that come at once")
struct BatchTests {
    private func model(_ count: Int) -> Model {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        let sockets = (1...UInt64(count)).map {
            World.make($0, .accepted, .connected, target: "host\($0 % 7).example:80")
        }
        _ = model.update(.resized(Size(80, 24)))
        _ = model.update(.snapshot(World.snapshot(sockets)))
        return model
    }

    /// Hands messages over as the run loop does.
    private func type(_ text: String, _ model: inout Model) {
        let keys = text.map { Message.key(.character($0)) }
        for (index, key) in keys.enumerated() { _ = model.update(key, moreKeysFollow: index + 1 < keys.count) }
    }

    @Test("A filter typed at once is looked up once in all rows")
    func filter() {
        var model = model(4_001)
        model.press(.character("f"))
        let before = model.list.filterRuns
        type("host3.example role:", &model)
        type("acc", &model)
        #expect(model.list.filterRuns - before == 2)
        #expect(model.list.rows.count == 572)
        #expect(model.list.filter.text == "host3.example role:acc")
        model.press(.escape)
        #expect(model.list.rows.count == 4_001)
    }

    @Test("A key that is no text of the filter finds it in effect")
    func accept() {
        var model = model(100)
        _ = model.update(.key(.character("f")), moreKeysFollow: true)
        for key in "host3" { _ = model.update(.key(.character(key)), moreKeysFollow: true) }
        let before = model.list.filterRuns
        _ = model.update(.key(.enter), moreKeysFollow: true)
        #expect(model.list.filterRuns == before + 1 && model.list.filter.text == "host3" && model.list.rows.count == 14)
        #expect(model.field.open == nil)
    }

    @Test("So is one of events")
    func events() {
        var model = World.model()
        model.press(.character("4"), .character("f"))
        let before = model.events.filterRuns
        type("connected", &model)
        #expect(model.events.filterRuns == before + 1 && model.events.filter.text == "connected")
    }
}

@Suite("What a script waits for")
struct WaitingTests {
    private let size = Size(80, 60)

    @Test("What was typed and sent is no answer; what was received is, in sight or not")
    func own() {
        var model = Conversation.model(ascii: true, size: size)
        model.type("+PONG")
        #expect(draw(model, size).text.contains("+PONG") && draw(model, size).text.contains("GET / HTTP"))
        let foreign = draw(model.withoutOwnInput, size).text
        #expect(!foreign.contains("+PONG") && !foreign.contains("GET / HTTP") && foreign.contains("no line end"))
        #expect(!model.hasReceived(Array("+PONG".utf8)) && !model.hasReceived(Array("GET /".utf8)))
        // Across two reads.
        #expect(model.hasReceived(Array("plain\r\n\r\nname\tvalue".utf8)))
        #expect(!model.hasReceived([]))
    }

    @Test("What a relay passes on is said by others")
    func relayed() {
        var model = Conversation.model(ascii: true, size: size)
        var socket = Conversation.socket
        socket.linked = SocketID(2)
        var snapshot = World.snapshot([socket], time: World.at(14, 3, 0))
        snapshot.trafficOf = Conversation.id
        snapshot.traffic = Conversation.traffic
        _ = model.update(.snapshot(snapshot))
        #expect(draw(model.withoutOwnInput, size).text.contains("GET / HTTP"))
    }

    @Test("Nothing goes on once every connection is closed, or what was asked for was refused")
    func nothing() {
        var model = Model(options: .init(ascii: true, version: "0.1"))
        _ = model.update(.resized(size))
        #expect(model.whyNothingGoesOn == nil)
        _ = model.update(.snapshot(World.snapshot([])))
        #expect(model.whyNothingGoesOn == nil, "nothing was opened")
        _ = model.update(.refused(":80: Address already in use"))
        #expect(model.whyNothingGoesOn == ":80: Address already in use")
        model = World.model()
        #expect(model.whyNothingGoesOn == nil)
        _ = model.update(.snapshot(World.snapshot([World.timedOut], time: World.at(14, 3, 0))))
        #expect(model.whyNothingGoesOn?.hasPrefix("every connection is closed (#6 ") == true)
    }
}
