import InspectorCore

extension Shorten {
    /// Returns a foreign address, made safe and shortened so that the port is always kept.
    package static func address(_ text: String, to width: Int, _ style: Style, _ model: Model) -> Line {
        var line = Line()
        model.sanitizer.append(text, style, to: &line)
        return middle(line, to: width, tail: portTail(text), model.glyphs)
    }
}
