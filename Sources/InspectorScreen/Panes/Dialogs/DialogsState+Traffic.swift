import InspectorCore
import SocketCore

/// Dialogs about traffic: the destination of datagrams, the pace of lines, and where to save bytes.
extension DialogsState {
    /// Asks where to send datagrams.
    mutating func openDestination(_ subject: Subject) -> Model.Notice? {
        guard let selected = subject.socket, selected.role == .datagram else {
            return .hint("a stream has one peer; datagrams may go to any address")
        }
        guard selected.peer == nil else {
            return .hint("it is connected: its datagrams go to \(selected.peerText)")
        }
        let now = subject.composer.destination?.datagramText ?? ""
        open = .form(
            Form(
                .destination(selected.id),
                [.text(.address, "To", now, hint: "host:port, or /path of a Unix-domain socket")]))
        return nil
    }

    /// Asks for the pace of the next lines.
    mutating func openPace(_ id: SocketID, _ pace: Pace) {
        func text(_ duration: Duration?) -> String { duration.map { Format.duration($0) } ?? "" }
        open = .form(
            Form(
                .pace(id),
                [
                    .text(.interval, "Repeat every", text(pace.interval), hint: "such as 5s, or empty"),
                    .text(
                        .pieces, "Chunk size", pace.dribble.map { String($0.bytes) } ?? "", hint: "bytes, or empty"),
                    .text(.gap, "Between", text(pace.dribble?.interval), hint: "such as 100ms"),
                    .text(.timeout, "Timeout", text(pace.timeout), hint: "such as 30s, or empty"),
                ]))
    }

    /// Asks where to save a connection's traffic. The cursor is on `item`.
    mutating func openSave(_ id: SocketID, _ item: TrafficItem) {
        let names = [
            "socktui-\(id.number)-\(item.direction == .sent ? "sent" : "received")-\(item.sequence).bin",
            "socktui-\(id.number)-received.bin", "socktui-\(id.number)-sent.bin",
        ]
        open = .form(
            Form(
                .save(id, item: item.sequence, names: names),
                [
                    .text(.path, "File", names[0], hint: ""),
                    FormField(.what, "What", .choice(["this item", "received", "sent"], 0)),
                ]))
    }

    /// Returns what the form asks to save. The shell writes it to a new file.
    mutating func save(_ form: Form, of traffic: TrafficSnapshot) -> Outcome {
        guard case .save(_, let sequence, _) = form.purpose else { return Outcome() }
        let path = form.text(.path)
        guard !path.isEmpty else {
            refuse(form, Form.Problem(field: .path, message: "a path is missing"))
            return Outcome()
        }
        let items = traffic.items.filter { item in
            switch form.chosen(.what) {
            case 1: item.direction == .received
            case 2: item.direction == .sent
            default: item.sequence == sequence
            }
        }
        let lost = items.reduce(UInt64(0)) { $0.saturatingAdd(UInt64($1.missingBytes)) }
        let dropped = form.chosen(.what) == 0 ? 0 : traffic.dropped
        open = nil
        guard items.contains(where: { !$0.bytes.isEmpty }) else { return .hint("no bytes to save") }
        return Outcome(
            effects: [.save(path, items.flatMap { $0.bytes + $0.tail }, missing: lost, droppedItems: dropped)])
    }
}
