import InspectorCore
import SocketCore

extension Form {
    /// Returns the form's watermarks, or `nil` for none.
    func watermarks() throws(Problem) -> Watermarks? {
        guard !text(.high).isEmpty else { return nil }
        let high = try number(.high, 0...Int.max, "a number of bytes")
        let low = try number(.low, 0...Int.max, "a number of bytes")
        guard low <= high else { throw Problem(field: .low, message: "the low mark is above the high one") }
        return Watermarks(low: low, high: high)
    }

    /// Returns the form's pace.
    func pace() throws(Problem) -> Pace {
        var pace = Pace()
        pace.interval = try duration(.interval)
        pace.timeout = try duration(.timeout)
        guard !text(.pieces).isEmpty else { return pace }
        let bytes = try number(.pieces, 1...1 << 20, "a number of bytes from 1 to 1048576")
        guard let gap = try duration(.gap) else {
            throw Problem(field: .gap, message: "how long to wait between the pieces?")
        }
        pace.dribble = Pace.Dribble(bytes: bytes, interval: gap)
        return pace
    }
}

extension Form {
    /// Returns the effect of the TLS dialog.
    func secured(_ id: SocketID) throws(Problem) -> Effect {
        var choices = TLSChoices()
        choices.protocols = text(.protocols)
        choices.certificate = text(.certificate)
        choices.key = text(.key)
        if chosen(.trust) == 1 {
            choices.authority = text(.authority)
            if choices.authority.isEmpty { throw Problem(field: .authority, message: "which file, or folder/?") }
        }
        if chosen(.tlsRole) == 1 {
            do throws(TLSChoices.Problem) {
                return .startTLS(id, try choices.server())
            } catch {
                throw Problem(field: .certificate, message: "a TLS server needs a certificate of its own")
            }
        }
        choices.serverName = text(.serverName)
        choices.isInsecure = chosen(.trust) == 2
        return .startTLS(id, choices.client(hasName: false))
    }

    /// Returns the TLS settings of a connection or listener opened by a dialog.
    func openingTLS(_ endpoint: Endpoint) throws(Problem) -> TLSSettings {
        var choices = TLSChoices()
        choices.serverName = text(.serverName)
        choices.authority = text(.authority)
        choices.certificate = text(.certificate)
        choices.key = text(.key)
        guard purpose == .listen else { return choices.client(hasName: endpoint.namesHost) }
        do throws(TLSChoices.Problem) {
            return try choices.server()
        } catch {
            throw Problem(field: .certificate, message: "a TLS server needs a certificate: name its PEM file")
        }
    }
}

extension Form {
    /// Returns the form's destination. A bare address has the family of the socket.
    func destination() throws(Problem) -> Endpoint {
        let text = text(.address).filter { !$0.isWhitespace }
        let isPath = text.hasPrefix("/") || text.hasPrefix("@")
        let scheme: OpenTarget.Scheme = isPath ? .unixgram : .udp
        let isWhole = [.udp, .unixgram].contains(OpenTarget.Scheme(of: text))
        do throws(EndpointError) {
            return try OpenTarget.parse(isWhole ? text : scheme.rawValue + text).endpoint
        } catch {
            throw Problem(field: .address, message: "\(text.isEmpty ? "nothing" : text): \(error.problem)")
        }
    }
}
