/** Runs a cloud on the switch of a test's nodes, and asks its services as a client there would. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { type Exec, lastLines, runProcess, succeeded, toProgram } from '../../../src/exec/process.ts'
import { createAuthority } from '../../../src/pki/authority.ts'
import { type Cloud, runCloud } from '../../../src/sandbox/openstack/cloud.ts'
import { CLOUD_PASSWORD, defineTestCloud } from '../../cloud-definition.ts'
import { prepareRootFileSystem } from '../../hosts.ts'
import { waitFor } from '../../wait-for.ts'
import type { DataPlaneNodes } from '../dataplane/nodes.ts'

export const VIP = '192.168.122.80'
export const KEYSTONE = `https://${VIP}:5000`

const ports = { compute: '8774/v2.1', network: '9696/v2.0', placement: '8778', image: '9292/v2' } as const

export interface TestCloud {
  /** The certificate of its authority. */
  readonly authority: string
  /** The message bus as compute hosts of a cell reach it. */
  readonly transportUrl: (cell: string) => string
  /** What a service answers to a GET of the administrator. */
  readonly ask: <T>(service: keyof typeof ports, path: string) => Promise<T>
  readonly post: <T>(service: keyof typeof ports, path: string, body: object) => Promise<T>
  readonly remove: (service: keyof typeof ports, path: string) => Promise<void>
  /** Gives an image the content of a file of the client. */
  readonly upload: (image: string, file: string) => Promise<void>
  readonly onControl: (script: string) => Promise<string>
  readonly onClient: (script: string) => Promise<string>
  readonly stop: () => Promise<void>
}

export async function startCloud(nodes: DataPlaneNodes, cells: readonly string[]): Promise<TestCloud> {
  const prepared = await prepareRootFileSystem()
  if ('refusal' in prepared) throw new Error(prepared.refusal)
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-cloud-'))
  const authority = await createAuthority({ commonName: 'cloud' })
  const definition = defineTestCloud({ network: 'ctlplane', vip: VIP, clientAddress: '192.168.122.254', cells })
  const exec: Exec = (program, options) =>
    runProcess({ ...program, ...toProgram([...nodes.enter, program.file, ...(program.args ?? [])]) }, options)
  const cloud = runCloud({ definition, root: prepared.root, folder, authority, exec, onChange: () => undefined })
  const stop = async (): Promise<void> => {
    await cloud.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await running(cloud)
    await connectBridge(exec)
    const { messageBus } = JSON.parse(await readFile(path.join(folder, 'secrets.json'), 'utf8')) as Record<
      string,
      string
    >
    const on = async (host: 'control' | 'client', words: readonly string[]): Promise<string> => {
      const pid = cloud.hosts()[host]
      const enter = ['nsenter', `--target=${pid}`, '--mount', '--net', `--pid=/proc/${pid}/ns/pid_for_children`, '--']
      const { exit, stdout, stderr } = await runProcess(toProgram([...enter, ...words]))
      if (!succeeded(exit)) throw new Error(`${words.join(' ')}: ${lastLines(stderr)}`)
      return stdout.trim()
    }
    // OpenStack's client takes a minute to load on a busy machine.
    const curl = async (url: string, ...options: readonly string[]): Promise<string> =>
      on('client', ['curl', '-sS', '--fail-with-body', ...options, url])
    const logIn = async (): Promise<string> => {
      const headers = await curl(`${KEYSTONE}/v3/auth/tokens`, '-o', '/dev/null', '-D', '-', ...asJson(loginRequest))
      return /^x-subject-token: (\S+)/im.exec(headers)?.[1] ?? ''
    }
    let token: Promise<string> | undefined
    const send = async (service: keyof typeof ports, where: string, ...options: readonly string[]): Promise<string> => {
      token ??= logIn()
      const versions = ['-H', 'OpenStack-API-Version: compute 2.53, placement 1.14']
      const url = `https://${VIP}:${ports[service]}${where}`
      return curl(url, '-H', `X-Auth-Token: ${await token}`, ...versions, ...options)
    }
    return {
      authority: authority.certificate,
      transportUrl: (cell) => `rabbit://openstack:${messageBus}@${VIP}:5671/${cell}?ssl=1`,
      ask: async (service, where) => JSON.parse(await send(service, where)),
      post: async (service, where, body) => JSON.parse(await send(service, where, ...asJson(body))),
      remove: async (service, where) => void (await send(service, where, '-X', 'DELETE')),
      upload: async (image, file) => {
        const content = ['-H', 'Content-Type: application/octet-stream', '-T', file]
        await send('image', `/images/${image}/file`, ...content)
      },
      onControl: (script) => on('control', ['bash', '-c', script]),
      onClient: (script) => on('client', ['bash', '-c', script]),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function asJson(body: object): readonly string[] {
  return ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)]
}

const domain = { id: 'default' }
const loginRequest = {
  auth: {
    identity: { methods: ['password'], password: { user: { name: 'admin', domain, password: CLOUD_PASSWORD } } },
    scope: { project: { name: 'admin', domain } },
  },
}

function running(cloud: Cloud): Promise<void> {
  return waitFor(
    () => {
      const state = cloud.state()
      if (state.kind !== 'running') throw new Error(JSON.stringify(state))
    },
    { timeout: 900_000, interval: 500 },
  )
}

/** The network of the cloud is a bridge of its own; the nodes are on the switch beside it. */
async function connectBridge(exec: Exec): Promise<void> {
  const script = `set -e
bridge=$(ip -o link show type bridge | sed -n 's/^[0-9]*: \\(sl[0-9a-f]*\\):.*/\\1/p')
ip link add to-cloud type veth peer name to-switch
ip link set to-cloud master switch up
ip link set to-switch master "$bridge" up`
  const { exit, stderr } = await exec({ file: 'sh', args: ['-c', script] })
  if (!succeeded(exit)) throw new Error(stderr)
}
