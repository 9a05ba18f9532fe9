import SocketCore

extension SocketConfiguration {
    /// Sets the options on a new descriptor, and lets the user set more. An option that the kernel refuses is left at
    /// its default: the socket works all the same. User code may have closed anything when this returns.
    func prepare(_ descriptor: Int32, for address: SocketAddress, in engine: EngineState) {
        options.set(on: descriptor, for: address, in: engine)
        guard let prepareDescriptor else { return }
        engine.runUserCode { prepareDescriptor(descriptor, address) }
    }
}

extension ConnectionOrigin {
    /// The same for a connection that was accepted. All settings together take long to copy, so only the options are.
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
