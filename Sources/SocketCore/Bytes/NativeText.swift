/// The system's own strings as text and back, without loss: arguments, environment variables, file names, and names of
/// Unix-domain sockets. The system takes any bytes there, and a `String` only UTF-8.
///
/// UTF-8 is kept as it is. Every other byte becomes one private character, U+10FF00 plus the byte. Those characters
/// themselves are read as bytes too, so that no two strings of the system become the same text.
extension String {
    /// Creates the text of the system's bytes.
    package init(native bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self),
            !text.utf8.contains(0xF4) || !text.unicodeScalars.contains(where: \.isNativeByte)
        {
            self = text
            return
        }
        var text = UnicodeScalarView()
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            var parser = UTF8.ForwardParser()
            var next = rest.makeIterator()
            if case .valid(let encoded) = parser.parseScalar(from: &next), !UTF8.decode(encoded).isNativeByte {
                text.append(UTF8.decode(encoded))
                rest = rest.dropFirst(encoded.count)
            } else {
                text.append(Unicode.Scalar(nativeByte: rest.removeFirst()))
            }
        }
        self.init(text)
    }

    /// Creates the text of a C string.
    package init(native text: UnsafePointer<CChar>) {
        var end = text
        while end.pointee != 0 { end += 1 }
        self.init(native: UnsafeRawBufferPointer(start: text, count: end - text))
    }

    /// The system's bytes of this text.
    package var nativeBytes: [UInt8] {
        guard utf8.contains(0xF4) else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar in
            scalar.isNativeByte ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    /// Whether there is a byte that is not UTF-8.
    package var hasNativeBytes: Bool { utf8.contains(0xF4) && unicodeScalars.contains(where: \.isNativeByte) }

    /// Calls `body` with the system's bytes as a C string.
    @discardableResult
    package func withNative<R, E>(_ body: (UnsafePointer<CChar>) throws(E) -> R) throws(E) -> R {
        try body((nativeBytes + [0]).map(CChar.init(bitPattern:)))
    }

    /// Calls `body` with the system's bytes of this text and of another one.
    package func withNative<R>(
        and other: String, _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> R
    ) -> R {
        withNative { text in other.withNative { body(text, $0) } }
    }
}

extension Unicode.Scalar {
    /// The character of a byte that is not ASCII.
    fileprivate init(nativeByte byte: UInt8) {
        self = Unicode.Scalar(0x10FF00 + UInt32(byte)) ?? "\u{FFFD}"
    }

    /// Whether it is the character of a byte that is not UTF-8.
    package var isNativeByte: Bool { value >= 0x10FF80 }
}
