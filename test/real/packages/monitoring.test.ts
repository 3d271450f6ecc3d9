/** Judges alerts and dashboard by the real promtool, and by a real Prometheus that scrapes a running operator. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { openPrometheus } from '../../../src/cli/console/prometheus-source.ts'
import { ownCrds } from '../../../src/operator/parts.ts'
import { alerts, monitoringObjects, panels } from '../../../tools/release-monitoring.ts'
import { useCluster } from '../../cluster.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { hasTool, requireTool } from '../../tools.ts'
import { freePorts, type RunningOperator, startOperator } from '../ipam/operator.ts'

vi.setConfig({ testTimeout: 180_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-monitoring-'))
const rules = path.join(folder, 'rules.json')

beforeAll(() => {
  const rule = monitoringObjects().find(({ kind }) => kind === 'PrometheusRule') as
    | (KubeObject & { readonly spec: object })
    | undefined
  writeFileSync(rules, JSON.stringify(rule?.spec))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function promtool(ctx: Pick<TestContext, 'skip'>, ...args: readonly string[]) {
  requireTool(ctx, 'promtool')
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

interface Series {
  readonly series: string
  /** Samples of each minute, in the notation of promtool. */
  readonly values: string
}

const ours = 'job="stackloom-operator",namespace="stackloom-operator",pod="p"'
const subnet = `${ours},exported_namespace="openstack",network="ctlplane",subnet="subnet1"`
const span = `${ours},cloud="openstack",network="internalapi",role="pods"`
const nodeSet = `${ours},exported_namespace="openstack",node_set="computes"`
const healthy: readonly Series[] = [
  { series: `leader_election_master_status{${ours},name="stackloom-operator"}`, values: '1x90' },
  { series: `controller_runtime_reconcile_errors_total{${ours},controller="ipset"}`, values: '3x90' },
  { series: `workqueue_longest_running_processor_seconds{${ours},name="ipset",controller="ipset"}`, values: '1x90' },
  { series: `reflector_failures_total{${ours},name="ipsets"}`, values: '4x90' },
  { series: `controller_runtime_webhook_requests_total{${ours},webhook="/validate",code="200"}`, values: '0+60x90' },
  { series: `stackloom_ipam_ipsets_waiting{${subnet}}`, values: '0x90' },
  { series: `stackloom_ipam_addresses_used{${subnet}}`, values: '50x90' },
  { series: `stackloom_ipam_addresses_free{${subnet}}`, values: '50x90' },
  { series: `stackloom_addresses{${span},state="used"}`, values: '50x90' },
  { series: `stackloom_addresses{${span},state="free"}`, values: '50x90' },
  { series: `stackloom_address_faults{${ours},cloud="openstack",kind="leaked"}`, values: '0x90' },
  { series: `stackloom_certificates{${ours},cloud="openstack",verdict="critical"}`, values: '0x90' },
  { series: `stackloom_backup_timestamp_seconds{${ours},cloud="openstack"}`, values: '0x90' },
  { series: `stackloom_hosts{${nodeSet},verdict="failed"}`, values: '0x90' },
]

interface Fault {
  readonly series: readonly Series[]
  readonly labels: object
  /** Between samples and evaluations, where a minute is too short. */
  readonly intervalHours?: number
}

