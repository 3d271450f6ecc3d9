/** Helps tests to run an installed operator: its Service, and credentials of its ServiceAccount. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { Cluster } from '../../cluster.ts'

export const HOME = 'stackloom-operator'

/**
 * No kube-proxy runs here, so the Service's address is added to the API server's machine and forwarded. The result is
 * the forwarding process, which the caller ends.
 */
export async function forwardService(cluster: Cluster, port: number): Promise<ChildProcess> {
  const service = await cluster.client.get({
    apiVersion: 'v1',
    kind: 'Service',
    namespace: HOME,
    name: 'stackloom-webhook',
  })
  const { clusterIP = '' } = (service?.['spec'] ?? {}) as { clusterIP?: string }
  const [enter = '', ...words] = cluster.inside
  execFileSync(enter, [...words, 'ip', 'address', 'add', `${clusterIP}/32`, 'dev', 'lo'])
  const program = `
    const net = require('node:net')
    net.createServer((from) => {
      const to = net.connect(${port}, '127.0.0.1')
      from.on('error', () => to.destroy())
      to.on('error', () => from.destroy())
      from.pipe(to).pipe(from)
    }).listen(443, '${clusterIP}', () => console.log('open'))`
  const forwarder = spawn(enter, [...words, process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => forwarder.stdout?.once('data', resolve))
  return forwarder
}

/** A token of the ServiceAccount, as the kubelet gives it to a pod. */
export async function requestToken(cluster: Cluster, namespace: string, name: string): Promise<string> {
  const response = await cluster.connection.transport.json({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: { name }, spec: {} },
    idempotent: false,
    verb: 'create',
    subject: 'token',
  })
  return (response as { status: { token: string } }).status.token
}

/** The admin's kubeconfig with this token instead of the admin's certificate. */
export async function writeTokenKubeconfig(cluster: Cluster, file: string, token: string): Promise<void> {
  const parsed = parse(await readFile(cluster.kubeconfig, 'utf8')) as { users: { user: object }[] }
  for (const entry of parsed.users) entry.user = { token }
  await writeFile(file, JSON.stringify(parsed), { mode: 0o600 })
}
