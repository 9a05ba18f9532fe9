import InspectorCore
import SocketCore

/// The two ends of a relayed connection in one cell: `127.0.0.1:51022 curl[77] → 127.0.0.1:6379 redis-server[812]`. For
/// lack of room, a program's name is kept before its address, and ports before hosts.
struct PairWords {
    let model: Model
    let pair: RelayPair
    let style: Style

    init(model: Model, pair: RelayPair, style: Style) { (self.model, self.pair, self.style) = (model, pair, style) }

    /// Creates the words for the socket between a client and the server of a datagram relay. Returns `nil` for any
    /// other socket.
    init?(association socket: SocketSnapshot, model: Model, style: Style) {
        guard let client = socket.datagrams?.client else { return nil }
        var leg = SocketSnapshot(
            id: SocketID(.max), role: .accepted, phase: socket.phase, target: "", opened: socket.opened)
        leg.peer = client
        var socket = socket
        socket.target = socket.peer?.description ?? socket.target
        self.init(model: model, pair: RelayPair(client: leg, server: socket), style: style)
    }

    private struct End {
        var address: String
        /// The program, or empty if it is not on this host or not known.
        var program: String
        var name: String

        var whole: String { program.isEmpty ? address : "\(address) \(program)" }
        /// `curl[77]:51022`
        var brief: String {
            let port = address.suffix(Shorten.portTail(address))
            return program.isEmpty ? address : program + port
        }
        /// `curl:51022`
        var short: String {
            let port = address.suffix(Shorten.portTail(address))
            return program.isEmpty ? address : name + port
        }
        var least: String { program.isEmpty ? address : name }
    }

    /// Returns both ends. Whether the server gets another head than the client sent takes precedence over addresses.
    func live(width: Int) -> Line {
        guard pair.client.relay?.isHeadRewritten == true else { return ends(width: width) }
        let mark = Line("  head rewritten", Style(.warn))
        let room = width - mark.width
        guard room >= 10 else { return ends(width: width) }
        var line = ends(width: room)
        line.append(mark)
        return line
    }

    func ends(width: Int) -> Line {
        let (client, server) = (end(pair.client), end(pair.server))
        let forms = [
            (client.whole, server.whole), (client.brief, server.whole), (client.brief, server.brief),
            (client.short, server.short), (client.least, server.least),
        ]
        for (left, right) in forms {
            let line = joined(left, right)
            if line.width <= width { return line }
        }
        return cut(client.least, server.least, width: width)
    }

    private var arrow: String { " \(model.glyphs.arrow) " }

    private func end(_ leg: SocketSnapshot) -> End {
        let program = model.shared.peers[leg.id]?.program ?? model.shared.formerPrograms[leg.id]
        return End(address: leg.peerText, program: program?.title ?? "", name: program?.name ?? "")
    }

    private func joined(_ left: String, _ right: String) -> Line {
        var line = safe(left)
        line.append(arrow, Style(.dim))
        line.append(safe(right))
        return line
    }

    /// Shortens both ends to half of the room each, plus what the other one leaves.
    private func cut(_ left: String, _ right: String, width: Int) -> Line {
        let room = max(2, width - arrow.count)
        let (first, second) = (safe(left), safe(right))
        let half = room / 2
        let firstRoom = second.width < half ? room - second.width : min(first.width, max(half, 1))
        var line = Shorten.middle(first, to: firstRoom, tail: Shorten.portTail(left), model.glyphs)
        line.append(arrow, Style(.dim))
        line.append(
            Shorten.middle(second, to: room - min(first.width, firstRoom), tail: Shorten.portTail(right), model.glyphs))
        return line
    }

    private func safe(_ text: String) -> Line {
        var line = Line()
        model.sanitizer.append(text, style, to: &line)
        return line
    }
}
