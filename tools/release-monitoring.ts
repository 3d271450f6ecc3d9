/** Generates alerts, a dashboard and the ServiceMonitor for the metrics of the operator. Pure. */
import type { KubeObject } from '../src/api/object.ts'
import { OPERATOR_NAMESPACE } from '../src/operator/manifests.ts'

interface Alert {
  readonly name: string
  readonly severity: 'warning' | 'critical'
  readonly expression: string
  /** How long it must hold. */
  readonly for: string
  readonly summary: string
}

/** The page has a heading for each alert. */
export const RUNBOOKS = 'docs/guide/alerts.md'

/** Other operators export the same names, so each query selects what the ServiceMonitor scrapes. */
const JOB = 'job="stackloom-operator"'

/**
 * Prometheus adds the namespace of the scraped pod and renames the label of the metric, unless it is configured to honour
 * labels. With both labels a query is right in either case.
 */
const SUBNET = 'by (namespace, exported_namespace, network, subnet)'
/** Of `stackloom_addresses`, whose label for the cloud is not renamed. */
const SPAN = 'by (cloud, network, role)'
const NAMESPACE = '{{ with $labels.exported_namespace }}{{ . }}{{ else }}{{ $labels.namespace }}{{ end }}'

export const alerts: readonly Alert[] = [
  {
    name: 'StackloomOperatorAbsent',
    severity: 'critical',
    expression: `absent(leader_election_master_status{${JOB}})`,
    for: '10m',
    summary: 'No operator is scraped: addresses and names are not assigned, and writes may be refused',
  },
  {
    name: 'StackloomOperatorWithoutLeader',
    severity: 'critical',
    expression: `max(leader_election_master_status{${JOB}}) == 0`,
    for: '5m',
    summary: 'Operators run, and none of them is the leader',
  },
  {
    name: 'StackloomReconcileErrors',
    severity: 'warning',
    expression: `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${JOB}}[10m])) > 0.05`,
    for: '15m',
    summary: 'The controller {{ $labels.controller }} fails repeatedly',
  },
  {
    name: 'StackloomQueueStuck',
    severity: 'warning',
    expression: `max by (controller) (workqueue_longest_running_processor_seconds{${JOB}}) > 300`,
    for: '5m',
    summary: 'One object has kept the controller {{ $labels.controller }} busy for five minutes',
  },
  {
    name: 'StackloomWatchFailing',
    severity: 'warning',
    expression: `sum by (name) (increase(reflector_failures_total{${JOB}}[15m])) > 10`,
    for: '5m',
    summary: 'The operator cannot watch {{ $labels.name }}',
  },
  {
    name: 'StackloomWebhookFailing',
    severity: 'critical',
    expression: `sum by (webhook) (rate(controller_runtime_webhook_requests_total{${JOB}, code!="200"}[10m])) > 0`,
    for: '5m',
    summary: 'The webhook {{ $labels.webhook }} does not answer with 200, so writes are refused',
  },
  {
    name: 'StackloomIpSetsWaiting',
    severity: 'warning',
    expression: `max ${SUBNET} (stackloom_ipam_ipsets_waiting{${JOB}}) > 0`,
    for: '15m',
    summary: `IPSets of ${NAMESPACE} wait for an address of {{ $labels.network }}/{{ $labels.subnet }}`,
  },
  {
    name: 'StackloomAddressesExhausted',
    severity: 'warning',
    expression:
      `min ${SUBNET} (stackloom_ipam_addresses_free{${JOB}}) <= ` +
      `0.05 * (max ${SUBNET} (stackloom_ipam_addresses_used{${JOB}}) + ` +
      `min ${SUBNET} (stackloom_ipam_addresses_free{${JOB}}))`,
    for: '30m',
    summary: `At most 5% of {{ $labels.network }}/{{ $labels.subnet }} in ${NAMESPACE} is free`,
  },
  {
    name: 'StackloomPodAddressesExhausted',
    severity: 'warning',
    expression:
      `min ${SPAN} (stackloom_addresses{${JOB}, role="pods", state="free"}) <= ` +
      `0.05 * (max ${SPAN} (stackloom_addresses{${JOB}, role="pods", state="used"}) + ` +
      `min ${SPAN} (stackloom_addresses{${JOB}, role="pods", state="free"}))`,
    for: '30m',
    summary: 'At most 5% of the addresses for pods on {{ $labels.network }} of {{ $labels.cloud }} is free',
  },
  {
    name: 'StackloomAddressesRunOut',
    severity: 'warning',
    // A week of history at least: a forecast by the first hours of a new cloud is always wrong.
    expression:
      `min ${SPAN} (predict_linear(stackloom_addresses{${JOB}, state="free"}[2w], ${4 * 7 * 86_400}) < 0 ` +
      `and stackloom_addresses{${JOB}, state="free"} offset 1w > 0)`,
    for: '6h',
    summary:
      'At the growth of the last two weeks, {{ $labels.role }} on {{ $labels.network }} of {{ $labels.cloud }} have no free address in four weeks',
  },
  {
    name: 'StackloomAddressesLeaked',
    severity: 'warning',
    expression: `max by (cloud, kind) (stackloom_address_faults{${JOB}}) > 0`,
    for: '1h',
    summary: 'Addresses of {{ $labels.cloud }} are reserved for owners that do not exist ({{ $labels.kind }})',
  },
  {
    name: 'StackloomCertificatesEnd',
    severity: 'warning',
    expression: `sum by (cloud) (max by (cloud, verdict) (stackloom_certificates{${JOB}, verdict=~"expired|critical|soon"})) > 0`,
    for: '1h',
    summary: 'Certificates of {{ $labels.cloud }} end within 14 days and were not renewed',
  },
  {
    name: 'StackloomBackupOld',
    severity: 'warning',
    expression: `time() - (max by (cloud) (stackloom_backup_timestamp_seconds{${JOB}}) > 0) > 30 * 86400`,
    for: '1h',
    summary: 'The last backup of {{ $labels.cloud }} is older than 30 days',
  },
  {
    name: 'StackloomHostsFailed',
    severity: 'warning',
    expression: `max by (namespace, exported_namespace, node_set) (stackloom_hosts{${JOB}, verdict="failed"}) > 0`,
    for: '15m',
    summary: `The last deployment of hosts of {{ $labels.node_set }} in ${NAMESPACE} failed`,
  },
]

