/// The characters that are not letters: one set for terminals that show Unicode, one for those that don't.
package struct Glyphs: Equatable, Sendable {
    package let isASCII: Bool
    package let horizontal: Unicode.Scalar
    package let vertical: Unicode.Scalar
    package let topLeft: Unicode.Scalar
    package let topRight: Unicode.Scalar
    package let bottomLeft: Unicode.Scalar
    package let bottomRight: Unicode.Scalar
    package let barFull: Unicode.Scalar
    package let barEmpty: Unicode.Scalar
    package let ellipsis: Unicode.Scalar
    package let sigma: Unicode.Scalar
    /// Precedes a row that continues the row above.
    package let continuation: Unicode.Scalar
    /// Points from one end of a relayed connection to the other.
    package let arrow: Unicode.Scalar
    /// A line break in a typed line.
    package let lineBreak: String
    /// The steps of a bar, from zero to the peak.
    package let ramp: [Unicode.Scalar]

    package static let ascii = Glyphs(
        isASCII: true, horizontal: "-", vertical: "|", topLeft: "+", topRight: "+", bottomLeft: "+",
        bottomRight: "+", barFull: "#", barEmpty: ".", ellipsis: "~", sigma: "+", continuation: "\\", arrow: ">",
        lineBreak: "^J",
        ramp: [".", ":", "-", "=", "+", "*", "%", "@"])

    package static let unicode = Glyphs(
        isASCII: false, horizontal: "─", vertical: "│", topLeft: "┌", topRight: "┐", bottomLeft: "└",
        bottomRight: "┘", barFull: "█", barEmpty: "░", ellipsis: "…", sigma: "Σ", continuation: "↳", arrow: "→",
        lineBreak: "↵",
        ramp: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"])

    /// Returns a progress bar in brackets, `width` cells in total, or an empty string if there is no room for one.
    package func bar(done: Int, total: Int, width: Int) -> String {
        let inner = width - 2
        guard inner > 0, total > 0 else { return "" }
        let share = Double(min(max(done, 0), total)) / Double(total)
        let full = done >= total ? inner : min(inner - 1, Int(share * Double(inner)))
        return "[" + String(repeating: String(barFull), count: full)
            + String(repeating: String(barEmpty), count: inner - full) + "]"
    }

    /// Returns the newest `width` samples as a line of bars, scaled to their own peak.
    package func sparkline(_ samples: [Float], width: Int) -> String {
        let shown = samples.suffix(max(0, width))
        let peak = shown.max() ?? 0
        var text = ""
        for sample in shown {
            let step = peak > 0 && sample > 0 ? max(1, Int(sample / peak * Float(ramp.count - 1))) : 0
            text.unicodeScalars.append(ramp[min(step, ramp.count - 1)])
        }
        return text
    }
}
