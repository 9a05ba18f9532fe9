import SocketCore

extension SocketConfiguration {
    /// Sets the options on a new descriptor, and lets user code set more. An option that the kernel rejects keeps its
    /// default, because the socket works without it. User code may have closed anything by the time this returns.
    func prepare(_ descriptor: Int32, for address: SocketAddress, in engine: EngineState) {
        options.set(on: descriptor, for: address, in: engine)
        guard let prepareDescriptor else { return }
        engine.runUserCode { prepareDescriptor(descriptor, address) }
    }
}

extension ConnectionOrigin {
    /// Sets the options of an accepted connection. Only those are copied, because copying all settings takes long.
    func prepare(_ descriptor: Int32, for address: SocketAddress, in engine: EngineState) {
        guard !start.mayLiveOn else { return settings.value.prepare(descriptor, for: address, in: engine) }
        start.options.set(on: descriptor, for: address, in: engine)
    }
}

extension SocketOptions {
    fileprivate func set(on descriptor: Int32, for address: SocketAddress, in engine: EngineState) {
        each(for: address.family) { _ = engine.kernel.set($0, on: descriptor) }
    }

    private func each(for family: SocketAddress.Family, _ body: (SocketOption) -> Void) {
        if let sendBuffer { body(.sendBuffer(sendBuffer)) }
        if let receiveBuffer { body(.receiveBuffer(receiveBuffer)) }
        if takesUrgentInLine { body(.urgentInLine) }
        guard family.isIP else { return }
        if noDelay { body(.noDelay) }
        if let keepAlive {
            body(
                .keepAlive(
                    idle: keepAlive.idle.wholeSeconds, interval: keepAlive.interval.wholeSeconds,
                    count: Int32(clamping: max(1, keepAlive.count))))
        }
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int32 { Int32(clamping: max(1, wholeNanoseconds / 1_000_000_000)) }
}
