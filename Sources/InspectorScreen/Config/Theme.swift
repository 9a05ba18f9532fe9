import SocketCore
import SocketWorkshop

/// Which colors are used: those for a dark or those for a light background.
package enum Theme: String, Equatable, Sendable, CaseIterable {
    /// Follows the terminal's background.
    case auto
    case light, dark

    /// `auto, light or dark`.
    package static let words = Spelling.alternatives(allCases.map(\.rawValue))

    /// Whether `COLORFGBG` names a light background, or `nil` if it names none. Its last number is one of 16 colors.
    package static func isLight(colourVariable text: String) -> Bool? {
        guard let last = text.split(separator: ";").last, let index = Int(last), (0...15).contains(index) else {
            return nil
        }
        return index == 7 || index > 8
    }
}
