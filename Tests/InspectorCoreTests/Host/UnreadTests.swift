import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// The unread bytes of sockets that are looked at from outside.
@Suite("Unread bytes on the screen")
struct UnreadTests {
    private func model(_ rules: PeekRules = PeekRules(), selecting row: Int = 1, _ size: Size = Size(80, 24)) -> Model {
        HostPictures.model(size, "3", selecting: row, peeks: rules)
    }

    private func look(_ model: Model, _ bytes: [UInt8], total: Int64? = nil) throws -> Message {
        Self.look(model, try #require(model.selected?.id), bytes, total: total)
    }

    private static func look(_ model: Model, _ id: SocketID, _ bytes: [UInt8], total: Int64? = nil) -> Message {
        var found = UnreadBytes()
        (found.bytes, found.total) = (bytes, total)
        var options = UnreadBytes.Options()
        (options.noDelay, options.keepAlive, options.lowWater, options.userTimeout) = (true, false, 1, .zero)
        found.options = options
        return .unread(UnreadLook(id, model.now, found))
    }

    static let screens: [Screen] = [
        Screen("host-unread") { size in
            var model = HostPictures.model(Size(80, 24), "3", selecting: 1)
            model.press(.character("u"))
            if let id = model.selected?.id {
                _ = model.update(look(model, id, Array("GET / HTTP/1.1\r\n".utf8), total: 4_100_000))
            }
            _ = model.update(.resized(size))
            return model
        }
    ]

    private static let record: [UInt8] = [23, 3, 3, 0x40, 0x00] + (0..<251).map { UInt8($0) }

    @Test("u shows what the program has not read, and u again drops it")
    func shown() throws {
        var model = model()
        #expect(model.unreadRequest == nil)
        model.press(.character("u"))
        #expect(model.unreadRequest == UnreadRequest(try #require(model.selected?.id)))
        _ = model.update(try look(model, Array("GET / HTTP/1.1\r\n".utf8), total: 4_100_000))
        #expect(model.detail.unread != nil)
        model.press(.character("u"))
        #expect(model.unreadRequest == nil && model.detail.unread == nil)
    }

    @Test("bytes go when another socket or another screen is shown")
    func dropped() throws {
        var model = model(selecting: 1)
        model.press(.character("u"))
        let message = try look(model, [1, 2, 3])
        _ = model.update(message)
        #expect(model.detail.unread != nil)
        model.press(.character("1"))
        #expect(model.detail.unread == nil && model.unreadRequest == nil)
        _ = model.update(message)
        #expect(model.detail.unread == nil)
        model.press(.character("3"))
        #expect(model.unreadRequest != nil)
        model.press(.character("]"))
        _ = model.update(message)
        #expect(model.detail.unread == nil)
    }

    @Test("a record of TLS is called so, with what is missing of it")
    func records() throws {
        let label = { TLSRecordWords.label($0, total: $1) }
        #expect(
            label(Self.record, 1_029) == "ciphertext: TLS record of 16,384 B, 1,024 here: the rest has not arrived")
        let alert: [UInt8] = [21, 3, 3, 0, 2, 1, 0]
        #expect(label(alert, 7) == "TLS: TLS record of 2 B")
        #expect(
            label(alert + Self.record, 263)?.contains("the last of 2 TLS records seen has 16,384 B, 251 here") == true)
        for bytes: [UInt8] in [[], [23, 3, 3], [23, 2, 0, 0, 9], [23, 3, 3, 0xFF, 0xFF], [23, 3, 3, 0, 0]] {
            #expect(label(bytes, 100) == nil)
        }
        var model = model()
        model.press(.character("u"))
        _ = model.update(try look(model, Self.record, total: 1_029))
        #expect(draw(model, Size(120, 35)).text.contains("ciphertext: TLS record of 16,384 B"))
    }

    @Test("before a program's user is known, nothing is said about other users")
    func unknownUser() throws {
        var rules = PeekRules()
        rules.isOn = true
        var model = model(rules)
        var snapshot = try #require(model.shared.latest)
        let index = try #require(snapshot.sockets.firstIndex { $0.id == model.selected?.id })
        snapshot.sockets[index].host?.programUser = nil
        _ = model.update(.snapshot(snapshot))
        let text = draw(model, Size(80, 24)).text
        #expect(text.contains("is not known yet") && !text.contains("--peek-others"), "\(text)")
        #expect(model.unreadRequest == nil)
    }

    @Test("listeners have none, and what the administrator forbids is not asked for")
    func refused() {
        var listener = model(selecting: 8)
        listener.press(.character("u"))
        #expect(listener.notice?.text == "a listener has no unread bytes" && listener.unreadRequest == nil)
        var rules = PeekRules()
        (rules.refusal, rules.isOn) = ("peek = never in /etc/socktui.conf", true)
        var forbidden = model(rules)
        #expect(forbidden.unreadRequest == nil)
        forbidden.press(.character("u"))
        #expect(forbidden.notice?.text == "unread bytes are not shown: peek = never in /etc/socktui.conf")
        #expect(forbidden.unreadRequest == nil)
    }

    @Test("another user's socket needs an option and a question that names user and program")
    func others() throws {
        var rules = PeekRules(user: 1_000)
        var model = model(rules)
        model.press(.character("u"))
        #expect(model.notice?.text.hasPrefix("api.py[4711] belongs to user 0: start with --peek-others") == true)
        #expect(model.unreadRequest == nil && model.dialogs.open == nil)
        (rules.allowsOthers, rules.isOn) = (true, true)
        model = self.model(rules)
        // Though they are shown from the start.
        #expect(model.unreadRequest == nil)
        model.press(.character("u"))
        guard case .menu(let menu) = model.dialogs.open else { return #expect(Bool(false), "no question") }
        #expect(menu.title.contains("api.py[4711]") && menu.title.contains("user 0"))
        #expect(model.unreadRequest == nil)
        model.press(.enter)
        #expect(model.dialogs.open == nil && model.unreadRequest == nil)
        model.press(.character("u"), .character("y"))
        #expect(model.unreadRequest?.isConfirmed == true)
        // The answer is for this socket alone.
        model.press(.character("]"))
        #expect(model.unreadRequest == nil)
        model.press(.character("["))
        #expect(model.unreadRequest == nil)
    }

    @Test("under sudo the programs of the user who ran it are own ones; a socket that another handed over is not")
    func sudo() {
        let rules = PeekRules(user: 0, sudoUser: 1_000)
        #expect(!rules.isForeign(socket: 1_000, program: 1_000) && !rules.isForeign(socket: 0, program: 0))
        for (socket, program) in [(33, 33), (1_000, 0), (0, 1_000), (33, 1_000), (1_000, nil)] as [(UInt32, UInt32?)] {
            #expect(rules.isForeign(socket: socket, program: program), "\(socket) \(String(describing: program))")
        }
        #expect(PeekRules(user: 0).isForeign(socket: 1_000, program: 1_000))
        // The programs of this world are user 0's.
        var model = model(PeekRules(user: 33, sudoUser: 0))
        model.press(.character("u"))
        #expect(model.unreadRequest?.isConfirmed == false)
    }

    @Test("--peek shows them from the start")
    func fromTheStart() {
        var rules = PeekRules()
        rules.isOn = true
        #expect(model(rules).unreadRequest != nil)
    }

    @Test("JSON has the bytes as text and as base64, or why there are none")
    func json() {
        var found = UnreadBytes()
        (found.bytes, found.total) = (Array("hi".utf8), 7)
        #expect(
            found.json.text
                == #"{"payload_bytes":2,"unread_bytes":7,"text":"hi","base64":"aGk=","problem":null}"#)
        #expect(UnreadBytes(reason: "no").json.text.contains(#""text":null,"base64":null,"problem":"no""#))
    }

    @Test("lines of the administrator's file")
    func policy() {
        for text in ["", "# nothing\n\n", "peek = allow # fine", "  \n"] { #expect(HostPolicy.refusal(text) == nil) }
        for text in ["peek = never", "peek=never\n", "# x\n peek = \"never\" # no"] {
            #expect(HostPolicy.refusal(text) == "peek = never in /etc/socktui.conf", "\(text)")
        }
        for text in ["peek = nevr", "peak = allow", "never", "peek = allow\npeek = 0"] {
            #expect(HostPolicy.refusal(text)?.contains("is not peek = never or peek = allow") == true, "\(text)")
        }
    }
}
