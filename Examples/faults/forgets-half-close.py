#!/usr/bin/env python3
"""A server that takes the end of a request for the end of the connection, and answers nobody who half-closes.

    python3 Examples/faults/forgets-half-close.py 7001 &
    socktui relay :7000 localhost:7001 --fault 'upstream after 6 half-close'
    socktui connect localhost:7000 --send 'WORK\\r\\n' --expect DONE     # fails: it is closed without an answer

A second argument, right, makes it do what it should: FIN says that no more requests come, and the answer still goes out.
"""
import socket
import sys
import threading

isRight = len(sys.argv) > 2 and sys.argv[2] == "right"


def work(connection, line, isOver):
    # The answer takes a moment, in which the FIN arrives.
    isOver.wait(0.3)
    if isRight or not isOver.is_set():
        connection.sendall(b"DONE\r\n")


def serve(connection):
    isOver = threading.Event()
    workers = []
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            workers.append(threading.Thread(target=work, args=(connection, line, isOver)))
            workers[-1].start()
        isOver.set()
        for worker in workers:
            worker.join()


with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    print(server.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
