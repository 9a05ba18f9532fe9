import FuzzSupport
import InspectorCore
import SocketCore

/// Bytes of a peer on their way to the terminal: nothing that a terminal acts on comes through, and no more cells than
/// there is room for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let isASCII = input.byte() & 1 == 1
    let width = input.below(64)
    let bytes = input.bytes(count, mask: 0xFF)
    let text = String(decoding: bytes, as: UTF8.self)
    let sanitizer = Sanitizer(isASCII: isASCII)
    let glyphs = isASCII ? Glyphs.ascii : .unicode
    var line = Line()
    sanitizer.append(bytes: bytes, to: &line)
    var other = Line()
    sanitizer.append(text, to: &other)
    for line in [line, other] {
        requireHarmless(line.text, isASCII: isASCII, bytes)
        let clipped = line.clipped(to: width, glyphs)
        requireHarmless(clipped.text, isASCII: isASCII, bytes)
        require(clipped.width <= width, "\(bytes): \(clipped.width) cells, not \(width)")
        requireFitting(line, width: width, glyphs, bytes)
    }
    requireHarmless(sanitizer.text(text), isASCII: isASCII, bytes)
    requireHarmless(EscapedText.show(bytes), isASCII: true, bytes)
    requireHarmless(JSON.string(text).text, isASCII: false, bytes)
    let (window, cursor) = LineEditor(text).window(width: width, sanitizer: sanitizer, glyphs: glyphs)
    requireHarmless(window.text, isASCII: isASCII, bytes)
    require(window.width <= width && cursor <= max(0, width), "\(bytes): a window of \(window.width), not \(width)")
    return 0
}

/// No C0, no DEL, no C1; where only ASCII is drawn, nothing else.
private func requireHarmless(_ text: String, isASCII: Bool, _ bytes: [UInt8]) {
    for scalar in text.unicodeScalars {
        require(scalar.value >= 0x20, "\(bytes): a control character came through")
        require(!(0x7F...0x9F).contains(scalar.value), "\(bytes): DEL or C1 came through")
        require(!(0x202A...0x202E).contains(scalar.value), "\(bytes): what reorders text came through")
        require(!isASCII || scalar.value < 0x7F, "\(bytes): more than ASCII came through")
    }
}

/// Drawn on a screen of one row, it stays within: as many cells as there are columns, each wide one whole.
private func requireFitting(_ line: Line, width: Int, _ glyphs: Glyphs, _ bytes: [UInt8]) {
    var canvas = Canvas(Size(width, 1))
    canvas.draw(line, row: 0, in: Rect(Size(width, 1)), glyphs)
    require(canvas.cells.count == width, "\(bytes): \(canvas.cells.count) cells, not \(width)")
    require(canvas.cells.reduce(0) { $0 + Int($1.width) } == width, "\(bytes): a wide character was cut")
    requireHarmless(canvas.text, isASCII: false, bytes)
}
