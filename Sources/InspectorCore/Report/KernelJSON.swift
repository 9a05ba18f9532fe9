import SocketCore

extension SocketJSON {
    /// Returns the kernel's state in the terms and units of `ss -tinm`, so that the two can be compared line by line.
    func kernel(_ kernel: KernelSnapshot) -> JSON {
        [
            "state": JSON(kernel.state), "recv_q": JSON(kernel.receiveQueue), "send_q": JSON(kernel.sendQueue),
            "notsent": JSON(kernel.notSent), "rtt_ms": JSON(milliseconds: kernel.roundTripTime),
            "cwnd": JSON(kernel.congestionWindow), "retrans": JSON(kernel.retransmits),
            "rwnd_limited_share": JSON(kernel.receiverWindowLimited),
            "sndbuf_limited_share": JSON(kernel.sendBufferLimited),
            "app_limited": kernel.isApplicationLimited.map { .bool($0) } ?? .null,
            "bytes_sent": JSON(kernel.bytesSent), "bytes_received": JSON(kernel.bytesReceived),
            "drops": JSON(kernel.drops), "rcvbuf": JSON(kernel.receiveBuffer),
            "delivery_rate_bps": JSON(kernel.deliveryRate.map { $0.multipliedReportingOverflow(by: 8).partialValue }),
        ]
    }
}
