import SocketCore

// Enumerations and identifiers of a WebSocket, on the wire.

extension WebSocketMessageID: WireAlias {
    package var written: UInt64 { number }
    package init(written: UInt64) { self.init(written) }
}

extension WebSocketCloseCode: WireAlias {
    package var written: UInt16 { rawValue }
    package init(written: UInt16) { self.init(rawValue: written) }
}

extension WebSocketOpcode: WireAlias {
    package var written: UInt64 { UInt64(rawValue) }
    package init(written: UInt64) throws(WireError) {
        guard let opcode = WebSocketOpcode(rawValue: UInt8(clamping: written)) else { throw .unknown }
        self = opcode
    }
}

extension WebSocketParserState: WireAlias {
    package var written: WireVariant {
        switch self {
        case .header(let done): WireVariant("header", number: done)
        case .extendedLength(let done, let total): WireVariant("extendedLength", number: done, limit: total)
        case .mask(let done): WireVariant("mask", number: done)
        case .payload(let opcode, let done, let total):
            WireVariant("payload", number: done, limit: total, flags: UInt64(opcode.rawValue))
        case .nothing: WireVariant("nothing")
        }
    }

    package init(written: WireVariant) throws(WireError) {
        switch written.word {
        case "header": self = .header(done: written.count)
        case "extendedLength": self = .extendedLength(done: written.count, total: written.limit ?? 0)
        case "mask": self = .mask(done: written.count)
        case "payload":
            self = .payload(
                try WebSocketOpcode(written: written.flags), done: written.count, total: written.limit ?? 0)
        case "nothing": self = .nothing
        default: throw .unknown
        }
    }
}

extension WebSocketFailure: WireAlias {
    package var written: WireVariant {
        switch self {
        case .reservedBits(let bits): WireVariant("reservedBits", number: Int(bits))
        case .unknownOpcode(let opcode): WireVariant("unknownOpcode", number: Int(opcode))
        case .unmaskedFrame: WireVariant("unmaskedFrame")
        case .maskedFrame: WireVariant("maskedFrame")
        case .overlongLength(let length): WireVariant("overlongLength", flags: length)
        case .impossibleLength(let length): WireVariant("impossibleLength", flags: length)
        case .controlTooLong(let length): WireVariant("controlTooLong", number: Int(length))
        case .fragmentedControl(let opcode): WireVariant("fragmentedControl", flags: opcode.written)
        case .nothingToContinue: WireVariant("nothingToContinue")
        case .unfinishedMessage: WireVariant("unfinishedMessage")
        case .frameTooBig(let length, let limit): WireVariant("frameTooBig", limit: limit, flags: length)
        case .messageTooBig(let limit): WireVariant("messageTooBig", limit: limit)
        case .tooManyEmptyFragments(let limit): WireVariant("tooManyEmptyFragments", limit: limit)
        case .invalidUTF8(let offset): WireVariant("invalidUTF8", number: offset)
        case .corruptDeflate: WireVariant("corruptDeflate")
        case .cutCloseCode: WireVariant("cutCloseCode")
        case .badCloseCode(let code): WireVariant("badCloseCode", number: Int(code.rawValue))
        case .badCloseReason: WireVariant("badCloseReason")
        case .noRoom(let limit): WireVariant("noRoom", number: limit)
        case .messageTimeout(let time): WireVariant("messageTimeout", number: Int(time.wholeNanoseconds))
        case .pongTimeout(let time): WireVariant("pongTimeout", number: Int(time.wholeNanoseconds))
        case .closeTimeout(let time): WireVariant("closeTimeout", number: Int(time.wholeNanoseconds))
        case .endedWithoutClose: WireVariant("endedWithoutClose")
        }
    }

    package init(written: WireVariant) throws(WireError) {
        let (number, limit) = (written.count, written.limit ?? 0)
        switch written.word {
        case "reservedBits": self = .reservedBits(UInt8(clamping: number))
        case "unknownOpcode": self = .unknownOpcode(UInt8(clamping: number))
        case "unmaskedFrame": self = .unmaskedFrame
        case "maskedFrame": self = .maskedFrame
        case "overlongLength": self = .overlongLength(written.flags)
        case "impossibleLength": self = .impossibleLength(written.flags)
        case "controlTooLong": self = .controlTooLong(UInt8(clamping: number))
        case "fragmentedControl": self = .fragmentedControl(try WebSocketOpcode(written: written.flags))
        case "nothingToContinue": self = .nothingToContinue
        case "unfinishedMessage": self = .unfinishedMessage
        case "frameTooBig": self = .frameTooBig(length: written.flags, limit: limit)
        case "messageTooBig": self = .messageTooBig(limit: limit)
        case "tooManyEmptyFragments": self = .tooManyEmptyFragments(limit: limit)
        case "invalidUTF8": self = .invalidUTF8(offset: number)
        case "corruptDeflate": self = .corruptDeflate
        case "cutCloseCode": self = .cutCloseCode
        case "badCloseCode": self = .badCloseCode(WebSocketCloseCode(rawValue: UInt16(clamping: number)))
        case "badCloseReason": self = .badCloseReason
        case "noRoom": self = .noRoom(limit: number)
        case "messageTimeout": self = .messageTimeout(.nanoseconds(written.nanoseconds))
        case "pongTimeout": self = .pongTimeout(.nanoseconds(written.nanoseconds))
        case "closeTimeout": self = .closeTimeout(.nanoseconds(written.nanoseconds))
        case "endedWithoutClose": self = .endedWithoutClose
        default: throw .unknown
        }
    }
}