/** For each alert the series that differ from a healthy operator, and the labels with which it fires. */
const faults: Readonly<Record<string, Fault>> = {
  StackloomOperatorAbsent: {
    series: [{ series: `leader_election_master_status{${ours},name="stackloom-operator"}`, values: '_x90' }],
    labels: { job: 'stackloom-operator' },
  },
  StackloomOperatorWithoutLeader: {
    series: [{ series: `leader_election_master_status{${ours},name="stackloom-operator"}`, values: '0x90' }],
    labels: {},
  },
  StackloomReconcileErrors: {
    series: [{ series: `controller_runtime_reconcile_errors_total{${ours},controller="ipset"}`, values: '0+12x90' }],
    labels: { controller: 'ipset' },
  },
  StackloomQueueStuck: {
    series: [
      {
        series: `workqueue_longest_running_processor_seconds{${ours},name="ipset",controller="ipset"}`,
        values: '0+60x90',
      },
    ],
    labels: { controller: 'ipset' },
  },
  StackloomWatchFailing: {
    series: [{ series: `reflector_failures_total{${ours},name="ipsets"}`, values: '0+2x90' }],
    labels: { name: 'ipsets' },
  },
  StackloomWebhookFailing: {
    series: [
      { series: `controller_runtime_webhook_requests_total{${ours},webhook="/validate",code="500"}`, values: '0+1x90' },
    ],
    labels: { webhook: '/validate' },
  },
  StackloomIpSetsWaiting: {
    series: [{ series: `stackloom_ipam_ipsets_waiting{${subnet}}`, values: '2x90' }],
    labels: {
      namespace: 'stackloom-operator',
      exported_namespace: 'openstack',
      network: 'ctlplane',
      subnet: 'subnet1',
    },
  },
  StackloomAddressesExhausted: {
    series: [{ series: `stackloom_ipam_addresses_free{${subnet}}`, values: '2x90' }],
    labels: {
      namespace: 'stackloom-operator',
      exported_namespace: 'openstack',
      network: 'ctlplane',
      subnet: 'subnet1',
    },
  },
  StackloomPodAddressesExhausted: {
    series: [{ series: `stackloom_addresses{${span},state="free"}`, values: '2x90' }],
    labels: { cloud: 'openstack', network: 'internalapi', role: 'pods' },
  },
  StackloomAddressesRunOut: {
    series: [{ series: `stackloom_addresses{${span},state="free"}`, values: '100-1x90' }],
    labels: { cloud: 'openstack', network: 'internalapi', role: 'pods' },
    intervalHours: 6,
  },
  StackloomAddressesLeaked: {
    series: [{ series: `stackloom_address_faults{${ours},cloud="openstack",kind="leaked"}`, values: '2x90' }],
    labels: { cloud: 'openstack', kind: 'leaked' },
  },
  StackloomCertificatesEnd: {
    series: [{ series: `stackloom_certificates{${ours},cloud="openstack",verdict="critical"}`, values: '1x90' }],
    labels: { cloud: 'openstack' },
  },
  StackloomBackupOld: {
    series: [{ series: `stackloom_backup_timestamp_seconds{${ours},cloud="openstack"}`, values: '1x90' }],
    labels: { cloud: 'openstack' },
    intervalHours: 12,
  },
  StackloomHostsFailed: {
    series: [{ series: `stackloom_hosts{${nodeSet},verdict="failed"}`, values: '3x90' }],
    labels: { namespace: 'stackloom-operator', exported_namespace: 'openstack', node_set: 'computes' },
  },
}

const SAMPLES = 90

/** What promtool expects of every alert: the firing one with its labels and text, and no other. */
function expectations(firing: string | undefined, interval: string): readonly object[] {
  return alerts.map(({ name, severity, summary }) => ({
    eval_time: evaluationTime(interval),
    alertname: name,
    exp_alerts:
      name === firing
        ? [
            {
              exp_labels: { severity, ...faults[name]?.labels },
              exp_annotations: {
                summary: fillTemplate(summary, faults[name]?.labels ?? {}),
                runbook_url: `https://stackloom.dev/guide/alerts.html#${name.toLowerCase()}`,
              },
            },
          ]
        : [],
  }))
}

function evaluationTime(interval: string): string {
  return `${SAMPLES * Number.parseInt(interval, 10)}${interval.at(-1)}`
}

function fillTemplate(text: string, labels: object): string {
  return text
    .replace(/\{\{ with .*?\{\{ end \}\}/g, 'openstack')
    .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => String((labels as Record<string, string>)[label]))
}

function writeRuleTest(name: string, series: readonly Series[], firing?: string): string {
  const changed = new Set(series.map((entry) => entry.series))
  const all = [...healthy.filter((entry) => !changed.has(entry.series)), ...series]
  const file = path.join(folder, `${name}.json`)
  const hours = firing === undefined ? undefined : faults[firing]?.intervalHours
  const interval = hours === undefined ? '1m' : `${hours}h`
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [rules],
      evaluation_interval: interval,
      tests: [
        {
          interval,
          input_series: all.filter(({ values }) => !values.startsWith('_')),
          alert_rule_test: expectations(firing, interval),
        },
      ],
    }),
  )
  return file
}

describe('the alerts', () => {
  it('pass the checks of promtool', (ctx) => {
    const { status, said } = promtool(ctx, 'check', 'rules', rules)
    expect({ status, said }).toEqual({ status: 0, said: expect.stringContaining(`${alerts.length} rules found`) })
  })

  it.for(alerts.map(({ name }) => name))('%s fires in its case, and no other alert does', (name, ctx) => {
    const fault = faults[name]
    expect(fault, `a case for ${name}`).toBeDefined()
    const { status, said } = promtool(ctx, 'test', 'rules', writeRuleTest(name, fault?.series ?? [], name))
    expect({ status, said }).toMatchObject({ status: 0 })
  })

  it('do not fire for a healthy operator', (ctx) => {
    const { status, said } = promtool(ctx, 'test', 'rules', writeRuleTest('healthy', []))
    expect({ status, said }).toMatchObject({ status: 0 })
  })

  it('do not fire for another operator that has the same metrics', (ctx) => {
    const others = Object.values(faults)
      .flatMap(({ series }) => series)
      .filter(({ values }) => !values.startsWith('_'))
      .map(({ series, values }) => ({ series: series.replace('job="stackloom-operator"', 'job="other"'), values }))
    const { status, said } = promtool(ctx, 'test', 'rules', writeRuleTest('others', others))
    expect({ status, said }).toMatchObject({ status: 0 })
  })
})

