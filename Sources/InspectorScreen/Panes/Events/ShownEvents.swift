/// The shown entries, by their numbers. Unfiltered entries are not copied.
package struct ShownEvents {
    private let first: Int
    private let matching: [Int]?
    package let count: Int

    init(first: Int, end: Int, matching: [Int]?) {
        self.first = first
        self.matching = matching
        if let matching {
            count = Self.lowerBound(matching, end)
        } else {
            count = max(0, end - first)
        }
    }

    /// The number of the entry in this row.
    package subscript(row: Int) -> Int { matching.map { $0[row] } ?? first + row }

    /// Returns the row of an entry, or of the next one that is shown.
    package func index(_ number: Int) -> Int {
        let row = matching.map { Self.lowerBound($0, number) } ?? number - first
        return min(max(0, row), max(0, count - 1))
    }

    private static func lowerBound(_ numbers: [Int], _ wanted: Int) -> Int {
        var low = 0
        var high = numbers.count
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
