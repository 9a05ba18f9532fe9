import InspectorCore
import SocketCore
import Testing

@testable import SockTUI

@Suite("What a command line names")
struct CommandLineValueTests {
    /// A line for each command that a file's option goes with.
    private static let lines = [
        "connect": "connect tls://h:1", "export": "export f --as raw --side client", "run": "run x", "": "demo",
    ]
    private static let fileOptions = CommandTable.options.filter {
        [.read, .written].contains($0.value?.kind)
    }

    private func parse(_ line: String) throws(UsageError) -> Invocation {
        try ArgumentParser.parse(line.split(separator: " ").map(String.init))
    }

    @Test("an option whose value is called a file says what is done with it")
    func names() {
        for option in CommandTable.options {
            let isCalledFile = ["FILE", "OUT", "FOLDER", "PATH"].contains(option.value?.name)
            let isFile = [.read, .written].contains(option.value?.kind)
            #expect(isFile == isCalledFile, "\(option.name)")
        }
        for value in CommandTable.commands.map(\.operands) + CommandTable.printers.map(\.operands) {
            #expect(value.name.hasPrefix("FILE") == (value.kind == .read), "\(value.name)")
            #expect(value.name.contains("ADDRESS") == (value.kind == .address) || value.name.hasPrefix("LISTEN"))
        }
        #expect(Self.fileOptions.count >= 10)
    }

    @Test("each option with a file is found, a standard stream in its place is not")
    func options() throws {
        for option in Self.fileOptions {
            let command = ["connect", "export", "run"].first(where: option.commands.contains) ?? ""
            let line = try #require(Self.lines[command])
            #expect(try parse("\(option.name) x \(line)").touching == option.name)
            let stream = try? parse("\(option.name) - demo").touching
            if option.isCommon {
                #expect((stream ?? nil) == (option.value?.hasStream == true ? nil : option.name))
            }
        }
    }

    @Test(
        "operands that are files or programs are found, and the paths of sockets",
        arguments: [
            ("open x", "open"), ("open x y --once", "open"), ("export x --as curl", "export"),
            ("replay x --connect h:1", "replay"), ("sweep x --connect h:1", "sweep"), ("run x", "run"),
            ("connect unix:/s", "unix:/s"), ("connect h:1 unixgram:/s", "unixgram:/s"),
            ("listen ws+unix:/s:/r", "ws+unix:/s:/r"), ("relay :1 unix:/s", "unix:/s"), ("relay unix:/s :1", "unix:/s"),
            ("relay --socks5 unix:/s", "unix:/s"), ("--connect unix:/s replay x", "unix:/s"), ("connect unix:@s", nil),
            ("connect h:1 -", nil), ("relay :1 h:2 --json", nil), ("host --once", nil), ("attach name", nil),
            ("capture --record -", nil), ("demo --script -", nil), ("mcp", nil), ("why 1", nil), ("config", nil),
        ] as [(String, String?)])
    func operands(line: String, word: String?) throws {
        #expect(try parse(line).touching == word, "\(line)")
    }

    @Test("what the screen can ask for names its files too")
    func effects() throws {
        var client = TLSSettings.client()
        func connect(_ text: String, _ tls: TLSSettings? = nil) throws -> Effect {
            var request = OpenRequest(try OpenTarget.parse(text))
            request.tls = tls
            return .connect(request)
        }
        let id = SocketID(1)
        #expect(try connect("tls://h:1", client).claims.file == nil)
        #expect(try connect("unix:/s").claims.file == "/s")
        client.identity = .init(certificateFile: "c")
        #expect(try connect("tls://h:1", client).claims.file == "c")
        client.trust = .folder("f/")
        #expect(Effect.startTLS(id, client).claims.file == "f/")
        client.keyLogFile = "k"
        var relay = try RelayRequest.parse(":1", to: "h:1", TLSChoices())
        #expect(Effect.relay(relay).claims.file == nil)
        relay.targetTLS = client
        #expect(Effect.relay(relay).claims.file == "k")
        #expect(Effect.relay(try RelayRequest.parse(":1", to: "unix:/s", TLSChoices())).claims.file == "/s")
        #expect(Effect.send(.send(id, DatagramRequest([1], to: .unix(path: "/s")))).claims.file == "/s")
        #expect(Effect.run(RunRequest(["x"])).claims.file == "x" && Effect.openFile("x").claims.file == "x")
    }
}
