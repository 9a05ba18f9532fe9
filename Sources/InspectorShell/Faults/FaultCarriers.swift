import InspectorCore
import SocketKit
import SocketWorkshop

/// What a run has that a rule or a breakpoint can apply to.
package struct FaultCarriers {
    /// Relayed streams.
    package var hasRelays = false
    /// Our own outgoing streams. `hasListeners` stands for the accepted ones.
    package var hasClients = false
    package var hasListeners = false
    /// Relayed datagrams.
    package var hasDatagrams = false

    private var hasOwn: Bool { hasClients || hasListeners }
    private var hasStreams: Bool { hasRelays || hasOwn }

    /// Throws if a rule from `text` can have no effect.
    package func check(_ effect: FaultEffect, in text: String) throws(FaultProblem) {
        let problem: String? =
            switch effect.carrier {
            case .streams where !hasStreams: hasDatagrams ? Self.forStreams : Self.leftAlone
            case .datagrams where !hasDatagrams: "is for datagrams; relay udp://LISTEN udp://TARGET relays them"
            case .both where !hasStreams && !hasDatagrams: Self.leftAlone
            case .listeners where !hasRelays: "is for stream relays; relay LISTEN TARGET opens one"
            case .streams, .datagrams, .both, .listeners: nil
            }
        if let problem { throw Self.problem(effect.name, problem, in: text) }
    }

    /// Throws if a breakpoint from `text` can never be hit.
    package func check(_ breakpoint: Breakpoint, in text: String) throws(FaultProblem) {
        let problem: String? =
            switch breakpoint.point {
            case _ where !hasStreams:
                hasDatagrams
                    ? "only streams can be held; relay LISTEN TARGET relays streams" : Self.leftAlone
            case .accept where !hasRelays && !hasListeners:
                "this run accepts no connections; relay and listen do, and 'on connect' holds those it opens"
            case .timeout where !hasOwn:
                "relayed connections have no operations that time out; connect or listen opens some that do"
            case .reset where !hasRelays, .writeBlocked where !hasRelays:
                "holds only relayed connections; relay LISTEN TARGET opens one"
            default: nil
            }
        if let problem { throw Self.problem(String("\(breakpoint.point)".prefix { $0 != " " }), problem, in: text) }
    }

    private static let leftAlone =
        "WebSockets and datagram sockets opened here are not affected; relay LISTEN TARGET relays them"

    private static let forStreams =
        "is for streams; for datagrams write "
        + (FaultWord.names(.datagrams) + ["corrupt"]).joined(separator: ", ")

    /// Returns a problem at the word's position in the text. A profile's name counts for all of its rules.
    private static func problem(_ word: String, _ message: String, in text: String) -> FaultProblem {
        var column = 1
        for typed in text.split(separator: " ") where typed == word {
            column = text.distance(from: text.startIndex, to: typed.startIndex) + 1
        }
        return FaultProblem(word: word, column: column, message: message)
    }
}

extension FaultCarriers {
    /// Collects what the command line opens. If it opens nothing, anything may be opened later.
    package init(_ opening: [Effect]) {
        guard !opening.isEmpty else {
            (hasRelays, hasClients, hasListeners, hasDatagrams) = (true, true, true, true)
            return
        }
        for effect in opening {
            switch effect {
            case .relay(let relay) where relay.isDatagrams: hasDatagrams = true
            case .relay, .run: hasRelays = true
            case .connect(let request): if case .stream = request.target { hasClients = true }
            case .listen(let request): if case .stream = request.target { hasListeners = true }
            default: break
            }
        }
    }
}
