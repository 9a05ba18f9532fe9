import InspectorCore
import SocketCore

extension DetailBuilder {
    /// Returns the unread bytes, if they are requested.
    func unread(_ host: HostSnapshot) -> [Row] {
        guard model.detail.showsUnread else { return [] }
        guard let request = model.unreadRequest ?? model.detail.unread.map({ UnreadRequest($0.socket) }) else {
            let why =
                model.unreadRefusal(host) ?? "\(host.programText) belongs to \(host.programUserText): {unread} asks"
            return [rule("unread bytes")] + words(model.naming(why), .dim)
        }
        guard let look = model.detail.unread, look.socket == request.socket else {
            return [rule("unread bytes", right: unreadKey)] + words("waiting for the first scan", .dim)
        }
        return [rule(title(look), right: unreadKey)] + content(look.found, host)
    }

    private var unreadKey: String { model.naming("{unread} off") }

    private func title(_ look: UnreadLook) -> String {
        let ago = Format.duration(max(.zero, model.now - look.time))
        guard look.found.reason == nil else { return "unread bytes" }
        let count = look.found.bytes.count
        let total = look.found.total.map(Int.init) ?? count
        let amount = total > count ? "first \(Format.size(count)) of \(Format.size(total))" : Format.size(count)
        return "unread bytes: \(amount), seen \(ago) ago"
    }

    private func words(_ text: String, _ role: Role) -> [Row] {
        wrapped(text.split(separator: " ").map { safe(String($0), role) }, separator: " ")
    }

    /// Returns the flags of its descriptor. If unread bytes are shown, includes those known only from a duplicate
    /// descriptor.
    func flags(_ host: HostSnapshot) -> [Row] {
        var words: [Line] = []
        if let blocks = host.blocks { words.append(Line(blocks ? "blocking" : "nonblocking")) }
        if let closes = host.closesOnExec { words.append(Line(closes ? "cloexec" : "no cloexec")) }
        if model.detail.showsUnread, let look = model.detail.unread, look.socket == socket.id {
            words += options(look.found.options)
        }
        guard let first = words.first else { return [] }
        var line = Line(Format.padded(" FLAGS", to: 8), Style(.heading))
        line.append(first)
        for word in words.dropFirst() {
            line.append("  ")
            line.append(word)
        }
        return line.hanging(width: width - 1, indent: 8).map { Row(left: $0) }
    }

    private func options(_ options: UnreadBytes.Options?) -> [Line] {
        guard let options else { return [] }
        func onOff(_ value: Bool?) -> String? { value.map { $0 ? "on" : "off" } }
        let flags = [
            ("nodelay", onOff(options.noDelay)), ("keepalive", onOff(options.keepAlive)),
            ("rcvlowat", options.lowWater.map { Format.size($0) }),
            ("linger", options.linger.map { "\($0) s" } ?? "off"),
            ("user-timeout", options.userTimeout.map { $0 == .zero ? "system's" : Format.duration($0) }),
        ]
        return flags.compactMap { name, value in
            value.map { value -> Line in
                var line = Line(name + " ", Style(.dim))
                line.append(value)
                return line
            }
        }
    }

    private func content(_ found: UnreadBytes, _ host: HostSnapshot) -> [Row] {
        if let reason = found.reason { return words("not examined: \(reason)", .dim) }
        let label = TLSRecordWords.label(found.bytes, total: found.total.map(Int.init) ?? found.bytes.count)
        let mode = model.traffic.viewMode
        let shown = mode == .auto ? ViewMode.automatic(found.bytes) : mode
        var rows = ByteRows(
            mode: shown, width: width - 1, sanitizer: model.sanitizer, glyphs: model.glyphs, style: Style(.received))
        rows.isBinary = ViewMode.automatic(found.bytes) == .hexText
        let lines = rows.rows(found.bytes, limit: Self.mostRows).rows
        return (host.transport == .tcp ? label.map { words($0, .warn) } ?? [] : []) + lines.map { Row(left: $0) }
    }

    private static let mostRows = 4_096
}

/// A description of unread bytes that start with a TLS record.
package enum TLSRecordWords {
    /// Returns `ciphertext: TLS record of 16,384 B, 1,024 here: the rest has not arrived`, or `nil` if the bytes are
    /// not TLS or don't start at the beginning of a record.
    package static func label(_ bytes: [UInt8], total: Int) -> String? {
        guard var header = TLSRecordHeader(bytes[...]) else { return nil }
        var (start, count) = (0, 1)
        while start + TLSRecordHeader.size + header.length < bytes.count {
            let next = start + TLSRecordHeader.size + header.length
            guard let following = TLSRecordHeader(bytes[next...]) else { break }
            (start, header, count) = (next, following, count + 1)
        }
        let kind = header.isCiphertext ? "ciphertext" : header.kind == 22 ? "TLS handshake" : "TLS"
        let here = max(0, total - start - TLSRecordHeader.size)
        let place = count > 1 ? "the last of \(count) TLS records seen has" : "TLS record of"
        let amount = "\(place) \(Format.grouped(header.length)) B"
        guard here < header.length else { return "\(kind): \(amount)" }
        return "\(kind): \(amount), \(Format.grouped(here)) here: the rest has not arrived"
    }
}
