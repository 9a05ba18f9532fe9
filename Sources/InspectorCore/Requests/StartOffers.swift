/// What the start screen offers below its prompt.
package struct StartOffers: Equatable, Sendable {
    package struct Recent: Equatable, Sendable {
        /// The text as typed: `imap.example:993`, `listen 127.0.0.1:8080`.
        package var text: String
        /// The age in words: `2 days ago`.
        package var age: String
        package init(text: String, age: String) {
            self.text = text
            self.age = age
        }
    }

    package struct Listening: Equatable, Sendable {
        /// The address to connect to: `127.0.0.1:6379`.
        package var address: String
        /// `redis-server[812]`, or empty if the kernel does not reveal it.
        package var program: String
        package init(address: String, program: String) {
            self.address = address
            self.program = program
        }
    }

    package struct Program: Equatable, Sendable {
        /// `chatd[4242]`
        package var title: String
        /// How long it has allowed inspection, in words: `up 2:04:10`.
        package var age: String
        /// The path of its inspection socket.
        package var path: String
        package init(title: String, age: String, path: String) {
            self.title = title
            self.age = age
            self.path = path
        }
    }

    package var recent: [Recent]
    package var listening: [Listening]
    package var programs: [Program]

    package init(recent: [Recent] = [], listening: [Listening] = [], programs: [Program] = []) {
        self.recent = recent
        self.listening = listening
        self.programs = programs
    }
}
