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

extension SourceList {
    /// The sources of a run with a screen.
    convenience init(_ invocation: Invocation, _ configuration: Configuration) {
        self.init(
            keeping: TrafficLimits(configuration), looking: invocation.host, lints: invocation.lints,
            opensSeveral: invocation.opensSeveral, faults: FaultControl(invocation.faults, configuration))
    }
}

extension Model.Options {
    /// What the command line and the configuration say about a screen.
    init(_ invocation: Invocation, _ configuration: Configuration, drawsUnicode: Bool = true) {
        self.init(
            ascii: configuration.isASCII || !drawsUnicode, version: CommandTable.version,
            lints: invocation.lints.over(configuration.lints))
        keys = configuration.keys
        instant = invocation.report.instant
        isOpening = invocation.opening.contains(where: \.showsOthers)
        peeks = invocation.host.peeks
        if case .success(let words) = Filter.parse(invocation.host.filter) { filter = words }
    }
}
