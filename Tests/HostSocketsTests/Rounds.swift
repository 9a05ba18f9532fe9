import Glibc
import Testing

/// How often what may go wrong once in many times is tried: so often, or as often as the environment says.
enum Rounds {
    static func of(_ name: String, else usual: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) }.map { max(1, $0) } ?? usual
    }

    /// What was measured, where rounds were asked for.
    static func tell(_ name: String, _ words: String) {
        guard getenv(name) != nil else { return }
        print("\(name): \(words)")
    }
}
