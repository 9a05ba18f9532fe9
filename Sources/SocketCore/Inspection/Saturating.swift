// Sums of what other programs claim.

extension FixedWidthInteger {
    /// The sum, or the largest or smallest number where it does not fit.
    package func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Adds as much as fits.
    package mutating func saturate(adding other: Self) { self = saturatingAdd(other) }
}
