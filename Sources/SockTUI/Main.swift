import CSockTUITerminal
import Glibc
import SocketCore

@main
enum Main {
    static func main() { exit(Program.main(arguments)) }

    /// The program's arguments, without loss.
    private static var arguments: [String] {
        var texts: [String] = []
        var next = cterminal_arguments()
        while let given = next, let text = given.pointee {
            texts.append(String(native: text))
            next = given + 1
        }
        return texts
    }
}
