"""A line server that takes each read for whole lines: it answers half a line as if it were one.

ECHO TEXT is answered by +TEXT, anything else by -ERR. Usage: python3 naive-lines.py PORT
"""

import socketserver
import sys


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            for line in data.splitlines():
                if line:
                    self.request.sendall(answer(line))


def answer(line):
    return b"+" + line[5:] + b"\r\n" if line.startswith(b"ECHO ") else b"-ERR\r\n"


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
