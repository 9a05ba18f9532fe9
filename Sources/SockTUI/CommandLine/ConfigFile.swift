import Glibc
import InspectorCore
import InspectorScreen
import InspectorShell

/// The user's configuration file.
enum ConfigFile {
    /// The names below `$XDG_CONFIG_HOME` or `~/.config`. The first one that exists is read.
    private static let names = ["config", "config.toml"]

    /// `$XDG_CONFIG_HOME/socktui` or `~/.config/socktui`, or `nil` if there is no home folder.
    static var folder: String? {
        if Elevation.isRestricted { return nil }
        if let folder = EnvironmentVariables.value(of: "XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/socktui"
        }
        guard let home = EnvironmentVariables.value(of: "HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.config/socktui"
    }

    /// The location of the file to read.
    struct Place {
        /// The path, or `nil` if there is neither a file nor a home folder.
        var path: String?
        var isThere = false
        /// The second of the two names, if it exists as well.
        var unread: String?

        /// One sentence for the user.
        var sentence: String {
            guard let path else {
                return "no configuration: " + (Elevation.refusal ?? "neither XDG_CONFIG_HOME nor HOME is set")
            }
            guard isThere else {
                return
                    "no configuration: \(path) does not exist (config.toml works too); socktui config > \(path) starts one"
            }
            return "configuration: \(path)" + (problem.map { "; " + $0 } ?? "")
        }

        /// A problem to report even if the user didn't ask.
        var problem: String? { unread.map { "\($0) exists too and is not read" } }
    }

    static func place(_ invocation: Invocation) -> Place {
        if let path = invocation.configuration { return Place(path: path, isThere: true) }
        guard let folder else { return Place() }
        let paths = names.map { (name: String) -> String in "\(folder)/\(name)" }
        let there = paths.filter { access($0, F_OK) == 0 }
        guard let first = there.first else { return Place(path: "\(folder)/\(names[0])") }
        return Place(path: first, isThere: true, unread: there.dropFirst().first)
    }

    /// Reads the requested file, or the usual one if it exists, and then applies the command line's options.
    /// - Throws: the mistake in the file, with its line and column.
    static func configuration(_ invocation: Invocation) throws(UsageError) -> Configuration {
        var configuration = Configuration()
        if case let place = place(invocation), place.isThere, let path = place.path,
            let text = try text(of: path, mustExist: invocation.configuration != nil)
        {
            configuration = try read(text, path)
        }
        configuration.depth = invocation.depth ?? configuration.depth
        configuration.absorb(invocation)
        return configuration
    }

    /// Returns the configuration of a run without a screen, which must behave the same for every user: it reads only the
    /// file that the command line names.
    /// - Throws: the mistake in that file.
    static func givenConfiguration(_ invocation: Invocation) throws(UsageError) -> Configuration {
        if invocation.configuration != nil { return try self.configuration(invocation) }
        var configuration = Configuration()
        configuration.absorb(invocation)
        return configuration
    }

    private static func text(of path: String, mustExist: Bool) throws(UsageError) -> String? {
        do throws(TextFile.Problem) {
            return try TextFile.contents(of: path)
        } catch {
            if error == .system(ENOENT), !mustExist { return nil }
            throw UsageError(path, error.sentence)
        }
    }

    private static func read(_ text: String, _ path: String) throws(UsageError) -> Configuration {
        switch Configuration.parse(text) {
        case .success(let configuration): return configuration
        case .failure(let failure):
            let place = failure.position
            throw UsageError(sentence: "\(path):\(place.line):\(place.column): \(failure.message)")
        }
    }
}

extension Configuration {
    /// Applies the command line's options, which override the file.
    fileprivate mutating func absorb(_ invocation: Invocation) {
        isASCII = invocation.isASCII ?? isASCII
        log = invocation.log ?? log
        keep = invocation.keep ?? keep
        rewind = invocation.rewind ?? rewind
        keepTotal = invocation.keepTotal ?? keepTotal
    }
}
