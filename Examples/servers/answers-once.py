"""A line server that answers the first of several requests that come together, and drops the others.

Each line is answered by itself. Usage: python3 answers-once.py PORT
"""

import socketserver
import sys


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        waiting = b""
        while data := self.request.recv(65536):
            waiting += data
            line, end, _ = waiting.partition(b"\r\n")
            if end:
                self.request.sendall(line + b"\r\n")
                # The mistake: what follows the line is the next request.
                waiting = b""


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
