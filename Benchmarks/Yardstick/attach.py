#!/usr/bin/env python3
"""What it costs a program to be looked at: an echo server with idle and busy connections, with and without a viewer.

usage: attach.py SERVER SOCKTUI [-n REPEATS] [-i IDLE] [-c BUSY] [-t SECONDS] [-s SHARE] [-r RATE] [-v VIEWING]

SERVER is SocketKitServer. It has core 1; load generator, viewer and the terminal that the viewer draws on share core 0.
Two loads:

  full    closed loop: each connection sends when its echo is back. The load generator uses up its core, so that what
          the viewer takes of it is missing there. `attached`: the viewer has its usual share of that core.
          `attached-idle`: it is run by SCHED_IDLE (chrt -i 0), and takes what the load generator leaves; it is told
          and draws less then.
  fixed   open loop: RATE echoes a second (by default SHARE of what `full` reaches, 0.55), sent by the clock whether
          the server keeps up or not. Latencies count from when a message was due. `late`: messages that the load
          generator itself sent more than a millisecond after they were due.

The connections of a run are there, and the viewer has seen them, before the run is measured.
`off` is a server that cannot be attached to, `unwatched` one that nobody looks at. Machines get slower and faster by the
minute: each run is compared with the `unwatched` ones right before and after it, and the median of those ratios is
printed with its quartiles, beside the medians themselves. `unwatched` against the one before it says what a ratio of
nothing looks like. `inspection_share` is what the thread that tells viewers takes of the program's processor time,
`viewer` the CPU seconds of the viewer in each second of the run.

-v VIEWING: only the viewer's CPU, looked at for so many seconds, at the fixed rate.
"""
import json, os, pty, resource, socket, statistics as st, struct, subprocess, sys, tempfile, termios, fcntl, threading, time
import compare

TICK = os.sysconf('SC_CLK_TCK')
KEYS = ('rate', 'srv_cpu_us_per_op', 'srv_util', 'p50_us', 'p99_us')

def own(pid):
    """Nanoseconds that the thread has used which tells viewers."""
    for task in os.listdir(f'/proc/{pid}/task'):
        try:
            if open(f'/proc/{pid}/task/{task}/comm').read().strip() == 'inspection':
                return int(open(f'/proc/{pid}/task/{task}/schedstat').read().split()[0])
        except OSError: pass
    return 0

def used(pid):
    """CPU seconds of a process, user and system."""
    fields = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK

class Viewer:
    """`socktui attach` on a terminal of 140x40 of its own."""
    def __init__(self, socktui, pid, environment, isIdle):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 140, 0, 0))
        words = ['taskset', '-c', '0'] + (['chrt', '-i', '0'] if isIdle else []) + [socktui, 'attach', str(pid)]
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)
        os.close(slave)
        self.seen, self.isLive, self.bytes = b'', threading.Event(), 0
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        """What a terminal would draw. It is thrown away once a session was seen."""
        while True:
            try: data = os.read(self.master, 1 << 16)
            except OSError: return
            if not data: return
            self.bytes += len(data)
            if self.isLive.is_set(): continue
            self.seen += data
            if b'live' in self.seen: self.isLive.set()

    def end(self):
        self.process.terminate(); self.process.wait(); os.close(self.master)

class Yard:
    def __init__(self, server, socktui, idle, busy, seconds):
        self.server, self.socktui, self.idle, self.busy, self.seconds = server, socktui, idle, busy, seconds
        folder = tempfile.mkdtemp()
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder,
                                TERM='xterm-256color', LC_ALL='C.UTF-8')

    def start(self, inspect):
        env = dict(self.environment, SOCKETKIT_INSPECT=inspect) if inspect else self.environment
        server = subprocess.Popen(['taskset', '-c', '1', self.server, '-m', 'echo'], stdout=subprocess.PIPE, text=True, env=env)
        port = int(server.stdout.readline().split()[1])
        held = []
        for _ in range(self.idle):
            s = socket.create_connection(('127.0.0.1', port)); s.sendall(b'x'); s.recv(1); held.append(s)
        return server, port, held

    def load(self, server, port, rate=None, seconds=None, viewer=None):
        """One run; `viewer` begins to look while the load is not measured yet."""
        paced = ['-r', str(rate)] if rate else []
        run = subprocess.Popen(['taskset', '-c', '0', f'{compare.BUILD}/loadgen', '-p', str(port), '-P', str(server.pid),
                                '-c', str(self.busy), '-t', str(seconds or self.seconds), '-w', '5' if viewer else '1'] + paced + ['ping'],
                               stdout=subprocess.PIPE, text=True)
        if viewer: time.sleep(0.5); viewer = viewer()
        if run.stdout.readline() != 'begin\n': raise SystemExit('the load did not begin')
        before, began = own(server.pid), time.monotonic()
        if viewer: used_before, drawn = used(viewer.process.pid), viewer.bytes
        line = run.stdout.readline()
        took = time.monotonic() - began
        if not line: raise SystemExit('the load failed')
        result = json.loads(line)
        result['inspection_share'] = (own(server.pid) - before) / 1e9 / (result['srv_util'] * result['secs'] or 1)
        if viewer:
            result['viewer'] = (used(viewer.process.pid) - used_before) / took
            result['drawn'] = (viewer.bytes - drawn) / took
            if not viewer.isLive.is_set(): raise SystemExit(f'the viewer sees nothing: {viewer.seen[-400:]!r}')
            viewer.end()
        run.wait()
        if viewer: time.sleep(0.3)
        return result

    def watched(self, server, port, rate=None, isIdle=False, seconds=None):
        return self.load(server, port, rate, seconds, lambda: Viewer(self.socktui, server.pid, self.environment, isIdle))

