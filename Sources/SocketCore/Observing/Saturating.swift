// Sums of numbers that other programs claim.

extension FixedWidthInteger {
    /// Returns the sum, or the largest or smallest number if it doesn't fit.
    package func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Adds as much as fits.
    package mutating func saturate(adding other: Self) { self = saturatingAdd(other) }
}
