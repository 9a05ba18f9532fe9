import InspectorCore
import SocketCore

extension DetailBuilder {
    /// The kernel's state, where the bytes are, and how callbacks are delivered.
    var kernel: [Row] {
        guard socket.isLive else { return [] }
        var rows = wrapped(kernelWords, separator: " ")
        guard socket.phase == .connected || socket.phase == .lingering else { return rows }
        let pipeline = BytesPipeline(model, socket)
        rows += wrapped([Line("bytes", Style(.dim))] + pipeline.stages, separator: " ")
        let incoming = pipeline.incoming
        guard incoming.width > 0 else { return rows }
        if let last = rows.last, last.left.width + incoming.width + 2 <= width {
            rows[rows.count - 1].right = incoming
        } else {
            rows += wrapped([Line("     "), incoming], separator: " ")
        }
        return rows
    }

    private func word(_ name: String, _ value: String, _ role: Role = .plain) -> Line {
        var word = Line(name + " ", Style(.dim))
        word.append(value, Style(role))
        return word
    }

    private var kernelWords: [Line] {
        guard let kernel = socket.kernel else {
            return [Line("state", Style(.dim)), safe(socket.stateWord)] + callbacks
        }
        var words = [Line("kernel", Style(.dim)), safe(socket.stateWord)]
        if socket.role == .listener {
            if let waiting = kernel.receiveQueue { words.append(word("waiting", String(waiting))) }
            return words
        }
        let unread: Role = socket.reading.current == nil && (kernel.receiveQueue ?? 0) > 0 ? .warn : .plain
        if let count = kernel.receiveQueue { words.append(word("recv-q", Format.bytes(count), unread)) }
        if let count = kernel.sendQueue { words.append(word("send-q", Format.bytes(count))) }
        return words + buffers(kernel) + transport(kernel) + callbacks
    }

    /// Returns the kernel's view of a datagram socket's buffer.
    private func buffers(_ kernel: KernelSnapshot) -> [Line] {
        var words: [Line] = []
        if let count = kernel.drops { words.append(word("drops", Format.number(count), count > 0 ? .warn : .plain)) }
        if let size = kernel.receiveBuffer { words.append(word("rcvbuf", Format.bytes(size))) }
        return words
    }

    /// Returns TCP's own numbers, in the terms of ss.
    private func transport(_ kernel: KernelSnapshot) -> [Line] {
        var words: [Line] = []
        if let time = kernel.roundTripTime { words.append(word("rtt", Format.duration(time))) }
        if let window = kernel.congestionWindow { words.append(word("cwnd", String(window))) }
        if let count = kernel.retransmits { words.append(word("retrans", String(count), count > 0 ? .warn : .plain)) }
        if let rate = kernel.deliveryRate { words.append(word("delivery", Format.bytes(rate) + "/s")) }
        func limited(_ name: String, _ share: Double?) {
            guard let share, share.isFinite else { return }
            let percent = Int(min(max(share, 0), 1) * 100 + 0.5)
            if percent > 0 { words.append(word(name, "\(percent)%", percent >= 50 ? .warn : .plain)) }
        }
        limited("rwnd-limited", kernel.receiverWindowLimited)
        limited("sndbuf-limited", kernel.sendBufferLimited)
        if kernel.isApplicationLimited == true { words.append(Line("app-limited", Style(.dim))) }
        return words
    }

    private var callbacks: [Line] {
        guard let callbacks = socket.callbacks else { return [] }
        guard let lag = callbacks.lag else { return [Line("callbacks inline", Style(.dim))] }
        return [word("callback lag", Format.duration(lag), lag > .milliseconds(100) ? .warn : .plain)]
    }

    /// The load of the session's engine.
    var engine: [Row] {
        guard let engine = model.shown?.engine(of: socket.id), socket.isLive else { return [] }
        let times = engine.times
        var words = [
            word("longest turn", Format.duration(times.longestTurn)),
            word("queue lag", Format.duration(times.queueLag)),
            word("mailbox", String(times.mailboxDepth)),
        ]
        if let load = model.shared.loads[engine.ordinal] {
            words.insert(word("busy", Format.percent(done: Int(load.busy * 1000), total: 1000)), at: 0)
            words.insert(word("turns", Format.rate(load.turns) + "/s"), at: 1)
        }
        var title = Line("engine ", Style(.heading))
        title.append(safe(engine.engine, .heading))
        return [Row(left: title, isRule: true)] + wrapped(words, separator: "   ")
    }
}
