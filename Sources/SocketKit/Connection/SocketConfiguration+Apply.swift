import SocketCore

extension SocketConfiguration {
    /// Sets the options on a new descriptor, and lets the user set more. An option that the kernel refuses is left at
    /// its default: the socket works all the same. User code may have closed anything when this returns.
    func prepare(_ descriptor: Int32, for address: SocketAddress, in engine: EngineState) {
        options.each(for: address.family) { _ = engine.kernel.set($0, on: descriptor) }
        guard let prepareDescriptor else { return }
        engine.host { prepareDescriptor(descriptor, address) }
    }
}

extension SocketOptions {
    fileprivate func each(for family: SocketAddress.Family, _ body: (SocketOption) -> Void) {
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
