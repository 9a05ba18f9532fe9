import SocketSimulation

/// What the command line asks for.
struct Arguments {
    static let usage = """
        usage: simulate-sockets [--seeds COUNT] [--from SEED] [--seed SEED] [--awaits COUNT] [--verbose] [--mutant NAME]
                                [--coverage]

          --seeds COUNT   run so many seeds (default: 10000)
          --from SEED     begin with this one (default: 0)
          --seed SEED     run this one only
          --awaits COUNT  of so many seeds, let one have tasks that await (default: \(Simulation.usualRarity))
          --verbose       tell everything that happens
          --mutant NAME   plant this bug; the run fails unless it is found
                          (\(Mutant.allCases.map(\.rawValue).joined(separator: ", ")))
          --coverage      fail unless every pair of state and event, and of await and end, was seen, and list the rarest
        """

    var count: UInt64 = 10_000
    var from: UInt64 = 0
    var rarity = Simulation.usualRarity
    var isVerbose = false
    var mutant: Mutant?
    var wantsCoverage = false

    /// What is wrong with a command line.
    struct Refusal: Error {
        let words: String
    }

    init(_ words: [String]) throws(Refusal) {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--verbose": isVerbose = true
            case "--coverage": wantsCoverage = true
            case "--seeds": count = try Self.number(&rest, word)
            case "--from": from = try Self.number(&rest, word)
            case "--awaits": rarity = max(1, Int(clamping: try Self.number(&rest, word)))
            case "--seed":
                from = try Self.number(&rest, word)
                count = 1
            case "--mutant":
                guard let name = rest.popFirst(), let mutant = Mutant(rawValue: name) else {
                    throw Refusal(words: "--mutant: one of \(Mutant.allCases.map(\.rawValue))")
                }
                self.mutant = mutant
            default: throw Refusal(words: "\(word): no such option")
            }
        }
    }

    private static func number(_ rest: inout ArraySlice<String>, _ option: String) throws(Refusal) -> UInt64 {
        guard let word = rest.popFirst(), let number = UInt64(word) else {
            throw Refusal(words: "\(option): a number must follow")
        }
        return number
    }
}
