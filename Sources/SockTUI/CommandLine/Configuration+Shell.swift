import InspectorCore
import InspectorScreen
import InspectorShell

// What the configuration file sets for the parts that know no configuration.

extension TrafficLimits {
    /// Creates the limits of the configuration.
    init(_ configuration: Configuration) { self.init(each: configuration.keep, all: configuration.keepTotal) }
}

extension FaultControl {
    /// Creates the control with the profiles of the configuration.
    convenience init(_ options: FaultOptions, _ configuration: Configuration) {
        var options = options
        options.profiles = configuration.faults
        self.init(options)
    }
}

extension SourceList {
    /// Keeps the span that the configuration sets, for a live run. A file already has its whole past.
    func keepHistory(_ configuration: Configuration, _ invocation: Invocation) {
        for case .openFile in invocation.opening { return }
        try? keepHistory(configuration.rewind)
    }
}
