import Glibc

@main
enum Main {
    static func main() { exit(Program.main(ProgramArguments.texts)) }
}
