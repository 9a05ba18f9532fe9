import InspectorCore
import InspectorScreen
import SocketWorkshop

/// Something that `socktui help` explains, other than a command.
struct HelpTopic: Sendable {
    var name: String
    var help: String
    var text: @Sendable () -> String

    static let all: [HelpTopic] = [
        HelpTopic(name: "options", help: "options of every command that opens something") { options },
        HelpTopic(name: "addresses", help: "the forms of an ADDRESS") { rows("ADDRESS", addresses) },
        HelpTopic(name: "filter", help: "the words of a FILTER") {
            (["FILTER"] + HelpContents.filter.map { "  " + $0 }).joined(separator: "\n")
        },
        HelpTopic(name: "keys", help: "what each key does, and the commands after :") { keys },
        HelpTopic(name: "faults", help: "what --fault and --break can do") { faults },
        HelpTopic(name: "warnings", help: "what each warning means, and what to do") { warnings },
        HelpTopic(name: "scripts", help: "the steps of --script") {
            rows("Steps of a script", Script.steps.map { ($0.form, $0.help) })
        },
        HelpTopic(name: "status", help: "what each exit status means") {
            rows("Exit status", ExitRow.all.map { ("\($0.status)  \($0.who)", $0.means) })
        },
        HelpTopic(name: "man", help: "everything, as a manual page: socktui help man | man -l -") { ManPage.text },
    ]

    /// The topics with what they are about.
    static var rows: [String] { HelpText.rows(all.map { ($0.name, $0.help) }) }

    /// The forms of addresses, and what each of them opens.
    static let addresses: [(form: String, help: String)] = [
        ("host:port  [::1]:port", "TCP"),
        (":port", "TCP; to connect to: this host, to listen on: every interface"),
        ("tls://host:port", "TLS over TCP"),
        ("unix:/path  unix:@name", "a Unix-domain stream"),
        ("ws://host:port/path  wss://host/path", "a WebSocket"),
        ("ws+unix:/path:/resource", "a WebSocket over a Unix-domain stream"),
        ("udp://host:port  udp://:port", "datagrams"),
        ("udp://239.1.2.3:port?interface=lo", "datagrams of a multicast group"),
        ("unixgram:/path  unixgram:@name", "Unix-domain datagrams"),
    ]

    private static func rows(_ title: String, _ rows: [(String, String)]) -> String {
        ([title] + HelpText.rows(rows)).joined(separator: "\n")
    }

    private static var options: String {
        let common = CommandTable.options.filter { ($0.isCommon || $0.commands.isEmpty) && $0.help != nil }
        return rows("Options of every command that opens something", common.map(HelpText.row))
    }

    private static var keys: String {
        var told: Set<Binding> = []
        let contexts: [KeyContext] = [.list] + KeyContext.allCases.filter { $0 != .list }
        let sections = contexts.compactMap { context -> String? in
            let all = KeyTable.standard.bindings(in: context)
            let new = all.filter { told.insert($0).inserted }
            let title = context.title + (new.count < all.count ? ", in addition to the above" : "")
            return new.isEmpty
                ? nil : rows(title, new.map { ($0.keys.map(\.label).joined(separator: " "), $0.help) })
        }
        let commands = rows(
            "Commands after : and in scripts", Action.commands.map { ($0.usage, $0.syntax?.help ?? "") })
        return (sections + [commands]).joined(separator: "\n\n")
    }

    private static var faults: String {
        let parts: [(String, [FaultWord.Part])] = [
            ("CONDITION", [.condition]), ("EFFECT", [.effect]), ("EFFECT on datagrams", [.datagrams]),
            ("POINT of --break", [.point]),
        ]
        let profiles = FaultProfile.builtIn.keys.sorted().joined(separator: ", ")
        return
            (["RULE: [CONDITION...] [upstream|downstream] EFFECT\n  or a profile: \(profiles)"]
            + parts.map { title, parts in
                rows(title, FaultWord.all.filter { parts.contains($0.part) }.map { ($0.usage, $0.help) })
            }).joined(separator: "\n\n")
    }

    private static var warnings: String {
        let lines = Lint.all.map { lint in
            (lint.name + (lint.isAllowed ? "*" : ""), "\(lint.meaning). Next: \(KeyTable.standard.naming(lint.remedy))")
        }
        return rows("WARNING for -A and -W (* is hidden by default)", lines)
    }
}
