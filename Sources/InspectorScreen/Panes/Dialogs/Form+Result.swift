import InspectorCore
import SocketCore

extension Form {
    /// A problem, and the field that has it.
    package struct Problem: Error, Equatable {
        package var field: FormField.Name
        package var message: String
    }

    /// What a filled-in form asks for: an effect, or how a composer sends from now on.
    package enum Wish: Equatable {
        case effect(Effect)
        case pace(SocketID, Pace)
        case destination(SocketID, Endpoint)
    }

    /// What the filled-in form asks for.
    package var result: Result<Wish, Problem> {
        do throws(Problem) {
            switch purpose {
            case .connect, .listen: return .success(.effect(try opening()))
            case .read(let id): return .success(.effect(.send(.read(id, try read()))))
            case .answer(let id, let operation):
                return .success(.effect(.send(.answerTimeout(id, operation.id, try verdict()))))
            case .timeout(let id, let operation):
                return .success(.effect(.send(.setTimeout(id, operation.id, try duration(.timeout)))))
            case .tls(let id): return .success(.effect(try secured(id)))
            case .watermarks(let id): return .success(.effect(.send(.setWatermarks(id, try watermarks()))))
            case .reply(let id, let before): return .success(.effect(.setReplies(id, try rules(before))))
            case .save: return .failure(Problem(field: .path, message: "what is saved is known to the reducer only"))
            case .saveMarked(let ids):
                guard !text(.path).isEmpty else { throw Problem(field: .path, message: "a folder is missing") }
                return .success(.effect(.saveTraffic(ids, folder: text(.path))))
            case .pace(let id): return .success(.pace(id, try pace()))
            case .destination(let id): return .success(.destination(id, try destination()))
            }
        } catch {
            return .failure(error)
        }
    }

    func duration(_ name: FormField.Name) throws(Problem) -> Duration? {
        guard let duration = DurationText.parse(text(name)) else {
            throw Problem(field: name, message: "\(text(name)) is not a duration; write 30s or 500ms")
        }
        return duration
    }

    func number(_ name: FormField.Name, _ range: ClosedRange<Int>, _ what: String) throws(Problem) -> Int {
        let text = text(name).filter { !$0.isWhitespace }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(field: name, message: "\(what), not \(text.isEmpty ? "nothing" : text)")
        }
        return number
    }

    private func opening() throws(Problem) -> Effect {
        let parsed: AddressLine
        switch AddressLine.parse(text(.address), listens: purpose == .listen) {
        case .success(let line): parsed = line
        case .failure(let failure): throw Problem(field: .address, message: failure.message)
        }
        let timeout = try duration(.timeout)
        func request(_ target: OpenTarget) throws(Problem) -> OpenRequest {
            var request = OpenRequest(
                target, timeout: timeout, standingRead: isOn(.firstRead), allowsHalfOpen: isOn(.halfOpen),
                holdsConnections: isOn(.hold))
            if target.isSecure { request.tls = try openingTLS(target.endpoint) }
            return request
        }
        switch parsed {
        case .demo: return .startDemo
        case .host: return .showHost
        case .listen(let target): return .listen(try request(target))
        case .relay(let request): return .relay(request)
        case .attach(let name): return .attach(name)
        case .connect(let target): return .connect(try request(target))
        }
    }

    private func read() throws(Problem) -> ReadRequest {
        var reader = ReadKindReader(readKind)
        let kind: ReadRequest.Kind
        do throws(ReadTextProblem) {
            for part in readKind.parts {
                if let text = text(part) { try reader.set(part, text) }
            }
            kind = try reader.kind()
        } catch {
            throw Problem(field: error.part.map { .part($0) } ?? .kind, message: sentence(error))
        }
        return ReadRequest(
            kind, timeout: try duration(.timeout), tag: try number(.tag, Int.min...Int.max, "a number"),
            isStanding: isOn(.standing))
    }

    /// Returns the problem of a part, with the name of its field.
    private func sentence(_ error: ReadTextProblem) -> String {
        guard let part = error.part, let field = fields.first(where: { $0.name == .part(part) }) else {
            return error.message
        }
        let typed = text(.part(part))
        switch part {
        case .length where SizeText.parse(typed) ?? 0 < 1, .limit where SizeText.parse(typed) ?? 0 < 1,
            .offset where SizeText.parse(typed) == nil:
            return "\(field.label): write a number of bytes, such as 512 or 8K"
        default: return "\(field.label): " + (typed.isEmpty ? "write \(part.noun)" : error.message)
        }
    }

    /// Returns the text of a part's field, or `nil` if it is left empty.
    private func text(_ part: ReadPart) -> String? {
        switch fields.first(where: { $0.name == .part(part) })?.value {
        case .text(let editor): editor.isEmpty && !part.isRequired ? nil : editor.text
        case .toggle(let isOn): isOn ? part.choices.last : nil
        case .choice(let options, let index): options[index]
        case nil: nil
        }
    }

    private func verdict() throws(Problem) -> TimeoutVerdict {
        switch chosen(.verdict) {
        case 1: return .failOperation
        case 2: return .close
        default:
            guard let more = try duration(.extra) else { throw Problem(field: .extra, message: "how much longer?") }
            return .extend(by: more)
        }
    }
}
