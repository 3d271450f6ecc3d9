/**
 * `make demo`: plans and deploys two OpenStack clouds from one file on this machine.
 *
 * What needs no cluster comes first, while the programs of the cluster are prepared. The API server and MetalLB are real, and
 * where pods can run and their programs are built, also the nodes; OLM, nmstate and the OpenStack operators are simulated.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pc from 'picocolors'
import type { KubeObject } from '../src/api/object.ts'
import { processIo } from '../src/cli/io.ts'
import { main } from '../src/cli/main.ts'
import { formatFindings } from '../src/cli/output/findings.ts'
import { formatTable } from '../src/cli/output/table.ts'
import { progressPrinter } from '../src/cli/sandbox/progress-printer.ts'
import { Failure } from '../src/errors/failure.ts'
import { isApiError } from '../src/kube/api-error.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { connect } from '../src/kube/connect.ts'
import { ensurePrograms, isBuilt } from '../src/sandbox/build/ensure-programs.ts'
import { findNamespaceProblem } from '../src/sandbox/launch.ts'
import { judgeHost, readHostFacts } from '../src/sandbox/nodes/requirements.ts'
import { requiredPrograms } from '../src/sandbox/program-table.ts'
import { programs as programTable } from '../src/sandbox/programs.ts'
import { resetSandbox, type SandboxContext, type SandboxStatus, startSandbox } from '../src/sandbox/sandbox.ts'
import type { Notice, Notify } from '../src/sandbox/sandbox-context.ts'
import { standardParts } from '../src/sandbox/settings.ts'
import { ingressAddresses } from '../src/verify/readiness/load-balancer.ts'
import { sandboxContext } from '../test/sandbox-context.ts'
import { findOpenStackObstacle, showTokens } from './demo-openstack.ts'
import { showPlan } from './demo-plan.ts'

const NAME = 'demo'
const NODES = ['worker-0', 'worker-1', 'worker-2']

const io = processIo()
const { bold, dim, green, yellow } = pc.createColors(io.colour.stdout)
const printer = progressPrinter(io)
const { end } = printer

/** Notices of the preparation wait for the end of the first part, so that they are not between its lines. */
let held: Notice[] | undefined = []
const notify: Notify = (notice) => {
  if (held === undefined) return printer.notify(notice)
  // Of the progress only the newest matters.
  held = [...held.filter(({ kind }) => kind !== 'progress' || notice.kind !== 'progress'), notice]
}

function releaseNotices(): void {
  const notices = held ?? []
  held = undefined
  for (const notice of notices) printer.notify(notice)
}

const print = (text = ''): void => io.stdout(`${text}\n`)
const heading = (text: string): void => print(`\n${bold(text)}`)

/** When `make demo` was typed; npm packages may have been installed since. */
const begun = Number(process.env['DEMO_STARTED'] ?? Date.now() / 1000) * 1000

