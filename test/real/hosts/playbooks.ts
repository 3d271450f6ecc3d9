/** Runs built-in playbooks on the nodes of a test with real Ansible, and reports the end of each run as the operator does. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { RunEnd } from '../../../src/dataplane/execution/executor.ts'
import { explainFailure } from '../../../src/dataplane/execution/explain-failure.ts'
import { parseEvents, resolveEnd } from '../../../src/dataplane/execution/local/run-events.ts'
import { callbackFolder, readPlaybook } from '../../../src/dataplane/runs/playbooks.ts'
import { runProcess, toProgram } from '../../../src/exec/process.ts'
import type { DataPlaneNodes } from '../dataplane/nodes.ts'

export interface PlayRequest {
  readonly playbooks: readonly string[]
  readonly hosts: readonly string[]
  readonly vars?: Readonly<Record<string, unknown>>
  /** The configuration files of the run. */
  readonly files?: Readonly<Record<string, string>>
  readonly privateKey?: string
}

export async function play(nodes: DataPlaneNodes, request: PlayRequest): Promise<RunEnd> {
  const { playbooks, hosts, vars = {}, files = {}, privateKey = nodes.privateKey } = request
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-play-'))
  const file = (name: string): string => path.join(folder, name)
  try {
    const config = file('root/var/lib/openstack/config')
    await mkdir(config, { recursive: true })
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(config, name), text)
    await writeFile(file('key'), privateKey, { mode: 0o600 })
    await writeFile(file('events'), '')
    await writeFile(file('play.yaml'), (await Promise.all(playbooks.map((name) => readPlaybook(name)))).join('\n'))
    const inventory = hosts.map((name) => {
      const { address } = nodes.node(name)
      const common = {
        ansible_host: address,
        ctlplane_ip: address,
        ansible_user: 'root',
        ansible_pipelining: true,
        ansible_python_interpreter: '/usr/bin/python3',
      }
      return [name, { ...common, stackloom_root: file('root'), ...vars }]
    })
    await writeFile(file('hosts.json'), JSON.stringify({ all: { hosts: Object.fromEntries(inventory) } }))
    const options = ['-i', file('hosts.json'), '--private-key', file('key')]
    const env = {
      ANSIBLE_CALLBACK_PLUGINS: callbackFolder(),
      ANSIBLE_CALLBACKS_ENABLED: 'stackloom_events',
      STACKLOOM_EVENTS: file('events'),
      ANSIBLE_HOME: file('ansible'),
      ANSIBLE_LOCAL_TEMP: file('ansible/tmp'),
      ANSIBLE_SSH_CONTROL_PATH_DIR: file('cp'),
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      // Other tests have other hosts with the same addresses.
      ANSIBLE_SSH_ARGS: '-C -o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile=/dev/null',
      ANSIBLE_NOCOLOR: 'True',
    }
    const program = toProgram([...nodes.enter, 'ansible-playbook', ...options, file('play.yaml')])
    const { exit, stdout, stderr } = await runProcess({ ...program, env }, { timeoutMs: 900_000 })
    const events = parseEvents(await readFile(file('events'), 'utf8'))
    const code = exit.kind === 'exited' ? exit.code : 255
    const end = resolveEnd(events, code, stdout + stderr, (text) => text)
    return end.message === undefined ? end : { ...end, message: explainFailure(end.message) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
