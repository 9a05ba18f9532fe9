#!/usr/bin/env python3
"""What it costs a program to be looked at: an echo server with idle and busy connections, with and without a viewer.

usage: attach.py SERVER SOCKTUI [-n REPEATS] [-i IDLE] [-c BUSY] [-t SECONDS]

SERVER is SocketKitServer. Runs with and without `socktui attach` alternate; `off` is a server that cannot be attached
to at all. Load generator and server are pinned to a core each; the viewer shares the load generator's, so `rate` bears
what the viewer itself takes of that core, and server CPU for each echo does not. Machines get slower and faster by the
minute: each run is compared with the `unwatched` ones right before and after it, and the median of those ratios is
printed with its quartiles. `inspection_share` is what the thread that tells viewers takes of the program's processor
time.
"""
import json, os, resource, signal, socket, statistics as st, subprocess, sys, tempfile, time
import compare

def own(pid):
    """Nanoseconds that the thread has used which tells viewers."""
    for task in os.listdir(f'/proc/{pid}/task'):
        try:
            if open(f'/proc/{pid}/task/{task}/comm').read().strip() == 'inspection':
                return int(open(f'/proc/{pid}/task/{task}/schedstat').read().split()[0])
        except OSError: pass
    return 0

def main():
    server_path, socktui = sys.argv[1:3]
    repeats, idle, busy, seconds = 15, 8000, 1000, 1.0
    rest = sys.argv[3:]
    while rest:
        value = rest[1]
        if rest[0] == '-n': repeats = int(value)
        elif rest[0] == '-i': idle = int(value)
        elif rest[0] == '-c': busy = int(value)
        elif rest[0] == '-t': seconds = float(value)
        else: raise SystemExit(__doc__)
        rest = rest[2:]
    compare.build()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = tempfile.mkdtemp()
    keys = os.path.join(folder, 'keys')
    open(keys, 'w').write('wait 30 live \ndump\nwait 600 what never comes\n')
    environment = dict(os.environ, XDG_RUNTIME_DIR=folder)

    def start(inspect):
        env = dict(environment, SOCKETKIT_INSPECT=inspect) if inspect else environment
        server = subprocess.Popen(['taskset', '-c', '1', server_path, '-m', 'echo'], stdout=subprocess.PIPE, text=True, env=env)
        port = int(server.stdout.readline().split()[1])
        held = []
        for _ in range(idle):
            s = socket.create_connection(('127.0.0.1', port)); s.sendall(b'x'); s.recv(1); held.append(s)
        return server, port, held

    def load(server, port):
        before = own(server.pid)
        run = subprocess.run(['taskset', '-c', '0', f'{compare.BUILD}/loadgen', '-p', str(port), '-P', str(server.pid),
                              '-c', str(busy), '-t', str(seconds), 'ping'], capture_output=True, text=True)
        if run.returncode: raise SystemExit(run.stderr)
        result = json.loads(run.stdout)
        result['inspection_share'] = (own(server.pid) - before) / 1e9 / (result['srv_util'] * result['secs'] or 1)
        return result

    on, off = start('1'), start('')
    load(*on[:2]); load(*off[:2])
    ratios, shares = {}, []

    def compared(name, run, before, after):
        for key in ('srv_cpu_us_per_op', 'rate'):
            ratios.setdefault((name, key), []).append(run[key] / ((before[key] + after[key]) / 2))

    before = load(*on[:2])
    for _ in range(repeats):
        without = load(*off[:2])
        after = load(*on[:2])
        compared('off', without, before, after)
        compared('unwatched', after, before, before)
        viewer = subprocess.Popen(['taskset', '-c', '0', socktui, 'attach', str(on[0].pid), '--script', keys, '--size', '140x40'],
                                  env=environment, stdout=subprocess.PIPE, bufsize=0)
        if not viewer.stdout.read(1): raise SystemExit('the viewer sees nothing')
        time.sleep(0.5)
        watched = load(*on[:2])
        viewer.terminate(); viewer.wait(); time.sleep(0.3)
        before, former = load(*on[:2]), after
        compared('attached', watched, former, before)
        shares.append(watched['inspection_share'])
    on[0].kill(); off[0].kill()
    print(f'{idle} idle and {busy} busy connections, {repeats} repeats of {seconds:g} s; against unwatched runs beside them:')
    for (name, key), values in ratios.items():
        low, middle, high = st.quantiles(values, n=4)
        print(f'  {name:10} {key:18} x{middle:.3f} [{low:.3f}-{high:.3f}]')
    print(f'inspection_share {st.median(shares):.4f} [{min(shares):.4f}-{max(shares):.4f}]')

if __name__ == '__main__': main()
