import SocketCore

extension CallLosses {
    /// What is not shown, as phrases.
    package var phrases: [String] {
        (lost > 0 ? [Format.count(Int(clamping: lost), "call") + " that came too fast"] : [])
            + (strangePrograms > 0 ? ["the calls of \(programs(strangePrograms, "32-bit program"))"] : [])
            + (hiddenPrograms > 0
                ? ["the calls of \(programs(hiddenPrograms, "program")) that may not be looked into"] : [])
    }

    private func programs(_ count: UInt64, _ noun: String) -> String {
        Format.count(Int(clamping: count), noun)
    }
}
