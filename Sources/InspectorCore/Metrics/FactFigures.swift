import SocketCore
import SocketRecords

/// Reads those facts of a socket that metrics add up. Others are not even made, because a host can have many thousand
/// sockets.
struct FactFigures: WireCoder {
    /// The families by the number of the field that is their fact, and the family of the current field.
    private let families: [UInt32: MetricFamily]
    private var family: MetricFamily?
    private var figures: [Figure] = []

    typealias Figure = (family: MetricFamily, value: Double)

    init() {
        var numbers = FactNumbers()
        // Neither coder throws.
        var blank = HostSnapshot.blank
        try? blank.fields(&numbers)
        families = Dictionary(
            uniqueKeysWithValues: MetricFamily.allCases.compactMap { family in
                family.row.fact.flatMap { numbers.numbers[$0] }.map { ($0, family) }
            })
    }

    /// Returns the figures of a socket, without those that are unknown.
    mutating func figures(of host: HostSnapshot) -> [Figure] {
        figures = []
        var host = host
        try? host.fields(&self)
        return figures
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) { family = families[number] }
    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) { family = families[number] }
    mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) { family = families[number] }

    mutating func tell(_ fact: () -> Fact) {
        guard let family, let figure = fact().value.figure else { return }
        figures.append((family, figure))
    }
}

/// Finds the number of the field that each fact is.
private struct FactNumbers: WireCoder {
    private var number: UInt32 = 0
    private(set) var numbers: [String: UInt32] = [:]

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) { self.number = number }
    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) { self.number = number }
    mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) { self.number = number }
    mutating func tell(_ fact: () -> Fact) { numbers[fact().name] = number }
}

extension FactValue {
    /// The value as a number, if it is one. Times are in seconds.
    var figure: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        case .span(let span): span.inSeconds
        default: nil
        }
    }
}