function elapsed(): string {
  const seconds = Math.round((Date.now() - begun) / 1000)
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Runs a command of the program, as a user would. */
async function stackloom(folder: string, kubeconfig: string, ...args: readonly string[]): Promise<number> {
  print(dim(`   $ stackloom ${args.join(' ')}`))
  return main([...args], { ...io, cwd: folder, env: { ...io.env, KUBECONFIG: kubeconfig } })
}

async function demo(context: SandboxContext, folder: string): Promise<number> {
  print(bold('Stackloom: two OpenStack clouds on one cluster, on this machine'))
  const pods = await findPodsObstacle(context)
  const parts = ['core', ...standardParts, ...(pods === undefined ? (['pods'] as const) : [])] as const
  const programsNeeded = [...new Set(parts.flatMap((part) => requiredPrograms[part]))]
  // A failure is reported where the programs are needed.
  const preparing = ensurePrograms(programsNeeded, context).then(
    () => true,
    () => false,
  )
  await mkdir('dist', { recursive: true })
  const shown = await showPlan(folder, io, path.resolve('dist/two-clouds.svg'))
  if (shown !== 0) return shown
  print(dim(`   so far: ${elapsed()}, and no cluster was needed`))
  releaseNotices()
  if (await preparing) {
    end()
    print(dim(`   the programs of the cluster are there after ${elapsed()}`))
  }
  const netns = (await findNamespaceProblem(context.exec)) === undefined
  await resetSandbox(NAME, context)
  const started = Date.now()
  const actors = ['kubelet', 'nmstate', 'olm', 'openstack'].filter((name) => pods !== undefined || name !== 'kubelet')
  const request = { name: NAME, netns, actors, nodes: NODES, ...(pods === undefined && { pods: true }) }
  const { kubeconfig, programs, server, nodes = [] } = await startSandbox(request, context)
  end()
  heading('4. A cluster')
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  print(`   ${green('ready')} after ${seconds} s: ${programs.map(({ name }) => name).join(', ')}`)
  print(`   simulated, because they cannot run here: ${actors.join(', ')}`)
  if (pods !== undefined) print(dim(`   no pods run: ${pods}`))
  print(dim(`   ${server}, ${netns ? 'in its own network namespace' : 'on loopback'}`))

  heading('5. The plan for the CRDs of this cluster')
  const planned = await stackloom(folder, kubeconfig, 'plan', '--crd', 'live')
  if (planned !== 0) return planned

  heading('6. Deploy')
  const connection = await connect({ kubeconfig, env: {} })
  try {
    await connection.client.apply(storageClass, { fieldManager: 'demo' })
    const deployed = await stackloom(folder, kubeconfig, 'up', '--yes')
    if (deployed !== 0) return deployed
    await showAddresses(connection.client)
    await showRefusal(connection.client)
    if (nodes.length > 0) await showPackets(connection.client, nodes, context)
  } finally {
    await connection.close()
  }
  heading(`${nodes.length > 0 ? 10 : 9}. A second run changes nothing`)
  const same = await stackloom(folder, kubeconfig, 'diff')
  if (same !== 0) return same
  const obstacle = await findOpenStackObstacle(context)
  if (obstacle !== undefined) {
    print(dim(`   no OpenStack runs: ${obstacle}`))
    return 0
  }
  await resetSandbox(NAME, context)
  heading(`${nodes.length > 0 ? 11 : 10}. A real keystone in each of two clouds gives a token`)
  return showTokens(folder, { ...io, stdout: () => undefined }, context)
}

/** Why the nodes of the demo run no pods; undefined if they do. Nothing is built for them: that takes minutes. */
async function findPodsObstacle(context: SandboxContext): Promise<string | undefined> {
  const [problem] = judgeHost(await readHostFacts(process.env))
  if (problem) return problem.message
  for (const name of requiredPrograms.pods)
    if (!(await isBuilt(name, programTable, context)))
      return `${name} is not built; \`stackloom sandbox start --pods\` builds it, which takes minutes`
  return undefined
}

async function showPackets(
  client: KubeClient,
  nodes: NonNullable<SandboxStatus['nodes']>,
  context: SandboxContext,
): Promise<void> {
  heading('9. What a pod of the first cloud gets on its network')
  const { askForVips } = await import('./demo-pods.ts')
  const places = nodes.map(({ name, containerd }) => ({ name, socket: containerd }))
  const answers = await askForVips(client, places, context)
  end()
  for (const { question, answered } of answers)
    print(`   ${question}: ${answered ? green('answered') : yellow('no answer')}`)
  if (answers.map(({ answered }) => answered).join() !== 'true,true,false')
    throw new Error('the clouds are not connected as planned')
}

const storageClass: KubeObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local-storage', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
}

async function showAddresses(client: KubeClient): Promise<void> {
  heading('7. MetalLB gives every Service an address of its cloud')
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Service' })
  const rows = items
    .filter((service) => ingressAddresses(service).length > 0)
    .map(({ metadata, ...rest }) => [
      `   ${metadata.namespace}`,
      metadata.name,
      metadata.annotations?.['metallb.io/ip-allocated-from-pool'] ?? '',
      ingressAddresses({ metadata, ...rest } as KubeObject).join(', '),
    ])
  io.stdout(formatTable(['   NAMESPACE', 'SERVICE', 'POOL', 'ADDRESS'], rows, io.columns, io.colour.stdout))
}

async function showRefusal(client: KubeClient): Promise<void> {
  heading("8. A Service of the second cloud cannot use the first cloud's pool")
  const { items } = await client.list({ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' })
  const pool = items.find(({ metadata }) => metadata.name.endsWith('-internalapi'))?.metadata.name ?? ''
  const namespace = 'openstack2'
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'intruder', annotations: { 'metallb.io/address-pool': pool } },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  }
  try {
    await client.apply(service, { fieldManager: 'demo' })
    throw new Error('the Service was accepted')
  } catch (thrown) {
    if (!isApiError(thrown)) throw thrown
    print(`   ${namespace}/intruder  ${pool}  ${yellow('refused')}`)
    print(`   ${thrown.findings[0]?.message ?? thrown.message}`)
  }
}

const context: SandboxContext = { ...sandboxContext(notify), signal: io.stop }
const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-demo-'))
try {
  process.exitCode = await demo(context, folder)
  if (process.exitCode === 0) heading(`Stopped; nothing is left running. ${elapsed()} in all`)
} catch (error) {
  releaseNotices()
  end()
  if (!(error instanceof Failure)) throw error
  io.stderr(formatFindings(error.findings, io.colour.stderr))
  process.exitCode = error.exitCode
} finally {
  await resetSandbox(NAME, context)
  await rm(folder, { recursive: true, force: true })
}
