/// Divides a sum into equal shares.
package enum EvenShare {
    /// Returns the largest share to which each cost can be trimmed so that the total is at most `sum`.
    package static func level(_ costs: [Int], sum: Int) -> Int {
        let costs = costs.sorted()
        var left = sum
        for (index, cost) in costs.enumerated() {
            let share = left / (costs.count - index)
            guard cost <= share else { return share }
            left -= cost
        }
        return costs.last ?? 0
    }
}
