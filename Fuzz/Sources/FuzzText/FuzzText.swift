import FuzzSupport
import InspectorCore
import InspectorScreen
import SocketCore
import SocketWorkshop

/// What a person types or writes into a file: each grammar takes every text or names a place in it, and what was taken
/// is written and read to the same again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let kind = input.below(4)
    let text = String(decoding: input.bytes(count, mask: 0xFF), as: UTF8.self)
    switch kind {
    case 0: configuration(text)
    case 1:
        filter(text)
        pattern(text)
    case 2: instruction(text)
    default: bytes(text)
    }
    return 0
}

private func configuration(_ text: String) {
    if case .failure(let failure) = TOML.parse(text) {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        let (line, column) = (failure.position.line, failure.position.column)
        require((1...lines.count).contains(line), "line \(line) of \(text)")
        require((1...lines[line - 1].count + 1).contains(column), "column \(column) of line \(line) of \(text)")
    }
    guard case .success(let configuration) = Configuration.parse(text) else { return }
    let printed = configuration.text { _ in ColourText() }
    guard case .success(let again) = Configuration.parse(printed) else { return require(false, "not read: \(printed)") }
    require(again.text { _ in ColourText() } == printed, "another one: \(printed)")
}

private let socket = SocketSnapshot(id: SocketID(7), role: .client, phase: .connected, target: "h:1", opened: .zero)

private let findings = Findings(LintSettings())

private func filter(_ text: String) {
    guard case .success(let filter) = Filter.parse(text) else { return }
    _ = filter.matches(words: text)
    guard case .success(let again) = Filter.parse(filter.text) else {
        return require(false, "not read: \(filter.text)")
    }
    let listed = filter.matching([socket], .zero, findings)
    require(again.matching([socket], .zero, findings) == listed, "another one: \(filter.text)")
}

private func instruction(_ text: String) {
    guard case .success(let instruction) = Instruction.parse(text) else { return }
    guard case .success(let again) = Instruction.parse(text), again.verb == instruction.verb else {
        return require(false, "read twice, it is two things: \(text)")
    }
    guard instruction.verb == "read",
        let kind = try? ReadRequest.Kind.parse(String(text.drop { $0 == " " }.dropFirst(5)))
    else { return }
    require((try? ReadRequest.Kind.parse(kind.text)) == kind, "another read: \(kind.text)")
}

private func bytes(_ text: String) {
    switch EscapedText.parse(text) {
    case .failure(let failure):
        require((1...text.unicodeScalars.count).contains(failure.column), "column \(failure.column) of \(text)")
    case .success(let bytes):
        require(EscapedText.parse(EscapedText.show(bytes)) == .success(bytes), "not the same again: \(text)")
    }
    _ = HexText.parse(text)
    _ = MessageText.parse(text)
}

/// A pattern up to the first line end, matched with what follows: its work has a bound, whatever either says.
private func pattern(_ text: String) {
    let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let subject = parts.count > 1 ? parts[1] : text
    for unit in [Pattern.Unit.scalars, .bytes] {
        guard let pattern = try? Pattern(parts[0], unit) else { continue }
        var work = 0
        _ = pattern.matches(subject, counting: &work)
        let bound = 2 * (subject.utf8.count + 1) * (Pattern.stepLimit + 100)
        require(work <= bound, "\(work) steps for \(text)")
    }
}