class Ratios:
    def __init__(self): self.ratios, self.runs = {}, {}

    def add(self, name, run, before, after):
        self.runs.setdefault(name, []).append(run)
        for key in KEYS:
            self.ratios.setdefault((name, key), []).append(run[key] / ((before[key] + after[key]) / 2))

    def print(self, load):
        for name, runs in self.runs.items():
            for key in KEYS:
                middle = st.median(run[key] for run in runs)
                low, ratio, high = st.quantiles(self.ratios[name, key], n=4)
                print(f'  {load:5} {name:14} {key:18} {middle:10.3f}  x{ratio:.3f} [{low:.3f}-{high:.3f}]')
            for key in ('late', 'latest_us', 'inspection_share', 'viewer', 'drawn'):
                values = [run[key] for run in runs if key in run]
                if values and max(values): print(f'  {load:5} {name:14} {key:18} {st.median(values):10.4f}  [{min(values):.4f}-{max(values):.4f}]')

def options(rest):
    chosen = {'-n': 12, '-i': 8000, '-c': 1000, '-t': 2.0, '-s': 0.55, '-r': 0.0, '-v': 0.0}
    while rest:
        if rest[0] not in chosen or len(rest) < 2: raise SystemExit(__doc__)
        chosen[rest[0]] = type(chosen[rest[0]])(rest[1])
        rest = rest[2:]
    return chosen

def main():
    if len(sys.argv) < 3: raise SystemExit(__doc__)
    chosen = options(sys.argv[3:])
    compare.build()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.sched_setaffinity(0, {0})
    yard = Yard(sys.argv[1], sys.argv[2], chosen['-i'], chosen['-c'], chosen['-t'])
    print(f'{yard.idle} idle and {yard.busy} busy connections, {chosen["-n"]} repeats of {yard.seconds:g} s, load of the machine {os.getloadavg()[0]:.1f}')
    on = yard.start('1')
    yard.load(*on[:2])
    rate = chosen['-r'] or chosen['-s'] * st.median(yard.load(*on[:2])['rate'] for _ in range(3))
    if chosen['-v']:
        run = yard.watched(*on[:2], rate, seconds=chosen['-v'])
        on[0].kill()
        print(f'fixed at {rate:.0f}/s: viewer {run["viewer"]:.3f} CPU s/s, {run["drawn"]:.0f} bytes drawn a second, '
              f'inspection_share {run["inspection_share"]:.4f}')
        return
    off = yard.start('')
    yard.load(*off[:2])
    for load, pace in (('full', None), ('fixed', rate)):
        if pace: print(f'fixed at {pace:.0f} echoes a second:')
        ratios = Ratios()
        before = yard.load(*on[:2], pace)
        for _ in range(chosen['-n']):
            without = yard.load(*off[:2], pace)
            after = yard.load(*on[:2], pace)
            ratios.add('off', without, before, after)
            ratios.add('unwatched', after, before, before)
            for name, isIdle in (('attached', False),) if pace else (('attached', False), ('attached-idle', True)):
                watched = yard.watched(*on[:2], pace, isIdle)
                before, former = yard.load(*on[:2], pace), after
                ratios.add(name, watched, former, before)
                after = before
        ratios.print(load)
    print(f'load of the machine at the end {os.getloadavg()[0]:.1f}')
    on[0].kill(); off[0].kill()

if __name__ == '__main__': main()
