import InspectorCore
import SocketCore
import SocketWorkshop

extension Configuration {
    /// Parses a configuration. Settings that it does not mention keep their defaults.
    /// - Returns: the configuration or the first mistake, which is an unknown name, an invalid value, a key bound twice
    ///   or an
    /// unknown command.
    package static func parse(_ text: String) -> Result<Configuration, TOML.Failure> {
        do throws(TOML.Failure) {
            let document = try TOML.parse(text).get()
            var configuration = Configuration()
            var bound: [BoundKey: Place] = [:]
            for entry in document.entries { try configuration.absorb(entry, &bound) }
            try configuration.checkWaysOut(bound)
            return .success(configuration)
        } catch {
            return .failure(error)
        }
    }

    private struct BoundKey: Hashable {
        var key: Key
        var context: KeyContext
    }

    /// Where a key was bound, and whether for all views at once.
    private struct Place {
        var position: TOML.Position
        var isGeneral: Bool
    }

    /// Rejects bindings that leave a prompt, a menu or a dialog without a way out.
    private func checkWaysOut(_ bound: [BoundKey: Place]) throws(TOML.Failure) {
        for context in KeyContext.allCases {
            let positions = bound.filter { $0.key.context == context }.values.map(\.position)
            guard let position = positions.max(by: { $0.line < $1.line }) else { continue }
            for action in Action.all where action.use(in: context)?.needsKey == true {
                // A letter may belong to a menu item, which takes precedence.
                let ways = keys.bindings(in: context).filter { $0.action?.name == action.name }.flatMap(\.keys)
                guard !ways.contains(where: { context != .menu || !$0.isCharacter }) else { continue }
                throw TOML.Failure(position, "no key is bound to \(action.name) in \(context.rawValue)")
            }
        }
    }

    private mutating func absorb(_ entry: TOML.Entry, _ bound: inout [BoundKey: Place]) throws(TOML.Failure) {
        let path = entry.path
        switch (path[0], path.count) {
        case ("options", 2): try absorbOption(entry)
        case ("colors", 2): try absorbColour(entry)
        case ("keys", 3): try absorbKey(entry, &bound)
        case ("warnings", 2): try absorbWarning(entry)
        case ("fault", 3): try absorbFaults(entry)
        case ("fault", _):
            throw TOML.Failure(entry.key, "a fault needs a name, as in [fault.slow] rules = [\"latency 300ms\"]")
        case ("options", _), ("colors", _), ("warnings", _):
            throw TOML.Failure(entry.key, "\(path[0]) cannot contain tables")
        case ("keys", _):
            throw TOML.Failure(entry.key, "keys need a context, as in [keys.list]")
        default:
            throw TOML.Failure(
                entry.key, "no such table: \(path[0])" + Spelling.suggestion(for: path[0], among: Self.tables))
        }
    }

    private static let tables = ["options", "keys", "colors", "warnings", "fault"]

    private mutating func absorbFaults(_ entry: TOML.Entry) throws(TOML.Failure) {
        let name = entry.path[1]
        guard entry.path[2] == "rules" else { throw TOML.Failure(entry.key, "a fault can only have rules") }
        guard FaultProfile.isName(name) else {
            throw TOML.Failure(
                entry.key, "\(name) cannot be a name: use a to z, 0 to 9 and -, and not a word of a rule")
        }
        guard case .array(let values) = entry.value, !values.isEmpty else {
            throw TOML.Failure(entry.position, "rules must be a list, as in [\"latency 300ms\"]")
        }
        faults[name] = try values.map { (value) throws(TOML.Failure) in
            guard let text = value.text else { throw TOML.Failure(entry.position, "a rule must be text") }
            do throws(FaultProblem) { _ = try FaultRule.parse(text) } catch {
                throw TOML.Failure(entry.position, "\(error)")
            }
            return text
        }
    }

    private mutating func absorbWarning(_ entry: TOML.Entry) throws(TOML.Failure) {
        guard let text = entry.value.text else {
            throw TOML.Failure(entry.position, "\(entry.path[1]) must be \"on\", \"off\" or a time, as in \"10s\"")
        }
        do throws(LintSettings.Problem) {
            try lints.set(entry.path[1], to: text)
        } catch {
            throw TOML.Failure(Lint.named(entry.path[1]) == nil ? entry.key : entry.position, error.message)
        }
    }

