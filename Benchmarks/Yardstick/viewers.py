#!/usr/bin/env python3
"""What viewers that misbehave do to the program they look at: memory, descriptors and echo rate.

usage: viewers.py SERVER SOCKTUI [-i IDLE] [-c BUSY] [-s SECONDS] [-n ATTACHES]

SERVER is SocketKitServer. One viewer is stopped by SIGSTOP for SECONDS (10), then goes on; one is killed while an update
is on its way to it; then ATTACHES (50) come and go, every other one killed. The echo rate is measured all the time, each
time beside one without a viewer. Memory is compared with what it was when the stopped viewer had gone on: an update of
everything takes some once, and the next one takes the same again. It fails if a descriptor stays, or memory grows by more
than 4 MiB.
"""
import json, os, resource, signal, socket, struct, subprocess, sys, tempfile, threading, time
import compare

def status(pid, key):
    for line in open(f'/proc/{pid}/status'):
        if line.startswith(key): return int(line.split()[1])

def descriptors(pid): return len(os.listdir(f'/proc/{pid}/fd'))

def settled(pid, wanted):
    """Waits until no more descriptors are open than there shall be."""
    end = time.monotonic() + 5
    while descriptors(pid) > wanted and time.monotonic() < end: time.sleep(0.05)
    return descriptors(pid)

def main():
    server_path, socktui = sys.argv[1:3]
    idle, busy, seconds, attaches = 8000, 1000, 10.0, 50
    rest = sys.argv[3:]
    while rest:
        if rest[0] == '-i': idle = int(rest[1])
        elif rest[0] == '-c': busy = int(rest[1])
        elif rest[0] == '-s': seconds = float(rest[1])
        elif rest[0] == '-n': attaches = int(rest[1])
        else: raise SystemExit(__doc__)
        rest = rest[2:]
    compare.build()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = tempfile.mkdtemp()
    keys = os.path.join(folder, 'keys')
    open(keys, 'w').write('wait 20 live \nwait 600 what never comes\n')
    environment = dict(os.environ, XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder, SOCKETKIT_INSPECT='1')
    server = subprocess.Popen([server_path, '-m', 'echo'], stdout=subprocess.PIPE, text=True, env=environment)
    port = int(server.stdout.readline().split()[1])
    held = []
    for _ in range(idle):
        s = socket.create_connection(('127.0.0.1', port)); s.sendall(b'x'); s.recv(1); held.append(s)

    def load(duration):
        run = subprocess.run([f'{compare.BUILD}/loadgen', '-p', str(port), '-P', str(server.pid), '-c', str(busy),
                              '-t', str(duration), 'ping'], capture_output=True, text=True)
        if run.returncode: raise SystemExit(run.stderr)
        return json.loads(run.stdout)

    def viewer():
        return subprocess.Popen([socktui, 'attach', str(server.pid), '--script', keys, '--size', '140x40'],
                                env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def endpoint():
        for _ in range(200):
            name = [n for n in os.listdir(folder + '/socktui')] if os.path.isdir(folder + '/socktui') else []
            if name: return f'{folder}/socktui/{name[0]}'
            time.sleep(0.05)
        raise SystemExit('no endpoint')

    def said(what, with_viewer, without):
        rate = with_viewer['rate'] / without['rate']
        cpu = with_viewer['srv_cpu_us_per_op'] / without['srv_cpu_us_per_op']
        print(f'{what:34} rss {status(server.pid, "VmRSS"):7} kB  descriptors {descriptors(server.pid):5}'
              f'  echo rate x{rate:.2f}  cpu x{cpu:.2f}  p99 {with_viewer["p99_us"] / 1000:.0f} ms', flush=True)

    first = load(2); path = endpoint()
    said('nobody has looked yet', first, first)
    one = viewer(); time.sleep(2); load(1); one.kill(); one.wait()
    before = settled(server.pid, 0)
    alone = load(2)
    said('before', alone, alone)
    one = viewer(); time.sleep(2)
    one.send_signal(signal.SIGSTOP)
    stopped = load(seconds)
    said(f'viewer stopped for {seconds:g} s', stopped, load(2))
    one.send_signal(signal.SIGCONT); time.sleep(1)
    said('and going on', load(2), load(2))
    one.kill(); one.wait()
    for _ in range(3):
        one = viewer(); time.sleep(1); one.kill(); one.wait()
    settled(server.pid, before); rss = status(server.pid, 'VmRSS')
    # Killed while an update is on its way: it greets, takes a little of the first one, and is gone.
    for _ in range(5):
        cut = socket.socket(socket.AF_UNIX); cut.connect(path)
        hello = b'\x0a\x07socktui\x10\x01'
        cut.sendall(struct.pack('>IB', len(hello) + 1, 1) + hello); cut.recv(4096); cut.close()
    for number in range(attaches):
        one = viewer(); time.sleep(0.2)
        one.send_signal(signal.SIGKILL if number % 2 else signal.SIGTERM); one.wait()
        if number % 10 == 9: print(f'  {number + 1} attaches: rss {status(server.pid, "VmRSS")} kB', flush=True)
    after = settled(server.pid, before)
    said(f'after {attaches} attaches', load(2), load(2))
    grown = status(server.pid, 'VmRSS') - rss
    print(f'descriptors {before} before, {after} after; memory grew by {grown} kB')
    server.kill()
    if after > before or grown > 4096: raise SystemExit('something stays')

if __name__ == '__main__': main()
