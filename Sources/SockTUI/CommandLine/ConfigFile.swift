import Glibc
import InspectorCore

/// The file in which a person says how the program shall be.
enum ConfigFile {
    /// `$XDG_CONFIG_HOME/socktui/config`, or below `~/.config`; nil without a home.
    static var usual: String? {
        if let folder = TerminalEnvironment.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/socktui/config"
        }
        guard let home = TerminalEnvironment.variable("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.config/socktui/config"
    }

    /// Reads the file that was asked for, or the usual one where it is there; then what the command line says on top.
    /// - Throws: what is wrong with the file, with its line and column.
    static func configuration(_ invocation: Invocation) throws(UsageError) -> Configuration {
        var configuration = Configuration()
        if let path = invocation.configuration ?? usual {
            if let text = try text(of: path, mustExist: invocation.configuration != nil) {
                configuration = try read(text, path)
            }
        }
        configuration.depth = invocation.depth ?? configuration.depth
        configuration.take(invocation)
        return configuration
    }

    /// What the command line says with no file.
    static func withoutFile(_ invocation: Invocation) -> Configuration {
        var configuration = Configuration()
        configuration.take(invocation)
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
    /// What the command line says wins.
    fileprivate mutating func take(_ invocation: Invocation) {
        isASCII = invocation.isASCII ?? isASCII
        log = invocation.log ?? log
        keep = invocation.keep ?? keep
        keepTotal = invocation.keepTotal ?? keepTotal
    }
}