const labels = { 'app.kubernetes.io/name': 'stackloom-operator' }

/** Without the templates of Prometheus: `$labels.cloud` becomes its name. */
function plainSummary(summary: string): string {
  return summary
    .replace(NAMESPACE, 'a namespace')
    .replace(/\{\{ *\$labels\.(\w+) *\}\}/g, '<$1>')
    .replace(/\{\{.*?\}\}/g, '…')
}

/** For the page with a heading for each alert. */
export function alertTable(): string {
  const rows = alerts.map(
    ({ name, severity, summary, for: duration }) =>
      `| [${name}](#${name.toLowerCase()}) | ${severity} | \`${plainSummary(summary)}\` | ${duration} |`,
  )
  return ['| alert | severity | fires when | for |', '|---|---|---|---|', ...rows].join('\n')
}

/** For the operator of Prometheus: alerts, and how the pods are scraped. */
export function monitoringObjects(namespace = OPERATOR_NAMESPACE): readonly KubeObject[] {
  return [
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'stackloom-operator', namespace, labels },
      spec: { groups: [{ name: 'stackloom-operator', rules: alerts.map(alertRule) }] },
    },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name: 'stackloom-operator', namespace, labels },
      spec: {
        // The alerts and the dashboard select by this job.
        jobLabel: 'app.kubernetes.io/name',
        selector: { matchLabels: labels },
        endpoints: [
          {
            port: 'webhooks',
            scheme: 'https',
            path: '/metrics',
            bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
            // The operator issues its certificate itself; the token is sent to no address outside the cluster.
            tlsConfig: { insecureSkipVerify: true },
          },
        ],
      },
    },
  ]
}

