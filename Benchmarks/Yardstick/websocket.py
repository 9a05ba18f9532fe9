#!/usr/bin/env python3
"""Server CPU for each WebSocket message echoed: SocketKit beside node's ws and Boost.Beast, interleaved.

usage: websocket.py [-n REPEATS] NAME=COMMAND [NAME=COMMAND ...]

COMMAND prints "ready PORT" and echoes. One client in C for all (wsload.c): binary messages, masked, no compression, every
byte checked. Server and client are pinned to a core each. Prints medians with their spread, and memory of idle WebSockets.
Exits 1 if any run failed.
"""
import json, os, random, shlex, statistics as st, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('PERF_BUILD', os.path.join(tempfile.gettempdir(), 'socket-perf'))
SIZES = [(16, 64), (1 << 10, 32), (64 << 10, 4), (1 << 20, 2)]  # bytes, messages in flight

def build(compiler, name, *flags):
    source = next(f'{HERE}/{name}{end}' for end in ('.c', '.cpp') if os.path.exists(f'{HERE}/{name}{end}'))
    target = f'{BUILD}/{name}'
    os.makedirs(BUILD, exist_ok=True)
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        subprocess.run([compiler, '-O2', '-o', target, source, *flags], check=True)
    return target

def once(command, arguments):
    environment = dict(os.environ, NODE_PATH=os.environ.get('NODE_PATH', '/usr/share/nodejs'))
    server = subprocess.Popen(['taskset', '-c', '1'] + shlex.split(command), stdout=subprocess.PIPE, text=True, env=environment)
    try:
        first = server.stdout.readline().split()
        if first[:1] != ['ready']: raise SystemExit(f'websocket: {command} printed {first} instead of "ready PORT"')
        run = subprocess.run(['taskset', '-c', '0', f'{BUILD}/wsload', '-p', first[1], '-P', str(server.pid)] + arguments,
                             capture_output=True, text=True, timeout=120)
        if run.returncode: print('FAILED', command, run.stderr.strip(), file=sys.stderr); return None
        return json.loads(run.stdout)
    finally:
        server.kill(); server.wait()

def main():
    arguments, repeats = sys.argv[1:], 5
    if arguments[:1] == ['-n']: repeats = int(arguments[1]); arguments = arguments[2:]
    if not arguments: raise SystemExit(__doc__)
    build('cc', 'wsload')
    servers = dict(a.split('=', 1) for a in arguments)
    if not subprocess.run(['sh', '-c', 'NODE_PATH=${NODE_PATH:-/usr/share/nodejs} node -e "require(\'ws\')"'], capture_output=True).returncode:
        servers['node-ws'] = f'node {HERE}/node.js'
    if os.path.exists('/usr/include/boost/beast.hpp'): servers['beast'] = build('g++', 'beast', '-std=c++17', '-lpthread')
    failed = 0
    for size, depth in SIZES:
        results = {name: [] for name in servers}
        for _ in range(repeats):
            for name in random.sample(list(servers), len(servers)):
                run = once(servers[name], ['-s', str(size), '-d', str(depth), '-t', '1'])
                if run: results[name].append(run)
                else: failed += 1
        for name, runs in results.items():
            if not runs: continue
            cpu = [run['srv_cpu_us'] for run in runs]
            print(f'{size:8} B {name:10} {st.median(cpu):9.2f} us of CPU [{min(cpu):.2f}..{max(cpu):.2f}]'
                  f'  {st.median(run["rate"] for run in runs):9.0f}/s', flush=True)
    for name, command in servers.items():
        if not command.endswith(' websocket'): continue
        run = once(command + '-stream', ['-g', str(1 << 30)])
        if run: print(f'   1 GiB   {name:10} {run["memory"] >> 10:9} KiB while one message passes both ways, {run["MiBps"]} MiB/s', flush=True)
        else: failed += 1
    for name, command in servers.items():
        run = once(command, ['-n', '2000'])
        if run: print(f'    idle   {name:10} {run["bytes_per_conn"]:9.0f} bytes each', flush=True)
        else: failed += 1
    if failed: raise SystemExit(f'websocket: {failed} runs failed')

main()
