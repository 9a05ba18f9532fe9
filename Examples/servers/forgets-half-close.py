"""A line server that forgets about half-close: when a client ends its stream, the server goes on waiting for it.

Each line is answered by itself. Usage: python3 forgets-half-close.py PORT
"""

import socketserver
import sys
import threading


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        waiting = b""
        while data := self.request.recv(65536):
            waiting += data
            *lines, waiting = waiting.split(b"\r\n")
            for line in lines:
                self.request.sendall(line + b"\r\n")
        # The mistake: what ends here should be closed here.
        threading.Event().wait()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
