/** Runs commands of this machine on the network of a cloud's client, which is a network namespace without a cloud here. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runProcess, toProgram } from '../../../src/exec/process.ts'
import type { CloudRecord } from '../../../src/sandbox/openstack/clouds.ts'
import { useFolder } from '../../folder.ts'
import { sandboxContext } from '../../sandbox-context.ts'

const folder = useFolder()
let client: ChildProcess
const server = createServer((_, response) => response.end('the API server'))

beforeEach(async (context) => {
  if (process.getuid?.() !== 0) context.skip('network namespaces need root')
  const script = `set -e
ip link set lo up
ip link add vip type bridge
ip address add 172.17.0.254/24 dev vip
echo '127.0.0.1 localhost' >${folder}/hosts; echo '172.17.0.254 keystone.example' >>${folder}/hosts
mount --bind ${folder}/hosts /etc/hosts
echo ready
exec sleep 600`
  client = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--net', '--mount', 'sh', '-c', script])
  await once(client.stdout ?? client, 'data')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  client?.kill('SIGKILL')
  server.close()
})

/** As `sandbox exec --local` does, in a process whose output can be read. */
async function runLocally(...command: readonly string[]) {
  const { self } = sandboxContext()
  const { port } = server.address() as AddressInfo
  const clouds = [
    { cloud: 'rhoso1', namespace: 'openstack', hosts: { client: client.pid } },
  ] as unknown as CloudRecord[]
  const request = { clouds, cloud: 'rhoso1', sandbox: 'default', self, apiPort: port, command }
  const script = `import { runLocally } from ${JSON.stringify(`${process.cwd()}/src/sandbox/openstack/client.ts`)}
process.exitCode = await runLocally(${JSON.stringify(request)})`
  const program = toProgram([process.execPath, '--import', 'tsx', '--input-type=module', '-e', script])
  return runProcess({ ...program, env: { KUBECONFIG: `${folder}/kubeconfig` } }, { timeoutMs: 60_000 })
}

it('a command of this machine has the networks and names of the cloud, the API server and its own environment', async () => {
  const { port } = server.address() as AddressInfo
  const script = `ip -o -4 address show dev vip | grep -o '172[^/]*'
getent hosts keystone.example | tr -s ' '
curl -s http://127.0.0.1:${port}; echo
cat /proc/sys/kernel/hostname >/dev/null && echo "$KUBECONFIG" "$@"
exit 3`
  const { exit, stdout, stderr } = await runLocally('sh', '-c', script, 'sh', '--one', '-o')
  expect(stderr).toBe('')
  expect(stdout).toBe(`172.17.0.254\n172.17.0.254 keystone.example\nthe API server\n${folder}/kubeconfig --one -o\n`)
  expect(exit).toEqual({ kind: 'exited', code: 3 })
}, 120_000)