describe('a Prometheus that scrapes a running operator', () => {
  const cluster = useCluster({ crds: 'today' })
  const soon = { timeout: 120_000, interval: 200 }
  let operator: RunningOperator | undefined
  let prometheus: ChildProcess | undefined
  let address = ''

  beforeAll(async () => {
    if (!hasTool('prometheus')) return
    for (const crd of ownCrds) await cluster.client.apply(crd, { fieldManager: 'test' })
    const kind = { apiVersion: 'stackloom.dev/v1alpha1', kind: 'AddressBlock' }
    const served = async (): Promise<void> => {
      if (!(await cluster.client.resource(kind))) throw new Error('not served yet')
    }
    await vi.waitFor(served, soon)
    for (const name of ['stackloom-operator', 'ns']) {
      await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    operator = await startOperator(cluster, { leaderElection: true, parts: ['ipam', 'addresses'] })
    await cluster.client.create(netConfig(threeNetworks))
    await cluster.client.create(ipSet('host-0', [{}]))
    const [port = 0] = await freePorts(1)
    address = `127.0.0.1:${port}`
    const config = path.join(folder, 'prometheus.json')
    writeFileSync(
      config,
      JSON.stringify({
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: [rules],
        scrape_configs: [
          {
            job_name: 'stackloom-operator',
            static_configs: [
              {
                targets: [`127.0.0.1:${operator.healthPort}`],
                // What a ServiceMonitor adds.
                labels: { namespace: 'stackloom-operator', pod: 'operator-0' },
              },
            ],
          },
        ],
      }),
    )
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: 'ignore' },
    )
  }, 600_000)

  afterAll(async () => {
    if (prometheus?.exitCode === null) {
      const exited = new Promise((resolve) => prometheus?.once('exit', resolve))
      prometheus.kill('SIGTERM')
      await exited
    }
    await operator?.stop()
  })

  interface Answer {
    readonly status?: string
    readonly data?: { readonly result?: readonly { readonly metric: Readonly<Record<string, string>> }[] }
  }

  async function query(expression: string): Promise<Answer> {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`)
    return (await response.json()) as Answer
  }

  it('has the use of subnets over time that the console shows', async (ctx) => {
    requireTool(ctx, 'prometheus')
    const read = openPrometheus(`http://${address}`, {})
    const used = async (): Promise<readonly (string | number | undefined)[]> => {
      const history = await read(new AbortController().signal).catch(() => [])
      const found = history.find(({ namespace, points }) => namespace === 'ns' && (points.at(-1)?.used ?? 0) > 0)
      return [found?.network, found?.subnet, found?.points.at(-1)?.used]
    }
    await expect.poll(used, soon).toEqual([expect.any(String), expect.any(String), 1])
  })

  it.for(panels.map(({ title, expression }) => [title, expression] as const))(
    'has data for the panel "%s" of the dashboard',
    async ([, expression], ctx) => {
      requireTool(ctx, 'prometheus')
      const count = async (): Promise<number> =>
        (await query(expression).catch(() => undefined))?.data?.result?.length ?? 0
      await expect.poll(count, soon).toBeGreaterThan(0)
    },
  )

  it('tells the namespace of a cloud from that of the operator', async (ctx) => {
    requireTool(ctx, 'prometheus')
    const expression = panels.find(({ title }) => title === 'Addresses in use')?.expression ?? ''
    const namespaces = async (): Promise<unknown> =>
      (await query(expression)).data?.result?.map(({ metric }) => [metric['namespace'], metric['exported_namespace']])
    await expect.poll(namespaces, soon).toContainEqual(['stackloom-operator', 'ns'])
  })

  it('evaluates every alert without an error', async (ctx) => {
    requireTool(ctx, 'prometheus')
    const health = async (): Promise<unknown> => {
      const answer = await (await fetch(`http://${address}/api/v1/rules`)).json()
      const { data } = answer as { data: { groups: readonly { rules: readonly { name: string; health: string }[] }[] } }
      return data.groups.flatMap((group) => group.rules.map((rule) => [rule.name, rule.health]))
    }
    await expect.poll(health, soon).toEqual(alerts.map(({ name }) => [name, 'ok']))
  })
})
