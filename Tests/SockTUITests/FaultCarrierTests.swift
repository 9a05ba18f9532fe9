import InspectorCore
import SocketKit
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("What rules and breakpoints can concern")
struct FaultCarrierTests {
    @Test(
        "a rule for datagrams is refused where only streams are opened, and the reverse",
        arguments: [
            ("lossy", false, "--fault: loss: is for datagrams"), ("slow", true, "--fault: latency: is for streams"),
            ("corrupt 1 bits", true, nil), ("refuse", true, "--fault: refuse: is for stream relays"),
        ])
    func useless(_ rule: String, isDatagrams: Bool, refusal: String?) {
        var options = FaultOptions()
        options.rules = [rule]
        let control = FaultControl(options)
        #expect(control.begin(with: options) == nil)
        let place = Endpoint.tcp(host: "127.0.0.1", port: 1)
        var relay = RelayRequest(listen: place, target: .endpoint(place))
        relay.isDatagrams = isDatagrams
        let told = control.begin(with: options, opening: [.relay(relay)])
        #expect(refusal.map { told?.hasPrefix($0) == true } ?? (told == nil), "\(told ?? "")")
    }

    @Test(
        "a rule or breakpoint that nothing here can ever meet is refused by its word, and what would be right is named",
        arguments: [
            ("relay", "on timeout", "--break: timeout: relayed connections have no", 4),
            ("run", "upstream on timeout", "--break: timeout: relayed connections have no", 13),
            ("udp", "on bytes 5", "--break: bytes: only streams can be held", 4),
            ("connect", "on reset", "--break: reset: holds only relayed connections", 4),
            ("listen", "on write-blocked", "--break: write-blocked: holds only relayed", 4),
            ("connect", "on accept", "--break: accept: this run accepts no connections", 4),
            ("websocket", "on bytes 5", "--break: bytes: WebSockets and datagram sockets", 4),
            ("listen", "refuse", "--fault: refuse: is for stream relays", 1),
            ("connect", "after 5s no-accept", "--fault: no-accept: is for stream relays", 10),
            ("websocket", "corrupt 1 bits", "--fault: corrupt: WebSockets", 1),
            ("udp", "upstream slice 7", "--fault: slice: is for streams", 10),
            ("connect", "on timeout", "", 0), ("listen", "on accept", "", 0), ("relay", "on reset", "", 0),
            ("run", "on fin", "", 0), ("listen", "reset", "", 0), ("relay", "refuse", "", 0),
        ])
    func never(_ opening: String, _ text: String, refusal: String, column: Int) throws {
        let place = Endpoint.tcp(host: "127.0.0.1", port: 1)
        let effect: Effect
        switch opening {
        case "relay", "udp":
            var relay = RelayRequest(listen: place, target: .endpoint(place))
            relay.isDatagrams = opening == "udp"
            effect = .relay(relay)
        case "connect": effect = .connect(OpenRequest(.stream(place)))
        case "listen": effect = .listen(OpenRequest(.stream(place)))
        case "websocket": effect = .connect(OpenRequest(try OpenTarget.parse("ws://127.0.0.1:1/")))
        default: effect = .run(RunRequest(["true"]))
        }
        let isBreak = text.contains("on ") && !text.contains("no-accept")
        var options = FaultOptions()
        if isBreak { options.breaks = [text] } else { options.rules = [text] }
        let control = FaultControl(options)
        let told = control.begin(with: options, opening: [effect])
        guard !refusal.isEmpty else {
            #expect(told == nil)
            return
        }
        #expect(told?.hasPrefix(refusal) == true && told?.hasSuffix("(column \(column))") == true, "\(told ?? "")")
        // While it runs, the same is refused where nothing else can be opened, and accepted on a screen.
        let command = try FaultCommand.parse((isBreak ? "break " : "fault add ") + text).get()
        func isRefused() -> Bool? {
            let answer = Lock<FaultAnswer?>(nil)
            control.perform(command) { given in answer.withLock { $0 = given } }
            return answer.withLock { $0 }?.isRefusal
        }
        #expect(isRefused() == false)
        control.opensOnly([effect])
        #expect(isRefused() == true)
    }
}
