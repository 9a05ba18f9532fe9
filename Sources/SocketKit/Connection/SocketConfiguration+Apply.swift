import SocketCore

extension SocketConfiguration {
    /// Sets the options on a new descriptor, and lets the user set more. An option that the kernel refuses is left at
    /// its default: the socket works all the same. User code may have closed anything when this returns.
    func prepare(_ descriptor: Int32, for address: SocketAddress, in engine: EngineState) {
        for option in options.list(for: address.family) { _ = engine.kernel.set(option, on: descriptor) }
        guard let prepareDescriptor else { return }
        engine.host { prepareDescriptor(descriptor, address) }
    }
}

extension SocketOptions {
    fileprivate func list(for family: SocketAddress.Family) -> [SocketOption] {
        var list: [SocketOption] = []
        if let sendBuffer { list.append(.sendBuffer(sendBuffer)) }
        if let receiveBuffer { list.append(.receiveBuffer(receiveBuffer)) }
        guard family.isIP else { return list }
        if noDelay { list.append(.noDelay) }
        if let keepAlive {
            list.append(
                .keepAlive(
                    idle: keepAlive.idle.wholeSeconds, interval: keepAlive.interval.wholeSeconds,
                    count: Int32(clamping: max(1, keepAlive.count))))
        }
        return list
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int32 { Int32(clamping: max(1, wholeNanoseconds / 1_000_000_000)) }
}
