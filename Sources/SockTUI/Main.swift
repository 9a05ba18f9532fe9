import Glibc

@main
enum Main {
    static func main() {
        ProgramArguments.becomeProgram()
        exit(Program.main(ProgramArguments.texts))
    }
}
