import InspectorCore
import SocketCore
import SocketWorkshop

extension Form {
    /// Returns the rules with the form's rule added.
    func rules(_ before: [ReplyRule]) throws(Problem) -> [ReplyRule] {
        let pattern = text(.when)
        guard !pattern.isEmpty else { throw Problem(field: .when, message: "a regular expression is missing") }
        let typed = text(.reply)
        switch MessageText.parse(typed) {
        case .failure(let failure):
            throw Problem(field: .reply, message: "column \(failure.column): \(failure.message)")
        case .success(let reply):
            guard !reply.isEmpty else { throw Problem(field: .reply, message: "the text to send is missing") }
            guard MessageText.preview(reply, sequence: 1).files == 0 else {
                throw Problem(field: .reply, message: "a rule cannot send files")
            }
            do throws(Pattern.Failure) {
                return before + [try ReplyRule(pattern: pattern, text: typed, reply: reply)]
            } catch {
                throw Problem(field: .when, message: error.message)
            }
        }
    }
}
