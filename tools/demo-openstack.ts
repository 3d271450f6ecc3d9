/** The last part of `make demo`: two clouds whose keystone is real, where this machine can run it and has its packages. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Io } from '../src/cli/io.ts'
import { main } from '../src/cli/main.ts'
import { judgeMachine, readMachineFacts } from '../src/sandbox/hosts/requirements.ts'
import { findRootFileSystem, openstackRoot } from '../src/sandbox/hosts/root-file-system.ts'
import { runAsClient } from '../src/sandbox/openstack/client.ts'
import { readClouds } from '../src/sandbox/openstack/clouds.ts'
import { resetSandbox, type SandboxContext, startSandbox } from '../src/sandbox/sandbox.ts'
import { locateSandbox } from '../src/sandbox/settings.ts'

const NAME = 'demo-openstack'

/** Keystone alone starts in seconds; the guide shows all services. */
const disabled =
  'services: {placement: {enabled: false}, glance: {enabled: false}, neutron: {enabled: false}, ovn: {enabled: false}, nova: {enabled: false}}'
const SITE = `apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: tokens}
spec:
  cluster:
    dns: [192.168.122.1]
    storageClass: local-storage
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
  - {name: rhoso1, namespace: openstack, ${disabled}}
  - {name: rhoso2, namespace: openstack2, ${disabled}}
`

/** Why no OpenStack runs in the demo; undefined if it does. Nothing is built for it: that takes minutes. */
export async function findOpenStackObstacle({ paths }: SandboxContext): Promise<string | undefined> {
  const [problem] = judgeMachine(await readMachineFacts(process.env))
  if (problem) return problem.message
  if (await findRootFileSystem(openstackRoot, paths)) return undefined
  return 'its packages are not in the cache; `stackloom sandbox start --openstack` builds them, which takes minutes'
}

/** Returns the exit code of the first command that fails. */
export async function showTokens(folder: string, io: Io, context: SandboxContext): Promise<number> {
  await resetSandbox(NAME, context)
  try {
    const { kubeconfig } = await startSandbox({ name: NAME, openstack: true, nodes: ['worker-0'] }, context)
    await writeFile(path.join(folder, 'tokens.yaml'), SITE)
    const command: Io = { ...io, cwd: folder, env: { ...io.env, KUBECONFIG: kubeconfig } }
    const deployed = await main(['up', '--yes', '-f', 'tokens.yaml', '-q'], command)
    if (deployed !== 0) return deployed
    const root = (await findRootFileSystem(openstackRoot, context.paths)) ?? ''
    for (const cloud of ['rhoso1', 'rhoso2']) {
      const access = await main(['access', '--cloud', cloud, '-f', 'tokens.yaml', '-q'], command)
      if (access !== 0) return access
      const clouds = await readClouds(locateSandbox(context.paths, NAME).openstack)
      const issue = ['openstack', '--os-cloud', cloud, 'token', 'issue', '-c', 'expires', '-c', 'project_id']
      const code = await runAsClient({ clouds, cloud, sandbox: NAME, root, cwd: folder, command: issue })
      if (code !== 0) return code
    }
    return 0
  } finally {
    await resetSandbox(NAME, context)
  }
}
