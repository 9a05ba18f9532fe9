/// Named sets of rules.
package enum FaultProfile {
    /// The profiles that need no configuration.
    package static let builtIn: [String: [String]] = [
        "slow": ["latency 300ms jitter 100ms", "bandwidth 32K"],
        "lossy": ["loss 0.05", "duplicate 0.01", "reorder 0.05 20ms"],
        "segments": ["slice 1 vary 1400"],
    ]

    /// Whether this can be the name of a profile. A name must not read as a rule.
    package static func isName(_ text: String) -> Bool {
        let words = FaultWord.all.map(\.name)
        return !text.isEmpty && !words.contains(text)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