function alertRule({ name, severity, expression, summary, for: duration }: Alert): object {
  return {
    alert: name,
    expr: expression,
    for: duration,
    labels: { severity },
    annotations: { summary, runbook_url: `https://stackloom.dev/guide/alerts.html#${name.toLowerCase()}` },
  }
}

interface Panel {
  readonly title: string
  readonly unit: string
  readonly expression: string
  readonly legend: string
}

/** Where Prometheus renames the label, the first name is that of the cloud's namespace. */
const SUBNET_LEGEND = '{{exported_namespace}} {{namespace}} {{network}}/{{subnet}}'

export const panels: readonly Panel[] = [
  { title: 'Leader', unit: 'short', expression: `leader_election_master_status{${JOB}}`, legend: '{{pod}}' },
  {
    title: 'Reconciles',
    unit: 'ops',
    expression: `sum by (controller, result) (rate(controller_runtime_reconcile_total{${JOB}}[5m]))`,
    legend: '{{controller}} {{result}}',
  },
  {
    title: 'Time of a reconcile (99%)',
    unit: 's',
    expression: `histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{${JOB}}[5m])))`,
    legend: '{{controller}}',
  },
  {
    title: 'Waiting keys',
    unit: 'short',
    expression: `sum by (controller) (workqueue_depth{${JOB}})`,
    legend: '{{controller}}',
  },
  {
    title: 'Retries',
    unit: 'ops',
    expression: `sum by (controller) (rate(workqueue_retries_total{${JOB}}[5m]))`,
    legend: '{{controller}}',
  },
  {
    title: 'Admission reviews',
    unit: 'ops',
    expression: `sum by (webhook, code) (rate(controller_runtime_webhook_requests_total{${JOB}}[5m]))`,
    legend: '{{webhook}} {{code}}',
  },
  {
    title: 'Failed watches',
    unit: 'ops',
    expression: `sum by (name) (rate(reflector_failures_total{${JOB}}[5m]))`,
    legend: '{{name}}',
  },
  {
    title: 'Addresses in use',
    unit: 'percentunit',
    expression:
      `max ${SUBNET} (stackloom_ipam_addresses_used{${JOB}} / ` +
      `(stackloom_ipam_addresses_used{${JOB}} + stackloom_ipam_addresses_free{${JOB}}))`,
    legend: SUBNET_LEGEND,
  },
  {
    title: 'Free addresses by allocator',
    unit: 'short',
    expression: `min ${SPAN} (stackloom_addresses{${JOB}, state="free"})`,
    legend: '{{cloud}} {{network}} {{role}}',
  },
  {
    title: 'Waiting IPSets',
    unit: 'short',
    expression: `max ${SUBNET} (stackloom_ipam_ipsets_waiting{${JOB}})`,
    legend: SUBNET_LEGEND,
  },
  { title: 'Event loop lag', unit: 's', expression: `nodejs_eventloop_lag_seconds{${JOB}}`, legend: '{{pod}}' },
  { title: 'Memory', unit: 'bytes', expression: `process_resident_memory_bytes{${JOB}}`, legend: '{{pod}}' },
]

/** Two panels in a row, for Grafana 10 and newer. */
export function grafanaDashboard(): object {
  const datasource = { type: 'prometheus', uid: '${datasource}' }
  return {
    title: 'Stackloom operator',
    uid: 'stackloom-operator',
    schemaVersion: 39,
    tags: ['stackloom', 'openstack'],
    time: { from: 'now-6h', to: 'now' },
    refresh: '1m',
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }] },
    panels: panels.map(({ title, unit, expression, legend }, index) => ({
      id: index + 1,
      type: 'timeseries',
      title,
      datasource,
      gridPos: { x: (index % 2) * 12, y: Math.floor(index / 2) * 8, w: 12, h: 8 },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: [{ refId: 'A', datasource, expr: expression, legendFormat: legend }],
    })),
  }
}
