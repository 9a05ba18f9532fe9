import SocketCore

extension ExchangeSnapshot: WireMessage {
    package static var blank: ExchangeSnapshot { ExchangeSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        let isKnown = !overlaps
        try coder.field(
            1, &count, "exchanges",
            "how many requests its client sent; null if unknown, or if they overlap: [waiting](waiting.md)",
            known: isKnown)
        try coder.field(2, &unansweredSince, "unanswered_since", "when the request that has no answer yet began")
        try coder.field(
            3, &unansweredBytes, "unanswered_bytes", "the bytes of that request", known: unansweredSince != nil)
        try coder.field(
            4, &last, "answer_last_s",
            "the latest answer time, from the first byte of a request to the first byte of its answer")
        try coder.field(5, &median, "answer_median_s", "the median of the answer times, within 3 %")
        try coder.field(6, &late, "answer_p99_s", "the 99th percentile of the answer times, within 3 %")
        try coder.field(7, &worst, "answer_worst_s", "the longest answer time")
        try coder.field(
            8, &overlaps, "overlaps",
            "whether a request was sent before an earlier answer was complete, so that there are no times")
        try coder.field(9, &least)
        try coder.field(10, &spread)
    }
}
