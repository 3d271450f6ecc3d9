/**
 * Writes fake versions of the programs that a lab runs: each records its calls and simulates what the tests need.
 *
 * FAKE_TOOL_FAIL and FAKE_TOOL_HANG are shell patterns. A matching call fails with the tool's real error message, or
 * hangs until it is killed.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const fakeProgram = (name: string, failure: string): string => `#!/bin/sh
call="${name} $*"
printf '%s\\n' "$call" >> "$FAKE_TOOL_LOG"
case "$call" in
*$FAKE_TOOL_FAIL*)
  [ -z "$FAKE_TOOL_FAIL" ] || {
    cat >&2 <<'MESSAGE'
${failure}
MESSAGE
    exit 1
  } ;;
esac
case "$call" in
*$FAKE_TOOL_HANG*)
  [ -z "$FAKE_TOOL_HANG" ] || {
    echo $$ > "$FAKE_TOOL_LOG.hung"
    exec sleep 120
  } ;;
esac
`

const limactl = `${fakeProgram('limactl', 'time="2026-11-15T12:00:00Z" level=fatal msg="the VM did not like it"')}
[ "$1" = --tty=false ] && shift
case "$1" in
--version) echo 'limactl version 2.2.0' ;;
sudoers) ;;
list)
  for file in "$LIMA_HOME"/*/status; do
    [ -e "$file" ] || continue
    dir=$(dirname "$file")
    printf '{"name":"%s","status":"%s","dir":"%s"}\\n' "$(basename "$dir")" "$(cat "$file")" "$dir"
  done ;;
disk)
  dir="$LIMA_HOME/_disks/$3"
  case "$2" in
  ls)
    for file in "$LIMA_HOME"/_disks/*/size; do
      [ -e "$file" ] || continue
      dir=$(dirname "$file")
      printf '{"name":"%s","size":%s,"dir":"%s","instance":"%s"}\\n' "$(basename "$dir")" "$(cat "$file")" "$dir" "$(cat "$dir/lock" 2> /dev/null)"
    done ;;
  create | resize)
    mkdir -p "$dir"
    echo $(( \${5%GiB} * 1073741824 )) > "$dir/size"
    [ -e "$dir/datadisk" ] || echo "created by $$" > "$dir/datadisk" ;;
  unlock) rm -f "$dir/lock" ;;
  delete) rm -rf "$dir" ;;
  esac ;;
create)
  dir="$LIMA_HOME/\${2#--name=}"
  [ ! -e "$dir" ] || { echo 'level=fatal msg="instance exists"' >&2; exit 1; }
  mkdir -p "$dir"
  cp "$3" "$dir/lima.yaml"
  echo "created by $$" > "$dir/diffdisk"
  echo Stopped > "$dir/status" ;;
start)
  grep -q . "$LIMA_HOME/_disks"/*/lock 2> /dev/null && { echo 'level=fatal msg="disk is locked"' >&2; exit 1; }
  echo Running > "$LIMA_HOME/$2/status" ;;
stop) echo Stopped > "$LIMA_HOME/$2/status" ;;
delete) for last; do :; done; rm -rf "$LIMA_HOME/$last" ;;
edit)
  cpus=$(printf '%s' "$4" | sed 's/.*\\.cpus = \\([0-9]*\\).*/\\1/')
  memory=$(printf '%s' "$4" | sed 's/.*\\.memory = "\\([^"]*\\)".*/\\1/')
  sed -i "s/^cpus: .*/cpus: $cpus/; s/^memory: .*/memory: $memory/" "$LIMA_HOME/$2/lima.yaml" ;;
snapshot) [ "$2" = list ] && echo before-ceph || true ;;
esac
`

const ansible = `PLAY [Apply role mariadb] ******************************************************

TASK [mariadb : Check something harmless] **************************************
fatal: [node1]: FAILED! => {"changed": false, "msg": "not this one"}
...ignoring

TASK [mariadb : Wait for MariaDB service port liveness] ************************
fatal: [node1]: FAILED! => {"changed": false, "msg": "Timeout when waiting for search string MariaDB"}

PLAY RECAP *********************************************************************
node1                      : ok=42   changed=3    unreachable=0    failed=1`

/** Creates virtual environments whose programs are fakes. */
const python = `${fakeProgram('python3', 'Error: no')}
case "$*" in
'-m venv '*)
  mkdir -p "$3/bin"
  for name in pip ansible-galaxy kolla-ansible kolla-build; do ln -sf "$(dirname "$0")/$name" "$3/bin/$name"; done ;;
-c*gethostbyname*) echo "\${FAKE_TOOL_ADDRESS:-10.0.2.250}" ;;
*) echo 'Python 3.12.4' ;;
esac
`

export interface FakeTools {
  readonly env: Readonly<Record<string, string>>
  /** All calls, oldest first, without the path of the tree. */
  readonly calls: () => readonly string[]
  readonly clearCalls: () => void
  readonly hungPid: () => number | undefined
}

export function createFakeTools(folder: string, tree: string): FakeTools {
  const bin = path.join(folder, 'bin')
  const log = path.join(folder, 'calls.log')
  mkdirSync(bin, { recursive: true })
  const scripts: Readonly<Record<string, string>> = {
    limactl,
    python3: python,
    'qemu-system-aarch64': `${fakeProgram('qemu', '')}echo 'QEMU emulator version 9.2.0'\n`,
    tofu: `${fakeProgram('tofu', '╷\n│ Error: Error creating openstack_networking_network_v2: forbidden\n╵')}echo 'OpenTofu v1.12.6'\n`,
    find: fakeProgram('find', ''),
    curl: `${fakeProgram('curl', 'curl: (6) Could not resolve host')}touch "$3"\n`,
    ssh: fakeProgram('ssh', 'ssh: connect to host node1 port 22: Operation timed out'),
    scp: fakeProgram('scp', 'scp: Connection closed'),
    'ssh-keygen': fakeProgram('ssh-keygen', ''),
    openssl: fakeProgram('openssl', 'error 20 at 0 depth lookup: unable to get local issuer certificate'),
    pip: fakeProgram('pip', 'ERROR: No matching distribution found for kolla-ansible==21.3.0'),
    'ansible-galaxy': fakeProgram('ansible-galaxy', 'ERROR! Failed to clone a Git repository'),
    'kolla-ansible': fakeProgram('kolla-ansible', ansible),
    'kolla-build': fakeProgram(
      'kolla-build',
      "ERROR:kolla.common.utils.nova-compute:Error'd with the following message",
    ),
    docker: `${fakeProgram('docker', 'Cannot connect to the Docker daemon')}echo 27.3.1\n`,
  }
  for (const [name, text] of Object.entries(scripts)) {
    writeFileSync(path.join(bin, name), text)
    chmodSync(path.join(bin, name), 0o755)
  }
  writeFileSync(log, '')
  return {
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: folder,
      LIMA_HOME: path.join(folder, 'lima'),
      FAKE_TOOL_LOG: log,
      FAKE_TOOL_FAIL: '',
      FAKE_TOOL_HANG: '',
    },
    calls: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.replaceAll(`${tree}/`, '')),
    clearCalls: () => writeFileSync(log, ''),
    hungPid: () => {
      try {
        return Number.parseInt(readFileSync(`${log}.hung`, 'utf8'), 10) || undefined
      } catch {
        return undefined
      }
    },
  }
}