    private mutating func absorbOption(_ entry: TOML.Entry) throws(TOML.Failure) {
        let name = entry.path[1]
        guard let option = Self.options.first(where: { $0.name == name }) else {
            throw TOML.Failure(
                entry.key, "no such option: \(name)" + Spelling.suggestion(for: name, among: Self.options.map(\.name)))
        }
        guard option.set(entry.value, &self) else {
            throw TOML.Failure(entry.position, "\(name) must be \(option.values)")
        }
    }

    private mutating func absorbColour(_ entry: TOML.Entry) throws(TOML.Failure) {
        let name = entry.path[1]
        guard let role = Role.allCases.first(where: { "\($0)" == name }) else {
            throw TOML.Failure(
                entry.key,
                "no such color: \(name)" + Spelling.suggestion(for: name, among: Role.allCases.map { "\($0)" }))
        }
        guard let text = entry.value.text else {
            throw TOML.Failure(entry.position, "\(name) must be text, as in \"yellow bold\"")
        }
        let (colour, wrong) = ColourText.parse(text)
        guard let colour else {
            throw TOML.Failure(
                entry.position,
                "\(wrong) is not a color; red, bright-red, 0 to 255, default, with bold, reverse, underline or dim")
        }
        colours[role] = colour
    }

    private mutating func absorbKey(
        _ entry: TOML.Entry, _ bound: inout [BoundKey: Place]
    ) throws(TOML.Failure) {
        let (place, name) = (entry.path[1], entry.path[2])
        guard let key = Key(named: name) else {
            throw TOML.Failure(entry.key, "no such key: \(name); write a character, Enter, F7, ^D, Alt-1...")
        }
        if key == KeyTable.fixed { throw TOML.Failure(entry.key, "\(name) always quits") }
        guard let line = entry.value.text else {
            throw TOML.Failure(entry.position, "a key runs a command, as in \"read line\"; empty for none")
        }
        if !line.isEmpty, case .failure(let failure) = Instruction.parse(line) {
            throw TOML.Failure(entry.position, failure.message)
        }
        for context in try contexts(place, entry) {
            try check(key, line, in: context, entry)
            // A binding for one view overrides one for all views, in either order.
            let isGeneral = place == Self.allViews
            if let other = bound[BoundKey(key: key, context: context)] {
                guard isGeneral != other.isGeneral else {
                    throw TOML.Failure(
                        entry.key, "\(name) is already bound in \(place), on line \(other.position.line)")
                }
                if isGeneral { continue }
            }
            bound[BoundKey(key: key, context: context)] = Place(position: entry.key, isGeneral: isGeneral)
            keys.bind(key, in: context, to: line)
        }
    }

    /// Rejects a key that would keep a letter from being typed, and an action that is not available in a context.
    private func check(
        _ key: Key, _ line: String, in context: KeyContext, _ entry: TOML.Entry
    ) throws(TOML.Failure) {
        if context.isText, key.isCharacter {
            let usual = KeyTable.standard.binding(for: key, in: context)?.action?.name
            guard let usual, line.isEmpty || line == usual else {
                throw TOML.Failure(entry.key, "\(key.label) types text in \(context.rawValue); bind ^X, Alt-x or F5")
            }
        }
        if let action = Action.named(line), !action.uses.isEmpty, action.use(boundIn: context) == nil {
            throw TOML.Failure(entry.position, "\(line) is not available in \(context.rawValue)")
        }
    }

    private func contexts(_ place: String, _ entry: TOML.Entry) throws(TOML.Failure) -> [KeyContext] {
        if place == Self.allViews { return KeyContext.views }
        if let context = KeyContext(rawValue: place) { return [context] }
        let places = KeyContext.allCases.map(\.rawValue) + [Self.allViews]
        throw TOML.Failure(entry.key, "no such context: \(place); \(places.joined(separator: ", "))")
    }
}
